"""How learning went: the loss by step, and below it what was learned."""

from __future__ import annotations

from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_with, rounded
from dashboard.charts.lanes import OWN_SCALES, Lane, hover, stacked
from dashboard.charts.summary import of_lines
from dashboard.charts.template import Prepared, Sources, chart_maker, values_of
from dashboard.language import gettext, gettext_noop, translated

_LOSS, _LEARNED, _GAP = 130, 60, 34  # px
_ROOM = 44  # px, for the labels at the left
_MOST_STEPS = 1_500  # drawn
_MOST_LEARNED = 3  # lanes under the loss


class LossShape(NamedTuple):
    """What a specification follows from.

    Args:
        names: of what was learned besides, in the order of the lanes.
        log: whether the scale of the loss is logarithmic.
    """

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
    history: Table,
    *,
    colour: str = theme.PANEL_COLOURS["a"],
    log: bool = False,
    loss_title: str = gettext_noop("loss"),
    width: int = theme.WIDTH,
) -> Prepared[LossShape]:
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
    first, last = _step_ends(drawn["step"].astype(float))
    ends = {"first": first, "last": last}
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
    layers = [
        _curve(base, x, column, lane, shape) for column, lane in zip(titles, lanes, strict=True)
    ]
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
    chart = alt.LayerChart(layer=[theme.ramp(), nearest, rule, *layers], resolve=OWN_SCALES)
    return theme.finished(chart, width=shape.width, height=height, params=values_of(data))


loss_chart = chart_maker(prepare_loss, draw_loss)


def _curve(base: alt.Chart, x: alt.X, column: str, lane: Lane, shape: LossShape) -> alt.Chart:
    is_loss = column == "loss"
    ends = alt.ExprRef(f"{column}_low"), alt.ExprRef(f"{column}_high")
    scale = lane.scale(*ends, "log" if is_loss and shape.log else "linear")
    axis = lane.axis(shape.titles[column], _ROOM, form=theme.NUMBER)
    colour = shape.colour if is_loss else theme.QUIET
    mark = base.mark_line(color=colour, strokeWidth=2 if is_loss else 1.5)
    return mark.encode(x=x, y=alt.Y(f"{column}:Q", scale=scale, axis=axis))


def _step_ends(steps: np.ndarray) -> tuple[float, float]:
    first, last = float(steps.min()), float(steps.max())
    return (first - 1, last + 1) if first == last else (first, last)


def _value_ends(values: np.ndarray, log: bool) -> tuple[float, float]:
    """The ends of a lane's axis, with a margin around its values."""
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if log:
        return low / 1.1, high * 1.1
    margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return low - margin, high + margin
