"""Maps made of whatever holds weights: arrays, tuples of tensors, mappings, and files of them."""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

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
        return tensors, {n: json.loads(metadata[n]) for n in _LABELS if n in metadata}
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
    return arrays, {n: arrays.pop(n).tolist() for n in _LABELS if n in arrays}


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
