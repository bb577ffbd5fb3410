"""Draws the corpus: rules by weight, until there are enough distinct English sentences."""

from __future__ import annotations

import itertools

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.phrasebook.orthography import sentence
from attention_plugins.datasets.phrasebook.phrase import Dice, fill
from attention_plugins.datasets.phrasebook.rules import (
    asking,
    being,
    daily,
    doing,
    joining,
    ordering,
    placing,
)

TOTAL = 30_000
_SEED = 2026

_RULES = tuple(
    rule
    for room in (doing, being, placing, asking, ordering, joining, daily)
    for rule in room.RULES
)


def corpus() -> tuple[SentencePair, ...]:
    """``TOTAL`` pairs with distinct English sides, shuffled; always the same ones."""
    dice = Dice(_SEED)
    rules = [rule for _, rule in _RULES]
    weights = list(itertools.accumulate(weight for weight, _ in _RULES))
    pairs: dict[str, SentencePair] = {}
    while len(pairs) < TOTAL:
        rule = dice.choices(rules, cum_weights=weights)[0]
        pair = sentence(*rule(dice))
        pairs.setdefault(pair.source, pair)
    drawn = list(pairs.values())
    dice.shuffle(drawn)
    return tuple(drawn)
