"""A small matrix with its numbers written into coloured cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.labels import MOST_ROOM, displayed, thinned
from dashboard.charts.labels import room as label_room
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared
from dashboard.charts.values import FITTING, ValuesShape, draw_values


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
_LOWEST, _TALLEST = 12, 420  # px, of a row without numbers, and of the plot
_HEADER = 18  # px, for the columns' labels

draw_matrix = draw_values


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
) -> Prepared[ValuesShape]:
    """What :func:`draw_matrix` draws: numbers, where cells have room.

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
    count, wide = grid.shape
    written = count * ROW <= _TALLEST
    row = ROW if written else max(_LOWEST, _TALLEST // count)
    across = thinned(wide, min(width - room, wide * CELL), label_room(labels[1], MOST_ROOM))
    shape = ValuesShape(
        counts=(count, wide),
        ticks=(tuple(thinned(count, row * count, theme.FONT_SIZE + 1)), tuple(across)),
        cell=(CELL, row),
        room=room,
        width=width,
        quantity=quantity,
        names=names,
        signed=bool((finite < 0).any()) if signed is None else signed,
        numbers=FITTING if written else "",
        masked=finite.size < grid.size or (masked is not None and bool(np.any(masked))),
        header=_HEADER,
    )
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    tables = {"cells": _table(grid, masked)}
    if picked is not None:
        tables["picked"] = _edges(picked, shape.counts)
    return Prepared(
        tables,
        shape,
        {"rows": labels[0], "columns": labels[1], "end": vmax or largest or 1.0},
        of_matrix(grid, *labels, quantity=quantity, names=names),
    )


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


def _edges(picked: tuple[int | None, int | None], counts: tuple[int, int]) -> pa.Table:
    """Those of a cell, a row or a column."""
    r, c = picked
    return pa.table(
        {
            "left": [0 if c is None else c], "right": [counts[1] if c is None else c + 1],
            "top": [0 if r is None else r], "bottom": [counts[0] if r is None else r + 1],
        }
    )  # fmt: skip
