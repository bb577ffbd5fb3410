"""BibTeX: the workbench, what a page shows, and what the plugins behind it cite."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, urlsplit

from dashboard.records.beside import beside
from dashboard.records.catalogue import Checkpoint
from dashboard.storage.bundle import versions
from dashboard.ui.figure_parts import TITLE, FigurePart, Made, computed_with, environment, is_local

# By title: authors with their first names, and where a work appeared.
_WORKS = beside(__file__, "works.toml")
_KIND_BY = {"booktitle": "inproceedings", "journal": "article", "publisher": "book",
            "institution": "techreport"}  # fmt: skip

# As CITATION.cff has them, which an installed workbench lacks; a test keeps both equal.
AUTHORS = f"{TITLE} contributors"

_GREEK = dict(zip(
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ",
    (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
        "sigma tau upsilon phi chi psi omega "
        "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
    ).split(),
    strict=True,
))  # fmt: skip
# Not every TeX sets these letters outside of mathematics.
_MATHEMATICAL = {
    **{letter: rf"$\{name}$" for letter, name in _GREEK.items()},
    "−": "$-$", "·": r"$\cdot$", "×": r"$\times$", "√": r"$\surd$", "‖": r"$\|$",
}  # fmt: skip
_SPECIAL = _MATHEMATICAL | {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", **{sign: f"\\{sign}" for sign in "$&#_%"},
}  # fmt: skip
_REFERENCE = re.compile(
    r"(?P<authors>[^;]+?) (?P<year>\d{4}), (?P<title>.+?)"
    r"(?:, (?P<place>(?:sections?|algorithms?|tables?|equations?|appendix|chapters?) .+))?"
)


@dataclass(frozen=True, kw_only=True)
class Cited:
    """Something with a reference: its kind, such as ``scoring``, and what its plugin says."""

    kind: str
    title: str
    reference: str


def software(version: str, day: date, commit: str = "") -> str:
    """The entry of the workbench; its year is that of the day, since no version says its own."""
    fields = {
        "author": f"{{{_text(AUTHORS)}}}", "title": f"{{{_text(TITLE)}}}", "year": str(day.year),
        "version": _text(version), "note": _text(f"Commit {commit}") if commit else "",
    }  # fmt: skip
    return _entry("software", "attention-workbench", fields)


def shown(title: str, link: str, key: str, day: date, note: str) -> str:
    """The entry of what a page shows, or of a run; ``note`` says what it was computed with.

    Of an address that only this machine or network knows, its settings are said instead.
    """
    address = quote(link, safe="/:?#[]@!$&'()*+,;=%~")
    found = rf"\url{{{address}}}"
    if is_local(link):
        parts = urlsplit(link)
        settings = f"{parts.path.strip('/')}?{parts.query}".strip("?") if parts.query else ""
        note, found = f"{note} Settings: {settings}" if settings else note, ""
    fields = {
        "author": f"{{{_text(AUTHORS)}}}", "title": f"{{{_text(title)}}}", "howpublished": found,
        "year": str(day.year), "month": f"{day:%b}".lower(), "note": _text(note),
    }  # fmt: skip
    return _entry("misc", f"attention-workbench-{key}", fields)


def model(name: str, title: str, note: str) -> str:
    """The entry of a trained model."""
    fields = {"title": f"{{{_text(title)}}}", "note": _text(note)}
    return _entry("misc", re.sub(r"[^a-zA-Z0-9-]+", "-", name), fields)


def cited(things: Iterable[Cited]) -> Iterator[str]:
    """Yield an entry for each work that any of these cites, and say what cites it, and where."""
    works: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for thing in things:
        words = f"{thing.kind.capitalize()} {thing.title}"
        for work, place in _works(thing):
            note = f"{words}: {place}" if place else words
            notes = works.setdefault(tuple(work.items()), [])
            if note not in notes:
                notes.append(note)
    taken: set[str] = set()
    for work, notes in works.items():
        key = free = _key(dict(work))
        while free in taken:
            free = f"{key}-{len(taken)}"
        taken.add(free)
        fields = {name: _text(held) for name, held in work}
        more = {name: _text(held) for name, held in _known(**dict(work)).items()}
        kind = next((kind for name, kind in _KIND_BY.items() if name in more), "misc")
        fields["title"] = f"{{{fields['title']}}}"
        yield _entry(kind, free, {**fields, **more, "note": _text("; ".join(notes))})


def _works(thing: Cited) -> Iterator[tuple[dict[str, str], str]]:
    """Yield what a reference cites, and where in it; all of it as one where it is no list."""
    if thing.reference in ("", TITLE):
        return
    found = [_REFERENCE.fullmatch(work) for work in thing.reference.split("; ")]
    if not all(found):
        yield {"title": thing.reference}, ""
        return
    for one in filter(None, found):
        names = re.split(r", | & ", one["authors"].replace(" et al.", ", others"))
        about = {"author": " and ".join(names), "title": one["title"], "year": one["year"]}
        yield about, one["place"] or ""


def _known(title: str, author: str = "", **_: str) -> Mapping[str, str]:
    """More of a work, where one of that title and first author is known."""
    found = _WORKS.get(title, {})
    return found if author.partition(" and ")[0] in found.get("author", "") else {}


def _key(fields: Mapping[str, str]) -> str:
    """Such as ``bahdanau2014``."""
    first = fields.get("author", fields["title"]).partition(" and ")[0]
    plain = unicodedata.normalize("NFKD", first).encode("ascii", "ignore").decode().lower()
    return (re.sub(r"[^a-z0-9]+", "", plain)[:40] or "work") + fields.get("year", "")


def _entry(kind: str, key: str, fields: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{held}}}," for name, held in fields.items() if held]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"


def _text(words: str) -> str:
    """Words as TeX sets them as they stand, in one line."""
    return "".join(_SPECIAL.get(letter, letter) for letter in " ".join(words.split()))


_LONGEST_TITLE = 200  # characters
_KINDS = (("scorings", "scoring"), ("normalisers", "normaliser"), ("models", "model"),
          ("datasets", "data set"))  # fmt: skip


def bibtex(made: Made, part: FigurePart | None = None, day: date | None = None) -> str:
    """Entries of the workbench, of what ``part`` shows, of checkpoints, and of what plugins cite.

    They are in English, and without the titles of panels where these are in another language.
    """
    version = versions().get("attention-workbench", "")
    panels = part.panels if part and (not made.english or made.english == made.title) else ()
    titles = dict.fromkeys(panel.title for panel in panels if panel.title)
    title = made.english or made.title
    title = f"{title}: {'; '.join(titles)}" if titles else title
    title = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
    key = hashlib.sha256(made.link.encode()).hexdigest()[:8]
    note, seen = computed_with(made), day or date.today()
    entries = [software(version, seen, str(environment(made).get("commit", "")))]
    entries.append(shown(title, made.link, key, seen, note))
    names = dict.fromkeys(request.data for request, _ in made.results)
    found = map((made.installed or made.catalogue).checkpoints.get, names)
    entries += [_trained(checkpoint) for checkpoint in found if checkpoint]
    return "\n".join([*entries, *cited(dict.fromkeys(_used(made)))])


def _trained(checkpoint: Checkpoint) -> str:
    corpus = checkpoint.card["corpus"]
    note = f"Trained on {checkpoint.corpus}"
    if sha256 := corpus.get("sha256"):
        note += f", sha256 {sha256}"
    if commit := checkpoint.adopted.get("revision"):
        note = f"{checkpoint.adopted['repository']}, revision {commit}"
    return model(checkpoint.name, checkpoint.title, note)


def _used(made: Made) -> Iterator[Cited]:
    """Everything with a reference that the requests name, themselves or by a checkpoint."""
    installed = made.installed or made.catalogue
    for request, _ in made.results:
        names = {request.model, request.scoring, request.data}
        names |= {value for _, value in request.options if isinstance(value, str)}
        if checkpoint := installed.checkpoints.get(request.data):
            names |= {checkpoint.model, checkpoint.scoring, checkpoint.corpus}
            names.add(str(checkpoint.card.get("normaliser", "")))
        for kind, word in _KINDS:
            for name, entry in getattr(installed, kind).items():
                if name in names:
                    yield Cited(kind=word, title=entry.short_title, reference=entry.reference)
