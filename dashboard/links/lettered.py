"""Panels that keep their letters, and so their colours, when another one is removed.

Panels are called a, b, c and d. With ``panels=ac`` a link says that its panels keep the letters a
and c; without it they have the first letters, in order.

What trained models read and write: the words of pages come from their cards.

A card that says nothing, from before it could, is asked of the data set that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from dashboard.language import gettext, gettext_noop
from dashboard.links.fields import LETTERS, refused
from dashboard.links.link import Field, Reader
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


PANELS = "panels"  # in the link: which letters panels have

Panel = TypeVar("Panel")


@dataclass(frozen=True, kw_only=True)
class Lettered(Generic[Panel]):
    """What a page shows that sets panels side by side.

    Args:
        panels: what each of them shows.
        letters: of the panels, in order, where these are not the first ones; else empty.
    """

    panels: tuple[Panel, ...]
    letters: str = ""

    @property
    def by_letter(self) -> dict[str, Panel]:
        """The panels by their letters, in order."""
        return dict(zip(self.letters or LETTERS, self.panels, strict=False))

    @property
    def free_letter(self) -> str:
        """The first letter that no panel has; empty where all are taken."""
        return next((letter for letter in LETTERS if letter not in self.by_letter), "")

    def with_panels(self, by_letter: Mapping[str, Panel]) -> Self:
        """The view with these panels in place of its own."""
        letters = "".join(sorted(by_letter))
        return replace(
            self,
            panels=tuple(by_letter[letter] for letter in letters),
            letters=_written(letters),
        )


@dataclass(frozen=True, kw_only=True)
class Letters(Field[Any, str]):
    """The letters that panels keep; comes after the panels."""

    name: str = "letters"

    def read(self, reader: Reader, view: Lettered[Any], catalogue: Catalogue) -> str:
        """See :meth:`Field.read`."""
        given = reader.take(PANELS)
        if given is None:
            return ""
        named = "".join(letter for letter in LETTERS if reader.given(letter) is not None)
        if given != named:
            wanted = gettext("the letters of the panels in this link")
            refused(reader, PANELS, given, wanted, LETTERS[: len(view.panels)])
            return ""
        return _written(self.kept(named, reader, view, catalogue))

    def kept(self, named: str, reader: Reader, view: Lettered[Any], catalogue: Catalogue) -> str:
        """The letters of the panels that were read, of those that the link names."""
        return named

    def write(self, view: Lettered[Any], catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return {PANELS: view.letters} if view.letters else {}


def _written(letters: str) -> str:
    """As a view holds them: nothing where they are the first ones."""
    return "" if LETTERS.startswith(letters) else letters
