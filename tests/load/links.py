"""Links of every page that computes, each with values of its own, and what must follow of them.

A link is made of a number. What is drawn of it says whether it was computed from that number:
from the chart's own points, from the words of the sentence, or from the numbers themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
from support.visiting import Visit

from dashboard.charts.live import EXACT

NUMBERS = 9_000  # links that differ
_STRIDE = 3_571  # so that neighbouring numbers have widths that are far apart
_WORD = re.compile(r"(?<![\w.,])70\d{5}(?![\w])")
_CLOSE = 2e-3  # what is drawn is rounded
_POSITIONS, _OFFSETS, _SIZE = 60, 150, 32
_ROWS, _COLUMNS = 3, 4  # of the queries of the page Anatomy


@dataclass(frozen=True)
class Page:
    """A page under load.

    Args:
        path: in the address.
        query: of the link of a number from 0 to :data:`NUMBERS` - 1.
        follows: whether everything that a visit shows follows from that number.
    """

    path: str
    query: Callable[[int], dict[str, Any]]
    follows: Callable[[Visit, int], bool]

    def link(self, number: int) -> str:
        """The link's query."""
        return urlencode(self.query(number))


def _width(number: int) -> float:
    return round(0.2 + number * _STRIDE % NUMBERS / 10_000, 4)


def _word(number: int) -> str:
    return f"{7_000_000 + number}"


def _tables(visit: Visit) -> list[pa.Table]:
    """What charts and tables show; one that follows a slider, while that rests."""
    return [
        table.rename_columns([name.removeprefix(EXACT) for name in table.column_names])
        for table in visit.tables()
    ]


def _table(visit: Visit, *columns: str) -> pa.Table:
    """The first table with these columns.

    Raises:
        LookupError: there is none.
    """
    for table in _tables(visit):
        if set(columns) <= set(table.column_names):
            return table
    raise LookupError(f"no table with {', '.join(columns)}")


def _column(table: pa.Table, name: str) -> np.ndarray:
    return np.array(table[name].to_pylist(), dtype=float)


def _weights(queries: np.ndarray, keys: np.ndarray, width: float) -> np.ndarray:
    scores = -((queries[:, None] - keys[None]) ** 2) / (2 * width**2)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def regressed(visit: Visit, width: float) -> bool:
    """Whether the curve of a Gaussian panel is that of its points and this width."""
    points, curve = _table(visit, "k", "x", "y"), _table(visit, "x", "prediction", "weights")
    weights = _weights(_column(curve, "x"), _column(points, "x"), width)
    expected = weights @ _column(points, "y")
    return np.allclose(_column(curve, "prediction"), expected, rtol=_CLOSE, atol=_CLOSE)


def _regressed(visit: Visit, number: int) -> bool:
    return regressed(visit, _width(number))


def _read(visit: Visit, number: int) -> bool:
    """The word is in what a worker answered, and no other visitor's is anywhere."""
    labels = [
        text for table in _tables(visit) if "keys" in table.column_names
        for text in table["keys"].to_pylist()
    ]  # fmt: skip
    unknown = [text for text in visit.texts() if "not in this model's vocabulary" in text]
    answered = {word for text in (*labels, *unknown) for word in _WORD.findall(text)}
    everywhere = {word for text in (*labels, *visit.texts()) for word in _WORD.findall(text)}
    return answered == everywhere == {_word(number)}


def _scored(visit: Visit, number: int) -> bool:
    queries, keys, _, scores = [
        _column(table, "value") for table in _tables(visit) if "ruled" in table.column_names
    ][:4]
    asked = queries.reshape(_ROWS, _COLUMNS)
    expected = (asked @ keys.reshape(-1, _COLUMNS).T).ravel() / np.sqrt(_COLUMNS)
    return bool(asked[0, 0] == number / 1000) and np.allclose(
        scores, expected, rtol=_CLOSE, atol=_CLOSE
    )


def _anatomy(number: int) -> dict[str, Any]:
    first = np.eye(_ROWS, _COLUMNS)
    first[0, 0] = number / 1000
    batch = "/".join(",".join(f"{value:g}" for value in row) for row in first)
    return {"q": f"{batch}:{batch}"}


def _rotation(number: int) -> tuple[int, int]:
    return number % _POSITIONS, number // _POSITIONS % _OFFSETS - 75


def _rotated(visit: Visit, number: int) -> bool:
    position, offset = _rotation(number)
    drawn = _column(_table(visit, "x", "y", "name"), "x")
    rates = 10_000.0 ** (-np.arange(0, _SIZE, 2) / _SIZE)
    expected = np.sin(np.array([position, position + offset])[None] * rates[:, None])
    return bool(np.isclose(drawn[:2], expected, atol=1e-4).all(axis=1).any())


def _normalised(visit: Visit, number: int) -> bool:
    means = _column(_table(visit, "mean", "variance"), "mean")
    return np.allclose(means, [1.5, 1 + number / 2000], atol=1e-6)


def _longest(number: int) -> int:
    return (256, 512)[number % 2]


def _timed(visit: Visit, number: int) -> bool:
    return int(_column(_table(visit, "RNN", "n"), "n").max()) == _longest(number)


def _pair(number: int) -> dict[str, Any]:
    pair = {"source": f"I'm {_word(number)} .", "target": "Je suis moi .", "links": "0-0 1-1"}
    return {"gold": "own", **pair}


PAGES = (
    Page("regression", lambda n: {"a": "gaussian", "a.width": _width(n)}, _regressed),
    Page("translation", lambda n: {"text": f"go {_word(n)} ."}, _read),
    Page("differences", lambda n: {"text": f"go {_word(n)} .", "target": "va !"}, _read),
    Page("alignment", _pair, _read),
    Page("heads", lambda n: {"text": f"go {_word(n)} ."}, _read),
    Page("anatomy", _anatomy, _scored),
    Page(
        "positions",
        lambda n: dict(zip(("position", "offset"), _rotation(n), strict=True)) | {"size": _SIZE},
        _rotated,
    ),
    Page("normalisation", lambda n: {"x": f"1,2;2,{n / 1000:g}"}, _normalised),
    Page("complexity", lambda n: {"longest": _longest(n), "seed": n}, _timed),
    Page(
        "experiment",
        lambda n: {"scorings": "gaussian", "seeds": 1, "gaussian.width": _width(n)},
        _regressed,
    ),
)
