"""The catalogues of GNU gettext beside the code, read once for each language."""

from __future__ import annotations

import functools
import gettext as gnu
import io
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import polib

from dashboard.language.recognising import Recogniser

PACKAGES = ("dashboard", "attention_plugins")
_KEPT = 4096  # finished texts whose translation is remembered
HEADER = {
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",  # of Chinese: no text depends on a number
}


class Catalogue:
    """All that can be said in one language.

    Args:
        language: one of :data:`dashboard.language.LANGUAGES`.
    """

    def __init__(self, language: str) -> None:
        entries = [entry for path in files(language) for entry in polib.pofile(str(path))]
        self._texts = _compiled(entries)
        known = {entry.msgid: entry.msgstr for entry in entries if not entry.msgid_plural}
        self._recogniser = Recogniser(known)
        self.recognised = functools.lru_cache(maxsize=_KEPT)(self._recogniser)

    def text(self, text: str) -> str:
        """See :func:`dashboard.language.gettext`."""
        return self._texts.gettext(text) if text else ""

    def number(self, one: str, many: str, count: int) -> str:
        """See :func:`dashboard.language.ngettext`."""
        return self._texts.ngettext(one, many, count)


@functools.cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language; read from its files at the first call."""
    return Catalogue(language)


def files(language: str) -> list[Path]:
    """The catalogue's files: each folder of the workbench may have one."""
    found = (find_spec(package) for package in PACKAGES)
    roots = [
        Path(place) for spec in found if spec for place in spec.submodule_search_locations or ()
    ]
    return [path for root in roots for path in sorted(root.rglob(f"{language}.po"))]


def _compiled(entries: list[polib.POEntry]) -> gnu.GNUTranslations:
    """The entries as the standard library's gettext takes them.

    The same text may stand in several folders; the first one counts.
    """
    merged = polib.POFile()
    merged.metadata = dict(HEADER)
    held: Mapping[str, polib.POEntry] = {entry.msgid: entry for entry in reversed(entries)}
    merged.extend(held.values())
    return gnu.GNUTranslations(io.BytesIO(merged.to_binary()))
