"""Tensors with the names of their axes, as a result holds them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from torch import Tensor

_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("axes", pa.list_(pa.string())),
        ("shape", pa.list_(pa.int32())),
        ("values", pa.list_(pa.float64())),
    ]
)


class Stages:
    """Tensors in the order in which they are made, each with the names of its axes."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def add(self, name: str, axes: str, values: Tensor) -> Tensor:
        """Keep ``values``, whose axes are named by words; the same tensor."""
        self._rows.append(
            {
                "name": name,
                "axes": axes.split(),
                "shape": list(values.shape),
                "values": values.double().reshape(-1).numpy(),
            }
        )
        return values

    def table(self) -> pa.Table:
        """One row per tensor: ``name``, ``axes``, ``shape``, and ``values`` in C order."""
        return pa.Table.from_pylist(self._rows, schema=_SCHEMA)
