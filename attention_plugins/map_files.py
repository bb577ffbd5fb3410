"""Files of attention maps: our own, and arrays of weights that others wrote."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from attention_plugins.map_sources import maps_in
from attention_plugins.watched_map import WatchedMap, checked, labelled, wrong_sum

LARGEST = 1 << 30  # bytes of the arrays in a file, unpacked
_FORMAT = "attention-maps-1"
_LABELS = ("queries", "keys", "tokens")
_NUMPY, _ZIP = b"\x93N", b"PK"
_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def save(maps: Sequence[WatchedMap], path: str | Path) -> None:
    """See :meth:`.maps.AttentionMaps.save`."""
    if not maps:
        raise ValueError("there are no maps to save")
    for each in maps:
        checked(each)
    # Copies: safetensors refuses tensors that share memory.
    tensors = {str(n): each.weights.contiguous().clone() for n, each in enumerate(maps)}
    save_file(tensors, path, metadata={"format": _FORMAT, "maps": json.dumps(facts_of(maps))})


def facts_of(maps: Sequence[WatchedMap]) -> list[dict[str, Any]]:
    """Everything of the maps but their weights, as JSON takes it."""
    names = ("name", "call", "function", "heads", "rows", "queries", "keys", "doubts")
    return [
        {name: getattr(each, name) for name in names} | ({"signed": True} if each.signed else {})
        for each in maps
    ]


def load(path: Path, *, sums: bool) -> list[WatchedMap]:
    """See :meth:`.maps.AttentionMaps.load`."""
    with path.open("rb") as file:
        start = file.read(2)
    if start in _PICKLES or (start == _ZIP and _holds_others(path)):
        raise ValueError(
            f"{path.name} is a pickle or an archive, as torch.save makes them, and is not read: "
            "need a file of AttentionMaps.save, .safetensors, .npy or .npz"
        )
    try:
        read = _arrays(path) if start in (_NUMPY, _ZIP) else _tensors(path)
        maps = read if isinstance(read, list) else maps_in(_of_one(read[0]))
    except (
        SafetensorError, KeyError, TypeError, ValueError, RecursionError, EOFError, OSError,
        zipfile.BadZipFile,
    ) as error:  # fmt: skip
        raise ValueError(
            f"{path.name} is truncated, altered or no file of attention weights: {error}"
        ) from error
    if not isinstance(read, list):
        maps = _with_tokens(maps, read[1])
    return [_known(each, sums) for each in maps]


def _known(one: WatchedMap, sums: bool) -> WatchedMap:
    checked(one, sums=sums)
    said = "" if sums or one.signed else wrong_sum(one.weights)
    return replace(one, doubts=(*one.doubts, said)) if said else one


_Others = tuple[Mapping[str, Any], Mapping[str, Any]]  # arrays by name, and labels


def _tensors(path: Path) -> list[WatchedMap] | _Others:
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if metadata.get("format") != _FORMAT:
        tokens = {n: json.loads(metadata[n]) for n in _LABELS if n in metadata}
        return tensors, tokens
    facts = json.loads(metadata["maps"])
    if not isinstance(facts, list) or tensors.keys() != set(map(str, range(len(facts)))):
        raise ValueError("its list of maps does not fit its tensors")
    return [loaded(each, tensors[str(n)]) for n, each in enumerate(facts)]


def _holds_others(path: Path) -> bool:
    """Whether an archive holds anything but arrays, such as a pickle."""
    if not zipfile.is_zipfile(path):
        return False  # truncated, which reading it will say
    with zipfile.ZipFile(path) as archive:
        return not all(name.endswith(".npy") for name in archive.namelist())


def _arrays(path: Path) -> _Others:
    import numpy as np

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
        if size > LARGEST:
            raise ValueError(f"its arrays have {size:,} bytes, and at most {LARGEST:,} are read")
    read = np.load(path, allow_pickle=False)
    if isinstance(read, np.ndarray):
        return {path.stem: read}, {}
    with read:
        arrays = {name: read[name] for name in read.files}
    tokens = {n: arrays.pop(n).tolist() for n in _LABELS if n in arrays}
    return arrays, tokens


def _of_one(arrays: Mapping[str, Any]) -> Any:
    """One array, which may have layers; or several, one for each module."""
    return next(iter(arrays.values())) if len(arrays) == 1 else arrays


def _with_tokens(found: list[WatchedMap], tokens: Mapping[str, Any]) -> list[WatchedMap]:
    if not tokens:
        return found
    queries, keys, both = (tokens.get(name) for name in _LABELS)
    queries = queries or both
    return [labelled(one, queries, keys or both or queries) for one in found]


def loaded(facts: Any, weights: Tensor) -> WatchedMap:
    """The map of these weights, of what :func:`facts_of` says."""
    if not isinstance(facts, dict) or not weights.is_floating_point():
        raise TypeError("need facts and floating-point weights of every map")

    name, call, function, doubts = (facts[key] for key in ("name", "call", "function", "doubts"))
    if (
        not all(isinstance(text, str) for text in (name, function, *doubts))
        or type(call) is not int
    ):
        raise TypeError("need texts for name, function and doubts, and a number for call")
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
        doubts=tuple(doubts), signed=facts.get("signed") is True,
    )  # fmt: skip
    if facts["queries"] is None or facts["keys"] is None:
        return one
    return labelled(one, facts["queries"], facts["keys"])
