"""A small matrix with its numbers written into coloured cells."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.grid import boxes, gaps, middles, positions
from dashboard.charts.labels import MOST_ROOM, displayed, thinned
from dashboard.charts.labels import room as label_room

CELL, ROW = 46, 30  # px, of a cell that has room
_LEAST = 31  # px, that a number needs
_LOWEST, _TALLEST = 12, 420  # px, of a row without numbers, and of the plot
_HEADER = 18  # px, for the columns' labels


def matrix_chart(
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
) -> alt.LayerChart:
    """A matrix as coloured cells, with the numbers where the cells are wide enough.

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
    scale = _scale(grid, vmax, signed)
    written = grid.shape[0] * ROW <= _TALLEST
    height = ROW if written else max(_LOWEST, _TALLEST // grid.shape[0])
    end = f"min(width, {grid.shape[1] * CELL})"
    table = _table(grid, masked)
    base = alt.Chart().transform_calculate(
        right="datum.c + 1", bottom="datum.r + 1", middle="datum.c + 0.5", centre="datum.r + 0.5",
        row="rows[datum.r]", column="columns[datum.c]",
        shown="isValid(datum.value) ? format(datum.value, '.4~g') "
        ": datum.ruled ? '−∞, ruled out' : 'not finite'",
        said=f"'{names[0]} ' + datum.row + ', {names[1]} ' + datum.column + ', {quantity} ' "
        "+ datum.shown",
    )  # fmt: skip
    room = label_room(labels[0], MOST_ROOM) if room is None else room
    across, down = _axes(labels, height, room, width - room)
    x = alt.X("c:Q", scale=positions(grid.shape[1], alt.ExprRef(end)), axis=across)
    y = alt.Y("r:Q", scale=positions(grid.shape[0], grid.shape[0] * height), axis=down)
    placed = boxes(base, x, y).encode(
        tooltip=[
            alt.Tooltip("row:N", title=names[0]), alt.Tooltip("column:N", title=names[1]),
            alt.Tooltip("shown:N", title=quantity),
        ],
        description=alt.Description("said:N"),
    )  # fmt: skip
    layers = [
        placed.transform_filter("isValid(datum.value) && !datum.out")
        .mark_rect(**gaps(height))
        .encode(color=alt.Color("value:Q", scale=scale, legend=None))
        .properties(name="cells"),
        placed.transform_filter("!isValid(datum.value) || datum.out")
        .mark_rect(fill=theme.QUIET, fillOpacity=0.22, **gaps(height))
        .properties(name="masked"),
    ]
    if written:
        layers += _numbers(base, f"{end} / {grid.shape[1]} >= {_LEAST}")
    if picked is not None:
        layers.append(_frame(picked, grid.shape))
    chart = alt.LayerChart(layer=layers, data=table)
    lists = {"rows": labels[0], "columns": labels[1]}
    return theme.finished(chart, width=width, height=grid.shape[0] * height, params=lists)


def _scale(grid: np.ndarray, vmax: float | None, signed: bool | None) -> alt.Scale:
    finite = grid[np.isfinite(grid)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    two_sided = bool((finite < 0).any()) if signed is None else signed
    end = vmax or largest or 1.0
    return theme.diverging(end) if two_sided else theme.sequential(end)


def _table(grid: np.ndarray, masked: np.ndarray | None) -> pd.DataFrame:
    r, c = (axis.ravel() for axis in np.indices(grid.shape))
    value = rounded(np.where(np.isfinite(grid), grid, np.nan).ravel())
    table = pd.DataFrame({"r": r, "c": c, "value": value})
    out = np.zeros(grid.shape, bool) if masked is None else np.asarray(masked, bool)
    return table.assign(out=out.ravel(), ruled=np.isneginf(grid).ravel())


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


def _frame(picked: tuple[int | None, int | None], shape: tuple[int, ...]) -> alt.Chart:
    """A frame around a cell, a row or a column."""
    r, c = picked
    edges = {
        "left": 0 if c is None else c, "right": shape[1] if c is None else c + 1,
        "top": 0 if r is None else r, "bottom": shape[0] if r is None else r + 1,
    }  # fmt: skip
    return (
        boxes(alt.Chart(pd.DataFrame([edges])), alt.X("left:Q"), alt.Y("top:Q"))
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1.5, aria=False)
        .properties(name="picked")
    )


def _axes(
    labels: tuple[list[str], list[str]], height: float, room: int, available: float
) -> tuple[alt.Axis, alt.Axis]:
    """The axes of columns and of rows."""
    rows, columns = labels
    widest = label_room(columns, MOST_ROOM)
    across = thinned(len(columns), min(available, len(columns) * CELL), widest)
    down = thinned(len(rows), height * len(rows), theme.FONT_SIZE + 1)
    return (
        middles("columns", across, orient="top", room=_HEADER),
        middles("rows", down, room=room, limit=room),
    )
