"""Values of both signs as a heatmap of any cell size, with rows or columns framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.grid import boxes, gaps, inset, middles, positions
from dashboard.charts.labels import MOST_ROOM, labels_of, room, thinned

MOST_CELLS = 5_000  # as many rows as Altair takes; a browser repaints them in a fifth of a second
_LINE = theme.FONT_SIZE + 3  # px, of a level label


def values_heatmap(
    values: ArrayLike,
    *,
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    row_title: str = "",
    column_title: str = "",
    vmax: float | None = None,
    signed: bool = True,
    numbers: str = "",
    framed: Literal["", "rows", "columns"] = "",
    cell: tuple[float, float] = (24, 24),
    room_left: int | None = None,
    title: str = "",
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """A matrix, its first row on top; hovering a cell tells its value.

    Args:
        values: ``(rows, columns)``; NaN is left empty.
        rows, columns: labels; positions where None.
        row_title, column_title: what the axes count; no titles where empty.
        vmax: the end of the colour scale, the largest absolute value where None.
        signed: the diverging scale from -vmax, else the sequential one from 0.
        numbers: a d3 format such as ``".2f"`` to write every value into its cell.
        framed: what belongs together, drawn as frames.
        cell: px, the most width and the height of a cell.
        room_left: px for the labels of the rows; as many as they need where None.

    Raises:
        ValueError: not a matrix with cells, more than :data:`MOST_CELLS`, labels that do not fit.
    """
    matrix = _checked(values)
    count, wide = matrix.shape
    row_labels = labels_of(rows, count, "row")
    column_labels = labels_of(columns, wide, "column")
    end = float(np.nanmax(np.abs(matrix), initial=0)) if vmax is None else vmax
    end = end or 1.0
    colour = theme.diverging(end) if signed else theme.sequential(end)
    left = room(row_labels, MOST_ROOM) if room_left is None else room_left
    height = count * cell[1]
    row, column = (axis.ravel() for axis in np.indices(matrix.shape))
    table = pd.DataFrame({"r": row, "c": column, "value": rounded(matrix.ravel())})
    base = alt.Chart().transform_calculate(
        left="datum.c", right="datum.c + 1", top="datum.r", bottom="datum.r + 1",
        row="rows[datum.r]", column="columns[datum.c]",
    )  # fmt: skip
    across = min(width - left, wide * cell[0])
    ticks = thinned(wide, across, room(column_labels, MOST_ROOM) + 4)
    x = alt.X(
        "left:Q",
        scale=positions(wide, alt.ExprRef(f"min(width, {wide * cell[0]:g})")),
        axis=middles("columns", ticks, orient="top", angle=0, title=column_title or None),
    )
    y = alt.Y(
        "top:Q",
        scale=positions(count, height),
        axis=middles(
            "rows", thinned(count, height, _LINE), orient="left", room=left, limit=left, angle=0,
            title=row_title or None,
        ),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("row:N", title=row_title or "row"),
        alt.Tooltip("column:N", title=column_title or "column"),
        alt.Tooltip("value:Q", format=".4~g"),
    ]
    layers = [
        boxes(base.transform_filter("isValid(datum.value)"), x, y)
        .mark_rect(**gaps(min(cell)))
        .encode(color=alt.Color("value:Q", scale=colour, legend=None), tooltip=tooltip)
        .properties(name="cells")
    ]
    if numbers:
        layers.append(_numbers(base, numbers))
    if framed:
        layers.append(_frames(framed, count, wide))
    return theme.finished(
        alt.LayerChart(layer=layers, data=table),
        width=width,
        height=height,
        title=theme.heading(title),
        params={"rows": row_labels, "columns": column_labels},
    )


def _checked(values: ArrayLike) -> np.ndarray:
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or not 0 < matrix.size <= MOST_CELLS:
        raise ValueError(
            f"need a matrix (rows, columns) of 1 to {MOST_CELLS:,} cells, got {np.shape(values)}"
        )
    return matrix


def _numbers(base: alt.Chart, form: str) -> alt.Chart:
    return (
        base.transform_filter("isValid(datum.value)")
        .transform_calculate(
            across="datum.c + 0.5",
            down="datum.r + 0.5",
            said=f"replace(format(datum.value, '{form}'), '-', '−')",
        )
        .mark_text(fontSize=theme.FONT_SIZE, color=alt.ExprRef(theme.ON_CELL), aria=False)
        .encode(x="across:Q", y="down:Q", text="said:N")
        .properties(name="numbers")
    )


def _frames(framed: str, count: int, wide: int) -> alt.Chart:
    sides = (
        [{"left": 0, "right": wide, "top": i, "bottom": i + 1} for i in range(count)]
        if framed == "rows"
        else [{"left": i, "right": i + 1, "top": 0, "bottom": count} for i in range(wide)]
    )
    return (
        boxes(alt.Chart(pd.DataFrame(sides)), alt.X("left:Q"), alt.Y("top:Q"))
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=2, cornerRadius=4, **inset(2))
        .properties(name="frames")
    )
