"""Copy: the same symbols once more. Every map is a diagonal."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.symbols import pair, symbol_task


def copied(source: Sequence[str]) -> SentencePair:
    """Symbol i of the target stands for symbol i of the source."""
    return pair(source, source, range(len(source)))


COPY = symbol_task(
    "copy",
    title="Copy",
    answer=copied,
    sides=("symbols", "the same symbols"),
    examples=("a b c d", "j a j a j", "c c c a b h"),
    reference="Graves, Wayne & Danihelka 2014, Neural Turing machines, section 4.1",
    description="Write the symbols once more: look at where you are.",
)
