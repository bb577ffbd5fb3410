"""A map as a picture that answers the pointer: for more cells than a browser draws at ease.

Nothing is drawn per cell. Unseen rectangles tell which cell the pointer is on, and only for that
one a weight is looked up in the text that travels with the chart.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.cells import Plot, picture_layers
from dashboard.charts.codes import read
from dashboard.charts.places import at
from dashboard.charts.pointer import hover
from dashboard.charts.template import Data


def pointed_layers(
    source: alt.Chart, hit: Data, plot: Plot, vmax: float, gold: Data | None = None
) -> list[alt.Chart]:
    """The one row of ``source`` as an image, and frames around the row and column pointed at.

    The selection ``hover`` tells by ``left`` and ``top`` the middle of that cell, in cells.

    Args:
        hit: what :func:`hit_table` makes.
        source, plot, vmax, gold: as of :func:`~dashboard.charts.cells.picture_layers`.
    """
    queries, keys = len(plot.queries), len(plot.keys)
    across = alt.ExprRef(f"min(width, {plot.widest:g}) / {keys}")
    unseen = (
        alt.Chart(hit)
        .mark_rect(
            width=across, height=plot.height / queries, fill="white", fillOpacity=0, aria=False
        )
        .encode(x="left:Q", y="top:Q")
        .add_params(hover("left", "top"))
        .properties(name="hit")
    )
    return [*picture_layers(source, plot, vmax, gold), unseen, *_frames(plot)]


def hit_table(queries: int, keys: int) -> pa.Table:
    """The middle of each cell: of half the numbers the browser is twice as quick to place them."""
    query, key = (axis.ravel() for axis in np.indices((queries, keys)))
    return pa.table({"left": key + 0.5, "top": query + 0.5})


def pointed_title(name: str, plot: Plot, weights: str) -> alt.ExprRef:
    """The chart's name, and while the pointer is on a cell its words and its weight.

    Args:
        name, weights: Vega expressions: the name, and the weights as text, see
            :mod:`~dashboard.charts.codes`.
    """
    place = f"2 * (floor(hover.top[0]) * {len(plot.keys)} + floor(hover.left[0]))"
    value = read(f"substring({weights}, {place}, {place} + 2)")
    shown = f"isValid({value}) ? format({value}, '.3f') : 'masked'"
    weight = (
        f"queries[floor(hover.top[0])] + ' → ' + keys[floor(hover.left[0])] + ': ' + ({shown})"
    )
    return alt.ExprRef(f"isValid(hover.top) ? {name} + ' · ' + {weight} : {name}")


def _frames(plot: Plot) -> list[alt.Chart]:
    across = f"(min(width, {plot.widest:g}) / {len(plot.keys)})"
    down = plot.height / len(plot.queries)
    base = (
        alt.Chart(alt.sequence(0, 1, as_="one"))
        .transform_filter("isValid(hover.top)")
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1, aria=False)
    )
    top, bottom = (f"{end}(hover.top[0]) * {down}" for end in ("floor", "ceil"))
    left, right = (f"{end}(hover.left[0]) * {across}" for end in ("floor", "ceil"))
    return [
        at(base, "0", top, f"min(width, {plot.widest:g})", bottom).properties(name="row"),
        at(base, left, "0", right, f"{plot.height:g}").properties(name="column"),
    ]
