"""Weights as whoever calls a chart has them: arrays, tensors, nested lists, maps, layers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dashboard.charts.frames import MapFrame, array_of
from dashboard.charts.labels import labels_of


def frames_of(
    given: Any, query_labels: Sequence[object] | None, key_labels: Sequence[object] | None
) -> list[MapFrame]:
    """The layers of weights that have several; none of weights of one layer.

    Layers are the first axis of an array of four or five, or a sequence of arrays or of maps.
    A batch of one, as transformers' ``attentions`` have it, is that one. ValueError: a larger
    batch, layers of different shapes, or labels that do not fit.
    """
    held = list(given) if _holds_maps(given) or np.ndim(_nested(given)) > 3 else []
    if len(held) < 2:
        return []
    parts = [single(layer) for layer in held]
    layers = [checked(weights) for weights, _ in parts]
    _, queries, keys = layers[0].shape
    own = parts[0][1]
    down = labels_of(own[0] if query_labels is None else query_labels, queries, "query")
    across = labels_of(own[1] if key_labels is None else key_labels, keys, "key")
    return [
        MapFrame(kind="", layer=n, weights=each, query_labels=(*down,), key_labels=(*across,))
        for n, each in enumerate(layers)
    ]


def _nested(given: Any) -> Any:
    """Nested lists as they are; 0 for all else, whose dimensions are known."""
    return given if isinstance(given, list) and not any(hasattr(g, "ndim") for g in given) else 0


def single(given: Any) -> tuple[Any, tuple[Any, Any]]:
    """The only map's weights in a map, a batch or a tuple, and its labels or None.

    Raises ValueError where there are several.
    """
    labels = None, None
    while True:
        if hasattr(given, "weights") and hasattr(given, "query_labels"):
            labels, given = (given.query_labels, given.key_labels), given.weights
        elif not _holds_maps(given):
            return given, labels
        elif len(given) != 1:
            raise ValueError(
                f"need one map, got {len(given)} maps, layers or rows of a batch: choose one"
            )
        else:
            given = given[0]


def _holds_maps(given: Any) -> bool:
    if hasattr(given, "ndim"):
        return given.ndim > 3
    if not isinstance(given, Sequence) or not given:
        return False
    return hasattr(given[0], "weights") or getattr(given[0], "ndim", 0) > 2


def checked(weights: ArrayLike) -> np.ndarray:
    """Weights of one layer, ``(heads, queries, keys)``; ValueError of another shape."""
    values = array_of(weights)
    values = values[None] if values.ndim == 2 else values
    if values.ndim != 3 or not values.size:
        raise ValueError(
            f"need weights (queries, keys) or (heads, queries, keys), got {np.shape(weights)}"
        )
    return values
