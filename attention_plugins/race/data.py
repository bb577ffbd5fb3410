"""The data of a race: what is learned, what rates are chosen by, what is reported.

The three never share a source sentence. All contestants of one seed get the same.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from attention_plugins.contract import (
    ContractError,
    DatasetSpec,
    RegressionData,
    Scalar,
    SentencePair,
    settle,
)
from attention_plugins.datasets.parallel import references, split_by_source
from attention_plugins.evaluation import Neighbour, neighbours_of
from attention_plugins.experiment import counted_by
from attention_plugins.registry import installed

VALIDATION, REPORTED, AT_A_LENGTH = 100, 200, 100  # source sentences
LENGTHS = (4, 6, 8, 10, 12, 16)  # of sequences; those beyond the training's are extrapolation
POINTS = (25, 50, 100, 200, 400)  # of regression problems
_FEWEST_OF_A_LENGTH = 20  # sentences of a corpus


class Split(NamedTuple):
    """Sentence pairs for one seed: those learned, those that choose a rate, those reported."""

    learned: Sequence[SentencePair]
    validation: Sequence[SentencePair]
    reported: Sequence[SentencePair]


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs for one seed; ``by_length`` are never learned either."""

    learned: Sequence[SentencePair]
    validation: Sequence[SentencePair]
    reported: Sequence[SentencePair]
    by_length: Mapping[int, Sequence[SentencePair]]
    neighbours: Mapping[str, Neighbour]


class Problem(NamedTuple):
    """A regression problem's draw, and the true values ``(m,)`` at its queries."""

    data: RegressionData
    truth: Tensor


def draws_lengths(spec: DatasetSpec) -> bool:
    """Whether sequences of any length can be drawn of a data set."""
    return {"pairs", "shortest", "longest"} <= {p.name for p in spec.parameters}


@functools.lru_cache(maxsize=2)
def pairs_of(task: str, examples: int, seed: int) -> Pairs:
    """The sentence pairs of one seed.

    Args:
        task: a parallel data set's name.
        examples: how many pairs are learned, at most.
        seed: of the draw of a task of symbols; else of what is held out.

    Raises:
        ContractError: an unknown data set, or too few pairs.
    """
    registry = installed()
    spec = registry.dataset(task)
    learned, validation, reported = split_of(task, examples, seed)
    drawn = draws_lengths(spec)
    return Pairs(
        learned, validation, reported,
        _of_lengths(spec, {p.source for p in learned}, seed) if drawn else _by_length(reported),
        neighbours_of(reported, learned, registry, counted_by(spec)),
    )  # fmt: skip


def split_of(task: str, examples: int, seed: int) -> Split:
    """What of :func:`pairs_of` takes a moment.

    Raises:
        ContractError: as of :func:`pairs_of`.
    """
    spec = installed().dataset(task)
    held = VALIDATION + REPORTED
    asked = {"pairs": _hundreds(examples + held)}
    pairs = _drawn(spec, asked, seed) if draws_lengths(spec) else _all(task)
    if len(references(pairs)) <= held:
        raise ContractError(
            f"data set {task!r} has {len(references(pairs)):,} different sources; a race needs "
            f"more than {held}"
        )
    rest, reported = split_by_source(pairs, held_out=REPORTED, seed=seed)
    rest, validation = split_by_source(rest, held_out=VALIDATION, seed=seed)
    learned = random.Random(seed).sample(rest, min(examples, len(rest)))
    return Split(learned, validation, reported)


def problem_of(task: str, points: int, seed: int) -> Problem:
    """A regression problem's draw of so many training points.

    Raises:
        ContractError: an unknown data set, or one whose true values are not known.
    """
    spec = installed().dataset(task)
    if "points" not in {p.name for p in spec.parameters}:
        raise ContractError(f"data set {task!r} draws no points; it cannot be raced on")
    data = spec.load(settle(spec.parameters, {"points": points}), seed)
    if not isinstance(data, RegressionData) or data.truth is None:
        raise ContractError(f"data set {task!r} knows no true values; it cannot be raced on")
    return Problem(data, data.truth)


@functools.lru_cache(maxsize=1)
def _all(task: str) -> Sequence[SentencePair]:
    spec = installed().dataset(task)
    return _drawn(spec, {}, 0)


def _drawn(spec: DatasetSpec, values: Mapping[str, Scalar], seed: int) -> Sequence[SentencePair]:
    loaded = spec.load(settle(spec.parameters, values), seed)
    if isinstance(loaded, RegressionData):
        raise ContractError(f"data set {spec.name!r} holds no sentence pairs")
    return loaded


def _hundreds(count: int) -> int:
    """The next multiple of 100: what tasks of symbols may be asked for."""
    return -(-count // 100) * 100


def _of_lengths(
    spec: DatasetSpec, learned: set[str], seed: int
) -> Mapping[int, Sequence[SentencePair]]:
    """New sequences of each length that the task can draw."""
    found = {}
    for length in LENGTHS:
        asked = {"pairs": AT_A_LENGTH, "shortest": length, "longest": length}
        try:
            drawn = _drawn(spec, asked, seed + 1)
        except ContractError:
            continue  # more keys than letters
        if new := [pair for pair in drawn if pair.source not in learned]:
            found[length] = new
    return found


def _by_length(reported: Sequence[SentencePair]) -> Mapping[int, Sequence[SentencePair]]:
    """The reported sentences of a corpus by their number of words."""
    found: dict[int, list[SentencePair]] = {}
    for pair in reported:
        found.setdefault(len(pair.source.split()), []).append(pair)
    return {n: found[n] for n in sorted(found) if len(found[n]) >= _FEWEST_OF_A_LENGTH}
