"""The maps of one kind of attention by name: every head, and the mean of each layer's heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dashboard.charts.frames import MapFrame
from dashboard.charts.heatmap import masked_rows
from dashboard.language import gettext, gettext_noop

MEAN = gettext_noop("mean")


class HeadMap(NamedTuple):
    """One map.

    Args:
        map: its name, of :func:`map_names`.
        name: over the large map.
        layer, head: as a tooltip says them.
        short: over the small map, where there is no room for its head.
        row, column: its place among the small maps.
    """

    map: str
    name: str
    layer: str
    head: str
    short: str
    row: int
    column: int


def map_names(frames: Sequence[MapFrame]) -> list[str]:
    """What can be enlarged: ``layer.head`` counted from 1, or ``layer.mean`` for all its heads."""
    found = []
    for frame in sorted(frames, key=lambda frame: frame.layer):
        heads = len(frame.weights)
        means = [MEAN] if heads > 1 else []
        found += [f"{frame.layer + 1}.{head}" for head in (*means, *range(1, heads + 1))]
    return found


def map_title(name: str) -> str:
    """What ``1.2`` or ``1.mean`` stands for."""
    layer, _, head = name.partition(".")
    if head == MEAN:
        return gettext("layer {layer} · mean", layer=layer)
    return gettext("layer {layer} · head {head}", layer=layer, head=head)


def usual_map(frames: Sequence[MapFrame]) -> str:
    """The last layer: the mean of its heads, or its only head."""
    last = max(frames, key=lambda frame: frame.layer)
    return map_names([last])[0]


def named_maps(frames: Sequence[MapFrame]) -> list[tuple[HeadMap, np.ndarray]]:
    """Every map in order with its weights ``(queries, keys)``, NaN where masked."""
    found: list[tuple[HeadMap, np.ndarray]] = []
    for row, frame in enumerate(sorted(frames, key=lambda frame: frame.layer)):
        layer, heads = f"{frame.layer + 1}", len(frame.weights)
        first = 0
        if heads > 1:
            name = gettext(
                "layer {layer} · mean of {heads} heads, a summary", layer=layer, heads=heads
            )
            mean = frame.weights.astype(np.float64).mean(axis=0)
            head = gettext("mean of {heads}", heads=heads)
            one = HeadMap(f"{layer}.{MEAN}", name, layer, head, gettext(MEAN), row, 0)
            found.append((one, mean))
            first = 1
        for head, weights in enumerate(frame.weights, start=1):
            name, place = map_title(f"{layer}.{head}"), first + head - 1
            one = HeadMap(f"{layer}.{head}", name, layer, f"{head}", f"{head}", row, place)
            found.append((one, weights))
    return [(one, masked_rows(weights)) for one, weights in found]
