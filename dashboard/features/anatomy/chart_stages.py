"""Tensors by name, as the table ``stages`` of an anatomy holds them, cut into matrices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa


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
