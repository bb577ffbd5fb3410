"""Weights as text: two signs each, which a chart reads back where it needs them.

As numbers, tens of thousands of weights would take Altair and the browser seconds.
"""

from __future__ import annotations

import numpy as np

SIGNS = "".join(chr(code) for code in range(35, 127) if chr(code) not in "'\\")
_STEPS = len(SIGNS) ** 2 - 1
_MASKED = "!!"
# In a Vega expression with the list `signs`: the weight of `datum.code`, null where it is masked.
READ = (
    f"datum.code === '{_MASKED}' ? null : "
    f"(indexof(signs, datum.code[0]) * {len(SIGNS)} + indexof(signs, datum.code[1])) / {_STEPS}"
)


def written(weights: np.ndarray) -> str:
    """Weights from 0 to 1, row by row, to an 8,100th; NaN is masked."""
    steps = np.rint(np.clip(np.nan_to_num(weights), 0, 1) * _STEPS).astype(int).ravel()
    signs = np.array(list(SIGNS))
    pairs = np.char.add(signs[steps // len(signs)], signs[steps % len(signs)])
    return "".join(np.where(np.isnan(weights).ravel(), _MASKED, pairs))
