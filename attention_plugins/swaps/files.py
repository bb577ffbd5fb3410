"""A file of safetensors with what was swapped in where, and its weights."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

from attention_plugins.contract import ContractError
from attention_plugins.swaps.site import NAME, Recipe, Swapped

_KEY, _WHOLE = "attention_workbench_swaps", "attention_workbench_whole"


def write(
    path: str | Path, model: nn.Module, swaps: Mapping[str, Swapped], *, whole: bool
) -> None:
    """ContractError: there is no swap."""
    if not swaps:
        raise ContractError("nothing is swapped in this model")
    said = {name: asdict(each.recipe) for name, each in swaps.items()}
    metadata = {_KEY: json.dumps(said), _WHOLE: str(int(whole))}
    if whole:
        save_model(model, str(path), metadata)
        return
    weights = {
        f"{name}.{NAME}.{key}": weight.contiguous()
        for name, each in swaps.items()
        for key, weight in each.state_dict().items()
    }
    save_file(weights, path, metadata)


def recipes(path: str | Path) -> Iterator[tuple[Recipe, list[str]]]:
    """What a file says was swapped in, and in which modules."""
    found: dict[str, list[str]] = {}
    for name, recipe in json.loads(_metadata(path)[_KEY]).items():
        found.setdefault(json.dumps(recipe, sort_keys=True), []).append(name)
    for recipe, names in found.items():
        yield Recipe(**json.loads(recipe)), names


def _metadata(path: str | Path) -> dict[str, str]:
    try:
        with safe_open(path, "pt") as held:
            metadata: Any = held.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise ContractError(f"{path} is no file of safetensors: {error}") from error
    if _KEY not in metadata:
        raise ContractError(f"{path} holds no swap; need a file that swap.save wrote")
    return metadata


def read_weights(path: str | Path, model: nn.Module, swaps: Mapping[str, Swapped]) -> None:
    """ContractError: weights of other shapes, or of something else."""
    said = _metadata(path)
    try:
        if said[_WHOLE] == "1":
            load_model(model, path)
            return
        weights, written = load_file(path), json.loads(said[_KEY])
        for name, each in swaps.items():
            start = f"{name}.{NAME}."
            own = {k.removeprefix(start): w for k, w in weights.items() if k.startswith(start)}
            if own or name in written:
                each.load_state_dict(own)
    except RuntimeError as error:
        raise ContractError(f"{path} does not fit this model: {error}") from error
