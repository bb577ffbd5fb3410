"""Sort: the symbols in the order of the alphabet."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.symbols import pair, symbol_task


def sorted_(source: Sequence[str]) -> SentencePair:
    """Of equal symbols the one that stands first comes first."""
    places = sorted(range(len(source)), key=source.__getitem__)
    return pair(source, [source[place] for place in places], places)


SORT = symbol_task(
    "sort",
    title="Sort",
    answer=sorted_,
    sides=("symbols", "the symbols sorted"),
    examples=("d b c a", "j a j a j", "c h c a b c"),
    reference="Vinyals, Bengio & Kudlur 2016, Order matters: sequence to sequence for sets, "
    "section 4.2",
    description="Write the symbols in alphabetical order: look at the next one, wherever it is.",
)
