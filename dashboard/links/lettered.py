"""Panels that keep their letters, and so their colours, when another one is removed.

Panels are called a, b, c and d. With ``panels=ac`` a link says that its panels keep the letters a
and c; without it they have the first letters, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from dashboard.language import gettext
from dashboard.links.fields import LETTERS, refused
from dashboard.links.link import Field
from dashboard.links.reader import Reader
from dashboard.records.catalogue import Catalogue

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
