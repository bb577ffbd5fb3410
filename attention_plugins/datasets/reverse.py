"""Reverse: the symbols from the last to the first. Every map is the other diagonal."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.symbols import pair, symbol_task


def reversed_(source: Sequence[str]) -> SentencePair:
    """Symbol i of the target stands for symbol n - 1 - i of the source."""
    return pair(source, source[::-1], range(len(source))[::-1])


REVERSE = symbol_task(
    "reverse",
    title="Reverse",
    answer=reversed_,
    sides=("symbols", "the symbols reversed"),
    examples=("a b c d", "j a j a j", "c c c a b h"),
    reference="Grefenstette et al. 2015, Learning to transduce with unbounded memory, section 4.1",
    description="Write the symbols from the last to the first: look further left each time.",
)
