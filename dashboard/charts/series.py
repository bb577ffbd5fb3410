"""Lines over one x axis: several series, and how a loss fell while parameters were learned."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import Table, column_of, frame_with, rounded, texts_of, with_columns
from dashboard.charts.grid import OWN_SCALES, Lane, hover, stacked
from dashboard.charts.legend import named_strokes
from dashboard.charts.live import PARAMETERS
from dashboard.charts.summary import of_lines, of_series
from dashboard.charts.template import Prepared, Sources, chart_maker, values_of
from dashboard.language import gettext, gettext_noop, translated

_ROOM = 48  # px, for the labels at the left
_MANY_POWERS = 3  # of ten, on a logarithmic axis
_NEEDED = ("x", "y", "series")
_STEPS = [float(f"{step}e{power}") for power in range(-300, 300) for step in (1, 2, 5)]
_LIVE = {"points": ("x", "y"), "lines": ("x", "y"), PARAMETERS: ("left", "right", "low", "high")}


class SeriesShape(NamedTuple):
    """How lines look."""

    names: tuple[tuple[str, str], ...]  # of the series with their colours, as in the legend
    x_title: str
    y_title: str
    log: bool = False  # both axes
    doubling: bool = False  # the x axis alone is logarithmic, and each step doubles x
    ticks: Sequence[float] = ()  # of the x axis; where they suit it if empty
    marked: tuple[float, ...] = ()  # the same of the y axis
    y_format: str = "~g"  # d3, of the y axis and its tooltip
    legend: bool = True
    width: int = theme.WIDTH
    height: int = 220


def prepare_series(
    series: Table, colours: Mapping[str, str], *, fitted: Table | None = None,
    compared: Table | None = None, compared_as: str = "",
    within: tuple[float, float] | None = None, **looks: Any,
) -> Prepared[SeriesShape]:  # fmt: skip
    """What :func:`draw_series` draws: a line per series, of columns ``x``, ``y``, ``series``.

    Nothing is drawn of a row whose x and y are NaN.

    Args:
        colours: by series, in the order of the legend.
        fitted: if given, ``series`` are points and these the lines.
        compared, compared_as: dashed lines to compare with, and what they are, in words.
        within: what the y axis has at least.
        looks: attributes of :class:`SeriesShape`.

    Raises:
        ValueError: no rows, other columns, a series without a colour, or a number not above 0
            on a logarithmic axis.
    """
    shape = SeriesShape(tuple(colours.items()), **looks)
    positive = ["x", "y"] if shape.log else ["x"] if shape.doubling else []
    tables = {"points": _checked(series, colours, positive)}
    if fitted is not None:
        tables["lines"] = _checked(fitted, colours, positive)
    told, names = [series], texts_of(series, "series")
    if compared is not None:
        tables["compared"] = _checked(compared, colours, positive)
        told.append(compared)
        names += [f"{each} ({compared_as})" for each in texts_of(compared, "series")]
    ends_of = (
        np.concatenate([column_of(each, axis) for each in tables.values()]) for axis in ("x", "y")
    )
    (left, right), (low, high) = ((np.nanmin(each), np.nanmax(each)) for each in ends_of)
    if left == right:  # an axis needs a length
        right = 2 * left if positive else left + 1
    low, high = min(low, *(within or [low])), max(high, *(within or [high]))
    margin = (high - low) * 0.05 or 1.0
    low, high = _log_ends(low, high) if shape.log else (low - margin, high + margin)
    shape = shape._replace(
        ticks=tuple(map(float, shape.ticks)),
        marked=tuple(_log_ticks(low, high)) if shape.log else (),
    )
    ends = {"left": left, "right": right, "low": low, "high": high}
    name = gettext("series")
    x, y = (np.concatenate([column_of(each, axis) for each in told]) for axis in ("x", "y"))
    summary = of_series(
        pa.table({name: names, "x": x, "y": y}).filter(pa.array(~np.isnan(x))), name=name, x="x",
        y="y", titles=(shape.x_title, shape.y_title),
    )  # fmt: skip
    values = {name: float(end) for name, end in ends.items()}
    return Prepared(tables, shape, values, summary, live=_LIVE)


def draw_series(data: Sources, shape: SeriesShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_series` makes it, or names it.

    Hovering tells the nearest point's values, but not those of dashed lines.
    """
    (lane,) = stacked([shape.height], 0)
    powers, fitted = shape.log or shape.doubling, "lines" in data
    x_kind, y_kind = "log" if powers else "linear", "log" if shape.log else "linear"
    x = alt.X(
        "x:Q",
        scale=alt.Scale(
            type=x_kind, base=2 if shape.doubling else alt.Undefined,
            domain=[alt.ExprRef("left"), alt.ExprRef("right")], nice=False,
            zero=alt.Undefined if powers else False, padding=8 if fitted else 0,
        ),
        axis=alt.Axis(
            title=shape.x_title, grid=shape.log, format=",d" if powers else "~s", labelFlush=True,
            labelSeparation=6, values=[*shape.ticks] or alt.Undefined,
        ),
    )  # fmt: skip
    marked = [*shape.marked] or alt.Undefined
    y = alt.Y(
        "y:Q", scale=lane.scale(alt.ExprRef("low"), alt.ExprRef("high"), y_kind),
        axis=lane.axis(shape.y_title, _ROOM, form=shape.y_format, values=marked),
    )  # fmt: skip
    stroke = named_strokes("series", dict(shape.names), legend=shape.legend)
    pointed = hover("x", "series", nearest=True)
    tooltip = [
        alt.Tooltip("series:N", title=gettext("series")),
        alt.Tooltip("x:Q", title=shape.x_title, format=",~r"),
        alt.Tooltip("y:Q", title=shape.y_title, format=shape.y_format),
    ]
    points = (
        alt.Chart(data["points"])
        .mark_point(size=36, filled=False, strokeWidth=2)
        .encode(
            x=x, y=y, stroke=stroke, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(1 if fitted else 0)),
        )
        .add_params(pointed)
        .properties(name="points")
    )  # fmt: skip
    line = (
        alt.Chart(data.get("lines", data["points"]))
        .mark_line(strokeWidth=2, opacity=0.75 if fitted else 1)
        .encode(x=x, y=y, stroke=stroke)
        .properties(name="lines")
    )
    layers = [theme.ramp(), line, points]
    if "compared" in data:
        dashed = (
            alt.Chart(data["compared"])
            .mark_line(strokeWidth=1.5, strokeDash=[5, 4], opacity=0.7)
            .encode(x=x, y=y, stroke=stroke)
        )
        layers.insert(1, dashed.properties(name="compared"))
    chart = alt.LayerChart(layer=layers)
    return theme.finished(chart, width=shape.width, height=lane.bottom, params=values_of(data))


def _log_ends(low: float, high: float) -> tuple[float, float]:
    """The nearest 1, 2 or 5 times powers of ten with some room: similar series share an axis."""
    below, above = bisect_right(_STEPS, low / 1.1) - 1, bisect_left(_STEPS, high * 1.1)
    return _STEPS[below], _STEPS[above]


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= _MANY_POWERS else (1,)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _checked(series: Table, colours: Mapping[str, str], positive: Sequence[str]) -> pa.Table:
    names = texts_of(with_columns(series, _NEEDED), "series")
    if strangers := sorted(set(names) - set(colours)):
        raise ValueError(f"need a colour for every series, got none for {', '.join(strangers)}")
    if any((column_of(series, axis) <= 0).any() for axis in positive):
        raise ValueError("need numbers above 0 on logarithmic axes")
    x, y = (pa.array(rounded(column_of(series, axis)), from_pandas=True) for axis in ("x", "y"))
    return pa.table({"x": x, "y": y, "series": names})


_LOSS, _LEARNED, _GAP = 130, 60, 34  # px
_LOSS_ROOM = 44  # px, for the labels at the left
_MOST_STEPS = 1_500  # drawn
_MOST_LEARNED = 3  # lanes under the loss


class LossShape(NamedTuple):
    """What a specification follows from; ``names`` are those of what was learned, by lane."""

    names: tuple[str, ...]
    log: bool
    colour: str
    loss_title: str
    width: int

    @property
    def titles(self) -> dict[str, str]:
        """Of the lanes, by column."""
        # Columns are numbered: a parameter's name may hold what a field name must not.
        learned = {f"p{i}": translated(name) for i, name in enumerate(self.names)}
        return {"loss": translated(self.loss_title), **learned}


def prepare_loss(
    history: Table, *, colour: str = theme.PANEL_COLOURS["a"], log: bool = False,
    loss_title: str = gettext_noop("loss"), width: int = theme.WIDTH,
) -> Prepared[LossShape]:  # fmt: skip
    """The loss by step, and a smaller plot under it for each learned parameter (the first three).

    Args:
        history: ``step``, ``loss``, and a column per learned parameter, named as shown.
        log: a logarithmic scale of the loss, where all of it is above 0.

    Raises:
        ValueError: an empty history, or one without ``step`` or ``loss``.
    """
    frame = frame_with(history, ("step", "loss"), "a history with step and loss")
    names = [n for n in frame.columns if n not in ("step", "loss")][:_MOST_LEARNED]
    kept = np.unique(np.linspace(0, len(frame) - 1, _MOST_STEPS).round().astype(int))
    log = log and bool((frame["loss"].to_numpy(float)[kept] > 0).all())
    shape = LossShape(tuple(names), log, colour, loss_title, width)
    drawn = {"step": frame["step"].to_numpy()[kept]}
    first, last = float(drawn["step"].min()), float(drawn["step"].max())
    single = first == last  # an axis needs a length
    ends = {"first": first - single, "last": last + single}
    for column, name in zip(shape.titles, ["loss", *names], strict=True):
        drawn[column] = rounded(frame[name].to_numpy(float)[kept])
        low, high = _value_ends(drawn[column], log and column == "loss")
        ends |= {f"{column}_low": low, f"{column}_high": high}
    columns = {name: pa.array(values, from_pandas=True) for name, values in drawn.items()}
    lines = {title: drawn[column] for column, title in shape.titles.items()}
    summary = of_lines(drawn["step"], lines, x_title=gettext("step"), y_title=shape.titles["loss"])
    return Prepared({"history": pa.table(columns)}, shape, ends, summary)


def draw_loss(data: Sources, shape: LossShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_loss` makes it, or names it."""
    base, titles = alt.Chart(data["history"]), shape.titles
    lanes = stacked([_LOSS, *[_LEARNED] * len(shape.names)], _GAP)
    pointed = hover("step", nearest=True)
    ends = [alt.ExprRef("first"), alt.ExprRef("last")]
    axis = alt.Axis(
        title=gettext("step"), grid=False, labelFlush=True, labelSeparation=8, tickCount=4,
        format="~s", tickMinStep=1,
    )  # fmt: skip
    x = alt.X("step:Q", scale=alt.Scale(domain=ends, nice=False, zero=False), axis=axis)
    tooltip = [alt.Tooltip("step:Q", title=gettext("step"))]
    tooltip += [alt.Tooltip(f"{c}:Q", format=".4~g", title=t) for c, t in titles.items()]
    curves = [_curve(base, x, name, lane, shape) for name, lane in zip(titles, lanes, strict=True)]
    height = lanes[-1].bottom
    nearest = (
        base.mark_point(opacity=0)
        .encode(x=x, y=alt.YValue(height / 2), tooltip=tooltip)
        .add_params(pointed)
        .properties(name="steps")
    )
    rule = base.transform_filter(pointed).mark_rule(color=theme.POINTER, aria=False).encode(
        x=x, y=alt.YValue(lanes[0].top), y2=alt.Y2Value(height)
    )  # fmt: skip
    chart = alt.LayerChart(layer=[theme.ramp(), nearest, rule, *curves], resolve=OWN_SCALES)
    return theme.finished(chart, width=shape.width, height=height, params=values_of(data))


loss_chart = chart_maker(prepare_loss, draw_loss)


def _curve(base: alt.Chart, x: alt.X, column: str, lane: Lane, shape: LossShape) -> alt.Chart:
    is_loss = column == "loss"
    ends = alt.ExprRef(f"{column}_low"), alt.ExprRef(f"{column}_high")
    scale = lane.scale(*ends, "log" if is_loss and shape.log else "linear")
    axis = lane.axis(shape.titles[column], _LOSS_ROOM, form=theme.NUMBER)
    colour = shape.colour if is_loss else theme.QUIET
    mark = base.mark_line(color=colour, strokeWidth=2 if is_loss else 1.5)
    return mark.encode(x=x, y=alt.Y(f"{column}:Q", scale=scale, axis=axis))


def _value_ends(values: np.ndarray, log: bool) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if log:
        return low / 1.1, high * 1.1
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - margin, high + margin
