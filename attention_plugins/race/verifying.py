"""Somebody's race, checked: trials of it that are drawn at random and done once more."""

import math
import random
from collections.abc import Iterator

import torch

from attention_plugins.race.records import TOLERANCE, Outcome
from attention_plugins.race.store import Race
from attention_plugins.race.trials import perform


def repeated(
    race: Race, count: int, draw: random.Random, device: torch.device | str = "cpu"
) -> Iterator[tuple[Outcome, Outcome]]:
    """So many trials that are drawn: what the race's file says of each, and what came now."""
    known = race.outcomes()
    for theirs in draw.sample(known, min(count, len(known))):
        yield theirs, perform(theirs.trial, race.plan, device)


def result_of(outcome: Outcome) -> str:
    """What a trial came to: its quality, of a tuning what rates are chosen by, or its problem."""
    value = outcome.validation if outcome.trial.tuning else outcome.quality
    return outcome.problem or f"{value:g}"


def agree(theirs: Outcome, ours: Outcome) -> bool:
    """Whether two outcomes of a trial are equal, but for what rounding may do on a device."""
    pairs = ((theirs.validation, ours.validation), (theirs.quality, ours.quality))
    same = (math.isclose(a, b, rel_tol=TOLERANCE) or (math.isnan(a) and math.isnan(b))
            for a, b in pairs)  # fmt: skip
    return theirs.problem == ours.problem and all(same)
