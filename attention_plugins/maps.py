"""Attention maps of any model: a sequence with names, labels and a file format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self, overload

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from attention_plugins.record import AttentionMap, Site

MOST_TOKENS = 100_000
_TOLERANCE = 2e-3  # of a row's sum, in half precision
_FORMAT = "attention-maps-1"
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


class AttentionMaps(Sequence[WatchedMap]):
    """Maps in the order of their calls; nothing in it changes."""

    def __init__(self, maps: Iterable[WatchedMap] = ()) -> None:
        self._maps = tuple(maps)

    def __len__(self) -> int:
        return len(self._maps)

    def __iter__(self) -> Iterator[WatchedMap]:
        return iter(self._maps)

    @overload
    def __getitem__(self, index: int) -> WatchedMap: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> WatchedMap | Self:
        if isinstance(index, slice):
            return type(self)(self._maps[index])
        return self._maps[index]

    def __repr__(self) -> str:
        return "\n".join([f"AttentionMaps of {len(self)}:", *map(str, self._maps)])

    @property
    def bytes(self) -> int:
        """Of all weights together."""
        return sum(each.weights.nbytes for each in self._maps)

    def named(self, pattern: str) -> Self:
        """Those whose module's name fits a pattern such as ``"*.self_attn"``; maybe none."""
        return type(self)(each for each in self._maps if fnmatchcase(each.name, pattern))

    def labelled(self, queries: Tokens, keys: Tokens = None) -> Self:
        """The same with labels: tokens of the queries and of the keys, or those of each batch row.

        Where ``rows=`` were chosen, the labels are of all queries, or of the chosen ones.

        Args:
            queries: tokens, or a list of them for every row of the batch.
            keys: the same; the queries' where None.

        Raises:
            ValueError: there are more or fewer of them than queries, keys or rows of the batch.
        """
        keys = queries if keys is None else keys
        return type(self)(
            replace(each, queries=_labels(each, "query", queries), keys=_labels(each, "key", keys))
            for each in self._maps
        )

    def map(self, index: int, batch: int = 0) -> AttentionMap | LabelledMap:
        """One map of one row of the batch, ``(heads, queries, keys)``, as charts take it.

        Positions from 0 are the labels where there are none.

        Returns:
            An :class:`AttentionMap` where the module's name tells encoder or decoder, and layer.

        Raises:
            IndexError: there is no such map or row.
            ValueError: weights that are no attention weights, such as NaN.
        """
        one = self._maps[index]
        if not 0 <= batch < len(one.weights):
            raise IndexError(f"{_called(one.name)} has batch rows 0 to {len(one.weights) - 1}")
        weights = _checked(one.weights, one.name)[batch].float()
        rows, columns = weights.shape[1:]
        row_numbers = range(rows) if one.rows is None else one.rows
        queries = one.queries[batch] if one.queries else tuple(map(str, row_numbers))
        keys = one.keys[batch] if one.keys else tuple(map(str, range(columns)))
        site = _site(one.name)
        if site is None:
            return LabelledMap(
                name=one.name, weights=weights, query_labels=queries, key_labels=keys
            )
        # Rounded to half precision, rows sum to 1 less exactly than a map's own check asks for.
        return AttentionMap(
            site=site, weights=weights, query_labels=queries, key_labels=keys, normalised=False
        )

    @classmethod
    def of(cls, anything: Any, queries: Tokens = None, keys: Tokens = None) -> Self:
        """Maps from whatever holds weights.

        Args:
            anything: arrays, tensors or nested lists ``(heads, queries, keys)``, ``(layers, heads,
                queries, keys)`` or ``(layers, batch, heads, queries, keys)``; the ``attentions``
                of transformers' ``output_attentions``, also those of each step of ``generate``;
                a mapping of names to weights ``(heads, queries, keys)`` or ``(batch, heads,
                queries, keys)``; or maps.
            queries, keys: as in :meth:`labelled`; no labels where both are None.

        Raises:
            ValueError: other dimensions, more than 100,000 queries or keys, values that are not
                finite or below 0, rows that sum to neither 1 nor 0, labels that do not fit.
        """
        if isinstance(anything, AttentionMaps | WatchedMap):
            found = list(anything) if isinstance(anything, AttentionMaps) else [anything]
        elif hasattr(anything, "weights") and hasattr(anything, "query_labels"):
            found = [_relabelled(anything)]
        elif isinstance(anything, Mapping):
            found = [_named(name, weights) for name, weights in anything.items()]
        elif isinstance(anything, list | tuple) and not _is_numbers(anything):
            found = list(_of_sequence(anything))
        else:
            found = list(_of_array(_tensor(anything, "these")))
        for each in found:
            _checked(each.weights, each.name)
        maps = cls(found)
        return maps if queries is None and keys is None else maps.labelled(queries or keys, keys)

    def save(self, path: str | Path) -> None:
        """One .safetensors file, with names and labels as JSON in its metadata.

        Raises:
            ValueError: there are no maps, or weights that :meth:`load` would refuse.
        """
        if not self._maps:
            raise ValueError("there are no maps to save")
        for each in self._maps:
            _checked(each.weights, each.name)
        facts = [
            {
                "name": m.name, "call": m.call, "function": m.function, "heads": m.heads,
                "rows": m.rows, "queries": m.queries, "keys": m.keys, "doubts": m.doubts,
            }
            for m in self._maps
        ]  # fmt: skip
        # Copies: safetensors refuses tensors that share memory.
        tensors = {
            str(n): m.weights.clone(memory_format=torch.contiguous_format)
            for n, m in enumerate(self._maps)
        }
        save_file(tensors, path, metadata={"format": _FORMAT, "maps": json.dumps(facts)})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What :meth:`save` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: another file, a truncated or altered one, or weights that are refused.
        """
        with Path(path).open("rb") as file:
            start = file.read(2)
        if start in (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
            raise ValueError(f"{path} is a pickle or an archive, as torch.save makes them, and is "
                             "not read: need a file of AttentionMaps.save")  # fmt: skip
        try:
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if metadata.get("format") != _FORMAT:
                raise ValueError("it holds other tensors than maps")
            facts = json.loads(metadata["maps"])
            if not isinstance(facts, list) or tensors.keys() != set(map(str, range(len(facts)))):
                raise ValueError("its list of maps does not fit its tensors")
            return cls(_loaded(each, tensors[str(n)]) for n, each in enumerate(facts))
        except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"{path} is truncated, altered or no file of AttentionMaps.save: "
                             f"{error}") from error  # fmt: skip


def _called(name: str) -> str:
    return f"map of {name!r}" if name else "map of the model"


def _labels(of: WatchedMap, what: str, tokens: Tokens) -> Rows:
    batch, _, n_queries, n_keys = of.weights.shape
    need = n_queries if what == "query" else n_keys
    if isinstance(tokens, str) or tokens is None:
        raise ValueError(f"{what} labels: need a list of tokens, got {tokens!r}")
    each: list[Any] = [tokens] * batch if all(isinstance(t, str) for t in tokens) else [*tokens]
    if len(each) != batch or any(isinstance(row, str) for row in each):
        raise ValueError(
            f"{_called(of.name)}: need one list of {what} labels, or one for each of {batch} "
            f"batch rows, got {len(each)}"
        )
    chosen = of.rows if what == "query" else None
    if chosen and all(len(row) > max(chosen) for row in each) and len(each[0]) != need:
        each = [[row[number] for number in chosen] for row in each]
    wrong = [len(row) for row in each if len(row) != need]
    if wrong:
        raise ValueError(f"{_called(of.name)}: need {need} {what} labels, got {wrong[0]}")
    if not all(isinstance(token, str) for row in each for token in row):
        raise ValueError(f"{_called(of.name)}: {what} labels are texts")
    return tuple(tuple(row) for row in each)


def _site(name: str) -> Site | None:
    """By the usual libraries' names, such as ``model.decoder.layers.2.encoder_attn``."""
    parts = name.split(".")
    kinds = [part for part in parts if part in ("encoder", "decoder")]
    layers = [int(part) for part in parts if part.isdecimal()]
    if not kinds or not layers:
        return None
    if kinds[-1] == "encoder":
        return Site("encoder", layers[0])
    is_cross = re.search(r"encoder_attn|cross|EncDecAttention|multihead_attn", name)
    return Site("cross" if is_cross else "decoder", layers[0])


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
    if given.query_labels is None or given.key_labels is None:
        return one
    return AttentionMaps([one]).labelled(given.query_labels, given.key_labels)[0]


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


def _checked(weights: Tensor, name: str) -> Tensor:
    where = _called(name)
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
    if (weights < 0).any():
        raise ValueError(
            f"{where}: the lowest weight is {weights.min():.3g}; need weights after the softmax, "
            "from 0 to 1"
        )
    sums = weights.sum(dim=-1, dtype=torch.float64)
    wrong = sums[torch.minimum((sums - 1).abs(), sums.abs()) > _TOLERANCE]
    if wrong.numel():
        raise ValueError(
            f"{where}: a row sums to {wrong[0]:.3f}; need rows over the keys that sum to 1, or to "
            "0 where all keys are masked"
        )
    return weights


def _loaded(facts: Any, weights: Tensor) -> WatchedMap:
    if not isinstance(facts, dict) or not weights.is_floating_point():
        raise TypeError("need facts and floating-point weights of every map")

    name, call, function, doubts = (facts[key] for key in ("name", "call", "function", "doubts"))
    if (
        not all(isinstance(text, str) for text in (name, function, *doubts))
        or type(call) is not int
    ):
        raise TypeError("need texts for name, function and doubts, and a number for call")
    _checked(weights, name)
    chosen = []
    for axis, numbers in enumerate((facts["heads"], facts["rows"]), 1):
        if numbers is not None and (
            len(numbers) != weights.shape[axis] or not all(type(n) is int for n in numbers)
        ):
            raise ValueError("heads or rows do not fit the weights")
        chosen.append(None if numbers is None else tuple(numbers))
    heads, rows = chosen
    one = WatchedMap(
        name=name, weights=weights, call=call, function=function, heads=heads, rows=rows,
        doubts=tuple(doubts),
    )  # fmt: skip
    if facts["queries"] is None or facts["keys"] is None:
        return one
    return AttentionMaps([one]).labelled(facts["queries"], facts["keys"])[0]
