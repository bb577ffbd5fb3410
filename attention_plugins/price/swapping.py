"""The one seam to :func:`attention_plugins.swap`: puts a swap in a model."""

from __future__ import annotations

from typing import Any

from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.defining import AnyScoring, scoring_named
from attention_plugins.price.records import Swap
from attention_plugins.randomness import seeded
from attention_plugins.swaps.swapping import swap

_LEADING = 4, 3  # texts and heads that a function is tried with
_TRIED = Sizes(4, 4, 4, heads=2)


def put(model: Any, what: Swap, seed: int) -> None:
    """Swap in place; new weights are drawn by the seed."""
    with seeded(seed):
        swap(model, what.scoring, normaliser=what.normaliser, positions=what.positions)


def named(given: AnyScoring | Swap) -> str | Swap:
    """A record or a function by the name by which this process then knows it."""
    return given if isinstance(given, str | Swap) else scoring_named(given, *_LEADING)


def has_positions(spec: ScoringSpec) -> bool:
    """Whether a scoring asks for positions, and so has no use for those of the model."""
    with seeded(0):
        return "positions" in spec.create(_TRIED).needs
