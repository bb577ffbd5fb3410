"""Who stands where in a race: every contestant of a task against a reference, and over tasks."""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal, TypeVar

import numpy as np

from attention_plugins.contract import ContractError
from attention_plugins.race.records import COPIED, Contestant, Edge, Outcome, entries_of, equals_of
from attention_plugins.race.statistics import (
    LEVEL,
    Difference,
    Estimate,
    corrected,
    differences,
    mean_with_interval,
    ranks,
    seeds_needed,
    seeds_to_decide,
    smallest_p,
)

Verdict = Literal[
    "better", "worse", "no difference found", "reference", "too few seeds", "could not run"
]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One that was compared with the reference.

    Args:
        difference: its p is not corrected.
        corrected_p: Holm's, over all that were compared; NaN without a pair of seeds.
        verdict: ``too few seeds`` where no result of so few could have been found, as of none;
            else whether the corrected p is at most 0.05.
        seeds_needed: how many seeds would do for all that are compared; None where no number does.
        decides: about how many seeds would decide, see :func:`.seeds_to_decide`.
    """

    difference: Difference
    corrected_p: float
    verdict: Verdict
    seeds_needed: int | None
    decides: int | None = None


def comparisons(
    values: Mapping[Name, Sequence[float]], reference: Name, *, higher_is_better: bool,
    intervals: bool = True,
) -> dict[Name, Comparison]:  # fmt: skip
    """Compare every one with the reference, by one value a seed, NaN where there is none.

    ``intervals`` says whether differences have theirs, which takes most of the time.
    """
    others = [name for name in values if name != reference]
    found = differences(
        [values[name] for name in others], values[reference],
        higher_is_better=higher_is_better, intervals=intervals,
    )  # fmt: skip
    ps = corrected([one.p for one in found])
    # Holm's p never fall when one of the others grows: none can be smaller than these.
    reachable = corrected([smallest_p(one.pairs) for one in found])
    needed = seeds_needed(len(found))
    return {
        name: Comparison(
            difference=one, corrected_p=p, verdict=_verdict(one, p, smallest), seeds_needed=needed,
            decides=seeds_to_decide(np.subtract(values[name], values[reference]), len(found)),
        )
        for name, one, p, smallest in zip(others, found, ps, reachable, strict=True)
    }  # fmt: skip


def _verdict(found: Difference, p: float, smallest: float) -> Verdict:
    if not smallest <= LEVEL:  # nor if it is NaN
        return "too few seeds"
    if p > LEVEL:
        return "no difference found"
    return "better" if found.mean > 0 else "worse"


@dataclass(frozen=True, kw_only=True)
class Standing:
    """One contestant on one task, against the reference; see also :class:`Comparison`.

    What outcomes have too is over the ``seeds`` that have a quality; the median, but for means
    with intervals. All that is compared counts ``equals`` once, which have no row of their own.

    Args:
        difference: positive where this contestant is better; None of the reference itself and of
            one that could not run, as the ``rank`` of one that could not.
        rank: 1 + the contestants that are better beyond chance.
        rate: the learning rate chosen; None before one was.
        edge: where the rate is the end of those tried, so that a better one may lie beyond.
        problem: why trainings failed, in a sentence; which share of them, if others did not.
    """

    contestant: Contestant
    quality: Estimate
    difference: Difference | None
    corrected_p: float
    verdict: Verdict
    seeds_needed: int | None
    rank: int | None
    decides: int | None = None
    parts: Mapping[str, Estimate] = field(default_factory=dict)
    parameters: int = 0
    operations: int = 0
    milliseconds: float = math.nan
    rate: float | None = None
    edge: Edge = ""
    seeds: int = 0
    problem: str = ""
    equals: tuple[Contestant, ...] = ()

    @property
    def name(self) -> str:
        """The contestant's name, and those of all that equal it."""
        return ", ".join(who.name for who in (self.contestant, *self.equals))


def standings(
    outcomes: Iterable[Outcome], task: str, *, reference: Contestant, higher_is_better: bool,
    models: Collection[str] | None = None,
) -> list[Standing]:  # fmt: skip
    """Every contestant of a task: by rank, then by quality; those without any quality come last.

    Contestants that are equal in every outcome share a row, and are compared once.

    Args:
        outcomes: of any tasks, those of tuning among them.
        models: whose contestants are compared, the reference's among them; None for all.

    Raises:
        ContractError: no outcome of the reference, or one of a seed at two rates.
    """
    found = entries_of(outcomes, task)
    if models is not None:
        found = {who: entry for who, entry in found.items() if who.model in models}
    if reference not in found:
        among = ", ".join(f"{who.name} in {who.model}" for who in found) or "none"
        raise ContractError(
            f"the reference {reference.name} in {reference.model} has no outcome on {task!r}; "
            f"choose one of those that have: {among}"
        )
    seeds = sorted({seed for entry in found.values() for seed in entry.by_seed})
    ordered = sorted(found, key=lambda who: found[who].place)
    equals = equals_of({who: found[who].by_seed for who in ordered}, reference)
    values = {who: found[who].qualities(seeds) for who in found if who in equals}
    compared = comparisons(
        {who: row for who, row in values.items() if who == reference or not found[who].failed},
        reference, higher_is_better=higher_is_better,
    )  # fmt: skip
    ranked = [who for who in values if any(map(math.isfinite, values[who]))]
    rank = dict(zip(ranked, ranks([values[who] for who in ranked], higher_is_better), strict=True))
    rows = []
    for who, row in values.items():
        one = compared.get(who)
        absent: Verdict = "reference" if who == reference else "could not run"
        rows.append(
            Standing(
                contestant=who, quality=mean_with_interval(row), difference=one and one.difference,
                corrected_p=one.corrected_p if one else math.nan,
                verdict=one.verdict if one else absent, seeds_needed=one and one.seeds_needed,
                decides=one and one.decides, rank=rank.get(who), equals=equals[who],
                **found[who].facts(),
            )
        )  # fmt: skip
    sign = -1 if higher_is_better else 1
    return sorted(
        rows,
        key=lambda row: (
            (row.rank, sign * row.quality.mean) if row.rank else (math.inf, 0.0), row.contestant,
        ),
    )  # fmt: skip


def curves(
    outcomes: Iterable[Outcome], task: str
) -> Iterator[tuple[Contestant, list[tuple[float, Estimate]]]]:
    """Quality at each size, where sequences are longer, or points more, than any learned.

    Contestants stand in their own order, sizes ascend; one without such results has no curve.
    """
    for who, entry in entries_of(outcomes, task).items():
        at: dict[float, list[float]] = defaultdict(list)
        for outcome in entry.by_seed.values():
            for size, quality in outcome.curve:
                at[size].append(quality)
        if at:
            yield who, [(size, mean_with_interval(at[size])) for size in sorted(at)]


def learning(outcomes: Iterable[Outcome], task: str) -> Iterator[tuple[Contestant, list[float]]]:
    """The loss of each epoch, the mean over the seeds that reached it.

    Contestants stand in their own order; one without losses is left out.
    """
    for who, entry in entries_of(outcomes, task).items():
        rows = [outcome.losses for outcome in entry.by_seed.values()]
        if epochs := max(map(len, rows), default=0):
            yield (
                who,
                [fmean(row[epoch] for row in rows if epoch < len(row)) for epoch in range(epochs)],
            )


def baseline(outcomes: Iterable[Outcome], task: str) -> Estimate | None:
    """What the answer to the nearest learned example is worth: the same for every contestant.

    None where a task has no such baseline.
    """
    entries = entries_of(outcomes, task).values()
    by_seed = {seed: outcome.parts[COPIED] for entry in entries
               for seed, outcome in entry.by_seed.items() if COPIED in outcome.parts}  # fmt: skip
    return mean_with_interval([by_seed[seed] for seed in sorted(by_seed)]) if by_seed else None
