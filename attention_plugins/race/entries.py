"""The outcomes of a race by contestant: what was reported, and why other trainings failed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from attention_plugins.contract import ContractError
from attention_plugins.marking import gettext_noop
from attention_plugins.race.records import Contestant, Outcome
from attention_plugins.race.statistics import mean_with_interval

COPIED = "copied"  # the part of an outcome that is the same for every contestant


@dataclass
class Entry:
    """A contestant's outcomes on one task: those reported, by seed, and why others failed."""

    by_seed: dict[int, Outcome] = field(default_factory=dict)
    tuned: list[Outcome] = field(default_factory=list)

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
            "rate": next((one.trial.rate for one in self.by_seed.values()), None),
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
            found.setdefault(outcome.trial.contestant, Entry()).add(outcome)
    return dict(sorted(found.items()))
