"""Tables of a regression result in the order and at the size in which they are drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from dashboard.charts.frames import Table, frame_of, rounded

MAX_MARKS = 1_500  # points or queries drawn; more say nothing more on so small a plot


class Problem(NamedTuple):
    """One curve with its training points, sorted by the first input.

    Args:
        curve: ``q`` (position), ``x``, ``left`` and ``right`` (half way to the neighbours),
            ``prediction``, ``truth`` (NaN where unknown).
        points: ``q`` (of the query that is nearest), ``k`` (position), ``x``, ``y``. Empty where
            the inputs are more than one number: no x axis has a place for them.
        weights: ``(queries, keys)`` in the same order.
        edges: borders of the queries' columns, ``(queries + 1,)``.
        x: of every query, ``(queries,)``.
        inputs, y: first input and value of every key, ``(keys,)``.
        x_title: of the x axis.
        line: whether neighbours in the curve are neighbours in the data.
        note: what was left out, for the reader.
    """

    curve: pd.DataFrame
    points: pd.DataFrame
    weights: np.ndarray | None
    edges: np.ndarray
    x: np.ndarray
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
    curve, points = frame_of(curve), frame_of(points)
    if curve.empty:
        raise ValueError("need at least one query, got an empty table of predictions")
    dimensions = sum(name[0] == "x" and name[1:].isdigit() for name in curve.columns)
    rows = np.argsort(curve["x0"].to_numpy(float), kind="stable")
    columns = np.argsort(points["x0"].to_numpy(float), kind="stable")
    inputs = points["x0"].to_numpy(float)[columns]
    outputs = points["y"].to_numpy(float)[columns]
    line = dimensions == 1
    if line:
        x = curve["x0"].to_numpy(float)[rows]
    else:
        x = np.arange(len(rows), dtype=float)
        x_title = f"query, sorted by {x_title}, the first of {dimensions} inputs"
    edges = _edges(x)
    drawn = {
        "q": np.arange(len(rows)),
        "x": x,
        "left": edges[:-1],
        "right": edges[1:],
        "prediction": curve["prediction"].to_numpy(float)[rows],
        "truth": curve["truth"].to_numpy(float)[rows],
    }
    scatter = {
        "q": np.clip(np.searchsorted(edges, inputs) - 1, 0, len(rows) - 1),
        "k": np.arange(len(columns)),
        "x": inputs,
        "y": outputs,
    }
    notes: list[str] = []
    return Problem(
        curve=_thinned(drawn, "queries", notes),
        points=_thinned(scatter if line else _none_of(scatter), "training points", notes),
        weights=None if weights is None else _ordered(weights, rows, columns),
        edges=edges,
        x=x,
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


def _none_of(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: column[:0] for name, column in columns.items()}


def _thinned(columns: dict[str, np.ndarray], what: str, notes: list[str]) -> pd.DataFrame:
    count = len(columns["q"])
    kept = np.arange(count)
    if count > MAX_MARKS:
        notes.append(f"{MAX_MARKS:,} of {count:,} {what} drawn")
        kept = np.linspace(0, count - 1, MAX_MARKS).round().astype(int)
    few = {name: column[kept] for name, column in columns.items()}
    return pd.DataFrame(
        {
            name: rounded(column) if column.dtype == float else column
            for name, column in few.items()
        }
    )
