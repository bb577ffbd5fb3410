"""Phrasebook: an English–French corpus with gold word alignment, drawn from a grammar.

One derivation builds both sides of a sentence at once, so that it knows which word stands for
which. Nothing is read or downloaded.

Only sure links are given. ``not`` is tied to both *ne* and *pas*. An auxiliary is tied to an
auxiliary (*did* you see, *avez*-vous vu) or, where it opens a question, to *est-ce que*; one
without counterpart (*do* not know, *is* reading, *will* come; j'*ai* lu for *read*) has no link,
nor has an article or preposition that the other language leaves out. *You* is vous, but tu
for whoever is called by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from attention_plugins.contract import DatasetSpec, Parameter, Scalar, SentencePair
from attention_plugins.datasets.parallel import EVERYDAY
from attention_plugins.datasets.phrasebook.grammar import TOTAL, corpus

__all__ = ["PHRASEBOOK", "phrasebook"]


@lru_cache(maxsize=1)
def phrasebook() -> tuple[SentencePair, ...]:
    """All pairs, in an order that is always the same; a head of n of them is a fair sample.

    English sides are distinct. French has a plain space (U+0020) before ``!`` and ``?``.
    """
    return corpus()


def _load(parameters: Mapping[str, Scalar], seed: int) -> Sequence[SentencePair]:
    """The first ``pairs``; the seed changes nothing, so that models compare on equal data."""
    return phrasebook()[: int(parameters["pairs"])]


PHRASEBOOK = DatasetSpec(
    name="phrasebook",
    title="Phrasebook (English–French)",
    task="translation",
    load=_load,
    parameters=(
        Parameter(
            name="pairs",
            title="Sentence pairs",
            default=20_000,
            low=100,
            high=TOTAL,
            step=100,
            help="How many of the grammar's sentences to use.",
        ),
    ),
    reference="Drawn from a synchronous grammar; sure links as in Och and Ney (2003).",
    description="Everyday sentences with the word alignment they were built with.",
    aligned=True,
    sides=("English", "French"),
    examples=EVERYDAY,
)
