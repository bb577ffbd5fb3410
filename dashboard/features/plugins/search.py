"""Which records of a distribution have the words that a reader looks for."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue, Checkpoint, Entry
from dashboard.records.distributions import Distribution

Names = dict[str, list[str]]


def found(one: Distribution, catalogue: Catalogue, words: str) -> Names:
    """The names that it offers, by kind, whose records have every word; all without words.

    A word may be a part of another one, in capitals or not, of the record's name, title,
    description or reference, its kind, or the name of the distribution.
    """
    wanted = words.casefold().split()
    matching = {
        kind: [name for name in names if _has(_texts(one, catalogue, kind, name), wanted)]
        for kind, names in one.offers().items()
    }
    return {kind: names for kind, names in matching.items() if names}


def title_of(entry: Entry | Checkpoint | None, name: str) -> str:
    """What a record is called; its name where it cannot be used."""
    return entry.title if entry else name


def description_of(entry: Entry | Checkpoint | None) -> str:
    """A sentence on a record."""
    if entry is None:
        return gettext("It cannot be used; see above.")
    if isinstance(entry, Checkpoint):
        return gettext(
            "{model} with {scoring}, trained on {corpus}", model=entry.model,
            scoring=entry.scoring, corpus=entry.corpus,
        )  # fmt: skip
    return entry.description


def _texts(one: Distribution, catalogue: Catalogue, kind: str, name: str) -> Iterable[str]:
    entry = catalogue.entry(kind, name)
    yield from (one.name, kind, catalogue.kinds[kind], name, title_of(entry, name))
    yield description_of(entry)
    if isinstance(entry, Entry):
        yield entry.reference


def _has(texts: Iterable[str], wanted: Iterable[str]) -> bool:
    text = "\n".join(texts).casefold()
    return all(word in text for word in wanted)
