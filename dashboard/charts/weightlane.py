"""The weights of a kernel regression, a column per query, as a lane under its curve."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.curves import ROOM, input_axis
from dashboard.charts.frames import rounded
from dashboard.charts.image import MAX_SIDE, PICK, palette_png, summarised
from dashboard.charts.labels import thinned
from dashboard.charts.lanes import Lane
from dashboard.charts.problem import Problem


def cell_table(weights: np.ndarray) -> pd.DataFrame:
    """A row per weight of ``(queries, keys)``: ``q``, ``k``, ``weight``."""
    query, key = (axis.ravel() for axis in np.indices(weights.shape))
    return pd.DataFrame({"q": query, "k": key, "weight": rounded(weights.ravel())})


def weight_lane(
    drawn: Problem, cells: pd.DataFrame | None, lane: Lane, vmax: float
) -> alt.Chart | alt.LayerChart:
    """The map in its lane: of ``cells`` where given, else as an image."""
    keys = drawn.weights.shape[1]
    ticks = thinned(keys, lane.height, 34)
    step = ticks[1] if len(ticks) > 1 else 1
    labels = alt.param(name="inputs", value=_numbers(drawn.inputs[ticks]))
    axis = lane.axis(
        f"weights of the training {'x' if drawn.line else 'points'}",
        ROOM,
        values=[k + 0.5 for k in ticks],
        tickCount=len(ticks),
        labelExpr=f"inputs[floor(datum.value / {step})]",
        grid=False,
    )
    y = alt.Y("low:Q", scale=lane.scale(0, keys), axis=axis)
    layer = _picture(drawn, y, lane, vmax) if cells is None else _grid(drawn, cells, y, vmax)
    return layer.add_params(labels)


def _numbers(values: np.ndarray) -> list[str]:
    """The values with as many decimals as tell them apart."""
    spread = float(np.ptp(values))
    if not 1e-3 <= spread < 1e5:
        return [f"{value:.2g}" for value in values]
    decimals = max(0, 1 - int(np.floor(np.log10(spread))))
    return [f"{value:.{decimals}f}" for value in values]


def _grid(drawn: Problem, cells: pd.DataFrame, y: alt.Y, vmax: float) -> alt.Chart:
    places = alt.LookupData(drawn.curve, key="q", fields=["left", "right", "x"])
    inputs = alt.LookupData(
        pd.DataFrame({"k": np.arange(len(drawn.inputs)), "input": rounded(drawn.inputs)}),
        key="k", fields=["input"],
    )  # fmt: skip
    return (
        alt.Chart(cells)
        .transform_lookup("q", places)
        .transform_lookup("k", inputs)
        .transform_calculate(low="datum.k", high="datum.k + 1")
        # Half a pixel over the next cell: no seams between cells of broken widths.
        .mark_rect(x2Offset=0.5, yOffset=0.5)
        .encode(
            x=input_axis(drawn, "left"),
            x2="right:Q",
            y=y,
            y2="high:Q",
            color=alt.Color("weight:Q", scale=theme.sequential(vmax), legend=None),
            tooltip=[
                alt.Tooltip("x:Q", format=".4~g", title=drawn.x_title),
                alt.Tooltip("input:Q", format=".4~g", title="training x"),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )


def _picture(drawn: Problem, y: alt.Y, lane: Lane, vmax: float) -> alt.LayerChart:
    # A pixel column is as wide as any other, a query's column need not be: what lies under the
    # middle of each pixel column is drawn.
    left, right = float(drawn.edges[0]), float(drawn.edges[-1])
    columns = min(len(drawn.weights), MAX_SIDE)
    middles = left + (np.arange(columns) + 0.5) * (right - left) / columns
    under = np.clip(np.searchsorted(drawn.edges, middles) - 1, 0, len(drawn.weights) - 1)
    image, _ = summarised(drawn.weights[under].T[::-1])
    images = {scheme: palette_png(image, vmax, scheme) for scheme in theme.SEQUENTIAL}
    keys = drawn.weights.shape[1]
    frame = pd.DataFrame([{"left": left, "right": right, "low": 0, "high": keys, **images}])
    base = alt.Chart(frame)
    # Nothing is seen of the frame: it carries the axis, and the ramp that the host has chosen.
    unseen = base.mark_rect(fillOpacity=0).encode(
        x=input_axis(drawn, "left"),
        x2="right:Q",
        y=y,
        y2="high:Q",
        color=alt.Color("low:Q", scale=theme.sequential(vmax), legend=None),
    )
    picture = (
        base.transform_calculate(url=PICK)
        .mark_image(
            width=alt.ExprRef(f"scale('x', {right}) - scale('x', {left})"), height=lane.height,
            aspect=False, smooth=False, align="left", baseline="top",
        )
        .encode(url="url:N", x=input_axis(drawn, "left"), y=alt.value(lane.top))
    )  # fmt: skip
    return alt.layer(picture, unseen)
