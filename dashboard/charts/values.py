"""Values of both signs as a heatmap of any cell size, with rows or columns framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.grid import boxes, gaps, inset, middles, positions
from dashboard.charts.labels import MOST_ROOM, labels_of, room, thinned
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Data, Prepared, Sources, values_of
from dashboard.language import gettext

MOST_CELLS = 5_000  # as many rows as Altair takes; a browser repaints them in a fifth of a second
_LINE = theme.FONT_SIZE + 3  # px, of a level label


class ValuesShape(NamedTuple):
    """What a specification follows from.

    Args:
        counts: of rows and of columns.
        ticks: the rows and the columns that are labelled.
        titles: what the axes count, rows first.
        numbers: the format of the numbers in the cells.
        room: px for the labels of the rows.
        width: px, of the whole chart where the host does not stretch it.
    """

    counts: tuple[int, int]
    ticks: tuple[tuple[int, ...], tuple[int, ...]]
    titles: tuple[str, str]
    signed: bool
    numbers: str
    framed: bool
    cell: tuple[float, float]
    room: int
    width: int


def prepare_values(
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
    width: int = theme.WIDTH,
) -> Prepared[ValuesShape]:
    """What :func:`draw_values` draws: a matrix, its first row on top.

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
    labels = labels_of(rows, count, "row"), labels_of(columns, wide, "column")
    end = float(np.nanmax(np.abs(matrix), initial=0)) if vmax is None else vmax
    left = room(labels[0], MOST_ROOM) if room_left is None else room_left
    across = min(width - left, wide * cell[0])
    ticks = (
        thinned(count, count * cell[1], _LINE),
        thinned(wide, across, room(labels[1], MOST_ROOM) + 4),
    )
    row, column = (axis.ravel() for axis in np.indices(matrix.shape))
    value = pa.array(rounded(matrix.ravel()), from_pandas=True)
    tables = {"cells": pa.table({"r": row, "c": column, "value": value})}
    if framed:
        tables["frames"] = _frames_table(framed, count, wide)
    shape = ValuesShape(
        counts=(count, wide), ticks=(tuple(ticks[0]), tuple(ticks[1])),
        titles=(row_title, column_title), signed=signed, numbers=numbers, framed=bool(framed),
        cell=cell, room=left, width=width,
    )  # fmt: skip
    summary = of_matrix(
        matrix, labels[0], labels[1], quantity=gettext("value"),
        names=(row_title or gettext("row"), column_title or gettext("column")),
    )  # fmt: skip
    told = {"rows": labels[0], "columns": labels[1], "end": end or 1.0}
    return Prepared(tables, shape, told, summary)


def draw_values(data: Sources, shape: ValuesShape) -> alt.LayerChart:
    """The heatmap of ``data``, as :func:`prepare_values` makes it, or names it.

    Hovering a cell tells its value.
    """
    (count, wide), (row_title, column_title) = shape.counts, shape.titles
    height, end = count * shape.cell[1], alt.ExprRef("end")
    base = alt.Chart(data["cells"]).transform_calculate(
        left="datum.c", right="datum.c + 1", top="datum.r", bottom="datum.r + 1",
        row="rows[datum.r]", column="columns[datum.c]",
    )  # fmt: skip
    x = alt.X(
        "left:Q",
        scale=positions(wide, alt.ExprRef(f"min(width, {wide * shape.cell[0]:g})")),
        axis=middles("columns", shape.ticks[1], orient="top", angle=0, title=column_title or None),
    )
    y = alt.Y(
        "top:Q",
        scale=positions(count, height),
        axis=middles(
            "rows", shape.ticks[0], orient="left", room=shape.room, limit=shape.room, angle=0,
            title=row_title or None,
        ),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("row:N", title=row_title or gettext("row")),
        alt.Tooltip("column:N", title=column_title or gettext("column")),
        alt.Tooltip("value:Q", format=".4~g", title=gettext("value")),
    ]
    colour = theme.diverging(end) if shape.signed else theme.sequential(end)
    layers = [
        boxes(base.transform_filter("isValid(datum.value)"), x, y)
        .mark_rect(**gaps(min(shape.cell)))
        .encode(color=alt.Color("value:Q", scale=colour, legend=None), tooltip=tooltip)
        .properties(name="cells")
    ]
    if shape.numbers:
        layers.append(_numbers(base, shape.numbers))
    if shape.framed:
        layers.append(_frames(data["frames"]))
    return theme.finished(
        alt.LayerChart(layer=layers), width=shape.width, height=height, params=values_of(data)
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


def _frames_table(framed: str, count: int, wide: int) -> pa.Table:
    sides = (
        [{"left": 0, "right": wide, "top": i, "bottom": i + 1} for i in range(count)]
        if framed == "rows"
        else [{"left": i, "right": i + 1, "top": 0, "bottom": count} for i in range(wide)]
    )
    return pa.Table.from_pylist(sides)


def _frames(sides: Data) -> alt.Chart:
    return (
        boxes(alt.Chart(sides), alt.X("left:Q"), alt.Y("top:Q"))
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=2, cornerRadius=4, **inset(2))
        .properties(name="frames")
    )
