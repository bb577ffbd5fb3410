"""The weights of a kernel regression, a column per query, as a lane under its curve."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.curves import ROOM, input_axis
from dashboard.charts.frames import rounded
from dashboard.charts.image import MAX_SIDE, PICK, pictures
from dashboard.charts.labels import thinned
from dashboard.charts.lanes import Lane
from dashboard.charts.regression_tables import Problem


def cell_table(weights: np.ndarray) -> pd.DataFrame:
    """A row per weight of ``(queries, keys)``: ``q``, ``k``, ``weight``."""
    query, key = (axis.ravel() for axis in np.indices(weights.shape))
    return pd.DataFrame({"q": query, "k": key, "weight": rounded(weights.ravel())})


def weight_lane(
    drawn: Problem, weights: np.ndarray, cells: pd.DataFrame | None, lane: Lane, vmax: float
) -> list[alt.Chart]:
    """The layers of the map in its lane: of ``cells`` where given, else as an image."""
    keys = weights.shape[1]
    ticks = thinned(keys, lane.height, 34)
    axis = lane.axis(
        f"weights of the training {'x' if drawn.line else 'points'}",
        ROOM,
        values=[k + 0.5 for k in ticks],
        count=len(ticks),
        label=f"format(inputs[floor(datum.value)], '{_format(drawn.inputs)}')",
        grid=False,
    )
    y = alt.Y("low:Q", scale=lane.scale(0, keys), axis=axis)
    if cells is None:
        return _picture(drawn, weights, y, lane, vmax)
    return [_grid(drawn, cells, y, vmax)]


def lists(drawn: Problem) -> dict[str, list[float]]:
    """What the layers look up by the positions of queries and keys, as parameters of the chart."""
    columns = {"edges": drawn.edges, "at": drawn.x, "inputs": drawn.inputs, "outputs": drawn.y}
    return {name: rounded(column).tolist() for name, column in columns.items()}


def _format(values: np.ndarray) -> str:
    """As many decimals as tell the values apart."""
    spread = float(np.ptp(values))
    if not 1e-3 <= spread < 1e5:
        return ".2~g"
    return f".{max(0, 1 - int(np.floor(np.log10(spread))))}f"


def _grid(drawn: Problem, cells: pd.DataFrame, y: alt.Y, vmax: float) -> alt.Chart:
    return (
        alt.Chart(cells)
        .transform_calculate(
            left="edges[datum.q]",
            right="edges[datum.q + 1]",
            x="at[datum.q]",
            low="datum.k",
            high="datum.k + 1",
            input="inputs[datum.k]",
        )
        # Half a pixel over the next cell: no seams between cells of broken widths.
        .mark_rect(x2Offset=0.5, yOffset=0.5, aria=False)
        .encode(
            x=input_axis(drawn, "left"),
            x2=alt.X2("right:Q"),
            y=y,
            y2=alt.Y2("high:Q"),
            color=alt.Color("weight:Q", scale=theme.sequential(vmax), legend=None),
            tooltip=[
                alt.Tooltip("x:Q", format=".4~g", title=drawn.x_title),
                alt.Tooltip("input:Q", format=".4~g", title="training x"),
                alt.Tooltip("weight:Q", format=".3f"),
            ],
        )
    )


def _picture(
    drawn: Problem, weights: np.ndarray, y: alt.Y, lane: Lane, vmax: float
) -> list[alt.Chart]:
    # A pixel column is as wide as any other, a query's column need not be: what lies under the
    # middle of each pixel column is drawn.
    left, right = float(drawn.edges[0]), float(drawn.edges[-1])
    queries, keys = weights.shape
    columns = min(queries, MAX_SIDE)
    middles = left + (np.arange(columns) + 0.5) * (right - left) / columns
    under = np.clip(np.searchsorted(drawn.edges, middles) - 1, 0, queries - 1)
    images, _ = pictures(weights[under].T[::-1], vmax)
    frame = pd.DataFrame([{"left": left, "right": right, "low": 0, "high": keys, **images}])
    base = alt.Chart(frame)
    # Nothing is seen of the frame: it carries the axis, and the ramp that the host has chosen.
    unseen = base.mark_rect(fillOpacity=0).encode(
        x=input_axis(drawn, "left"),
        x2=alt.X2("right:Q"),
        y=y,
        y2=alt.Y2("high:Q"),
        color=alt.Color("low:Q", scale=theme.sequential(vmax), legend=None),
    )
    picture = (
        base.transform_calculate(url=PICK)
        .mark_image(
            width=alt.ExprRef(f"scale('x', {right}) - scale('x', {left})"), height=lane.height,
            aspect=False, smooth=False, align="left", baseline="top",
        )
        .encode(url=alt.Url("url:N"), x=input_axis(drawn, "left"), y=alt.YValue(lane.top))
    )  # fmt: skip
    return [picture, unseen]
