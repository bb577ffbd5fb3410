"""Tables of a regression result in the order and at the size in which they are drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dashboard.charts.frames import Table, column_of, names_of, rounded
from dashboard.language import gettext, gettext_noop

Columns = dict[str, np.ndarray]

MAX_MARKS = 1_500  # points or queries drawn; more say nothing more on so small a plot
_QUERIES = gettext_noop("{drawn:,} of {count:,} queries drawn")
_OUTPUTS = frozenset(("prediction", "truth", "y"))
_QUERIES_SORTED = gettext_noop("queries, sorted by {x_title}")
_ROWS_SORTED = gettext_noop("rows, sorted by {x_title}")
_POINTS = gettext_noop("{drawn:,} of {count:,} training points drawn")


class Problem(NamedTuple):
    """One curve with its training points, sorted by the first input.

    Args:
        curve: ``q`` (position), ``x``, ``left`` and ``right`` (half way to the neighbours),
            ``prediction``, ``truth`` (NaN where unknown); a column each.
        points: ``k`` (position), ``x``, ``y``. Where the inputs are more than one number, what
            was measured at the queries, as far as that is known: no x axis has a place for others.
        weights: ``(queries, keys)`` in the same order.
        edges: borders of the queries' columns, ``(queries + 1,)``.
        inputs, y: first input and value of every key, ``(keys,)``.
        x_title: of the x axis.
        line: whether neighbours in the curve are neighbours in the data.
        note: what was left out, for the reader.
    """

    curve: Columns
    points: Columns
    weights: np.ndarray | None
    edges: np.ndarray
    inputs: np.ndarray
    y: np.ndarray
    x_title: str
    line: bool
    note: str


def problem(
    curve: Table, points: Table, weights: np.ndarray | None = None, x_title: str = "x"
) -> Problem:
    """What is drawn of a result's tables ``curve`` and ``points`` and of its weights.

    Raises:
        ValueError: no queries, or weights that do not fit the tables.
    """
    if not len(curve):
        raise ValueError("need at least one query, got an empty table of predictions")
    dimensions = sum(name[0] == "x" and name[1:].isdigit() for name in names_of(curve))
    rows = np.argsort(column_of(curve, "x0"), kind="stable")
    columns = np.argsort(column_of(points, "x0"), kind="stable")
    inputs = column_of(points, "x0")[columns]
    outputs = column_of(points, "y")[columns]
    line = dimensions == 1
    if line:
        x = column_of(curve, "x0")[rows]
    else:
        x = np.arange(len(rows), dtype=float)
        sort = _ROWS_SORTED if "measured" in names_of(curve) else _QUERIES_SORTED
        x_title = gettext(sort, x_title=x_title)
    edges = _edges(x)
    drawn = {
        "q": np.arange(len(rows)),
        "x": x,
        "left": edges[:-1],
        "right": edges[1:],
        "prediction": column_of(curve, "prediction")[rows],
        "truth": column_of(curve, "truth")[rows],
    }
    scatter = {"k": np.arange(len(columns)), "x": inputs, "y": outputs}
    if not line:
        known = "measured" in names_of(curve)
        y = column_of(curve, "measured")[rows] if known else np.zeros(0)
        scatter = {"k": np.arange(len(y)), "x": x[: len(y)], "y": y}
    notes: list[str] = []
    return Problem(
        curve=_thinned(drawn, _QUERIES, notes, outputs),
        points=_thinned(scatter, _POINTS, notes, outputs),
        weights=None if weights is None else _ordered(weights, rows, columns),
        edges=edges,
        inputs=inputs,
        y=outputs,
        x_title=x_title,
        line=line,
        note="; ".join(notes),
    )


def _ordered(weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim == 3 and len(weights) == 1:
        weights = weights[0]
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(
            f"need weights of shape {(len(rows), len(columns))} (queries, training points), "
            f"got {weights.shape}"
        )
    return weights[np.ix_(rows, columns)]


def _edges(x: np.ndarray) -> np.ndarray:
    """Borders half way between neighbours, ``(n + 1,)``; one unit wide around a single x."""
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = (x[1:] + x[:-1]) / 2
    return np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])


def table_of(columns: Columns) -> pa.Table:
    """The columns as a table; null for NaN."""
    return pa.table({name: pa.array(held, from_pandas=True) for name, held in columns.items()})


def _thinned(columns: Columns, said: str, notes: list[str], outputs: np.ndarray) -> Columns:
    """So many rows as can be drawn, with the digits that they need.

    Args:
        outputs: values on the same axis as the columns of ``_OUTPUTS``; a prediction that is the
            same everywhere has their digits.
    """
    count = len(next(iter(columns.values())))
    if count > MAX_MARKS:
        notes.append(gettext(said, drawn=MAX_MARKS, count=count))
        kept = np.linspace(0, count - 1, MAX_MARKS).round().astype(int)
        columns = {name: column[kept] for name, column in columns.items()}
    return {
        name: rounded(column, outputs if name in _OUTPUTS else None)
        if column.dtype == float
        else column.astype(np.int32)
        for name, column in columns.items()
    }
