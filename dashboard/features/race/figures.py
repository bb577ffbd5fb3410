"""The charts of one task: differences, growing sizes, learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.template import Prepared, chart_of
from dashboard.features.race.caption import budget, family
from dashboard.features.race.chart_differences import draw_differences, prepare_differences
from dashboard.features.race.chart_lines import draw_lines, prepare_lines
from dashboard.features.race.seen import Seen
from dashboard.features.race.verdicts import COLOURS
from dashboard.language import gettext, gettext_noop
from dashboard.language.joining import together
from dashboard.records.result import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.widgets import plain

_TABLES = ("standings", "curves", "learning", "trials")


def differences(seen: Seen) -> None:
    """Every contestant's difference to the reference, sorted, with its interval."""
    shown.header(plain(gettext("Differences to {name}", name=seen.name(seen.reference))))
    prepare = _differences(seen)
    if prepare is None:
        shown.caption(gettext("Nobody else ran on this task yet."))
        return
    with shown.container(key="race-differences"):
        charts.show_filled(
            f"race differences {seen.key}", draw_differences, prepare,
            gettext("Difference to the reference with its interval, a lane per contestant"),
        )  # fmt: skip
    words = gettext(
        "Right of the line is better. A dot is the mean of the paired differences over the "
        "seeds, a bar its 95 % bootstrap interval, which is not corrected for many "
        "comparisons; the colours are: they say what the test found that is corrected by Holm "
        "over the {count} comparisons of this chart.",
        count=family(seen),
    )
    shown.caption(plain(together([budget(seen), words])))


def curves(seen: Seen) -> None:
    """Where sizes grow beyond what was learned, and the loss while learning."""
    left, right = shown.columns(2, gap="large")
    with left, shown.container(key="race-curves"):
        shown.header(gettext("Beyond the trained sizes"))
        metric, size = seen.fact("metric"), seen.fact("size")
        alt = gettext("{metric} over the size: {size}", metric=metric, size=size)
        _lines(seen, _sizes(seen), alt)
        shown.caption(_said_of_sizes(seen))
    with right, shown.container(key="race-learning"):
        shown.header(gettext("While learning"))
        _lines(seen, _learning(seen), gettext("{loss} by epoch", loss=seen.fact("loss")))
        shown.caption(gettext("The mean over the seeds, at the rate that each contestant chose."))


def menu(seen: Seen) -> None:
    """The charts of the task as files, and its tables."""
    found: dict[str, Callable[[], Any]] = {}
    for name, draw, prepare in (
        (gettext_noop("differences"), draw_differences, _differences(seen)),
        (gettext_noop("beyond the trained sizes"), draw_lines, _sizes(seen)),
        (gettext_noop("while learning"), draw_lines, _learning(seen)),
    ):
        if prepare is not None:
            found[name] = partial(_chart, draw, prepare)
    tables = {name: seen.result.tables[name] for name in _TABLES}
    title = gettext("Race, {task}", task=seen.task)
    export.menu(None, Result(tables=tables), found, gettext_noop("race"), title=title)


def _chart(draw: Callable[..., Any], prepare: Callable[[], Prepared]) -> Any:
    return chart_of(draw, prepare())


def _differences(seen: Seen) -> Callable[[], Prepared] | None:
    rows = [
        {"name": row["name"], "verdict": row["verdict"], "p": row["p"],
         "difference": row["difference"], "low": row["difference_low"],
         "high": row["difference_high"]}
        for row in seen.rows
        if row["difference"] is not None and row["verdict"] in COLOURS
    ]  # fmt: skip
    if not rows:
        return None
    metric = seen.fact("metric")
    unit = seen.fact("unit") or (metric if metric.isupper() else metric.lower())
    return partial(
        prepare_differences, rows, title=gettext("better by, in {unit} →", unit=unit), width=640
    )


def _sizes(seen: Seen) -> Callable[[], Prepared] | None:
    facts = seen.result.facts
    rows = [
        {"name": seen.name(row["key"]), "x": row["size"], "y": row["quality"], "low": row["low"],
         "high": row["high"]}
        for row in seen.result.tables["curves"].to_pylist()
    ]  # fmt: skip
    learned = tuple(facts["trained"]) if facts["trained"] else None
    return _prepared(
        seen,
        rows,
        x_title=seen.fact("size"),
        y_title=f"{seen.metric} {seen.arrow}",
        learned=learned,
    )


def _learning(seen: Seen) -> Callable[[], Prepared] | None:
    rows = [
        {"name": seen.name(row["key"]), "x": row["epoch"], "y": row["loss"]}
        for row in seen.result.tables["learning"].to_pylist()
    ]
    return _prepared(seen, rows, x_title=gettext("epoch"), y_title=seen.fact("loss"))


def _prepared(
    seen: Seen, rows: Sequence[Mapping[str, Any]], **more: Any
) -> Callable[[], Prepared] | None:
    if not any(row["y"] is not None for row in rows):
        return None
    colours = {seen.name(seen.b): PANEL_COLOURS["b"]} | {seen.name(seen.a): PANEL_COLOURS["a"]}
    return partial(prepare_lines, rows, colours, **more)


def _lines(seen: Seen, prepare: Callable[[], Prepared] | None, alt: str) -> None:
    if prepare is None:
        shown.caption(gettext("Nothing was measured."))
        return
    charts.show_filled(f"race lines {alt} {seen.key}", draw_lines, prepare, alt)


def _said_of_sizes(seen: Seen) -> str:
    trained = seen.result.facts["trained"]
    if trained is None:
        return gettext("Held-out sentences by their length. All these lengths occur in training.")
    low, high = trained
    if low == high:
        return plain(
            gettext(
                "The line marks the {count:g} points that were learned with; elsewhere the same "
                "weights read more or fewer. Bars are 95 % bootstrap intervals; everybody else "
                "is grey.",
                count=low,
            )
        )
    return plain(
        gettext(
            "Shaded is what was learned, {low:g} to {high:g}. Bars are 95 % bootstrap intervals; "
            "everybody else is grey.",
            low=low, high=high,
        )
    )  # fmt: skip
