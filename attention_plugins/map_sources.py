"""Maps made of whatever holds weights: arrays, tuples of tensors, mappings, maps, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention_plugins.watched_map import WatchedMap, labelled


def maps_in(anything: Any) -> list[WatchedMap]:
    """The maps, not checked; see :meth:`.maps.AttentionMaps.of`."""
    if isinstance(anything, WatchedMap):
        return [anything]
    if hasattr(anything, "weights") and hasattr(anything, "query_labels"):
        return [_relabelled(anything)]
    if isinstance(anything, Mapping):
        return [_named(name, weights) for name, weights in anything.items()]
    is_text = isinstance(anything, str)
    if isinstance(anything, Sequence) and not is_text and not _is_numbers(anything):
        return list(_of_sequence(anything))
    return list(_of_array(_tensor(anything, "these")))


def _is_numbers(nested: Sequence[Any]) -> bool:
    """Whether lists hold plain numbers, at whatever depth."""
    while isinstance(nested, list | tuple) and nested:
        nested = nested[0]
    return isinstance(nested, int | float)


def _tensor(values: Any, name: str) -> Tensor:
    try:
        made = torch.as_tensor(values).detach().to("cpu", copy=True)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{name} weights are no array of numbers: {error}") from error
    if made.is_complex():
        raise ValueError(f"{name} weights are complex numbers; attention weights are real")
    return made if made.is_floating_point() else made.float()


def _named(key: object, values: Any, call: int = 0) -> WatchedMap:
    """A map of weights ``(batch, heads, queries, keys)``, which may lack their batch."""
    name = str(key)
    if values is None:
        raise ValueError(
            f"there are no weights of {name!r}, but None: ask transformers for them by "
            'output_attentions=True with attn_implementation="eager", or use watch(model)'
        )
    made = _tensor(values, repr(name))
    return WatchedMap(name=name, call=call, weights=made[None] if made.dim() == 3 else made)


def _relabelled(given: Any) -> WatchedMap:
    one = _named(getattr(given, "name", ""), given.weights)
    one = replace(one, signed=getattr(given, "signed", False) is True)
    if given.query_labels is None or given.key_labels is None:
        return one
    return labelled(one, given.query_labels, given.key_labels)


def _of_array(whole: Tensor) -> Iterator[WatchedMap]:
    if whole.dim() not in (3, 4, 5):
        raise ValueError(
            "need weights (heads, queries, keys), (layers, heads, queries, keys) or (layers, "
            f"batch, heads, queries, keys), got shape {tuple(whole.shape)}"
        )
    layers = whole[None] if whole.dim() == 3 else whole
    layers = layers[:, None] if layers.dim() == 4 else layers
    for number, weights in enumerate(layers):
        yield WatchedMap(name=str(number), weights=weights)


def _of_sequence(several: Sequence[Any]) -> Iterator[WatchedMap]:
    """Of layers, or of steps that have layers each."""
    for number, given in enumerate(several):
        if isinstance(given, WatchedMap):
            yield given
        elif hasattr(given, "weights") and hasattr(given, "query_labels"):
            yield _relabelled(given)
        elif isinstance(given, list | tuple) and not _is_numbers(given):
            for layer, weights in enumerate(given):
                yield _named(layer, weights, number)
        else:
            yield _named(number, given)
