"""Legends: the colour scale that a row of panels shares, and the lines of a plot by name."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
from altair.typing import Optional

from dashboard.charts import theme
from dashboard.charts.export import objects
from dashboard.charts.template import PARAMETERS, Prepared, Sources, values_of
from dashboard.language import gettext, gettext_noop, translated

_RANGES = {"heatmap": False, "diverging": True}  # of theme.py; whether it has two sides
_READ = re.compile(rf"data\('{PARAMETERS}'\)\[0\]\.(\w+)")
_END = "vmax"  # what charts of weights call the end of their scale
_WEIGHTS = ("", _END)  # its names, if any


class ColourScale(NamedTuple):
    """A scale from 0 to ``end``, or from ``-end`` if it is ``signed``; what its colours mean."""

    end: float
    signed: bool
    title: str
    log: bool = False


def colour_scale(spec: Mapping[str, Any]) -> ColourScale | None:
    """The colour scale that a :func:`~dashboard.charts.export.complete` chart needs a legend for.

    None where it draws no colours of numbers, has its own legend, or does not say its scale's end.
    """
    units = [held for held in objects(spec) if "encoding" in held]
    drawn = [unit for unit in units if _range(unit) and not _is_unseen(unit)]
    if not drawn or any(_colour(unit).get("legend") for unit in drawn):
        return None
    signed = _RANGES[_range(drawn[0])]
    held = _colour(drawn[0])["scale"]
    end, log = held["domain"][-1], held.get("type") == "log"
    parameter = str(end.get("expr", "")) if isinstance(end, Mapping) else ""
    if (own := _in_a_table(spec)) is not None:
        end = own
    elif parameter:
        end = _parameter(parameter, spec)
    if not isinstance(end, (int, float)):
        return None
    title = gettext("difference") if _of_differences(drawn) else gettext("attention weight")
    title = title if parameter in _WEIGHTS else gettext("value")
    return ColourScale(float(end), signed, title, log)


def _colour(unit: Mapping[str, Any]) -> Mapping[str, Any]:
    return unit["encoding"].get("color") or {}


def _range(unit: Mapping[str, Any]) -> str:
    held = (_colour(unit).get("scale") or {}).get("range")
    return held if isinstance(held, str) and held in _RANGES else ""


def _of_differences(drawn: Sequence[Mapping[str, Any]]) -> bool:
    """Whether numbers on the scale of two sides are differences, as their tooltips say."""
    if not _RANGES[_range(drawn[0])]:
        return False
    tooltips = [each for unit in drawn for each in objects(unit["encoding"].get("tooltip"))]
    return any(each.get("title") == gettext("difference") for each in tooltips)


def _is_unseen(unit: Mapping[str, Any]) -> bool:
    """Whether this is :func:`~dashboard.charts.theme.ramp`, or only carries the legends."""
    mark = unit.get("mark")
    legend = _colour(unit).get("legend")
    return isinstance(mark, Mapping) and mark.get("opacity") == 0 and not legend


def _in_a_table(spec: Mapping[str, Any]) -> float | None:
    """The end as a chart says it whose map is a picture in a lane."""
    for name, rows in (spec.get("datasets") or {}).items():
        if name != PARAMETERS and rows and isinstance(rows[0], Mapping) and _END in rows[0]:
            return float(rows[0][_END])
    return None


def _parameter(name: str, spec: Mapping[str, Any]) -> Any:
    one = next((one for one in spec.get("params", ()) if one["name"] == name), {})
    if isinstance(one.get("value"), (int, float)):
        return one["value"]
    read = _READ.fullmatch(str(one.get("expr", "")))
    rows = (spec.get("datasets") or {}).get(PARAMETERS) or [{}]
    return rows[0].get(read[1]) if read else None


_STEPS, _DIGITS = 64, ".3~g"
WEIGHT = gettext_noop("attention weight")
_WIDTH, _THICKNESS = 160, 8  # px
_COLUMNS = "width < 420 ? 2 : 4"  # of names, in a Vega expression
# Of long names, which then stand whole: columns, and px of one.
NAMES_COLUMNS = "width < 420 ? 1 : 2"
NAMES_LONGEST = alt.ExprRef("width < 420 ? width : width / 2 - 24")


def weights_legend(
    vmax: float = 1.0, *, title: str = WEIGHT, difference: bool = False, log: bool = False
) -> alt.Chart:  # fmt: skip
    """The scale from 0 to ``vmax``; of differences and signed weights from ``-vmax``."""
    return theme.finished(_scale(vmax, title, difference, log), width=_WIDTH, height=_THICKNESS)


def prepare_scale(vmax: float, signed: bool) -> Prepared[bool]:
    """What :func:`draw_scale` draws: the scale of weights, whose end may follow a slider."""
    shares = pa.Table.from_pandas(_scale(difference=signed).data)
    return Prepared({"scale": shares}, signed, {_END: vmax}, live={PARAMETERS: (_END,)})


def draw_scale(data: Sources, signed: bool) -> alt.LayerChart:
    """A :func:`weights_legend` of shares, whose labels say weights."""
    chart = _scale(difference=signed, label=f"format(datum.value * {_END}, '{_DIGITS}')")
    chart.data = data["scale"]
    return theme.finished(
        alt.LayerChart(layer=[chart]), width=_WIDTH, height=_THICKNESS, params=values_of(data)
    )


def _scale(
    vmax: float = 1.0, title: str = WEIGHT, difference: bool = False, log: bool = False,
    label: Optional[str] = alt.Undefined,
) -> alt.Chart:  # fmt: skip
    low = -vmax if difference else theme.LEAST if log else 0.0
    edges = (np.geomspace if log else np.linspace)(low, vmax, _STEPS + 1)
    middle = float(np.sqrt(low * vmax)) if log else (low + vmax) / 2
    lows, highs = edges[:-1], edges[1:]
    frame = pd.DataFrame({"low": lows, "high": highs, "value": (lows + highs) / 2})
    # As wide as it should be, or as its host has room for.
    places = alt.Scale(
        domain=[low, vmax], range=[0, alt.ExprRef(f"min(width, {_WIDTH})")], nice=False,
        type="log" if log else alt.Undefined,
    )  # fmt: skip
    scale = theme.diverging(vmax) if difference else theme.sequential(vmax, log=log)
    axis = alt.Axis(
        title=translated(title), orient="bottom", grid=False, values=[low, middle, vmax],
        labelFlush=True, format=_DIGITS, labelExpr=label, labelPadding=3, titlePadding=2,
        titleAnchor="start",
    )  # fmt: skip
    return (
        alt.Chart(frame)
        .mark_rect(x2Offset=0.5)
        .encode(
            x=alt.X("low:Q", scale=places, axis=axis),
            x2=alt.X2("high:Q"),
            color=alt.Color("value:Q", scale=scale, legend=None),
        )
    )


def is_scale(spec: Mapping[str, Any]) -> bool:
    """Whether a specification is that of :func:`weights_legend`, which shows no data."""
    return (spec.get("width"), spec.get("height")) == (_WIDTH, _THICKNESS)


def named_strokes(
    field: str, colours: Mapping[str, str], *, legend: bool = True, columns: str = _COLUMNS,
    limit: Optional[alt.ExprRef] = alt.Undefined, label: Optional[str] = alt.Undefined,
) -> alt.Stroke:  # fmt: skip
    """Lines in the colours of the names in a column, with a legend below the plot.

    ``columns`` of the legend is a Vega expression; ``limit``: px, its longest name; ``label`` the
    expression of what it says of one.
    """
    # Not the channel "color": its scale is the ramp, by which labels know the page they are on.
    lines = alt.Legend(
        orient="bottom", direction="horizontal", title=None, symbolType="stroke",
        symbolStrokeWidth=2, columns=alt.ExprRef(columns), labelLimit=limit, labelExpr=label,
    )  # fmt: skip
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    return alt.Stroke(f"{field}:N", scale=scale, legend=lines if legend else None)
