"""Outcomes of a race without a training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attention_plugins.race.records import Contestant, Outcome, Trial


def contestant(scoring: str, *, model: str = "transformer", normaliser: str = "") -> Contestant:
    return Contestant(model=model, scoring=scoring, normaliser=normaliser)


def outcome(
    who: Contestant, seed: int, quality: float = math.nan, *, task: str = "copy",
    rate: float = 0.01, tuning: bool = False, **rest: Any,
) -> Outcome:  # fmt: skip
    trial = Trial(task=task, contestant=who, rate=rate, seed=seed, tuning=tuning)
    return Outcome(trial=trial, quality=quality, **rest)


def outcomes(
    who: Contestant, qualities: Sequence[float], *, task: str = "copy", **rest: Any
) -> list[Outcome]:
    """One outcome a seed."""
    return [outcome(who, seed, q, task=task, **rest) for seed, q in enumerate(qualities)]
