"""The menus that take a page out as it is seen: as a run, as a file, as a figure for a paper.

As with all exports nothing is made before it is asked for: a menu when it is opened, a file when
it is clicked, on a thread that no session waits for.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from dashboard import language
from dashboard.charts import export, figure_style, figures
from dashboard.charts.figure_style import NARROWEST, WIDEST, WIDTHS, FigureStyle, follows_place
from dashboard.charts.figures import Figure, Panel, Titled, preview
from dashboard.charts.legend import is_scale
from dashboard.charts.one_file import Edition
from dashboard.language import current, gettext, gettext_noop, languages, listed, translated
from dashboard.records.request import Request, Result
from dashboard.records.text import lines, one_line
from dashboard.storage import bundle, page_run
from dashboard.storage.entries import fitting
from dashboard.storage.files import BundleError, StorageError
from dashboard.storage.page_run import LARGEST_PICTURE, LONGEST_NAME, LONGEST_NOTE, PageRun
from dashboard.storage.seen import Chart, Group, whole, widths
from dashboard.ui import charts, navigation, one_file, owner, session
from dashboard.ui.citation import bibtex
from dashboard.ui.figure_parts import FigurePart, Made, caption, figure_parts, is_local
from dashboard.ui.owner import run_store
from dashboard.ui.shown import Record, Spec
from dashboard.ui.speaking import lent, spoken_now
from dashboard.ui.widgets import plain

_KEY, _NAME, _NOTE = "page-keep", "page-keep-name", "page-keep-note"
_KEEPING = gettext_noop("Keeping")
_TIMES = ("seconds", "work_seconds")  # among the facts of a result
_PATIENCE = 20.0  # seconds for the page in another language
_PAGE_WIDTH, _GAP = 1_130, 32  # px, in a window of 1280 px
_ICON = ":material/bookmark_add:"


@st.fragment
def keep_menu(
    title: str, link: Mapping[str, str], results: Sequence[tuple[Request, Result]] | None,
    record: Record, *, keeps: bool = True,
) -> None:  # fmt: skip
    """A button that keeps the page; ``results`` are None while more of it is on its way.

    Of a page that ``keeps`` nothing it gives the HTML file alone.
    """
    label, icon = gettext("Keep"), _ICON
    help = gettext("Keep this page as it is seen, or take it out as a file")
    refused = owner.refusal(_KEEPING) if keeps else ""
    if refused or not keeps:
        label, icon = gettext("Page as a file"), ":material/file_save:"
        whole_page = gettext("Take this page out as a file, as it is seen.")
        help = language.together([refused, whole_page])
    usual, titles = title, record.root.titles()
    if not keeps:
        heads = (one.text for one in whole(record.seen.blocks) if one.kind == "heading")
        titles = titles or [*heads][:1]
    if titles:
        usual = gettext("{title}: {shown}", title=title, shown=listed(titles))[:LONGEST_NAME]
    page = Seen(
        link=navigation.address(navigation.current(), link), whole=session.address(link),
        usual=one_line(usual), keeps=keeps, results=results or (), record=record,
    )  # fmt: skip
    st.session_state[one_file.SEEN] = None if results is None else page
    if results is None:
        st.button(label, icon=icon, type="tertiary", disabled=True, key=f"{_KEY}-waiting")
        return
    opened = st.popover(
        label, icon=icon, type="tertiary", help=plain(help), key=_KEY, on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        _contents(page)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A page as it is seen.

    Args:
        link, whole: its address without that of the server, and with it.
        usual: its name where the reader gives none.
        keeps: whether it has results that can be kept.
    """

    link: str
    whole: str
    usual: str
    keeps: bool
    results: Sequence[tuple[Request, Result]]
    record: Record


def _contents(page: Seen) -> None:
    # An edited plugin gives another result.
    held = [page.link, *(f"{one} {result.digest}" for one, result in page.results)]
    state = f"kept {hashlib.sha256(repr(held).encode()).hexdigest()}"
    kept, problem = st.session_state.get(state, ("", ""))
    st.text_input(gettext("Name"), placeholder=page.usual, max_chars=LONGEST_NAME, key=_NAME)
    st.text_area(gettext("Note"), max_chars=LONGEST_NOTE, key=_NOTE)
    with st.container(horizontal=True, gap="xsmall", key=f"{_KEY}-buttons"):
        if kept:
            st.link_button(gettext("Kept: open it"), f"runs?id={kept}", icon=":material/bookmark:")
        elif page.keeps and owner.visitor().makes:
            st.button(
                gettext("Keep this page"), icon=_ICON, key=f"{_KEY}-now", on_click=_keep,
                args=(page, state),
            )  # fmt: skip
        texts, name = _texts(page.usual), bundle.slug(page.usual, navigation.current().path)
        if page.keeps:
            st.download_button(
                gettext("Download"), data=lambda: packed(_page(page, *texts)), key=f"{_KEY}-file",
                file_name=f"{name}.zip", mime="application/zip", on_click="ignore",
                help=gettext("A zip that any workbench imports on its page Runs"),
            )  # fmt: skip
        given = "" if texts[0] == page.usual else texts[0], texts[1]
        link = "" if is_local(page.whole) else page.whole
        st.download_button(
            "HTML", data=spoken_now(lambda: export.page(editions(page, *given, link))),
            key=f"{_KEY}-html", file_name=f"{name}.html", mime="text/html", on_click="ignore",
            help=gettext("One file that any browser opens, without a server or a network"),
        )  # fmt: skip
    if problem:
        st.text(problem)


def editions(
    seen: Seen, name: str, note: str, link: str, patience: float = _PATIENCE
) -> dict[str, Edition]:
    """The page for an HTML file, in the language that is spoken and in all others.

    One in which it cannot be drawn within ``patience`` seconds is left out; the file says so.

    Args:
        name: of the page; what its visitor is offered if that is not known.
        link: where the page is, with its server.
    """

    def made(page: Seen) -> Edition:
        own = one_file.edition(_page(page, name or page.usual, note), link)
        moved = {n: charts.unpacked(spec) for n, spec in page.record.following.items()}
        return replace(own, charts={**own.charts, **moved}, **one_file.followed(page.record))

    found = {current(): made(seen)}
    for other in languages():
        if other not in found and (drawn := one_file.drawn(seen.link, other, patience)):
            with lent(other):
                found[other] = made(drawn)
    if len(found) < len(languages()):
        said = gettext("This file has one language: the page could not be drawn in another now.")
        first = found[current()]
        found[current()] = replace(first, note=f"{first.note}\n{said}".strip())
    return found


def kept_editions(id: str, link: str, patience: float = _PATIENCE) -> dict[str, Edition]:
    """A run for an HTML file, its sliders alive as long as its page still gives the same results.

    Then it has all languages; else, or if it was imported, it is as it was kept.
    """
    page, foreign = run_store().open(id), run_store().find(id).origin == "imported"
    seen = None if foreign or not page.link else one_file.drawn(page.link, current(), patience)
    kept = {panel.request.key: _timeless(panel.result) for panel in page.panels}
    if seen and kept == {one.key: _timeless(result) for one, result in seen.results}:
        return editions(seen, page.name, page.note, link, patience)
    return {language.ENGLISH: one_file.edition(page, link, foreign=foreign)}


def _timeless(result: Result) -> str:
    """The digest of a result, however long it took, and in whatever order its facts are."""
    facts = {name: fact for name, fact in result.facts.items() if name not in _TIMES}
    return replace(result, facts=json.loads(json.dumps(facts, sort_keys=True))).digest


def packed(page: PageRun) -> bytes:
    """The file of a page, with pictures of its charts, of those of a usual size.

    BundleError, ExportError: what is wrong, in one sentence.
    """
    places = dict(widths(page.seen, _PAGE_WIDTH))
    sized = {
        name: {**spec, "width": round(places[name] - _GAP)} if follows_place(spec) else spec
        for name, spec in page.charts.items()
    }
    return page_run.write(replace(page, pictures=fitting(export.pictures(sized))))


def _page(page: Seen, name: str, note: str) -> PageRun:
    record, versions = page.record, bundle.versions()
    panels = tuple(
        bundle.Bundle(request=request, result=result, title=_title(request), versions=versions)
        for request, result in page.results
    )
    drawn = {name: made() if callable(made) else made for name, made in record.charts.items()}
    return PageRun(
        panels=panels, name=name, note=note, link=page.link, seen=record.seen,
        charts={name: charts.unpacked(spec) for name, spec in drawn.items()}, tables=record.tables,
    )  # fmt: skip


def _title(request: Request) -> str:
    seed = f"seed {request.seed}" if request.seed else ""
    parts = (request.task, request.model, request.scoring, request.data, seed)
    return one_line(", ".join(filter(None, parts)))


def _texts(usual: str) -> tuple[str, str]:
    name, note = (str(st.session_state.get(key) or "") for key in (_NAME, _NOTE))
    return one_line(name) or usual, lines(note)


def _keep(seen: Seen, state: str) -> None:
    try:
        page = _page(seen, *_texts(seen.usual))
        visitor = owner.visitor()
        visitor.see_that_it_makes(_KEEPING)
        kept = run_store().keep(
            replace(page, picture=_picture(page)), source=navigation.current().path,
            owner=visitor.owner,
        )  # fmt: skip
        st.session_state[state] = (kept.id, "")
    except (BundleError, StorageError, ValueError) as error:
        reason = translated(str(error))
        st.session_state[state] = ("", gettext("Not kept: {reason}", reason=reason))


def _picture(page: PageRun) -> bytes:
    """Its first chart of every panel, or its first ones; empty where they cannot be painted."""
    groups = (one for one in whole(page.seen.blocks) if isinstance(one, Group) and one.letter)
    drawn = ((one.title, [block for block in whole(one.blocks) if isinstance(block, Chart)])
             for one in groups)  # fmt: skip
    panels = [Titled(title, page.charts[found[0].name]) for title, found in drawn if found]
    charts = panels or [Titled("", spec) for spec in page.charts.values() if not is_scale(spec)]
    try:
        entry = navigation.current()
        made = preview(charts, entry.said(entry.title, current())) if charts else b""
    except export.ExportError:
        return b""
    return made if len(made) <= LARGEST_PICTURE else b""


_FIGURE = "page-figure"
_FIGURE_ICON = ":material/picture_as_pdf:"
_OTHER = "other"
_WIDTHS = {
    "single": gettext_noop("One column, 8.5 cm"), "double": gettext_noop("Two columns, 17.5 cm"),
    _OTHER: gettext_noop("Another"),
}  # fmt: skip
Charts = Mapping[str, Spec | Callable[[], Spec]]


@st.fragment
def figure_menu(page: Record | PageRun, made: Callable[[], Made] | None) -> None:
    """A button that makes a figure of a page; ``made`` is None while results are on their way."""
    if made is None:
        st.button(
            gettext("Figure"), icon=_FIGURE_ICON, type="tertiary", disabled=True,
            key=f"{_FIGURE}-waiting",
        )  # fmt: skip
        return
    opened = st.popover(
        gettext("Figure"), icon=_FIGURE_ICON, type="tertiary", key=_FIGURE, on_change="rerun",
        help=gettext(
            "A figure for a paper: PDF, SVG or PNG, with colour scale, caption and BibTeX"
        ),
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        known, parts = made(), figure_parts(page.seen)
        number = st.selectbox(
            gettext("Charts"), range(len(parts)), format_func=lambda one: parts[one].title,
            key=f"{_FIGURE}-part",
        )  # fmt: skip
        part = parts[number]
        style = _style(several=len(part.panels) > 1)
        words = caption(known, part)
        with_caption = st.checkbox(
            gettext("With the caption"), value=True, key=f"{_FIGURE}-caption"
        )  # fmt: skip
        name = bundle.slug(f"{known.title} {part.title}", navigation.current().path)
        painted = partial(_painted, part, style, page.charts, words if with_caption else "")
        with st.container(horizontal=True, gap="xsmall", key=f"{_FIGURE}-files"):
            for kind in ("pdf", "svg", "png"):
                st.download_button(
                    kind.upper(), data=spoken_now(partial(painted, kind)), on_click="ignore",
                    file_name=f"{name}-{style.centimetres:g}cm.{kind}", key=f"{_FIGURE}-{kind}",
                    mime=figures.KINDS[kind],
                )  # fmt: skip
            st.download_button(
                "BibTeX", data=lambda: bibtex(known, part).encode(), file_name=f"{name}.bib",
                mime="application/x-bibtex", key=f"{_FIGURE}-bib", on_click="ignore",
            )  # fmt: skip
        st.caption(gettext("Caption, to be copied"))
        st.code(words, language=None, wrap_lines=True, height=110)


def _style(*, several: bool) -> FigureStyle:
    with st.container(horizontal=True, gap="small", key=f"{_FIGURE}-style"):
        width: float | str = st.selectbox(
            gettext("Width"), list(_WIDTHS), format_func=lambda one: gettext(_WIDTHS[one]),
            key=f"{_FIGURE}-width",
        )  # fmt: skip
        if width == _OTHER:
            width = st.number_input(
                gettext("Width, cm"), NARROWEST, WIDEST, WIDTHS["single"], step=0.5,
                format="%.1f", key=f"{_FIGURE}-cm",
            )  # fmt: skip
        size = st.number_input(
            gettext("Font size, pt"), figure_style.SMALLEST, figure_style.LARGEST,
            FigureStyle().font_size, step=0.5, format="%.1f", key=f"{_FIGURE}-size",
            help=gettext("Of the smallest text in the figure."),
        )  # fmt: skip
        columns = 0
        if several:
            columns = st.selectbox(
                gettext("Panels in a row"), range(5), key=f"{_FIGURE}-columns",
                format_func=lambda one: str(one) if one else gettext("What fits"),
            )  # fmt: skip
    return FigureStyle(width=width, font_size=size, columns=columns)


def _painted(part: FigurePart, style: FigureStyle, held: Charts, words: str, kind: str) -> bytes:
    def spec(name: str) -> Spec:
        made = held[name]
        return charts.unpacked(made() if callable(made) else made)

    panels = [Panel(charts=[spec(name) for name in panel.charts], title=panel.title)
              for panel in part.panels]  # fmt: skip
    return figures.drawn(Figure(panels=panels, caption=words), style, kind)
