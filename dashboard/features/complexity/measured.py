"""What is drawn of a measurement: whose it is, its times, their exponents, and how far it sees."""

import math
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
from dashboard.features.complexity.view import SHARED
from dashboard.language import gettext, ngettext, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, shown
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["measured"]
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
        reason = plain(translated(facts["unreadable"]))
        shown.markdown(gettext(_SAID["unreadable"], reason=reason))
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
    timing = ngettext(**_SAID["shortest"], count=facts["rounds"])
    shown.caption(together([*sentences, timing]))


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
        shown.caption(_path_of_convolution(int(result.facts["kernel"])))


def _path_of_convolution(kernel: int) -> str:
    """Why its path is as long as it is: half of the kernel looks the other way."""
    side = kernel // 2
    if side == 1:
        return gettext(_SAID["side"], kernel=kernel)
    return gettext(_SAID["sides"], kernel=kernel, side=side)
