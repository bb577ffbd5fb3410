"""The catalogues of GNU gettext beside the code, read once for each language."""

from __future__ import annotations

import functools
import gettext as gnu
import io
import itertools
import operator
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Formatter

import polib

from dashboard.language.typesetting import filled
from dashboard.pages import brought

_FEW_LETTERS = 6  # a form with fewer of its own says little: "{model} with {scoring}"
_LONGEST = 2000  # characters of a text that is compared with forms
_DEEPEST = 3  # values within values
_MOST_TRIED = 3  # forms that fit one text
_NUMBER = re.compile(r"[-+−]?[0-9][0-9,.]*(e[-+]?[0-9]+)?|nan|-?inf")
_NUMERIC = re.compile(r".*[,dgfe]\Z")  # format of a placeholder that is a number
# Plugins, parameters and numbers as they are written, several of them with commas or "and".
_NAMES = re.compile(r"[^\sA-Z]+(?:(?:,| and) [^\sA-Z]+)*")
# A sentence that has these is translated already, and only looks like a form.
_CHINESE = re.compile("[，。：；？！（）、]")
_QUOTES = {"'": "'", '"': '"', "‘": "’", "“": "”"}


@dataclass(frozen=True, kw_only=True)
class _Form:
    """A text with placeholders.

    Args:
        pieces: what stands before, between and after the placeholders.
        landmark: the longest of them.
        own: how many signs they have.
        letters: how many of these are letters.
        names: of the placeholders, in their order.
        numeric: those that are numbers.
        translation: with the same placeholders.
    """

    pieces: tuple[str, ...]
    landmark: str
    own: int
    letters: int
    names: tuple[str, ...]
    numeric: frozenset[str]
    translation: str

    def values(self, text: str) -> dict[str, str] | None:
        """The values of the placeholders; None where the text has another form."""
        first, *between, last = self.pieces
        if not (text.startswith(first) and text.endswith(last)):
            return None
        found, at, end = [], len(first), len(text) - len(last)
        for piece in between:
            place = text.find(piece, at + 1, end)
            if place < 0:
                return None
            found.append(text[at:place])
            at = place + len(piece)
        values: dict[str, str] = {}
        for name, value in zip(self.names, [*found, text[at:end]], strict=True):
            number = name not in self.numeric or _NUMBER.fullmatch(value)
            if not value or not number or values.setdefault(name, value) != value:
                return None
        return values


class Recogniser:
    """Translates finished texts.

    Args:
        known: translations by English text; both may have placeholders such as ``{count:,}``.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = {text: translation for text, translation in known.items() if translation}
        forms = (_form(text, translation) for text, translation in self._known.items())
        # The more of a text is a form's own, the better it fits.
        self._forms = sorted((form for form in forms if form), key=lambda form: -form.own)

    def __call__(self, text: str) -> str:
        """The translation; the text itself where nothing fits.

        Values are translated too: a message may be told within another one. Where several forms
        fit, it is the one of which most is understood.
        """
        return self._translated(text, 0)[0]

    def _translated(self, text: str, depth: int) -> tuple[str, int]:
        """The translation, and how many signs of the text were understood."""
        if (known := self._known.get(text)) is not None:
            return known, len(text)
        if len(text) > _LONGEST or depth > _DEEPEST or (not depth and _CHINESE.search(text)):
            return text, 0
        if len(text) > 2 and _QUOTES.get(text[0]) == text[-1]:
            if _NAMES.fullmatch(text[1:-1]):
                return text, 0
            inside, understood = self._translated(text[1:-1], depth + 1)
            return f"{text[0]}{inside}{text[-1]}", understood
        best, most = text, 0
        for form, values in itertools.islice(self._fitting(text), _MOST_TRIED):
            said = {name: self._translated(value, depth + 1) for name, value in values.items()}
            inside = sum(understood for _, understood in said.values())
            # Much fits a form with few letters that means something else.
            known = [bool(said[name][1]) for name in values]
            names = [bool(_NAMES.fullmatch(value)) for value in values.values()]
            if form.letters < _FEW_LETTERS and not all(map(operator.or_, known, names)):
                continue
            if not form.letters and (all(names) or not all(known)):
                continue
            if form.own + inside > most:
                best = filled(form.translation, {name: text for name, (text, _) in said.items()})
                most = form.own + inside
        return best, most

    def _fitting(self, text: str) -> Iterator[tuple[_Form, dict[str, str]]]:
        for form in self._forms:
            if form.landmark in text and (values := form.values(text)) is not None:
                yield form, values


def _form(text: str, translation: str) -> _Form | None:
    """The form of a text; None for one without placeholders, or with nothing of its own."""
    try:
        parts = [*Formatter().parse(text)]
    except ValueError:  # braces of TeX
        return None
    named = [(name, spec or "") for _, name, spec, _ in parts if name is not None]
    if not named or not all(name.isidentifier() for name, _ in named):
        return None
    pieces, literal = [], ""
    for before, name, _, _ in parts:
        literal += before
        if name is not None:
            pieces.append(literal)
            literal = ""
    pieces.append(literal)
    if not "".join(pieces).strip():
        return None
    return _Form(
        pieces=tuple(pieces), landmark=max(pieces, key=len), own=sum(map(len, pieces)),
        letters=sum(map(str.isalpha, "".join(pieces))), names=tuple(name for name, _ in named),
        numeric=frozenset(name for name, spec in named if _NUMERIC.fullmatch(spec)),
        translation=_unformatted(translation),
    )  # fmt: skip


def _unformatted(text: str) -> str:
    """The text with bare placeholders: a value that was recognised is formatted already."""
    made = ""
    for literal, name, _, _ in Formatter().parse(text):
        made += literal.replace("{", "{{").replace("}", "}}")
        made += f"{{{name}}}" if name is not None else ""
    return made


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
        brought = dict(_brought(language))
        self._beside = {folder: _compiled(own) for folder, own in (beside | brought).items()}
        for own in self._beside.values():
            own.add_fallback(self._texts)
        # Of two entries for one text that of the plugins counts, whose texts these mostly are.
        known = {entry.msgid: entry.msgstr for entry in entries if not entry.msgid_plural}
        # Of pages from elsewhere only what we do not say, and no form, which could fit our texts.
        theirs = (entry for own in brought.values() for entry in own if "{" not in entry.msgid)
        known = {entry.msgid: entry.msgstr for entry in theirs} | known
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


def _brought(language: str) -> Iterator[tuple[str, list[polib.POEntry]]]:
    """The entries beside each page of a package by its module; a faulty file costs its own."""
    for entry in brought():
        with suppress(Exception):
            top, *rest = entry.module.split(".")
            spec = find_spec(top)  # of a package within one it would import the outer one
            for place in (spec and spec.submodule_search_locations) or ():
                yield entry.module, [*polib.pofile(str(Path(place, *rest, f"{language}.po")))]


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
