"""What contestants and models of a race are called; one that is not installed keeps its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from dashboard.records.catalogue import Catalogue, Entry
from dashboard.records.request import is_formula
from dashboard.storage.races import Entrant


def contestant_titles(entrants: Iterable[Entrant], catalogue: Catalogue) -> dict[str, str]:
    """Titles such as ``Scaled dot product + Sparsemax``, by the contestants' names without models.

    Each differs from the others: of equal titles, every one has its name in brackets.
    """
    return _told_apart({one.name: _of_contestant(one, catalogue) for one in entrants})


def model_titles(entrants: Iterable[Entrant], catalogue: Catalogue) -> dict[str, str]:
    """Titles of the models by their names, told apart as those of contestants."""
    return _told_apart({one.model: _of(one.model, catalogue.models) for one in entrants})


def _of_contestant(one: Entrant, catalogue: Catalogue) -> str:
    words = _of(one.scoring, catalogue.scorings)
    return f"{words} + {_of(one.normaliser, catalogue.normalisers)}" if one.normaliser else words


def _of(name: str, entries: Mapping[str, Entry]) -> str:
    if is_formula(name):
        return name[1:]
    return entries[name].short_title if name in entries else name


def _told_apart(titles: Mapping[str, str]) -> dict[str, str]:
    count = Counter(titles.values())
    return {name: title if count[title] == 1 else f"{title} ({name})"
            for name, title in titles.items()}  # fmt: skip
