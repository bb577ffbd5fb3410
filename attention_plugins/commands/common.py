"""What the commands share: corpora by name or path, ``--set`` values, devices, printing."""

import argparse
import functools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from attention_plugins.beside import beside
from attention_plugins.contract import (
    ContractError,
    DatasetSpec,
    Parameter,
    RegressionData,
    Scalar,
    SentencePair,
)
from attention_plugins.datasets.parallel import read_pairs
from attention_plugins.datasets.tatoeba import TATOEBA, load_pairs
from attention_plugins.devices import resolve
from attention_plugins.registry import Registry

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_LOAD = Path("/proc/loadavg")

_ARGUMENTS = beside(__file__, "arguments.toml")
_TYPES: Mapping[str, Callable[[str], object]] = {"int": int, "float": float, "path": Path}


def add_arguments(
    parser: argparse.ArgumentParser, command: str, computed: Mapping[str, Mapping[str, Any]]
) -> None:
    """What ``arguments.toml`` says that a command takes, and what is ``computed`` of each."""
    for name, facts in _ARGUMENTS[command].items():
        given = {**facts, **computed.get(name, {})}
        if "type" in given:
            given["type"] = _TYPES[given["type"]]
        parser.add_argument(name, **given)


def device(given: argparse.Namespace) -> torch.device:
    """The device asked for; ``auto`` takes a GPU where there is one."""
    if given.threads is not None and given.threads < 1:
        raise ContractError(f"need 1 <= threads, got {given.threads}")
    choose_threads(given.threads)
    return resolve(given.device)


def choose_threads(asked: int | None, computing: int = 0) -> None:
    """Compute with as many CPU threads as somebody asked for, else with one for each free core.

    On busy cores a training on more threads takes longer: at every step they wait for each other.
    Without ``--threads`` OpenMP's variables decide, then the load less our ``computing`` threads.
    """
    if asked is not None:
        torch.set_num_threads(asked)
    elif not any(name in os.environ for name in _THREADS):
        torch.set_num_threads(min(_most_threads(), _free_cores(computing)))


@functools.cache
def _most_threads() -> int:
    return torch.get_num_threads()  # before it is first changed: one for each core


def _free_cores(computing: int) -> int:
    """How many of this machine's cores nobody else computes on, at least 1."""
    cores = os.cpu_count() or 1
    try:
        others = max(0.0, os.getloadavg()[0] - computing)
    except (AttributeError, OSError):  # Windows
        return cores
    # The load is an average of the last minute. Linux also says how many compute just now, and
    # who asks is one of them: what has ended meanwhile does not count.
    with suppress(OSError, ValueError, IndexError):
        others = min(others, int(_LOAD.read_text().split()[3].partition("/")[0]) - 1)
    return max(1, round(cores - others))


def load_corpus(
    name: str, registry: Registry, *, pairs: int = 0, alignments: bool | None = False
) -> Sequence[SentencePair]:
    """Sentence pairs of a data set's name, a TSV file, or a zip or folder in d2l's format.

    Only the first so many ``pairs``, all for 0; ``alignments`` of a TSV file are those of
    :func:`~attention_plugins.datasets.parallel.read_pairs`. ContractError: no readable corpus.
    """
    path = Path(name)
    if path.exists():
        archive = path.is_dir() or path.suffix == ".zip"
        loaded = load_pairs(path) if archive else read_pairs(path, alignments=alignments)
    elif path.suffix or len(path.parts) > 1:
        raise ContractError(
            f"no file {name}; need a TSV file, a zip, a folder or a data set's name"
        )
    else:
        spec = registry.dataset(name)
        if spec.task != "translation":
            raise ContractError(f"data set {name!r} is for {spec.task}; need one for translation")
        if spec is TATOEBA:  # the one that may have to download first
            with tqdm(
                unit="B", unit_scale=True, file=sys.stderr, disable=None, delay=1e-9
            ) as bar:  # which appears with the first byte

                def progress(done: int, total: int | None) -> None:
                    bar.total = total
                    bar.update(done - bar.n)

                load_pairs(limit=2, progress=progress)
        loaded = spec.load({p.name: p.default for p in spec.parameters}, 0)
        if isinstance(loaded, RegressionData):
            raise ContractError(f"data set {name!r} loaded RegressionData; need sentence pairs")
    return loaded[:pairs] if pairs else loaded


def dataset_named(name: str, registry: Registry) -> DatasetSpec | None:
    """The data set that ``--corpus`` names; None where that is a file or a folder."""
    return None if Path(name).exists() else registry.datasets.get(name)


def settings(entries: Sequence[str], parameters: Sequence[Parameter]) -> dict[str, Scalar]:
    """``name=value`` entries in their parameters' types; bounds are checked later."""
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Scalar] = {}
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not equals or name not in known:
            offered = ", ".join(known) or "none"
            raise ContractError(
                f"need name=value with a known name, got {entry!r}; known: {offered}"
            )
        values[name] = _parse(text, known[name])
    return values


def _parse(text: str, parameter: Parameter) -> Scalar:
    if isinstance(parameter.default, bool):
        if text.lower() not in ("true", "false"):
            raise ContractError(f"need {parameter.name} to be true or false, got {text!r}")
        return text.lower() == "true"
    if isinstance(parameter.default, str):
        return text
    try:
        return type(parameter.default)(text)
    except ValueError:
        kind = "whole number" if isinstance(parameter.default, int) else "number"
        raise ContractError(f"need {parameter.name} to be a {kind}, got {text!r}") from None


def show(given: argparse.Namespace, facts: Mapping[str, Any], lines: Sequence[str]) -> None:
    """Print the facts as JSON if asked to, else the lines."""
    print(json.dumps(facts, ensure_ascii=False, indent=1) if given.json else "\n".join(lines))
