"""How learning went: the loss by step, and below it what was learned."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_with, rounded
from dashboard.charts.lanes import OWN_SCALES, Lane, stacked
from dashboard.charts.pointer import hover

_LOSS, _LEARNED, _GAP = 130, 60, 34  # px
_ROOM = 44  # px, for the labels at the left
_MOST_STEPS = 1_500  # drawn
_MOST_LEARNED = 3  # lanes under the loss


def loss_chart(
    history: Table,
    *,
    colour: str = theme.PANEL_COLOURS["a"],
    log: bool = False,
    loss_title: str = "loss",
    width: int = theme.WIDTH,
) -> alt.LayerChart:
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
    drawn = pd.DataFrame({"step": frame["step"].to_numpy()[kept]})
    # Columns are numbered: a parameter's name may hold what a field name must not.
    titles = {"loss": loss_title, **{f"p{i}": name for i, name in enumerate(names)}}
    for column, name in zip(titles, ["loss", *names], strict=True):
        drawn[column] = rounded(frame[name].to_numpy(float)[kept])
    lanes = stacked([_LOSS, *[_LEARNED] * len(names)], _GAP)
    pointed = hover("step", nearest=True)
    x = _steps(drawn)
    base = alt.Chart(drawn)
    tooltip = [alt.Tooltip("step:Q")]
    tooltip += [alt.Tooltip(f"{c}:Q", format=".4~g", title=t) for c, t in titles.items()]
    log = log and bool((drawn["loss"] > 0).all())
    layers = [
        _curve(drawn, x, column, lane, title, colour if column == "loss" else theme.QUIET, log)
        for (column, title), lane in zip(titles.items(), lanes, strict=True)
    ]
    height = lanes[-1].bottom
    nearest = (
        base.mark_point(opacity=0)
        .encode(x=x, y=alt.YValue(height / 2), tooltip=tooltip)
        .add_params(pointed)
        .properties(name="steps")
    )
    rule = base.transform_filter(pointed).mark_rule(color=theme.POINTER).encode(
        x=x, y=alt.YValue(lanes[0].top), y2=alt.Y2Value(height)
    )  # fmt: skip
    chart = alt.LayerChart(layer=[theme.ramp(), nearest, rule, *layers], resolve=OWN_SCALES)
    return theme.finished(chart, width=width, height=height)


def _steps(drawn: pd.DataFrame) -> alt.X:
    steps = drawn["step"].to_numpy(float)
    ends = [float(steps.min()), float(steps.max())]
    if ends[0] == ends[1]:
        ends = [ends[0] - 1, ends[1] + 1]
    axis = alt.Axis(
        title="step", grid=False, labelFlush=True, labelSeparation=8, tickCount=4,
        format="~s", tickMinStep=1,
    )  # fmt: skip
    return alt.X("step:Q", scale=alt.Scale(domain=ends, nice=False, zero=False), axis=axis)


def _curve(
    drawn: pd.DataFrame, x: alt.X, column: str, lane: Lane, title: str, colour: str, log: bool
) -> alt.Chart:
    values = drawn[column].to_numpy(float)
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if column == "loss" and log:
        scale = lane.scale(low / 1.1, high * 1.1, "log")
    else:
        margin = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
        scale = lane.scale(low - margin, high + margin)
    axis = lane.axis(title, _ROOM, form=theme.NUMBER)
    mark = alt.Chart(drawn).mark_line(color=colour, strokeWidth=2 if column == "loss" else 1.5)
    return mark.encode(x=x, y=alt.Y(f"{column}:Q", scale=scale, axis=axis))
