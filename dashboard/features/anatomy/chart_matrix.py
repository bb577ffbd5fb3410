"""A small matrix with its numbers written into coloured cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.grid import boxes, gaps, middles, positions
from dashboard.charts.labels import MOST_ROOM, displayed, quoted, thinned, vega_text
from dashboard.charts.labels import room as label_room
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Data, Prepared, Sources, values_of
from dashboard.language import gettext


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A tensor with the names of its axes, such as ``("B", "n_q", "n_k")``."""

    name: str
    axes: tuple[str, ...]
    values: np.ndarray

    @property
    def shape(self) -> str:
        """Axes and sizes, ``(B, n_q, n_k) = (2, 3, 5)``."""
        sizes = ", ".join(map(str, self.values.shape))
        return f"({', '.join(self.axes)}) = ({sizes})"

    def matrix(self, row: int, head: int = 0) -> np.ndarray:
        """What is left at one row of the batch and one head; the nearest where there is none."""
        cut = self.values
        for axis, index in (("B", row), ("H", head)):
            if self.axes[: 1 if axis == "B" else 2][-1:] == (axis,):
                cut = cut[min(index, len(cut) - 1)]
        return cut

    def labels(self, axis: int) -> list[str]:
        """Of the axis, counted from the last: ``q0`` for a query, ``k0`` for a key, else 0."""
        letter = {"n_q": "q", "n_k": "k", "n": "x"}.get(self.axes[axis], "")
        return [f"{letter}{index}" for index in range(self.values.shape[axis])]


def stages(table: pa.Table) -> Mapping[str, Stage]:
    """The rows of the table by name.

    Raises:
        ValueError: numbers that do not fill their shape.
    """
    found = {}
    for entry in table.to_pylist():
        shape, values = tuple(entry["shape"]), np.array(entry["values"], dtype=np.float64)
        if values.size != prod(shape):
            raise ValueError(
                f"stage {entry['name']!r}: need {prod(shape)} numbers, got {values.size}"
            )
        found[entry["name"]] = Stage(
            name=entry["name"], axes=tuple(entry["axes"]), values=values.reshape(shape)
        )
    return found


CELL, ROW = 46, 30  # px, of a cell that has room
_LEAST = 31  # px, that a number needs
_LOWEST, _TALLEST = 12, 420  # px, of a row without numbers, and of the plot
_HEADER = 18  # px, for the columns' labels


class MatrixShape(NamedTuple):
    """What a specification follows from.

    Args:
        counts: of rows and of columns.
        ticks: the rows and the columns that are labelled.
        quantity, names: what a cell, a row and a column is.
        signed: whether the scale of colours has two sides.
        picked: whether a cell, a row or a column is framed.
        masked: whether any cell has no number or looks as if it had none.
        room: px for the labels of the rows.
    """

    counts: tuple[int, int]
    ticks: tuple[tuple[int, ...], tuple[int, ...]]
    quantity: str
    names: tuple[str, str]
    signed: bool
    picked: bool
    masked: bool
    room: int
    width: int

    @property
    def written(self) -> bool:
        """Whether there is room for numbers."""
        return self.counts[0] * ROW <= _TALLEST

    @property
    def row(self) -> int:
        """Its height in px."""
        return ROW if self.written else max(_LOWEST, _TALLEST // self.counts[0])


def prepare_matrix(
    values: np.ndarray,
    rows: Sequence[object],
    columns: Sequence[object],
    *,
    quantity: str = "value",
    names: tuple[str, str] = ("row", "column"),
    vmax: float | None = None,
    signed: bool | None = None,
    masked: np.ndarray | None = None,
    picked: tuple[int | None, int | None] | None = None,
    room: int | None = None,
    width: int = theme.WIDTH,
) -> Prepared[MatrixShape]:
    """What :func:`draw_matrix` draws: a matrix as coloured cells.

    Args:
        values: ``(rows, columns)``; what is not finite looks masked, and minus infinity is
            called ruled out.
        rows, columns: their labels.
        quantity, names: what a cell, a row and a column is, for the tooltip.
        vmax: the end of the colour scale; the largest magnitude where None.
        signed: whether the scale has two sides; where None, if a number is negative.
        masked: boolean, True where a cell looks masked but keeps its number.
        picked: row and column of a cell to frame; None for all of them.
        room: px for the labels of the rows; what they need where None.
        width: px, of the whole chart where the host does not stretch it.

    Raises:
        ValueError: no matrix, or labels that do not fit.
    """
    grid = np.asarray(values, dtype=np.float64)
    labels = displayed(rows), displayed(columns)
    if grid.ndim != 2 or grid.shape != tuple(map(len, labels)) or not grid.size:
        raise ValueError(
            f"need a matrix with a label for each row and column, got {grid.shape}, "
            f"{len(labels[0])} and {len(labels[1])} labels"
        )
    room = label_room(labels[0], MOST_ROOM) if room is None else room
    finite = grid[np.isfinite(grid)]
    shape = MatrixShape(
        counts=(len(labels[0]), len(labels[1])), ticks=((), ()), quantity=quantity, names=names,
        signed=bool((finite < 0).any()) if signed is None else signed, picked=picked is not None,
        masked=finite.size < grid.size or (masked is not None and bool(np.any(masked))),
        room=room, width=width,
    )  # fmt: skip
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    tables = {"cells": _table(grid, masked)}
    if picked is not None:
        tables["picked"] = _edges(picked, shape.counts)
    return Prepared(
        tables,
        shape._replace(ticks=_ticks(labels, shape)),
        {"rows": labels[0], "columns": labels[1], "end": vmax or largest or 1.0},
        of_matrix(grid, *labels, quantity=quantity, names=names),
    )


def draw_matrix(data: Sources, shape: MatrixShape) -> alt.LayerChart:
    """The matrix of ``data``, as :func:`prepare_matrix` makes it, or names it.

    Its numbers are written where the cells are wide enough.
    """
    (count, wide), (row_name, column_name) = shape.counts, shape.names
    end, height = f"min(width, {wide * CELL})", shape.row
    base = alt.Chart(data["cells"]).transform_calculate(
        right="datum.c + 1", bottom="datum.r + 1", middle="datum.c + 0.5", centre="datum.r + 0.5",
        row="rows[datum.r]", column="columns[datum.c]",
        shown="isValid(datum.value) ? format(datum.value, '.4~g') "
        f": datum.ruled ? {quoted(gettext('−∞, ruled out'))} : {quoted(gettext('not finite'))}",
        said=_said(shape),
    )  # fmt: skip
    across = middles("columns", shape.ticks[1], orient="top", room=_HEADER)
    down = middles("rows", shape.ticks[0], room=shape.room, limit=shape.room)
    x = alt.X("c:Q", scale=positions(wide, alt.ExprRef(end)), axis=across)
    y = alt.Y("r:Q", scale=positions(count, count * height), axis=down)
    placed = boxes(base, x, y).encode(
        tooltip=[
            alt.Tooltip("row:N", title=row_name), alt.Tooltip("column:N", title=column_name),
            alt.Tooltip("shown:N", title=shape.quantity),
        ],
        description=alt.Description("said:N"),
    )  # fmt: skip
    largest = alt.ExprRef("end")
    scale = theme.diverging(largest) if shape.signed else theme.sequential(largest)
    layers = [
        placed.transform_filter("isValid(datum.value) && !datum.out")
        .mark_rect(**gaps(height))
        .encode(color=alt.Color("value:Q", scale=scale, legend=None))
        .properties(name="cells"),
    ]
    if shape.masked:
        grey = placed.transform_filter("!isValid(datum.value) || datum.out")
        grey = grey.mark_rect(fill=theme.QUIET, fillOpacity=0.22, **gaps(height))
        layers.append(grey.properties(name="masked"))
    if shape.written:
        layers += _numbers(base, f"{end} / {wide} >= {_LEAST}")
    if shape.picked:
        layers.append(_frame(data["picked"]))
    chart = alt.LayerChart(layer=layers)
    return theme.finished(chart, width=shape.width, height=count * height, params=values_of(data))


def _said(shape: MatrixShape) -> str:
    """The Vega expression of what a screen reader says of a cell."""
    row_name, column_name, quantity = map(quoted, (*shape.names, shape.quantity))
    return vega_text(
        gettext("{row_name} {row}, {column_name} {column}, {quantity} {shown}"),
        row_name=row_name, column_name=column_name, quantity=quantity,
        row="datum.row", column="datum.column", shown="datum.shown",
    )  # fmt: skip


def _table(grid: np.ndarray, masked: np.ndarray | None) -> pa.Table:
    r, c = (axis.ravel() for axis in np.indices(grid.shape))
    value = rounded(np.where(np.isfinite(grid), grid, np.nan).ravel())
    out = np.zeros(grid.shape, bool) if masked is None else np.asarray(masked, bool)
    return pa.table(
        {
            "r": r, "c": c, "value": pa.array(value, from_pandas=True), "out": out.ravel(),
            "ruled": np.isneginf(grid).ravel(),
        }
    )  # fmt: skip


def _numbers(base: alt.Chart, fits: str) -> list[alt.Chart]:
    """The numbers in their cells, two digits of them; those of masked cells are quiet."""
    placed = base.transform_filter("isValid(datum.value) || datum.ruled").transform_calculate(
        # Whole numbers as they are, small ones with two digits behind the point.
        text="datum.ruled ? '−∞' : abs(datum.value) < 100 && datum.value != round(datum.value) "
        "? format(datum.value, abs(datum.value) < 10 ? '.2f' : '.1f') "
        ": format(datum.value, '.3~s')"
    ).encode(x=alt.X("middle:Q"), y=alt.Y("centre:Q"), text=alt.Text("text:N"))  # fmt: skip
    opacity = alt.ExprRef(f"{fits} ? 1 : 0")
    return [
        placed.transform_filter(which)
        .mark_text(fontSize=theme.FONT_SIZE, opacity=opacity, aria=False, color=colour)
        .properties(name=name)
        for name, which, colour in (
            ("numbers", "!datum.out && !datum.ruled", alt.ExprRef(theme.ON_CELL)),
            ("quiet", "datum.out || datum.ruled", theme.QUIET),
        )
    ]


def _edges(picked: tuple[int | None, int | None], counts: tuple[int, int]) -> pa.Table:
    """Those of a cell, a row or a column."""
    r, c = picked
    return pa.table(
        {
            "left": [0 if c is None else c], "right": [counts[1] if c is None else c + 1],
            "top": [0 if r is None else r], "bottom": [counts[0] if r is None else r + 1],
        }
    )  # fmt: skip


def _frame(edges: Data) -> alt.Chart:
    return (
        boxes(alt.Chart(edges), alt.X("left:Q"), alt.Y("top:Q"))
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)
        .properties(name="picked")
    )


def _ticks(
    labels: tuple[list[str], list[str]], shape: MatrixShape
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows and the columns for whose labels there is room."""
    rows, columns = labels
    available = min(shape.width - shape.room, len(columns) * CELL)
    down = thinned(len(rows), shape.row * len(rows), theme.FONT_SIZE + 1)
    return tuple(down), tuple(thinned(len(columns), available, label_room(columns, MOST_ROOM)))
