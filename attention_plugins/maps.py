"""Attention maps of any model: a sequence with names, labels and a file format."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self, overload

from attention_plugins import map_files
from attention_plugins.map_files import maps_in
from attention_plugins.record import AttentionMap
from attention_plugins.watched_map import (
    LabelledMap,
    Tokens,
    WatchedMap,
    called,
    checked,
    labelled,
    labels_of,
    site_of,
)

__all__ = ["AttentionMaps", "LabelledMap", "WatchedMap"]


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
        return type(self)(labelled(each, queries, keys) for each in self._maps)

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
            raise IndexError(f"{called(one.name)} has batch rows 0 to {len(one.weights) - 1}")
        weights = checked(one)[batch].float()
        queries, keys = labels_of(one, batch)
        site = site_of(one.name)
        if site is None:
            return LabelledMap(
                name=one.name, weights=weights, query_labels=queries, key_labels=keys
            )
        # Rounded to half precision, rows sum to 1 less exactly than a map's own check asks for.
        return AttentionMap(
            site=site, weights=weights, query_labels=queries, key_labels=keys, normalised=False,
            signed=one.signed,
        )  # fmt: skip

    @classmethod
    def of(
        cls, anything: Any, queries: Tokens = None, keys: Tokens = None, *, signed: bool = False
    ) -> Self:
        """Maps from whatever holds weights.

        Args:
            anything: arrays, tensors or nested lists ``(heads, queries, keys)``, ``(layers, heads,
                queries, keys)`` or ``(layers, batch, heads, queries, keys)``; the ``attentions``
                of transformers' ``output_attentions``, also those of each step of ``generate``;
                a mapping of names to weights ``(heads, queries, keys)`` or ``(batch, heads,
                queries, keys)``; or maps.
            queries, keys: as in :meth:`labelled`; no labels where both are None.
            signed: whether weights may be below 0, and rows sum to anything.

        Raises:
            ValueError: other dimensions, more than 100,000 queries or keys, values that are not
                finite or below 0, rows that sum to neither 1 nor 0, labels that do not fit.
        """
        found = [replace(each, signed=signed or each.signed) for each in maps_in(anything)]
        for each in found:
            checked(each)
        maps = cls(found)
        return maps if queries is None and keys is None else maps.labelled(queries or keys, keys)

    def save(self, path: str | Path) -> None:
        """One .safetensors file, with names and labels as JSON in its metadata.

        ValueError: there are no maps, or weights that :meth:`load` would refuse.
        """
        map_files.save(self._maps, path)

    @classmethod
    def load(cls, path: str | Path, *, sums: bool = True) -> Self:
        """What :meth:`save` wrote, or arrays of weights in a .safetensors, .npy or .npz file.

        One array is taken as :meth:`of` takes one, several are one of each module. Labels are
        texts beside them: an array ``tokens``, or ``queries`` and ``keys``, or in a .safetensors
        file's metadata a list in JSON by these names.

        Args:
            sums: whether weights whose rows sum to neither 1 nor 0 are refused, or else a doubt.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: another file, a pickle, a truncated or altered one, or refused weights.
        """
        return cls(map_files.load(Path(path), sums=sums))
