"""What makes a figure reproducible: the sentences of its caption, and its BibTeX."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from dashboard.language import gettext, gettext_noop, translated
from dashboard.language.joining import ended, listed, together
from dashboard.records import citation
from dashboard.records.address import is_local
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.citation import Cited
from dashboard.records.request import Request, Scalar, is_upload
from dashboard.records.result import Result
from dashboard.storage.bundle import versions
from dashboard.ui import upload
from dashboard.ui.figure_parts import FigurePart
from dashboard.ui.titles import data_title, setting_words

_LONGEST_TITLE = 200  # characters
_LONGEST_LINK = 500  # characters; a longer one stands in the BibTeX alone
_OF_DATA = "data."  # before the options of a request that are its data's
_KINDS = (("scorings", "scoring"), ("normalisers", "normaliser"), ("models", "model"),
          ("datasets", "data set"))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a page shows, and what it was computed with.

    Args:
        title: of the page, or the name of a run.
        link: the whole address of what is seen.
        results: what it was drawn from.
        catalogue: what is installed.
        english: the title for BibTeX, where ``title`` is in another language.
        installed: the catalogue in English, where ``catalogue`` is in another language.
    """

    title: str
    link: str
    results: Sequence[tuple[Request, Result]]
    catalogue: Catalogue
    english: str = ""
    installed: Catalogue | None = None


def caption(made: Made, part: FigurePart) -> str:
    """What is seen, of which data, what computed it, and where it can be seen again."""
    shows = gettext("{title}: {shown}", title=made.title, shown=part.shown)
    sentences = [ended(shows if part.shown else made.title)]
    if len(part.panels) == 1:
        shown = _stopped(part.panels[0].said)
        sentences = [gettext("{title}: {shown}", title=made.title, shown=shown)]
    for number, panel in enumerate(part.panels if len(part.panels) > 1 else ()):
        sentences.append(f"({chr(ord('a') + number % 26)}) {_stopped(panel.said)}")
    sentences += part.marks
    data = listed(_data_of(made))
    seeds = ", ".join(map(str, sorted({request.seed for request, _ in made.results})))
    if data:
        sentences.append(gettext("Data: {data}.", data=data))
    if seeds:
        sentences.append(gettext("Seed: {seeds}.", seeds=seeds))
    sentences.append(translated(computed_with(made)))
    told = len(made.link) <= _LONGEST_LINK and not is_local(made.link)
    link = made.link if told else ""
    return " ".join(filter(None, (together(sentences), link)))


def computed_with(made: Made) -> str:
    """The sentence that names versions and commit, as far as results say them; in English."""
    version, found = versions().get("attention-workbench", ""), _environment(made)
    program = f"{citation.TITLE} {version}".rstrip()
    if commit := found.get("commit"):
        program = gettext_noop("{program} (commit {commit})", program=program, commit=commit)
    if torch := found.get("torch"):
        return gettext_noop(
            "Computed with {program} and torch {version}.", program=program, version=torch
        )
    return gettext_noop("Computed with {program}.", program=program)


def bibtex(made: Made, part: FigurePart | None = None, day: date | None = None) -> str:
    """Entries of the workbench, of what is seen, of checkpoints, and of what plugins cite.

    They are in English, and without the titles of panels where these are in another language.

    Args:
        part: what of the page is meant; all of it where None.
        day: on which it was seen; today where None.
    """
    version = versions().get("attention-workbench", "")
    own = not made.english or made.english == made.title
    panels = part.panels if part and own else ()
    titles = dict.fromkeys(panel.title for panel in panels if panel.title)
    title = made.english or made.title
    title = f"{title}: {'; '.join(titles)}" if titles else title
    title = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
    key = hashlib.sha256(made.link.encode()).hexdigest()[:8]
    note, seen = computed_with(made), day or date.today()
    entries = [citation.software(version, seen, str(_environment(made).get("commit", "")))]
    entries.append(citation.shown(title, made.link, key, seen, note))
    names = dict.fromkeys(request.data for request, _ in made.results)
    found = map((made.installed or made.catalogue).checkpoints.get, names)
    entries += [_trained(checkpoint) for checkpoint in found if checkpoint]
    return "\n".join([*entries, *citation.cited(dict.fromkeys(_used(made)))])


def _data_of(made: Made) -> Iterator[str]:
    """Yield each data set with the settings that all results of it have."""
    asked: dict[str, list[dict[str, Scalar]]] = {}
    for request, _ in made.results:
        if request.data:
            asked.setdefault(request.data, []).append(dict(request.options))
    for name, options in asked.items():
        entry = made.catalogue.datasets.get(name)
        words = []
        for spec in entry.parameters if entry else ():
            first, *others = {one.get(f"{_OF_DATA}{spec.name}") for one in options}
            if first is not None and not others:
                words.append(setting_words(spec, first))
        title = _data(name, made.catalogue)
        yield (
            gettext("{data} ({settings})", data=title, settings=listed(words)) if words else title
        )


def _environment(made: Made) -> dict:
    """What the first result says that it was made with."""
    return next((result.facts["environment"] for _, result in made.results
                 if result.facts.get("environment")), {})  # fmt: skip


def _trained(checkpoint: Checkpoint) -> str:
    corpus = checkpoint.card["corpus"]
    note = f"Trained on {checkpoint.corpus}"
    if sha256 := corpus.get("sha256"):
        note += f", sha256 {sha256}"
    if commit := checkpoint.adopted.get("revision"):
        note = f"{checkpoint.adopted['repository']}, revision {commit}"
    return citation.model(checkpoint.name, checkpoint.title, note)


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


def _data(name: str, catalogue: Catalogue) -> str:
    if known := catalogue.checkpoints.get(name):
        return known.title
    if is_upload(name):
        return upload.any_title(name)
    return data_title(name, catalogue) if name in catalogue.datasets else name


def _stopped(words: str) -> str:
    return words if words.endswith((".", "。")) else ended(words)
