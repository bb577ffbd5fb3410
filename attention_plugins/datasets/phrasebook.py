"""Phrasebook: 25,000 English–French sentence pairs with their gold word alignment.

``phrasebook.tsv.xz`` beside this file holds a pair a line: the English sentence, the French one,
and the links between their tokens, as :func:`~attention_plugins.datasets.parallel.aligned_pair`
reads them. The pairs were drawn once, with a fixed seed, from a synchronous grammar of 13 groups
of rules (statements, questions, orders, comparisons, relative clauses and so on) over a lexicon
of verbs, nouns, adjectives and idioms. Each derivation built both sides of a sentence at once, so
it knew which word stands for which. English sides are distinct, and the order is shuffled.

Only sure links are given. ``not`` is tied to both *ne* and *pas*. An auxiliary is tied to an
auxiliary (*did* you see, *avez*-vous vu) or, where it opens a question, to *est-ce que*; one
without counterpart (*do* not know, *is* reading, *will* come; j'*ai* lu for *read*) has no link,
nor has an article or preposition that the other language leaves out. *You* is vous, but tu
for whoever is called by name.

Beginnings are its English sentences, each cut into what is read and what goes on.
"""

import lzma
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from attention_plugins.beside import row
from attention_plugins.contract import DatasetSpec, SentencePair
from attention_plugins.datasets.parallel import EVERYDAY

__all__ = ["BEGINNINGS", "PHRASEBOOK", "beginnings", "phrasebook"]


@lru_cache(maxsize=1)
def phrasebook() -> tuple[SentencePair, ...]:
    """All pairs, in an order that is always the same; a head of n of them is a fair sample.

    French has a plain space (U+0020) before ``!`` and ``?``.
    """

    # Equal links are one object: apart they would take 10 MB more in each worker.
    @cache
    def link(text: str) -> tuple[int, int]:
        source, target = text.split("-")
        return int(source), int(target)

    data = files("attention_plugins.datasets").joinpath("phrasebook.tsv.xz").read_bytes()
    lines = lzma.decompress(data).decode().splitlines()
    return tuple(
        SentencePair(source, target, tuple(link(text) for text in links.split()))
        for source, target, links in (line.split("\t") for line in lines)
    )


def _first(pairs: Callable[[], Sequence[SentencePair]]) -> Callable[..., Sequence[SentencePair]]:
    """The first ``pairs``; the seed changes nothing, so that models compare on equal data."""
    return lambda parameters, seed: pairs()[: int(parameters["pairs"])]


PHRASEBOOK = DatasetSpec(load=_first(phrasebook), examples=EVERYDAY, **row(__file__, "phrasebook"))

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


BEGINNINGS = DatasetSpec(
    load=_first(beginnings), reference=f"The English side of {PHRASEBOOK.title}, cut at spaces.",
    **row(__file__, "beginnings"),
)  # fmt: skip
