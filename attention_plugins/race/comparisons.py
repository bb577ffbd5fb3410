"""Which of several differences to one reference are beyond chance: the rule of every page."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from attention_plugins.race.statistics import (
    LEVEL,
    Difference,
    corrected,
    differences,
    seeds_needed,
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
        difference: to the reference; its p is not corrected.
        corrected_p: Holm's, over all that were compared; NaN without a pair of seeds.
        verdict: ``better`` or ``worse`` where the corrected p is at most 0.05; ``no difference
            found`` where it is larger; ``too few seeds`` where no result of so few seeds could
            have been found, as of none.
        seeds_needed: how many seeds would do for all that are compared; None where no number does.
    """

    difference: Difference
    corrected_p: float
    verdict: Verdict
    seeds_needed: int | None


def comparisons(
    values: Mapping[Name, Sequence[float]], reference: Name, *, higher_is_better: bool,
    intervals: bool = True,
) -> dict[Name, Comparison]:  # fmt: skip
    """Compare every one with the reference, seed by seed.

    Args:
        values: of each one value a seed, NaN where there is none; the reference's among them.
        reference: whom the others are compared with.
        higher_is_better: of the values.
        intervals: whether differences have their interval, which takes most of the time.

    Raises:
        ValueError: different numbers of values.
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
            difference=one, corrected_p=p, verdict=_verdict(one, p, smallest), seeds_needed=needed
        )
        for name, one, p, smallest in zip(others, found, ps, reachable, strict=True)
    }


def _verdict(found: Difference, p: float, smallest: float) -> Verdict:
    if not smallest <= LEVEL:  # nor if it is NaN
        return "too few seeds"
    if p > LEVEL:
        return "no difference found"
    return "better" if found.mean > 0 else "worse"
