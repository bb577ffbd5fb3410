"""The outcomes of a race by contestant: what was reported, and why other trainings failed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from attention_plugins.contract import ContractError
from attention_plugins.marking import gettext_noop
from attention_plugins.race.records import Contestant, Outcome
from attention_plugins.race.statistics import mean_with_interval

COPIED = "copied"  # the part of an outcome that is the same for every contestant
# Outcomes hold 5 digits: numbers this close, as a share of the larger one, differ by rounding.
TOLERANCE = 1e-4
_FEWEST = 2  # seeds that equal contestants share

Edge = Literal["", "lowest", "highest"]


@dataclass
class Entry:
    """A contestant's outcomes on one task: those reported, by seed, and why others failed."""

    by_seed: dict[int, Outcome] = field(default_factory=dict)
    tuned: list[Outcome] = field(default_factory=list)
    place: int = 0  # in the order in which contestants first appear

    def add(self, outcome: Outcome) -> None:
        """One more outcome of the same contestant on the same task; of equal trials the first.

        Raises:
            ContractError: another trial of its seed.
        """
        trial = outcome.trial
        if trial.tuning:
            self.tuned.append(outcome)
            return
        kept = self.by_seed.setdefault(trial.seed, outcome)
        if kept.trial != trial:
            raise ContractError(
                f"{trial.contestant.name} ran on {trial.task!r} with seed {trial.seed} at the "
                f"rates {kept.trial.rate:g} and {trial.rate:g}; need one rate"
            )

    def qualities(self, seeds: Sequence[int]) -> list[float]:
        """By seed; NaN where there is none."""
        return [self.by_seed[seed].quality if seed in self.by_seed else math.nan for seed in seeds]

    @property
    def failed(self) -> bool:
        """Whether all that was tried has a problem."""
        tried = list(self.by_seed.values()) or self.tuned
        return all(outcome.problem for outcome in tried)

    @property
    def rate(self) -> float | None:
        """The learning rate of the outcomes that are reported; None before there is one."""
        return next((one.trial.rate for one in self.by_seed.values()), None)

    def _edge(self) -> Edge:
        """At which end of the rates tried the chosen one lies.

        Empty where it lies at none, where nothing was chosen, or where all rates came out alike,
        as those of a contestant that learns nothing.
        """
        tried = {one.trial.rate for one in self.tuned}
        values = {one.validation for one in self.tuned}
        if self.rate is None or len(tried) < 2 or len(values) < 2:
            return ""
        if self.rate == min(tried):
            return "lowest"
        return "highest" if self.rate == max(tried) else ""

    def facts(self) -> dict[str, Any]:
        """What a :class:`Standing` says of these outcomes alone."""
        ran = [one for _, one in sorted(self.by_seed.items()) if math.isfinite(one.quality)]
        parts = {name: None for one in ran for name in one.parts}
        milliseconds = [one.milliseconds for one in ran if math.isfinite(one.milliseconds)]
        return {
            "parts": {
                name: mean_with_interval([one.parts.get(name, math.nan) for one in ran])
                for name in parts
            },
            "parameters": round(median(one.parameters for one in ran)) if ran else 0,
            "operations": round(median(one.operations for one in ran)) if ran else 0,
            "milliseconds": median(milliseconds) if milliseconds else math.nan,
            "rate": self.rate,
            "edge": self._edge(),
            "seeds": len(ran),
            "problem": self._problem(),
        }

    def _problem(self) -> str:
        problems = [one.problem for one in self.by_seed.values() if one.problem]
        if self.failed:
            return (problems or [one.problem for one in self.tuned])[0]
        if not problems:
            return ""
        return gettext_noop(f"{len(problems)} of {len(self.by_seed)} trainings: {problems[0]}")


def entries_of(outcomes: Iterable[Outcome], task: str) -> dict[Contestant, Entry]:
    """By contestant, in their own order."""
    found: dict[Contestant, Entry] = {}
    for outcome in outcomes:
        if outcome.trial.task == task:
            who = outcome.trial.contestant
            found.setdefault(who, Entry(place=len(found))).add(outcome)
    return dict(sorted(found.items()))


def equals_of(
    by_seed: Mapping[Contestant, Mapping[int, Outcome]], first: Contestant
) -> dict[Contestant, tuple[Contestant, ...]]:
    """The contestants that differ in any outcome, each with those that equal it in all.

    Contestants of one model are equal that have the same seeds, at least two, and in every one
    the same validation, quality, parts, curve and losses but for :data:`TOLERANCE`: they are one
    function on this task, under several names.

    Args:
        by_seed: the reported outcomes of each contestant.
        first: of those that are equal to it, it is the one that stands for all; else the first.
    """
    found: dict[Contestant, list[Contestant]] = {}
    for who in sorted(by_seed, key=lambda who: who != first):
        twin = next((one for one in found if _equal(one, who, by_seed)), None)
        if twin is None:
            found[who] = []
        else:
            found[twin].append(who)
    return {who: tuple(found[who]) for who in by_seed if who in found}


def _equal(
    one: Contestant, other: Contestant, by_seed: Mapping[Contestant, Mapping[int, Outcome]]
) -> bool:
    ours, theirs = by_seed[one], by_seed[other]
    if one.model != other.model or len(ours) < _FEWEST or ours.keys() != theirs.keys():
        return False
    return all(_same(ours[seed], theirs[seed]) for seed in ours)


def _same(ours: Outcome, theirs: Outcome) -> bool:
    if ours.problem or theirs.problem or ours.parts.keys() != theirs.parts.keys():
        return False
    pairs = zip(_numbers(ours), _numbers(theirs), strict=False)
    return len(_numbers(ours)) == len(_numbers(theirs)) and all(
        x == y or math.isclose(x, y, rel_tol=TOLERANCE) or (math.isnan(x) and math.isnan(y))
        for x, y in pairs
    )


def _numbers(one: Outcome) -> list[float]:
    sizes = [number for point in one.curve for number in point]
    parts = [one.parts[name] for name in sorted(one.parts)]
    return [one.quality, one.validation, *parts, *sizes, *one.losses]
