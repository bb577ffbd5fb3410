"""Who stands where in a race: every contestant of a task against a reference, and over tasks."""

from __future__ import annotations

import math
import statistics as plain
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Contestant, Outcome
from attention_plugins.race.statistics import (
    LEVEL,
    Difference,
    Estimate,
    corrected,
    difference,
    mean_with_interval,
    ranks,
    seeds_needed,
    smallest_p,
)

Verdict = Literal[
    "better", "worse", "no difference found", "reference", "too few seeds", "could not run"
]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One contestant on one task, against the reference.

    Args:
        contestant: who.
        quality: on unseen data, in the unit of the task's metric.
        difference: to the reference, positive where this contestant is better; None of the
            reference itself and of one that could not run.
        corrected_p: Holm's, over all contestants that were compared; NaN where there is no
            difference.
        verdict: ``better`` or ``worse`` where the corrected p is at most 0.05; ``no difference
            found`` where it is larger; ``too few seeds`` where no result of so few seeds could
            have been found; ``reference``; ``could not run`` without any quality.
        seeds_needed: how many seeds would do for all that were compared; None where no number
            does, and of those that are not compared.
        rank: 1 + the contestants that are better beyond chance; None of one that could not run.
        parts: ``near``, ``far``, ``copied``: those that any of its outcomes has.
        parameters: weights that learn.
        operations: for one example forward, the median over seeds.
        milliseconds: of one step of training, the median over seeds; NaN if not known.
        rate: the learning rate chosen; None before one was.
        seeds: how many its quality rests on.
        problem: why trainings failed, in a sentence; which share of them, if others did not.
    """

    contestant: Contestant
    quality: Estimate
    difference: Difference | None
    corrected_p: float
    verdict: Verdict
    seeds_needed: int | None
    rank: int | None
    parts: Mapping[str, Estimate] = field(default_factory=dict)
    parameters: int = 0
    operations: int = 0
    milliseconds: float = math.nan
    rate: float | None = None
    seeds: int = 0
    problem: str = ""


class Curve(NamedTuple):
    """A contestant's quality at each size, in ascending order of sizes."""

    contestant: Contestant
    points: tuple[tuple[float, Estimate], ...]


class Learning(NamedTuple):
    """A contestant's loss of each epoch, the mean over seeds."""

    contestant: Contestant
    losses: tuple[float, ...]


class Overall(NamedTuple):
    """A contestant over several tasks.

    Args:
        mean_rank: of its ranks on the tasks.
        place: 1 + the contestants with a smaller mean rank; equal means share a place.
        ranks: by task.
    """

    contestant: Contestant
    mean_rank: float
    place: int
    ranks: Mapping[str, int]


def standings(
    outcomes: Iterable[Outcome], task: str, *, reference: Contestant, higher_is_better: bool,
    models: Collection[str] | None = None,
) -> list[Standing]:  # fmt: skip
    """Every contestant of a task, by rank, then by quality; those that could not run come last.

    Args:
        outcomes: of any tasks, those of tuning among them.
        reference: whom the others are compared with.
        higher_is_better: of the task's metric.
        models: whose contestants are compared, the reference's among them; None for all.

    Raises:
        ContractError: the reference is not among the contestants, or one contestant has two
            outcomes of one seed.
    """
    raise NotImplementedError


def curves(outcomes: Iterable[Outcome], task: str) -> list[Curve]:
    """Quality where sequences are longer, or points more, than any learned; mean and interval.

    Contestants stand in their own order; one without such results has no curve.
    """
    raise NotImplementedError


def learning(outcomes: Iterable[Outcome], task: str) -> list[Learning]:
    """The loss of each epoch, the mean over the seeds that reached it.

    Contestants stand in their own order; one without losses is left out.
    """
    raise NotImplementedError


def baseline(outcomes: Iterable[Outcome], task: str) -> Estimate | None:
    """What the answer to the nearest learned example is worth: the same for every contestant.

    None where a task has no such baseline.
    """
    raise NotImplementedError


def overall(by_task: Mapping[str, Sequence[Standing]]) -> list[Overall]:
    """The mean rank over tasks, of those contestants that ran on all; best first.

    Ranks are as in each task's standings, where more contestants may have run.
    """
    raise NotImplementedError
