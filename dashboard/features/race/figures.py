"""The charts of one task, and in words what was measured, after which budget, how it was tested.

:mod:`attention_plugins.race.export` says the same in files, which are in English.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.template import Prepared, chart_of
from dashboard.features.race import chart_lines
from dashboard.features.race.view import ALL, Row, Seen, interval, number
from dashboard.language import gettext, gettext_noop, listed, ngettext, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["figures"]


def caption(seen: Seen) -> str:
    """What was measured, over how many seeds, by which interval, test and correction."""
    compared, tested = family(seen), ""
    if compared:
        tested = ngettext(
            **_SAID["compared"], count=compared, reference=seen.name(seen.reference),
            model=seen.choices.model_titles[seen.choices.reference.model],
        )  # fmt: skip
    ranks = gettext(_SAID["rank"], pairs=math.comb(len(seen.ranked), 2))
    return together([measured(seen), budget(seen), _seeds(seen), tested, ranks])


def measured(seen: Seen) -> str:
    """The task's metric, and which way is better."""
    task, metric, unit = map(seen.fact, ("task", "metric", "unit"))
    metric = gettext("{metric} ({unit})", metric=metric, unit=unit) if unit else metric
    better = (
        gettext_noop("{task}: {metric}, higher is better, on data that nobody learned.")
        if seen.result.facts["higher_is_better"]
        else gettext_noop("{task}: {metric}, lower is better, on data that nobody learned.")
    )
    return gettext(better, task=task, metric=metric)


def ran(seen: Seen) -> str:
    """How many contestants ran, and how many are ranked."""
    every = sum(1 + len(row["equals"]) for row in seen.ranked)
    return gettext(_SAID["ran"], ran=every, count=len(seen.ranked))


def family(seen: Seen) -> int:
    """Over how many comparisons with the reference Holm's correction goes."""
    return len(_compared(seen))


def _compared(seen: Seen) -> Sequence[Row]:
    return [row for row in seen.rows if row["difference"] is not None]


def budget(seen: Seen) -> str:
    """After what the effects were measured: with another budget they may be others."""
    given = seen.result.facts.get("budget")
    if not given:
        return ""
    parts = {name: given[name] for name in ("steps", "examples")}
    said = ngettext(**_SAID["budget"], count=given["rates"], **parts)
    wider = gettext(_SAID["wider"], count=given["widen"]) if given["widen"] else ""
    half = gettext(_SAID["halving"], count=given["halving"]) if given["halving"] else ""
    return together([said, wider, half])


def edges(seen: Seen) -> str:
    """What the marks at the rates mean; empty where there are none."""
    if not any(row["edge"] for row in seen.rows):
        return ""
    marks = gettext("↑ marks the highest rate tried, ↓ the lowest: a better one may lie beyond.")
    given = seen.result.facts["budget"]
    if given["rates"] > 2 or given["widen"]:
        return marks
    two = gettext(
        "With two rates every choice is at an edge of the grid, unless both came out alike."
    )
    return together([two, marks])


def limits(seen: Seen) -> str:
    """The task's floor and its ceiling, and how far the best contestant comes."""
    found = seen.result.facts.get("limits")
    if not found:
        return ""
    name, floor, *_ = found["floors"][0]
    return gettext(
        _SAID["limits"], floor=number(floor), how=translated(name), steps=seen.steps,
        ceiling=number(found["ceiling"]), top=translated(found["top"]),
        best=number(found["best"]), share=100 * found["share"],
    )  # fmt: skip


def undecided(seen: Seen) -> str:
    """That the task decides nothing, where its best contestant is near its floor."""
    found = seen.result.facts.get("limits")
    if not found or found["decides"]:
        return ""
    return gettext(_SAID["undecided"], rule=100 * found["rule"], steps=seen.steps)


def _seeds(seen: Seen) -> str:
    counts = sorted({row["seeds"] for row in seen.rows if row["seeds"]}) or [0]
    if len(counts) > 1:
        return gettext(_SAID["several"], fewest=counts[0], most=counts[-1])
    return ngettext(**_SAID["seeds"], count=counts[0])


def _of(seen: Seen) -> str:
    """Of what a chart is, as the caption of a figure says it: task, model, how many seeds."""
    model = seen.choices.model
    model = gettext("all models") if model == ALL else seen.choices.model_title(model)
    return together([gettext(_SAID["of"], task=seen.task, model=model), _seeds(seen)])


def _own(seen: Seen) -> str:
    """Which of the contestants stand out; empty for none."""
    names = listed(row["name"] for row in seen.entered)
    return gettext(_SAID["own"], names=names) if names else ""


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
            f"race differences {seen.key}", chart_lines.draw_differences, prepare,
            gettext("Difference to {reference} with its interval, a lane per contestant",
                    reference=seen.name(seen.reference)),
            marks=together([_of(seen), _own(seen)]),
        )  # fmt: skip
    words = [budget(seen), gettext(_SAID["differences"], count=family(seen))]
    if away := chart_lines.far_out(_compared(seen)):
        names = listed(f"{row['name']} {interval(row, 'difference')}" for row in away)
        words.append(gettext(_SAID["away"], names=names))
    shown.caption(plain(together([*words, _own(seen)])))


def curves(seen: Seen) -> None:
    """Where sizes grow beyond what was learned, and the loss while learning."""
    left, right = shown.columns(2, gap="large")
    with left, shown.container(key="race-curves"):
        shown.header(gettext("Beyond the trained sizes"))
        metric, size = seen.fact("metric"), seen.fact("size")
        alt = gettext("{metric} over the size: {size}", metric=metric, size=size)
        _lines(seen, _sizes(seen), alt)
        shown.caption(said_of_sizes(seen))
    with right, shown.container(key="race-learning"):
        shown.header(gettext("While learning"))
        _lines(seen, _learning(seen), gettext("{loss} by epoch", loss=seen.fact("loss")))
        said = gettext("The mean over the seeds, at the rate that each contestant chose.")
        shown.caption(plain(together([said, seen.fact("endings")])))


def menu(seen: Seen) -> None:
    """The charts of the task as files, and its tables."""
    drawn = (
        (gettext_noop("differences"), chart_lines.draw_differences, _differences(seen)),
        (gettext_noop("beyond the trained sizes"), chart_lines.draw_lines, _sizes(seen)),
        (gettext_noop("while learning"), chart_lines.draw_lines, _learning(seen)),
    )
    found: dict[str, Callable[[], Any]] = {
        name: lambda draw=draw, prepare=prepare: chart_of(draw, prepare())
        for name, draw, prepare in drawn
        if prepare
    }
    tables = {name: seen.result.tables[name] for name in _TABLES}
    title = gettext("Race, {task}", task=seen.task)
    export.menu(None, Result(tables=tables), found, gettext_noop("race"), title=title)


def _differences(seen: Seen) -> Callable[[], Prepared] | None:
    if not (rows := _compared(seen)):
        return None
    metric, own = seen.fact("metric"), [row["name"] for row in seen.entered]
    unit = seen.fact("unit") or (metric if metric.isupper() else metric.lower())
    title = gettext("better by, in {unit} →", unit=unit)
    return partial(chart_lines.prepare_differences, rows, title, own)


def _sizes(seen: Seen) -> Callable[[], Prepared] | None:
    facts = seen.result.facts
    rows = [
        {"name": seen.name(row["key"]), "x": row["size"], "y": row["quality"], "low": row["low"],
         "high": row["high"]}
        for row in seen.result.tables["curves"].to_pylist()
    ]  # fmt: skip
    return _prepared(
        seen, rows, x_title=seen.fact("size"), y_title=f"{seen.metric} {seen.arrow}",
        learned=tuple(facts["trained"]) if facts["trained"] else None,
    )  # fmt: skip


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
    return partial(chart_lines.prepare_lines, rows, colours, **more)


def _lines(seen: Seen, prepare: Callable[[], Prepared] | None, alt: str) -> None:
    if prepare is None:
        shown.caption(gettext("Nothing was measured."))
        return
    charts.show_filled(
        f"race lines {alt} {seen.key}", chart_lines.draw_lines, prepare, alt, marks=_of(seen),
    )  # fmt: skip


def said_of_sizes(seen: Seen) -> str:
    """What the chart of sizes marks as learned."""
    trained = seen.result.facts["trained"]
    if trained is None:
        return gettext("Held-out sentences by their length. All these lengths occur in training.")
    low, high = trained
    if low == high:
        return plain(gettext(_SAID["points"], count=low))
    return plain(gettext(_SAID["shaded"], low=low, high=high))
