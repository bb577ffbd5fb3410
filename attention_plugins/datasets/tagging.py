"""Tagging: a tag for each symbol, which depends on its left neighbour."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.symbols import pair, symbol_task


def tag(before: str, symbol: str) -> str:
    """How a symbol compares with its left neighbour."""
    if symbol == before:
        return "same"
    return "up" if symbol > before else "down"


def tagged(source: Sequence[str]) -> SentencePair:
    """Each tag stands for its symbol; a link to the left neighbour is possible."""
    tags = ["first", *(tag(*both) for both in pairwise(source))]
    beside = tuple((number - 1, number) for number in range(1, len(source)))
    return pair(source, tags, range(len(source)))._replace(possible=beside)


TAGGING = symbol_task(
    "tagging",
    title="Tagging",
    answer=tagged,
    sides=("symbols", "their tags"),
    examples=("a b c d", "j a j a j", "c c h a b b"),
    metric="token_accuracy",
    reference="Attention Workbench",
    description="A tag for each symbol: whether it comes after its left neighbour in the "
    "alphabet (up), before it (down), or is the same; the first one is first.",
)
