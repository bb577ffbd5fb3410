"""What trained models read and write: the words of pages come from their cards.

A card that says nothing, from before it could, is asked of the data set that it names.
"""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.language import gettext_noop
from dashboard.records.catalogue import Catalogue, Checkpoint

NEUTRAL = (gettext_noop("source"), gettext_noop("target"))
ENGLISH = "English"
SENTENCE = "i'm home ."  # where nothing is known of a corpus


def sides_of(catalogue: Catalogue, checkpoints: Iterable[Checkpoint]) -> tuple[str, str]:
    """What goes into these checkpoints and what comes out; neutral words where they differ."""
    found = {_sides(catalogue, checkpoint) for checkpoint in checkpoints}
    return found.pop() if len(found) == 1 else NEUTRAL


def sides_of_corpus(catalogue: Catalogue, corpus: str) -> tuple[str, str]:
    """What goes in and what comes out of the models that were trained on a corpus."""
    own = [entry for entry in catalogue.checkpoints.values() if entry.corpus == corpus]
    return sides_of(catalogue, own)


def examples_of(catalogue: Catalogue, corpus: str) -> tuple[str, ...]:
    """Sentences to start with, for models that were trained on a corpus."""
    for checkpoint in catalogue.usual(corpus):
        if checkpoint.examples:
            return checkpoint.examples
    data = catalogue.datasets.get(corpus)
    return data.examples if data else ()


def usual_sentence(catalogue: Catalogue, corpus: str) -> str:
    """The sentence of a bare address, for models that were trained on a corpus."""
    return next(iter(examples_of(catalogue, corpus)), SENTENCE)


def following(
    catalogue: Catalogue, before: str, corpus: str, text: str, target: str
) -> tuple[str, str]:
    """Sentence and target once other models are chosen.

    Both stay where these read and write the same; else the new ones' usual sentence replaces
    them, since no word of theirs would be known.

    Args:
        before, corpus: the corpus of the models that were shown, and of those that are.
    """
    if sides_of_corpus(catalogue, before) == sides_of_corpus(catalogue, corpus):
        return text, target
    return usual_sentence(catalogue, corpus), ""


def _sides(catalogue: Catalogue, checkpoint: Checkpoint) -> tuple[str, str]:
    data = catalogue.datasets.get(checkpoint.corpus)
    return checkpoint.sides or (data.sides if data else ()) or NEUTRAL
