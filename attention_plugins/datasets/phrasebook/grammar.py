"""Draws the corpus: rules by weight, until there are enough distinct English sentences."""

from __future__ import annotations

import itertools

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.phrasebook.orthography import sentence
from attention_plugins.datasets.phrasebook.phrase import Dice
from attention_plugins.datasets.phrasebook.rules import (
    asking,
    being,
    choosing,
    comparing,
    daily,
    doing,
    infinitives,
    joining,
    meeting,
    ordering,
    placing,
    qualities,
    relatives,
)

TOTAL = 25_000
_SEED = 2026

_RULES = tuple(
    rule
    for room in (
        doing,
        being,
        qualities,
        comparing,
        placing,
        asking,
        choosing,
        ordering,
        joining,
        infinitives,
        relatives,
        daily,
        meeting,
    )
    for rule in room.RULES
)


def corpus(total: int = TOTAL) -> tuple[SentencePair, ...]:
    """``total`` pairs with distinct English sides, shuffled; always the same ones."""
    dice = Dice(_SEED)
    rules = [rule for _, rule in _RULES]
    weights = list(itertools.accumulate(weight for weight, _ in _RULES))
    pairs: dict[str, SentencePair] = {}
    while len(pairs) < total:
        rule = dice.choices(rules, cum_weights=weights)[0]
        pair = sentence(*rule(dice))
        pairs.setdefault(pair.source, pair)
    drawn = list(pairs.values())
    dice.shuffle(drawn)
    return tuple(drawn)
