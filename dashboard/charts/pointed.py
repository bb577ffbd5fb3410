"""A map as a picture that answers the pointer: for more cells than a browser draws at ease.

Nothing is drawn per cell. Unseen rectangles tell which cell the pointer is on, and only for that
one a weight is looked up in the text that travels with the chart.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.cells import Plot, picture_layers
from dashboard.charts.codes import read


def pointed_layers(
    source: alt.Chart, plot: Plot, vmax: float, links: np.ndarray | None = None
) -> list[alt.Chart]:
    """The one row of ``source`` as an image, and frames around the row and column pointed at.

    The selection ``hover`` tells by ``left`` and ``top`` the middle of that cell, in cells.

    Args:
        source, plot, vmax, links: as of :func:`~dashboard.charts.cells.picture_layers`.
    """
    queries, keys = len(plot.queries), len(plot.keys)
    query, key = (axis.ravel() for axis in np.indices((queries, keys)))
    # The middle of each cell: of half the numbers the browser is twice as quick to place them.
    table = pd.DataFrame({"left": key + 0.5, "top": query + 0.5})
    hover = alt.selection_point(
        name="hover", fields=["left", "top"], on="pointerover", clear="pointerout", empty=False
    )
    across = alt.ExprRef(f"min(width, {plot.widest:g}) / {keys}")
    hit = (
        alt.Chart(table)
        .mark_rect(
            width=across, height=plot.height / queries, fill="white", fillOpacity=0, aria=False
        )
        .encode(x="left:Q", y="top:Q")
        .add_params(hover)
        .properties(name="hit")
    )
    return [*picture_layers(source, plot, vmax, links), hit, *_frames(plot)]


def pointed_title(name: str, plot: Plot, weights: str) -> alt.ExprRef:
    """The chart's name, and while the pointer is on a cell its words and its weight.

    Args:
        name, weights: Vega expressions: the name, and the weights as text, see
            :mod:`~dashboard.charts.codes`.
    """
    at = f"2 * (floor(hover.top[0]) * {len(plot.keys)} + floor(hover.left[0]))"
    value = read(f"substring({weights}, {at}, {at} + 2)")
    shown = f"isValid({value}) ? format({value}, '.3f') : 'masked'"
    told = f"queries[floor(hover.top[0])] + ' → ' + keys[floor(hover.left[0])] + ': ' + ({shown})"
    return alt.ExprRef(f"isValid(hover.top) ? {name} + ' · ' + {told} : {name}")


def _frames(plot: Plot) -> list[alt.Chart]:
    across = f"(min(width, {plot.widest:g}) / {len(plot.keys)})"
    down = plot.height / len(plot.queries)
    whole = {"x": "0", "x2": f"min(width, {plot.widest:g})", "y": "0", "y2": f"{plot.height:g}"}
    sides = {
        "row": {"y": f"floor(hover.top[0]) * {down}", "y2": f"ceil(hover.top[0]) * {down}"},
        "column": {
            "x": f"floor(hover.left[0]) * {across}",
            "x2": f"ceil(hover.left[0]) * {across}",
        },
    }
    channels = {"x": alt.XValue, "x2": alt.X2Value, "y": alt.YValue, "y2": alt.Y2Value}
    base = alt.Chart(pd.DataFrame({"one": [1]})).transform_filter("isValid(hover.top)")
    return [
        base.mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1, aria=False)
        .encode(**{n: channels[n](alt.ExprRef(expr)) for n, expr in (whole | side).items()})
        .properties(name=name)
        for name, side in sides.items()
    ]
