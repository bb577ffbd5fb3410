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
        beside = {_folder(path): [*polib.pofile(str(path))] for path in files(language)}
        entries = [entry for own in beside.values() for entry in own]
        self._texts = _compiled(entries)
        self._beside = {folder: _compiled(own) for folder, own in beside.items()}
        for own in self._beside.values():
            own.add_fallback(self._texts)
        # Of two entries for one text that of the plugins counts, whose texts these mostly are.
        known = {entry.msgid: entry.msgstr for entry in entries if not entry.msgid_plural}
        self._recogniser = Recogniser(known)
        self.recognised = functools.lru_cache(maxsize=_KEPT)(self._recogniser)
        self._of = functools.cache(self._nearest)

    def text(self, text: str, module: str = "") -> str:
        """See :func:`dashboard.language.gettext`.

        Args:
            module: that shows the text.
        """
        return self._of(module).gettext(text) if text else ""

    def number(self, one: str, many: str, count: int, module: str = "") -> str:
        """See :func:`dashboard.language.ngettext`."""
        return self._of(module).ngettext(one, many, count)

    def _nearest(self, module: str) -> gnu.GNUTranslations:
        """The texts of the folder of a module, then those of all folders."""
        while module:
            module = module.rpartition(".")[0]
            if module in self._beside:
                return self._beside[module]
        return self._texts


@functools.cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language; read from its files at the first call."""
    return Catalogue(language)


def files(language: str) -> list[Path]:
    """The catalogue's files: each folder of the workbench may have one."""
    return [path for root in _roots().values() for path in sorted(root.rglob(f"{language}.po"))]


@functools.cache
def _roots() -> dict[str, Path]:
    """Where the packages lie, by their names."""
    found = {package: find_spec(package) for package in PACKAGES}
    return {
        package: Path(place) for package, spec in found.items()
        if spec for place in spec.submodule_search_locations or ()
    }  # fmt: skip


def _folder(path: Path) -> str:
    """The package beside whose code a catalogue lies, such as ``dashboard.features.race``."""
    for package, root in _roots().items():
        if path.is_relative_to(root):
            return ".".join((package, *path.parent.relative_to(root).parts))
    return ""


def _compiled(entries: list[polib.POEntry]) -> gnu.GNUTranslations:
    """The entries as the standard library's gettext takes them.

    The same text may stand in several folders; the first one counts.
    """
    merged = polib.POFile()
    merged.metadata = dict(HEADER)
    held: Mapping[str, polib.POEntry] = {entry.msgid: entry for entry in reversed(entries)}
    merged.extend(held.values())
    return gnu.GNUTranslations(io.BytesIO(merged.to_binary()))
