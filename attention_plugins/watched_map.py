"""One attention map of any model, its labels, and what its weights must be."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attention_plugins.marking import gettext_noop
from attention_plugins.record import Site

MOST_TOKENS = 100_000
_TOLERANCE = 2e-3  # of a row's sum, in half precision
Rows = tuple[tuple[str, ...], ...]
Tokens = Sequence[str] | Sequence[Sequence[str]] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class WatchedMap:
    """The weights of one call of one module.

    Attributes:
        name: of the module, as in ``model.named_modules()``; ``""`` is the model itself.
        call: the number of that call of the module, from 0.
        function: what computed the weights, such as ``"scaled_dot_product_attention"``.
        weights: ``(batch, heads, queries, keys)`` on the CPU, without a gradient.
        heads, rows: the numbers of the heads and queries that these are; None: all, in order.
        queries, keys: for every row of the batch the labels of its queries and of its keys.
        doubts: why it may be no attention map, or one with other axes; none where it is sure.
        signed: whether weights may be below 0, and rows sum to anything.
    """

    name: str
    weights: Tensor
    call: int = 0
    function: str = ""
    heads: tuple[int, ...] | None = None
    rows: tuple[int, ...] | None = None
    queries: Rows | None = None
    keys: Rows | None = None
    doubts: tuple[str, ...] = ()
    signed: bool = False

    @property
    def sure(self) -> bool:
        """Whether there are no doubts."""
        return not self.doubts

    @property
    def query_labels(self) -> tuple[str, ...] | None:
        """Of the only row of the batch."""
        return self.queries[0] if self.queries and len(self.queries) == 1 else None

    @property
    def key_labels(self) -> tuple[str, ...] | None:
        """Of the only row of the batch."""
        return self.keys[0] if self.keys and len(self.keys) == 1 else None

    def __str__(self) -> str:
        size = " x ".join(map(str, self.weights.shape))
        doubts = f"; not sure: {'; '.join(self.doubts)}" if self.doubts else ""
        return f"{self.name or 'the model'}, call {self.call}: {size}{doubts}"


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledMap:
    """The weights ``(heads, queries, keys)`` of one input, of a module that is no site of ours."""

    name: str
    weights: Tensor
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]


def called(name: str) -> str:
    """What a sentence calls the map of that name."""
    return f"map of {name!r}" if name else "map of the model"


def labels_of(one: WatchedMap, row: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels of queries and of keys of a row of the batch; positions from 0 without them."""
    queries, keys = one.weights.shape[2:]
    numbers = range(queries) if one.rows is None else one.rows
    return (
        one.queries[row] if one.queries else tuple(map(str, numbers)),
        one.keys[row] if one.keys else tuple(map(str, range(keys))),
    )


def labelled(of: WatchedMap, queries: Tokens, keys: Tokens) -> WatchedMap:
    """The map with labels, see :meth:`.maps.AttentionMaps.labelled`."""
    return replace(of, queries=_labels(of, "query", queries), keys=_labels(of, "key", keys))


def _labels(of: WatchedMap, what: str, tokens: Tokens) -> Rows:
    batch, _, n_queries, n_keys = of.weights.shape
    need = n_queries if what == "query" else n_keys
    if isinstance(tokens, str) or tokens is None:
        raise ValueError(f"{what} labels: need a list of tokens, got {tokens!r}")
    each: list[Any] = [tokens] * batch if all(isinstance(t, str) for t in tokens) else [*tokens]
    if len(each) != batch or any(isinstance(row, str) for row in each):
        raise ValueError(
            f"{called(of.name)}: need one list of {what} labels, or one for each of {batch} "
            f"batch rows, got {len(each)}"
        )
    chosen = of.rows if what == "query" else None
    if chosen and all(len(row) > max(chosen) for row in each) and len(each[0]) != need:
        each = [[row[number] for number in chosen] for row in each]
    wrong = [len(row) for row in each if len(row) != need]
    if wrong:
        raise ValueError(f"{called(of.name)}: need {need} {what} labels, got {wrong[0]}")
    if not all(isinstance(token, str) for row in each for token in row):
        raise ValueError(f"{called(of.name)}: {what} labels are texts")
    return tuple(tuple(row) for row in each)


def site_of(name: str) -> Site | None:
    """The site of a module, by usual names such as ``model.decoder.layers.2.encoder_attn``."""
    parts = name.split(".")
    kinds = [part for part in parts if part in ("encoder", "decoder")]
    layers = [int(part) for part in parts if part.isdecimal()]
    if not kinds or not layers:
        return None
    if kinds[-1] == "encoder":
        return Site("encoder", layers[0])
    is_cross = re.search(r"encoder_attn|cross|EncDecAttention|multihead_attn", name)
    return Site("cross" if is_cross else "decoder", layers[0])


def is_causal(weights: Tensor) -> bool:
    """Whether no query has any weight on a key after its own position, ``(heads, n_q, n_k)``."""
    queries, keys = weights.shape[1:]
    return queries == keys > 1 and not weights.triu(1).any().item()


def checked(one: WatchedMap, *, sums: bool = True) -> Tensor:
    """A map's weights ``(batch, heads, queries, keys)``, which are some.

    ValueError: another shape, values that are not finite, and where they are not ``signed``,
    values below 0 and, where ``sums``, rows that sum to neither 1 nor 0; with the map's name.
    """
    weights, where = one.weights, called(one.name)
    if weights.dim() != 4 or not weights.numel():
        raise ValueError(
            f"{where}: need weights (heads, queries, keys) or (batch, heads, queries, keys), none "
            f"of them 0, got shape {tuple(weights.shape)}"
        )
    if max(weights.shape[2:]) > MOST_TOKENS:
        raise ValueError(
            f"{where}: need at most {MOST_TOKENS:,} queries and keys, got "
            f"{weights.shape[2]:,} and {weights.shape[3]:,}"
        )
    if not torch.isfinite(weights).all():
        raise ValueError(f"{where}: weights are NaN or infinite; need numbers from 0 to 1")
    if one.signed:
        return weights
    if (weights < 0).any():
        raise ValueError(
            f"{where}: the lowest weight is {weights.min():.3g}; need weights after the softmax, "
            "from 0 to 1, or signed=True where a model's weights may be below 0"
        )
    if sums and (said := wrong_sum(weights)):
        raise ValueError(f"{where}: {said}")
    return weights


def wrong_sum(weights: Tensor) -> str:
    """What is wrong with the sums of the rows ``(..., keys)``, in a sentence; or nothing."""
    sums = weights.sum(dim=-1, dtype=torch.float64)
    wrong = sums[torch.minimum((sums - 1).abs(), sums.abs()) > _TOLERANCE]
    if not wrong.numel():
        return ""
    return gettext_noop(
        f"a row sums to {wrong[0]:.3f}; need rows over the keys that sum to 1, or to 0 where all "
        "keys are masked"
    )
