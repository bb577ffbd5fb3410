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
"""

import lzma
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from attention_plugins.beside import row
from attention_plugins.contract import DatasetSpec, Scalar, SentencePair
from attention_plugins.datasets.parallel import EVERYDAY

__all__ = ["PHRASEBOOK", "phrasebook"]


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


def _load(parameters: Mapping[str, Scalar], seed: int) -> Sequence[SentencePair]:
    """The first ``pairs``; the seed changes nothing, so that models compare on equal data."""
    return phrasebook()[: int(parameters["pairs"])]


PHRASEBOOK = DatasetSpec(load=_load, examples=EVERYDAY, **row(__file__, "phrasebook"))
