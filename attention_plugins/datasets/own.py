"""Corpora of the user's own: every ``.tsv`` file below ``corpora`` in the data folder."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from attention_plugins.contract import ContractError, DatasetSpec, Parameter, Scalar, SentencePair
from attention_plugins.datasets.parallel import MOST_LINES, read_pairs
from attention_plugins.home import home, write_whole

SUFFIX = ".tsv"
_PREFIX = "own_"  # no data set of a plugin is hidden by a file
_LONGEST = 40 - len(_PREFIX)
_LARGEST = 200_000_000  # bytes


def folder() -> Path:
    """Where they lie: ``corpora`` in :func:`~attention_plugins.home.home`."""
    return home() / "corpora"


def own_corpora() -> Iterator[DatasetSpec]:
    """A data set for each file, in the order of their names; of two equal names the first.

    Files are listed here, and read when they are loaded.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder().glob(f"*{SUFFIX}")):
        if path.is_file() and (name := name_of(path)):
            found.setdefault(name, path)
    for name, path in found.items():
        yield DatasetSpec(
            name=name, title=f"{path.stem[:60]} (own)", task="translation",
            load=partial(_load, path),
            parameters=(
                Parameter(
                    name="pairs", title="Sentence pairs", default=0, low=0, high=MOST_LINES,
                    help="How many pairs from the start of the file; 0 is all.",
                ),
            ),
            reference=f"The file {path.name} on this server.",
            description="Sentence pairs of a file, one a line as source<TAB>target.",
        )  # fmt: skip


def name_of(path: Path) -> str:
    """The data set's name of a file, such as ``own_my_pairs``; empty if its name has no letter."""
    plain = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_")[:_LONGEST]
    return f"{_PREFIX}{plain}" if plain else ""


def add(path: Path) -> str:
    """Copy a file among the corpora and return the name of its data set.

    ``path``: two columns, ``source<TAB>target``, in UTF-8; others are passed over. ContractError:
    it cannot be read, holds no pairs, or another one has its name.
    """
    name = name_of(path)
    if not name:
        raise ContractError(f"name the file {path.name!r} by letters or digits")
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= _LARGEST else b""
    except OSError as error:
        raise ContractError(f"cannot read {path}: {error.strerror or error}") from error
    if size > _LARGEST:
        raise ContractError(f"{path.name} has {size:,} bytes; need at most {_LARGEST:,}")
    read_pairs(data)
    for other in folder().glob(f"*{SUFFIX}"):
        if name_of(other) == name:
            if other.read_bytes() == data:
                return name
            raise ContractError(
                f"another corpus is there as {other}; give {path.name} another name"
            )
    folder().mkdir(parents=True, exist_ok=True)
    write_whole(folder() / f"{path.stem}{SUFFIX}", data)
    return name


def _load(path: Path, parameters: Mapping[str, Scalar], seed: int) -> list[SentencePair]:
    """The first ``pairs``; the seed changes nothing, so that models compare on equal data."""
    count = int(parameters["pairs"])
    if count == 1:
        raise ContractError("need 0 (all) or 2 <= pairs, got 1 (field 'Sentence pairs')")
    return read_pairs(path, limit=count or None)
