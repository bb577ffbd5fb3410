"""Weights as text: two signs each, which a chart reads back where it needs them.

As numbers, tens of thousands of weights would take Altair and the browser seconds.
"""

from __future__ import annotations

import altair as alt
import numpy as np

SIGNS = "".join(chr(code) for code in range(35, 127) if chr(code) not in "'\\")
_STEPS = len(SIGNS) ** 2 - 1
_MASKED = "!!"


def read(code: str) -> str:
    """A Vega expression, in a chart with the list ``signs``, for the weight that a code means.

    Args:
        code: a Vega expression for two signs; the weight is null where they say that it is masked.
    """
    high, low = f"indexof(signs, ({code})[0])", f"indexof(signs, ({code})[1])"
    return f"({code}) === '{_MASKED}' ? null : ({high} * {len(SIGNS)} + {low}) / {_STEPS}"


def looked_up(cells: alt.Chart, weights: str) -> alt.Chart:
    """The chart with the column ``value``: the weight of each row's cell ``q``, ``k``.

    Args:
        cells: of a chart with the list ``keys``, a text per column of the map.
        weights: a Vega expression for the text of all weights.
    """
    return cells.transform_calculate(
        at="2 * (datum.q * length(keys) + datum.k)",
        code=f"substring({weights}, datum.at, datum.at + 2)",
        value=read("datum.code"),
    )


def written(weights: np.ndarray) -> str:
    """Weights from 0 to 1, row by row, to an 8,100th; NaN is masked."""
    steps = np.rint(np.clip(np.nan_to_num(weights), 0, 1) * _STEPS).astype(int).ravel()
    signs = np.frombuffer(SIGNS.encode("ascii"), dtype=np.uint8)
    pairs = np.stack([signs[steps // len(signs)], signs[steps % len(signs)]], axis=1)
    pairs[np.isnan(weights).ravel()] = ord(_MASKED[0])
    return pairs.tobytes().decode("ascii")
