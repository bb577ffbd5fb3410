"""A map as a picture that answers the pointer: for more cells than a browser draws at ease.

No cell is a mark of its own. Transparent rectangles tell which cell the pointer is on, and only
that cell's weight is looked up, in a text that is part of the chart.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.cells import HEIGHT, Plot, picture_layers, shown_weight
from dashboard.charts.image import at, read
from dashboard.charts.lanes import hover
from dashboard.charts.template import Data


def pointed_layers(
    source: alt.Chart, hit: Data, plot: Plot, gold: Data | None = None
) -> list[alt.Chart]:
    """The one row of ``source`` as an image, and frames around the row and column pointed at.

    The selection ``hover`` tells by ``left`` and ``top`` the middle of that cell, in cells.

    Args:
        hit: what :func:`hit_table` makes.
        source, plot, gold: as of :func:`~dashboard.charts.cells.picture_layers`.
    """
    unseen = (
        alt.Chart(hit)
        .mark_rect(
            width=alt.ExprRef(plot.across), height=alt.ExprRef("side"), fill="white",
            fillOpacity=0, aria=False,
        )
        .encode(x="left:Q", y="top:Q")
        .add_params(hover("left", "top"))
        .properties(name="hit")
    )  # fmt: skip
    return [*picture_layers(source, plot, gold), unseen, *_frames(plot)]


def hit_table(queries: int, keys: int) -> pa.Table:
    """The middle of each cell: of half the numbers the browser is twice as quick to place them."""
    query, key = (axis.ravel() for axis in np.indices((queries, keys)))
    return pa.table({"left": key + 0.5, "top": query + 0.5})


def pointed_title(name: str, weights: str) -> alt.ExprRef:
    """The chart's name, and while the pointer is on a cell its words and its weight.

    Args:
        name, weights: Vega expressions: the name, and the weights as text, see
            :mod:`~dashboard.charts.image`.
    """
    place = "2 * (floor(hover.top[0]) * length(keys) + floor(hover.left[0]))"
    value = read(f"substring({weights}, {place}, {place} + 2)")
    shown = shown_weight(value)
    weight = (
        f"queries[floor(hover.top[0])] + ' → ' + keys[floor(hover.left[0])] + ': ' + ({shown})"
    )
    return alt.ExprRef(f"isValid(hover.top) ? {name} + ' · ' + {weight} : {name}")


def _frames(plot: Plot) -> list[alt.Chart]:
    base = (
        alt.Chart(alt.sequence(0, 1, as_="one"))
        .transform_filter("isValid(hover.top)")
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1, aria=False)
    )
    top, bottom = (f"{end}(hover.top[0]) * side" for end in ("floor", "ceil"))
    left, right = (f"{end}(hover.left[0]) * {plot.across}" for end in ("floor", "ceil"))
    return [
        at(base, "0", top, plot.end, bottom).properties(name="row"),
        at(base, left, "0", right, HEIGHT).properties(name="column"),
    ]
