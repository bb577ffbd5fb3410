"""The menu that makes a figure for a paper of what a page shows.

As with all exports nothing is drawn before it is asked for: the menu when it is opened, a file
when it is clicked, by the painter, on a thread that no session waits for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

import streamlit as st

from dashboard.charts import figures
from dashboard.charts.figure_style import LARGEST, NARROWEST, SMALLEST, WIDEST, WIDTHS, FigureStyle
from dashboard.charts.figures import Figure, Panel
from dashboard.language import ended, gettext, gettext_noop, listed, together, translated
from dashboard.records import citation
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.citation import Cited, is_local
from dashboard.records.request import Request, Result, Scalar, is_upload
from dashboard.storage.bundle import slug, versions
from dashboard.storage.seen import Group
from dashboard.ui import charts, navigation, upload
from dashboard.ui.figure_parts import FigurePart, figure_parts
from dashboard.ui.layout import data_title, setting_words
from dashboard.ui.shown import Spec
from dashboard.ui.speaking import spoken_now

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


_KEY = "page-figure"
_ICON = ":material/picture_as_pdf:"
_HELP = gettext_noop(
    "A figure for a paper: PDF, SVG or PNG, with colour scale, caption and BibTeX"
)
_OTHER = "other"
_WIDTHS = {
    "single": gettext_noop("One column, 8.5 cm"), "double": gettext_noop("Two columns, 17.5 cm"),
    _OTHER: gettext_noop("Another"),
}  # fmt: skip
_LABELS = {"pdf": "PDF", "svg": "SVG", "png": "PNG"}
Charts = Mapping[str, Spec | Callable[[], Spec]]


def waiting() -> None:
    """The same button while results are on their way, so that nothing moves when they come."""
    st.button(gettext("Figure"), icon=_ICON, type="tertiary", disabled=True, key=f"{_KEY}-waiting")


@st.fragment
def menu(seen: Callable[[], Group], held: Charts, made: Callable[[], Made]) -> None:
    """A button that opens the menu; both functions are called when it is open.

    Args:
        seen: gives what stood on the page.
        held: its charts by name.
        made: gives what it was computed from.
    """
    opened = st.popover(
        gettext("Figure"), icon=_ICON, type="tertiary", help=gettext(_HELP), key=_KEY,
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        known = made()
        parts = figure_parts(seen())
        number = st.selectbox(
            gettext("Charts"), range(len(parts)), format_func=lambda one: parts[one].title,
            key=f"{_KEY}-part",
        )  # fmt: skip
        part = parts[number]
        style = _style(several=len(part.panels) > 1)
        words = caption(known, part)
        with_caption = st.checkbox(gettext("With the caption"), value=True, key=f"{_KEY}-caption")
        _downloads(known, part, style, held, words if with_caption else "")
        st.caption(gettext("Caption, to be copied"))
        st.code(words, language=None, wrap_lines=True, height=110)


def _style(*, several: bool) -> FigureStyle:
    with st.container(horizontal=True, gap="small", key=f"{_KEY}-style"):
        named = st.selectbox(
            gettext("Width"), list(_WIDTHS), format_func=lambda one: gettext(_WIDTHS[one]),
            key=f"{_KEY}-width",
        )  # fmt: skip
        width: float | str = named
        if named == _OTHER:
            width = st.number_input(
                gettext("Width, cm"), NARROWEST, WIDEST, WIDTHS["single"], step=0.5,
                format="%.1f", key=f"{_KEY}-cm",
            )  # fmt: skip
        size = st.number_input(
            gettext("Font size, pt"), SMALLEST, LARGEST, FigureStyle().font_size, step=0.5,
            format="%.1f", key=f"{_KEY}-size", help=gettext("Of the smallest text in the figure."),
        )  # fmt: skip
        columns = 0
        if several:
            columns = st.selectbox(
                gettext("Panels in a row"), range(5), key=f"{_KEY}-columns",
                format_func=lambda one: str(one) if one else gettext("What fits"),
            )  # fmt: skip
    return FigureStyle(width=width, font_size=size, columns=columns)


def _downloads(
    known: Made, part: FigurePart, style: FigureStyle, held: Charts, words: str
) -> None:
    name = slug(f"{known.title} {part.title}", navigation.current().path)
    with st.container(horizontal=True, gap="xsmall", key=f"{_KEY}-files"):
        for kind, label in _LABELS.items():
            st.download_button(
                label, data=spoken_now(partial(_drawn, part, style, held, words, kind)),
                file_name=f"{name}-{style.centimetres:g}cm.{kind}", mime=figures.KINDS[kind],
                key=f"{_KEY}-{kind}", on_click="ignore",
            )  # fmt: skip
        st.download_button(
            "BibTeX", data=lambda: bibtex(known, part).encode(), file_name=f"{name}.bib",
            mime="application/x-bibtex", key=f"{_KEY}-bib", on_click="ignore",
        )  # fmt: skip


def _drawn(part: FigurePart, style: FigureStyle, held: Charts, words: str, kind: str) -> bytes:
    def spec(name: str) -> Spec:
        made = held[name]
        return charts.unpacked(made() if callable(made) else made)

    panels = [Panel(charts=[spec(name) for name in panel.charts], title=panel.title)
              for panel in part.panels]  # fmt: skip
    return figures.drawn(Figure(panels=panels, caption=words), style, kind)
