"""Tensors and attention maps as the Arrow tables that results hold."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import torch
from torch import Tensor

from attention_plugins.record import AttentionMap

MAPS = pa.schema([
    ("kind", pa.string()), ("layer", pa.int32()), ("heads", pa.int32()),
    ("queries", pa.list_(pa.string())), ("keys", pa.list_(pa.string())),
    ("causal", pa.bool_()), ("weights", pa.list_(pa.float32())),
])  # fmt: skip


def maps_table(maps: Sequence[AttentionMap]) -> pa.Table:
    """The table ``maps`` of a :class:`~dashboard.records.request.Result`, one row per map.

    It has a column ``signed`` where weights of some map may be negative.
    """
    weights = [m.weights.detach().to("cpu", torch.float32).reshape(-1).numpy() for m in maps]
    ends = [0, *torch.tensor([len(part) for part in weights]).cumsum(0).tolist()]
    values = pa.concat_arrays([pa.array(part) for part in weights] or [pa.array([], pa.float32())])
    columns = [
        pa.array([m.site.kind for m in maps], pa.string()),
        pa.array([m.site.layer for m in maps], pa.int32()),
        pa.array([m.weights.shape[0] for m in maps], pa.int32()),
        pa.array([m.query_labels for m in maps], pa.list_(pa.string())),
        pa.array([m.key_labels for m in maps], pa.list_(pa.string())),
        # A decoder attends only to earlier positions of its own output.
        pa.array([m.site.kind == "decoder" for m in maps], pa.bool_()),
        pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values),
    ]
    table = pa.table(columns, schema=MAPS)
    signed = [m.signed for m in maps]
    return table.append_column("signed", [signed]) if any(signed) else table


def map_names(layer: int, heads: int) -> list[str]:
    """What pages call the maps of a layer, counted from 0: ``1.1``, ``1.2``, … and ``1.mean``.

    The mean of the heads is the last one, and none where there is one head alone.
    """
    names = [f"{layer + 1}.{head}" for head in range(1, heads + 1)]
    return [*names, f"{layer + 1}.mean"] if heads > 1 else names


def columns_table(columns: Mapping[str, Tensor]) -> pa.Table:
    """One column of float64 per tensor ``(n,)``."""
    return pa.table(
        {name: pa.array(part.detach().cpu().double().numpy()) for name, part in columns.items()}
    )


def matrix_table(matrix: Tensor) -> pa.Table:
    """A matrix ``(n, d)`` as a table of d columns ``c0``, ``c1``, …"""
    return columns_table({f"c{index}": column for index, column in enumerate(matrix.unbind(1))})


def coordinates(points: Tensor) -> dict[str, Tensor]:
    """Points ``(n, d)`` as columns ``x0``, ``x1``, …"""
    return {f"x{axis}": column for axis, column in enumerate(points.unbind(dim=1))}


def labels(points: Tensor) -> tuple[str, ...]:
    """A label per row of ``(n, d)``: its coordinates to four digits, such as ``"1.326, 0.5"``."""
    return tuple(", ".join(f"{value:.4g}" for value in row) for row in points.tolist())
