"""Beginnings of Phrasebook's English sentences, each with the rest of its sentence."""

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from attention_plugins.beside import row
from attention_plugins.contract import DatasetSpec, Scalar, SentencePair
from attention_plugins.datasets.phrasebook import PHRASEBOOK, phrasebook

__all__ = ["BEGINNINGS", "beginnings"]

_MORE_CUTS = 2  # besides the one after the first word
_SEED = 0


@lru_cache(maxsize=1)
def beginnings() -> tuple[SentencePair, ...]:
    """Every sentence cut after its first word and at two more spaces, where it has so many.

    In Phrasebook's order; the places are always the same.
    """
    return tuple(_cut(pair.source for pair in phrasebook()))


def _cut(sentences: Iterator[str]) -> Iterator[SentencePair]:
    draw = random.Random(_SEED)
    for sentence in sentences:
        words = sentence.split(" ")
        later = range(2, len(words))
        for place in (1, *sorted(draw.sample(later, min(_MORE_CUTS, len(later))))):
            if place < len(words):
                yield SentencePair(" ".join(words[:place]), " ".join(words[place:]))


def _load(parameters: Mapping[str, Scalar], seed: int) -> Sequence[SentencePair]:
    """The first ``pairs``; the seed changes nothing, so that models compare on equal data."""
    return beginnings()[: int(parameters["pairs"])]


BEGINNINGS = DatasetSpec(
    load=_load,
    reference=f"The English side of {PHRASEBOOK.title}, cut at spaces.",
    **row(__file__, "beginnings"),
)
