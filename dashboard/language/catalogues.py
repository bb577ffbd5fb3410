"""The catalogues of GNU gettext beside the code, read once for each language."""

import functools
import gettext as gnu
import io
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Formatter

import polib

from dashboard.language.message import filled

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
    """A text with placeholders, some ``numeric``; ``pieces`` stand around these.

    ``landmark`` is the longest piece; together they have ``own`` signs, so many of them letters.
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
    """Translates the finished sentences of former versions, of plugins and of f-strings."""

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
    pieces = [""]
    for before, name, _, _ in parts:
        pieces[-1] += before
        if name is not None:
            pieces.append("")
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
_Modules = Callable[[], Iterable[str]]
_KEPT = 4096  # finished texts whose translation is remembered
_OF_LANGUAGE = "language/*.po"  # in the folder of ``dashboard``: a language for each
# Of a catalogue whose head does not say it: as English, one form for 1 and one for all others.
_PLURALS = "nplurals=2; plural=(n != 1);"


class Catalogue:
    """All that can be said in one language, also by the packages that ``brought`` names."""

    def __init__(self, language: str, brought: _Modules = tuple) -> None:
        plurals = headers().get(language, {}).get("Plural-Forms", _PLURALS)
        beside: dict[str, list[polib.POEntry]] = {}
        for path in files(language):
            beside.setdefault(_folder(path), []).extend(polib.pofile(str(path)))
        entries = [entry for own in beside.values() for entry in own]
        self._texts = _compiled(entries, plurals)
        self._beside = {folder: _compiled(own, plurals) for folder, own in beside.items()}
        theirs = dict(_beside(brought(), language))
        for module, own in theirs.items():
            self._beside[module] = _compiled(own, own.metadata.get("Plural-Forms", plurals))
        for own in self._beside.values():
            own.add_fallback(self._texts)
        # Of two entries for one text that of the plugins counts, whose texts these mostly are.
        known = {entry.msgid: entry.msgstr for entry in entries if not entry.msgid_plural}
        self._forms = dict(known)
        # Of pages from elsewhere only what we do not say, and no form, which could fit our texts.
        plain = (entry for own in theirs.values() for entry in own if "{" not in entry.msgid)
        known = {entry.msgid: entry.msgstr for entry in plain} | known
        self._recognised = functools.lru_cache(maxsize=_KEPT)(Recogniser(known))
        self._of = functools.cache(self._nearest)

    def text(self, text: str, module: str = "") -> str:
        """See :func:`dashboard.language.gettext`; ``module`` shows the text."""
        return self._of(module).gettext(text) if text else ""

    def number(self, one: str, many: str, count: int, module: str = "") -> str:
        """See :func:`dashboard.language.ngettext`."""
        return self._of(module).ngettext(one, many, count)

    def said(self, text: str) -> str:
        """See :func:`dashboard.language.translated`."""
        form: str = getattr(text, "form", "")
        if not form:
            return self._recognised(text)
        values = {name: self.said(value) for name, value in text.values.items()}  # type: ignore[attr-defined]
        try:
            return filled(_unformatted(self._forms[form]), values) or text
        except KeyError:  # of another version, or a text without a translation
            return text

    def _nearest(self, module: str) -> gnu.GNUTranslations:
        while module:
            if module in self._beside:
                return self._beside[module]
            module = module.rpartition(".")[0]
        return self._texts


@functools.cache
def catalogue(language: str, brought: _Modules = tuple) -> Catalogue:
    """The catalogue of a language; read from its files at the first call."""
    return Catalogue(language, brought)


@functools.cache
def headers() -> dict[str, dict[str, str]]:
    """What the catalogue of each language says of itself, by the language's code.

    ``Language-Name`` is what it calls itself, ``Language`` its tag, ``Plural-Forms`` its counting.
    """
    paths = [path for package, root in _roots() if package == "dashboard"
             for path in sorted(root.glob(_OF_LANGUAGE))]  # fmt: skip
    held = {path.stem: polib.pofile(str(path)).metadata for path in paths}
    return {code: {"Language-Name": code, **own} for code, own in held.items()}


def _beside(modules: Iterable[str], language: str) -> Iterator[tuple[str, polib.POFile]]:
    """The catalogue beside each module of a package; a faulty file costs its own."""
    for module in modules:
        with suppress(Exception):
            top, *rest = module.split(".")
            spec = find_spec(top)  # of a package within one it would import the outer one
            for place in (spec and spec.submodule_search_locations) or ():
                yield module, polib.pofile(str(Path(place, *rest, f"{language}.po")))


def files(language: str) -> list[Path]:
    """The catalogue's files: each folder of the workbench may have one."""
    return [path for _, root in _roots() for path in sorted(root.rglob(f"{language}.po"))]


@functools.cache
def _roots() -> tuple[tuple[str, Path], ...]:
    found = ((package, find_spec(package)) for package in PACKAGES)
    return tuple(
        (package, Path(place)) for package, spec in found
        if spec for place in spec.submodule_search_locations or ()
    )  # fmt: skip


def _folder(path: Path) -> str:
    """The package beside whose code a catalogue lies, such as ``dashboard.features.race``."""
    for package, root in _roots():
        if path.is_relative_to(root):
            return ".".join((package, *path.parent.relative_to(root).parts))
    return ""


def _compiled(entries: list[polib.POEntry], plurals: str) -> gnu.GNUTranslations:
    """Entries as the standard library's gettext takes them; of one text the first counts."""
    merged = polib.POFile()
    merged.metadata = {"Content-Type": "text/plain; charset=UTF-8", "Plural-Forms": plurals}
    held: Mapping[str, polib.POEntry] = {entry.msgid: entry for entry in reversed(entries)}
    merged.extend(held.values())
    return gnu.GNUTranslations(io.BytesIO(merged.to_binary()))
