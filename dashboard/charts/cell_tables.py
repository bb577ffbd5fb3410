"""Tables of the cells of a heatmap: one by one, or a picture per head."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dashboard.charts.frames import rounded
from dashboard.charts.image import pictures


def rect_table(values: np.ndarray, links: np.ndarray | None = None) -> pa.Table:
    """A row ``q``, ``k``, ``value`` per cell, with ``head`` where there are several.

    Args:
        values: ``(heads, queries, keys)``, NaN where masked.
        links: what gold says of the cells, see :func:`~dashboard.charts.gold.gold_cells`; the
            column ``gold``.
    """
    head, query, key = (axis.ravel() for axis in np.indices(values.shape))
    columns = {"head": head} if len(values) > 1 else {}
    columns |= {"q": query, "k": key}
    columns["value"] = pa.array(rounded(values.ravel()), from_pandas=True)  # null where masked
    if links is not None:
        columns["gold"] = pa.array(np.broadcast_to(links, values.shape).ravel(), pa.string())
    return pa.table(columns)


def picture_table(values: np.ndarray, vmax: float) -> tuple[pa.Table, str]:
    """Weights ``(heads, queries, keys)``: ``head`` and its picture for each scheme; a note."""
    rows, note = [], ""
    for head, weights in enumerate(values):
        urls, note = pictures(weights, vmax)
        rows.append({"head": head, **urls})
    return pa.Table.from_pylist(rows), note
