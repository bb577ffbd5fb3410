"""Convolution, recurrence, self-attention: what each costs, by formula and by the clock."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.features.complexity import view as complexity
from dashboard.features.complexity.view import SHARED, Complexity
from dashboard.jobs.backend import Event
from dashboard.language import gettext, ngettext, together, translated
from dashboard.links.attending import absent_normaliser
from dashboard.links.fields import next_seed
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.fields import draw_choice, draw_device, draw_normaliser_of_view, draw_settings
from dashboard.ui.jobs import Jobs
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["page"]

_HEIGHT = 440  # px, of the charts with their legends and captions
_WIDTH, _TIMES_WIDTH = 176, 150  # px, of a control
# Vaswani et al. 2017, table 1; the exponents are those of the second column.
_FORMULAS = {
    "cnn": "$O(k\\,n\\,d^2)$ | $O(1)$ | $O(n/k)$", "rnn": "$O(n\\,d^2)$ | $O(n)$ | $O(n)$",
    "attention": "$O(n^2 d)$ | $O(1)$ | $O(1)$",
}  # fmt: skip
LAYERS, AXES = (beside(__file__, "words.toml")[kind] for kind in ("layers", "axes"))
OTHER = {"n": "d", "d": "n"}  # the size that stays where one varies
Times = Sequence[Mapping[str, Any]]  # a row for each layer and size, as a result's table has them


def titles() -> dict[str, str]:
    """What the layers are called in the visitor's language."""
    return {layer: gettext(title) for layer, title in LAYERS.items()}


def times_over(
    times: Times, fits: Sequence[Mapping[str, Any]] | None, axis: str,
    reference: Times | None = None,
) -> Prepared[SeriesShape]:  # fmt: skip
    """The times over one of the sizes, beside those of a reference, which are dashed.

    While it is measured there are no ``fits``, and lines lead from point to point.
    """
    milliseconds = partial(_points, axis=axis, of=lambda each: each["seconds"] * 1e3)
    points, named = milliseconds(times), titles()
    lines = _with_gaps(points)
    if fits is not None:
        sizes = points["x"].to_pylist()
        lines = _series(
            (x, 1e3 * fit["factor"] * x ** fit["exponent"], named[fit["layer"]])
            for fit in fits if fit["axis"] == axis
            for x in (min(sizes), max(sizes))
        )  # fmt: skip
    looks = {"y_title": gettext("milliseconds"), "y_format": ",.3~r", "height": 260}
    return _over(axis, milliseconds, times, reference, fitted=lines, **looks)


def _with_gaps(points: pa.Table) -> pa.Table:
    """The points with a row without time where the next size is more than twice as large."""
    rows: list[tuple[float, float, str]] = []
    order = [("series", "ascending"), ("x", "ascending")]
    for name, own in groupby(points.sort_by(order).to_pylist(), itemgetter("series")):
        sizes = [(row["x"], row["y"], name) for row in own]
        for (x, y, _), after in pairwise([*sizes, (0, 0, name)]):
            rows.append((x, y, name))
            if after[0] > 2 * x:
                rows.append((2 * x, math.nan, name))
    return _series(rows)


def counted_over(times: Times, axis: str, reference: Times | None = None) -> Prepared[SeriesShape]:
    """The same of the multiplications that the formulas count."""
    counted = partial(_points, axis=axis, of=lambda each: float(each["multiply_adds"]))
    looks = {"y_title": gettext("multiplications"), "y_format": ".3~s", "height": 180}
    return _over(axis, counted, times, reference, **looks)


def _over(
    axis: str, points: Callable[[Times], pa.Table], times: Times, reference: Times | None,
    **looks: Any,
) -> Prepared[SeriesShape]:  # fmt: skip
    drawn = [points(each) for each in (times, reference) if each is not None]
    if reference is not None:
        looks |= {"compared": drawn[1], "compared_as": gettext("reference measurement")}
    return prepare_series(
        drawn[0], dict(zip(titles().values(), PANEL_COLOURS.values(), strict=False)), log=True,
        ticks=sorted({int(size) for each in drawn for size in each["x"].to_pylist()}),
        x_title=gettext(AXES[axis]), **looks,
    )  # fmt: skip


def points_over(times: Times, axis: str) -> Times:
    """The points of one chart: those at the other size of the series over this one."""
    fixed = fixed_over(times, axis)
    own: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    for row in times:
        if row[OTHER[axis]] == fixed:
            own.setdefault((row["layer"], row["n"], row["d"]), row)
    return [*own.values()]


def fixed_over(times: Times, axis: str) -> int | None:
    """The other size of all points of the series over this one; None without points."""
    return next((row[OTHER[axis]] for row in times if row["axis"] == axis), None)


def _points(times: Times, axis: str, of: Callable[[Mapping[str, Any]], float]) -> pa.Table:
    named = titles()
    return _series((row[axis], of(row), named[row["layer"]]) for row in points_over(times, axis))


def _series(points: Iterable[tuple[float, float, str]]) -> pa.Table:
    return pa.table(dict(zip(("x", "y", "series"), zip(*points, strict=True), strict=True)))


def times_of(result: Result | None) -> Times | None:
    """The times of a measurement, if there is one."""
    return result.tables["times"].to_pylist() if result else None


def drawn(result: Result, compared: Result | None = None) -> None:
    """Draw a measurement; ``compared`` is the reference measurement beside one of this machine."""
    _whose(result.facts, compared)
    times, fits = result.tables["times"].to_pylist(), result.facts["fits"]
    dashed = times_of(compared)
    key = " ".join(each.digest for each in (result, compared) if each)
    for place, axis in zip(shown.columns(2, gap="large"), AXES, strict=True):
        with place:
            size = gettext(AXES[axis])
            shown.markdown(gettext(
                "**Time over {size}**, at {fixed} = {largest:,}",
                size=size, fixed=OTHER[axis], largest=fixed_over(times, axis),
            ))  # fmt: skip
            charts.show_filled(
                f"complexity {key} {axis}", draw_series,
                lambda axis=axis: times_over(times, fits, axis, dashed),
                gettext("Milliseconds of one pass over {size}, with fitted lines", size=size),
            )  # fmt: skip
            shown.markdown(gettext("**Multiplications over {size}**, counted", size=size))
            charts.show_filled(
                f"complexity counted {key} {axis}", draw_series,
                lambda axis=axis: counted_over(times, axis, dashed),
                gettext("Multiplications of one pass over {size}", size=size),
            )  # fmt: skip
    shown.caption(gettext(_SAID["above"]))
    _exponents(fits, compared)
    _reach(result)
    for each in filter(None, (result, compared)):
        _origin(each.facts)


def _whose(facts: Mapping[str, Any], compared: Result | None) -> None:
    """Whose times these are, above the charts, so that nobody takes one machine for another."""
    if "recorded" in facts:
        processor, date = plain(facts["recorded"]["processor"]), facts["recorded"]["date"]
        shown.markdown(gettext(_SAID["not_here"], processor=processor, date=date))
    if "unreadable" in facts:
        shown.markdown(gettext(_SAID["unreadable"], reason=plain(translated(facts["unreadable"]))))
    if compared:
        times = compared.tables["times"].to_pylist()
        shown.caption(gettext(
            _SAID["points"], d=fixed_over(times, "n"), n=fixed_over(times, "d"),
            kernel=compared.facts["kernel"],
        ))  # fmt: skip


def _origin(facts: Mapping[str, Any]) -> None:
    """With what it was measured, at the page's end; how a reference measurement is repeated."""
    if "recorded" in facts:
        recorded, commit = facts["recorded"], facts["environment"]["commit"]
        sentences = [
            gettext(_SAID["recorded"], date=recorded["date"], commit=commit or gettext("unknown")),
            ngettext(
                **_SAID["cores"], count=recorded["cores"], processor=plain(recorded["processor"])
            ),
            ngettext(**_SAID["threads"], count=facts["threads"], torch=facts["torch"]),
            gettext("This command records it anew: `{command}`.", command=recorded["command"]),
        ]
    else:
        sentences = [
            ngettext(
                **_SAID["here"], count=facts["threads"], device=facts["device"],
                torch=facts["torch"], seconds=facts["seconds"],
            )
        ]  # fmt: skip
        if "measured" in facts:
            ended = datetime.fromtimestamp(facts["measured"], UTC)
            told = gettext(_SAID["ended"], time=f"{ended:%H:%M:%S}", minutes=SHARED // 60)
            sentences.append(told)
    shown.caption(together([*sentences, ngettext(**_SAID["shortest"], count=facts["rounds"])]))


def _exponents(fits: Sequence[Mapping[str, Any]], compared: Result | None) -> None:
    shown.header(gettext("Fitted exponents"))
    if compared:
        shown.markdown(gettext("**This machine**"))
    _fitted(fits)
    if compared:
        shown.markdown(gettext("**Reference measurement**"))
        _fitted(compared.facts["fits"])
    shown.caption(gettext(_SAID["exponents"]))


def _fitted(fits: Sequence[Mapping[str, Any]]) -> None:
    name = gettext("Layer")
    rows = []
    for layer, title in titles().items():
        row = {name: title}
        for fit in (fit for fit in fits if fit["layer"] == layer):
            axis = fit["axis"]
            row |= {
                gettext("{size}: expected", size=axis): fit["counted"],
                gettext("{size}: measured", size=axis): fit["exponent"],
                gettext("{size}: last doubling", size=axis): fit["last"],
            }
        rows.append(row)
    table = pd.DataFrame(rows).set_index(name)
    two_digits = st.column_config.NumberColumn(format="%.2f")
    shown.table(table, width="stretch", column_config=dict.fromkeys(table, two_digits))


def _reach(result: Result) -> None:
    shown.header(gettext("Operations in sequence, and paths"))
    rows = result.tables["reach"].to_pylist()
    products, hops = (
        pd.DataFrame({
            title: {row["n"]: row[name] for row in rows if row["layer"] == layer}
            for layer, title in titles().items()
        }).rename_axis("n")
        for name in ("products", "hops")
    )  # fmt: skip
    left, right = shown.columns(2, gap="large")
    with left:
        shown.markdown(gettext("**In sequence**: matrix products that must wait for each other"))
        shown.table(products, width="stretch")
        shown.caption(gettext(_SAID["longest"]))
    with right:
        shown.markdown(gettext("**Path**: hops from the last output to the first input"))
        shown.table(hops, width="stretch")
        shown.caption(gettext(_SAID["reach"]))
        # Of a convolution half of the kernel looks the other way.
        kernel = int(result.facts["kernel"])
        side = kernel // 2
        one = gettext(_SAID["side"], kernel=kernel)
        shown.caption(one if side == 1 else gettext(_SAID["sides"], kernel=kernel, side=side))


def _controls(session: Session[Complexity]) -> None:
    columns = gettext("Layer"), gettext("Work"), gettext("In sequence"), gettext("Path")
    costs = [f"{title} | {_FORMULAS[layer]}" for layer, title in titles().items()]
    rows = [" | ".join(columns), ":-- | :-: | :-: | :-:", *costs]
    shown.markdown("\n".join(f"| {row} |" for row in rows))
    shown.caption(gettext(_SAID["costs"]))
    with layout.row("complexity-controls"):
        # Drawn last, since whoever changes a setting then sees what is measured with it.
        first = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        before = session.view
        draw_settings(session, complexity.SETTINGS, width=_WIDTH)
        draw_normaliser_of_view(session, width=_WIDTH)
        draw_device(session, complexity.DEVICE)
        if session.view != before and session.view.times == complexity.REFERENCE:
            session.change(times=complexity.HERE)
        with first:
            _times(session)


def _times(session: Session[Complexity]) -> None:
    if draw_choice(session, complexity.TIMES, width=_TIMES_WIDTH) == complexity.REFERENCE:
        label, values = gettext("Measure on this machine"), {"times": complexity.BOTH}
        hint = gettext("With the settings beside it; the reference measurement stays.")
    else:
        label, values = gettext("Measure again"), {"seed": next_seed(session.view.seed)}
        hint = gettext("With other weights and inputs: the next seed.")

    def measure() -> None:
        session.change(since=math.ceil(time.time()) if "seed" in values else 0, **values)

    st.button(label, icon=":material/timer:", help=hint, on_click=measure)


def _results(session: Session[Complexity], _: None) -> None:
    view, jobs = session.view, session.jobs
    if view.times == complexity.REFERENCE:
        request, key = complexity.reference(), "complexity-reference"
        results.results(jobs, request, drawn, _HEIGHT, key, grows=True)
        return
    request = complexity.measurement(view, session.catalogue)
    if request is None:
        results.absent(absent_normaliser(view, session.catalogue), _HEIGHT, "complexity-absent")
        return
    recorded = _recorded(jobs) if view.times == complexity.BOTH else None
    live = partial(_live, compared=recorded) if jobs.final(request) is None else None
    results.results(
        jobs, request, partial(drawn, compared=recorded), _HEIGHT, "complexity-result",
        meanwhile=live, grows=True,
    )  # fmt: skip


def _recorded(jobs: Jobs) -> Result | None:
    event = jobs.final(complexity.reference())
    return event.result if event and event.result and "recorded" in event.result.facts else None


def _live(events: Sequence[Event], compared: Result | None) -> None:
    timed = [event.facts for event in events if "seconds" in event.facts]
    if not timed:
        results.waiting(events, _HEIGHT)
        return
    # Each point is told again in every round; the last time counts.
    points = [*{(one["layer"], one["n"], one["d"]): one for one in timed}.values()]
    latest = events[-1]
    st.progress(min(1.0, latest.fraction or 0.0), text=plain(translated(latest.note)))
    for place, axis in zip(shown.columns(2, gap="large"), AXES, strict=True):
        if len({one[axis] for one in points_over(points, axis)}) > 1:
            with place:
                size, dashed = gettext(AXES[axis]), times_of(compared)
                charts.show_prepared(
                    draw_series, times_over(points, None, axis, dashed),
                    gettext("Milliseconds of one pass over {size}, measured so far", size=size),
                )  # fmt: skip


PAGE = Page(
    name="complexity", **beside(__file__, "words.toml")["heading"], link=complexity.LINK,
    controls=_controls, requests=complexity.requests, work=complexity.timing_work,
    offer=lambda _: gettext("Time the three layers"), results=_results, height=_HEIGHT, folds=True,
)  # fmt: skip
