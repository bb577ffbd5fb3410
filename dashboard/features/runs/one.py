"""One run: the page as it was seen, from what was stored alone, and where it came from.

Texts and charts of a run that was kept here are this dashboard's own. Those of an imported one
are a stranger's: its texts are shown as they stand, its pictures instead of its charts.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard import language
from dashboard.charts.export import SCREEN
from dashboard.charts.export import page as export_page
from dashboard.charts.image import data_address
from dashboard.charts.run_charts import check_drawable, run_charts
from dashboard.features.runs import card
from dashboard.features.runs.view import LEFT_OUT, RunsView
from dashboard.language import gettext, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.records.text import can_be_set
from dashboard.storage.bundle import Bundle
from dashboard.storage.entries import count_values
from dashboard.storage.files import StorageError
from dashboard.storage.page_run import PageRun
from dashboard.storage.run import PanelRecord, Run
from dashboard.storage.seen import Chart, Group, Table, Text, Value
from dashboard.ui import export, layout
from dashboard.ui.figure_parts import Made, is_local
from dashboard.ui.owner import run_store
from dashboard.ui.page_menu import figure_menu, kept_editions
from dashboard.ui.session import Session, address
from dashboard.ui.speaking import localised, spoken_now
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_GAP = "medium"
_MOST_COLUMNS = 24  # of a grid, as Streamlit allows
_ROW, _TALLEST = 35, 640  # px, of a table
_MOST_VALUES = 200_000  # of a table, with one more for each row
# Of Markdown, as pages write it: icons, colours, bold, headings, escaped characters.
_ICONS, _COLOURS = re.compile(r":material/\w+: ?"), re.compile(r":[a-z-]+\[([^\[\]]*)\]")
_MATHS = re.compile(r"(?<!\\)\$([^$\n`!<]+)(?<!\\)\$")
_RULE = re.compile(r"[|:\- ]+")  # under the head of a table
_MARKS = re.compile(r"\*\*|`|^#+ |^\| | \|$|\\(?=[!-/:-@\[-`{-~])", re.MULTILINE)
_DRAW: dict[str, Callable[[str], Any]] = {
    "heading": lambda text: st.header(text, anchor=False), "markdown": st.markdown,
    "caption": st.caption, "text": st.text, "latex": st.latex, "error": st.error,
}  # fmt: skip


def replay(page: PageRun, *, foreign: bool) -> None:
    """Draw all that stood on a page of this dashboard, or on a foreign one."""
    _Replay(page, foreign).below(page.seen.blocks)


class _Replay:
    def __init__(self, page: PageRun, foreign: bool) -> None:
        self._page, self._foreign, self._letters = page, foreign, {""}

    def below(self, blocks: Sequence[Any]) -> None:
        """Blocks below each other; what several controls were set to is one line."""
        for setting, found in groupby(blocks, key=lambda block: block.kind == "setting"):
            if setting:
                told = ({"label": plain(one.label), "value": plain(one.value)} for one in found)
                st.caption(" · ".join(gettext("{label}: **{value}**", **each) for each in told))
            else:
                for block in found:
                    self._block(block)

    def _block(self, block: Any) -> None:
        match block:
            case Text():
                self._text(block.kind, block.text)
            case Value():
                safe = plain if self._foreign else str
                st.metric(safe(block.label), safe(block.value))
            case Chart():
                self._chart(block)
            case Table():
                _table(self._page.tables[block.name], block)
            case Group():
                self._group(block)

    def _text(self, kind: str, text: str) -> None:
        if not self._foreign:
            _DRAW[kind](text)
        elif kind == "latex" and can_be_set(text):
            st.latex(" ".join(text.split()))
        elif kind in ("text", "latex"):
            st.text(text)
        else:
            lines = (_safe(line) for line in text.splitlines() if not _RULE.fullmatch(line))
            _DRAW[kind]("  \n".join(lines))

    def _chart(self, block: Chart) -> None:
        if not self._foreign:
            width = "stretch" if block.stretch else "content"
            st.vega_lite_chart(dict(self._page.charts[block.name]), width=width, alt=block.alt)
        elif picture := self._page.pictures.get(f"{block.name}.png"):
            # In px of the page, as the picture's head says; it has several pixels for each.
            pixels = int.from_bytes(picture[16:20], "big")
            st.image(data_address(picture), width=max(1, round(pixels / SCREEN)))
        else:
            words = gettext("No picture: {title}", title=plain(block.alt))
            st.caption(f":material/image_not_supported: {words}")

    def _group(self, group: Group) -> None:
        if group.layout == "row" and group.blocks:
            same = len(group.weights) == len(group.blocks)
            places = st.columns(group.weights if same else len(group.blocks), gap=_GAP)
            for place, block in zip(places, group.blocks, strict=True):
                with place:
                    self.below([block])
        elif group.layout == "grid":
            with layout.grid(min(max(1, len(group.blocks)), _MOST_COLUMNS)):
                for block in group.blocks:
                    with st.container():
                        self.below([block])
        else:
            # A picture may be higher than the chart that it stands for.
            height = "content" if self._foreign else group.height or "content"
            # A stranger's page may have two panels of one letter.
            key = f"run-panel-{group.letter}" if group.letter not in self._letters else None
            self._letters.add(group.letter)
            with st.container(border=group.border, height=height, key=key):
                if group.letter or group.title:
                    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                        if group.letter:
                            layout.badge(group.letter)
                        st.markdown(f"**{plain(group.title)}**")
                self.below(group.blocks)


def _safe(line: str) -> str:
    """A stranger's Markdown as its reader saw it, without marks; formulas where they can be."""
    # Of a colour in another one, both go.
    bare = _COLOURS.sub(r"\1", _COLOURS.sub(r"\1", _ICONS.sub("", line)))
    parts = [plain(_MARKS.sub("", part)) for part in _MATHS.split(bare)]
    for number, latex in enumerate(_MATHS.findall(bare)):
        if can_be_set(latex):
            parts[2 * number + 1] = f"${latex}$"
    return " ".join(filter(None, parts))


def _table(held: pa.Table, block: Table) -> None:
    if (values := count_values(held)) > _MOST_VALUES:
        words = gettext("A table of {count:,} values is too large to be shown.", count=values)
        st.caption(f":material/warning: {words}")
        return
    data: Any = held
    if block.bold:
        frame = held.to_pandas()
        css = pd.DataFrame("", index=frame.index, columns=frame.columns)
        for row, name in block.bold:
            if row < len(css) and name in css:
                css.loc[row, name] = "font-weight: bold"
        data = frame.style.apply(lambda _: css, axis=None)
    formats = {name: st.column_config.NumberColumn(format=form)
               for name, form in block.formats.items()}  # fmt: skip
    height = min(_ROW * (held.num_rows + 1) + 3, _TALLEST)
    st.dataframe(
        data, hide_index=True, height=height, width="stretch" if block.stretch else "content",
        column_config=formats, placeholder="–", alt=block.name,
    )  # fmt: skip


_LONGEST_FACT = 200
_RECORDED = {"torch", "environment", "data_sha256", "plugin", "plugins"}  # facts of the record


def origin(page: PageRun, made: Sequence[PanelRecord], seen: str) -> None:
    """The request and the facts of every panel, and the links to the run and to its request."""
    st.header(gettext("Where it came from"), anchor=False)
    alone = len(page.panels) == 1
    for number, panel in enumerate(page.panels):
        record = made[number] if number < len(made) else None
        with st.expander(plain(panel.title) or plain(panel.request.task), expanded=alone):
            asked, came = st.columns(2, gap="medium")
            with asked:
                request = panel.request
                names = ("task", "model", "scoring", "data", "seed", "device")
                own = ((name, getattr(request, name)) for name in names)
                _facts(gettext("What was asked"), (*own, *request.parameters, *request.options))
            with came:
                _facts(gettext("What came of it"), _came(panel, record))
            export.menu(None, panel.result, {}, f"run-{number + 1}", title=panel.title)
    st.caption(gettext("This run, as it was seen"))
    st.code(seen, language=None, wrap_lines=True)
    if page.link:
        st.caption(gettext("The request, to be computed again where the plugins are installed"))
        base = urlsplit(st.context.url or "")
        folder = base.path.rstrip("/").rpartition("/")[0]
        here = base._replace(path=folder, query="", fragment="").geturl()
        st.code(here + page.link, language=None, wrap_lines=True)


def _came(panel: Bundle, record: PanelRecord | None) -> Iterable[tuple[str, Any]]:
    if record is not None:
        for name in ("torch", "threads", "contract", "commit", "data_sha256"):
            yield name, getattr(record, name) or ""
        yield from ((f"plugin: {name}", version) for name, version in record.plugins.items())
    for name, value in panel.result.facts.items():
        if name in _RECORDED:
            continue
        if isinstance(value, Mapping):
            yield from ((f"{name}: {inner}", each) for inner, each in value.items())
        else:
            yield name, value
    yield from panel.versions.items()


def _facts(title: str, facts: Iterable[tuple[str, Any]]) -> None:
    rows = [
        (name, (f"{value:.6g}" if isinstance(value, float) else str(value))[:_LONGEST_FACT])
        for name, value in facts
        if isinstance(value, int | float | str) and value != ""
    ]
    # A data frame shows texts as they stand; a table would read them as Markdown.
    st.dataframe(pd.DataFrame(rows, columns=[title, gettext("is")]), hide_index=True, alt=title)


def one(session: Session[RunsView], id: str, link: Mapping[str, str]) -> None:
    """Draw the run with that id, or say why it cannot be shown; ``link`` leads to it."""
    st.button(
        gettext("All runs"), icon=":material/arrow_back:", type="tertiary",
        on_click=session.change, args=(RunsView(),),
    )  # fmt: skip
    try:
        run = run_store().find(id)
        page, made = _opened(id, run.digest), run_store().panels(id)
    except (KeyError, StorageError) as error:
        with st.container(border=True, key="run-missing"):
            st.markdown(f":material/error: **{gettext('This run cannot be shown')}**")
            st.text(translated(str(error.args[0])))
            st.caption(gettext("Whoever has it can export it, to be imported here."))
        return
    foreign = run.origin == "imported"
    words, buttons = st.columns([3, 2], vertical_alignment="center")
    with words:
        card.title(run)
    with buttons, st.container(horizontal=True, horizontal_alignment="right"):
        card.buttons(session, run)
        whole = "" if is_local(address(link)) else address(link)
        st.download_button(
            "HTML", data=spoken_now(lambda: export_page(kept_editions(id, whole))),
            help=gettext("One file that any browser opens, without a server or a network"),
            file_name=f"run-{id[:8]}.html", mime="text/html", key="run-html", on_click="ignore",
        )  # fmt: skip
        own = {} if foreign else page.charts
        if own or page.tables:
            # Charts and tables alone: the page's own button gives the run as it was kept.
            drawn = {name.replace("-", " "): spec for name, spec in own.items()}
            export.menu(None, Result(tables=page.tables), drawn, "run-seen", title=run.name)
        if own:
            figure_menu(page, partial(_made, run, page, address(link)))
    if run.note:
        with st.container(border=True, key="run-note"):
            st.text(run.note)
    replay(page, foreign=foreign)
    if foreign:
        _drawn_anew(run, page)
    origin(page, made, address(link))


def _made(run: Run, page: PageRun, link: str) -> Made:
    """What the run's figures and BibTeX are made of; references are those that are known here."""
    known = workbench().catalogue()
    installed = known if isinstance(known, Catalogue) else Catalogue()
    return Made(
        title=run.name, link=link, catalogue=localised(installed), installed=installed,
        results=[(panel.request, panel.result) for panel in page.panels],
    )  # fmt: skip


@st.cache_resource(max_entries=4, show_spinner=False)  # each may have 128 MB
def _opened(id: str, digest: str) -> PageRun:
    """A run as it was read, once: what was seen never changes, and name and note are not used."""
    return run_store().open(id)


def _drawn_anew(run: Run, page: PageRun) -> None:
    """What the tables of an imported file hold, drawn here; its own charts never are."""
    found = {number: _redrawn(run.id, number, language.current(), panel)
             for number, panel in enumerate(page.panels, start=1)}  # fmt: skip
    seen = bool(page.seen.blocks)
    if seen and not any(found.values()):
        return
    alone = len(page.panels) == 1
    with st.expander(gettext("Drawn anew from its tables")) if seen else st.container():
        if not seen:
            st.caption(gettext("Drawn here from the tables of the imported file."))
        with st.container() if alone else layout.grid(len(page.panels)):
            for number, panel in enumerate(page.panels, start=1):
                with st.container(key=f"run-panel-{number}"):
                    _panel(number, panel, found[number], alone)


def _panel(number: int, panel: Bundle, charts: Mapping[str, Any], alone: bool) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        st.markdown(f"**{plain(panel.title) or plain(panel.request.task)}**", width="content")
        with st.container(width="content"):
            export.menu(None, Result(), charts, f"run-anew-{number}", title=panel.title)
    left_out = panel.result.facts.get(LEFT_OUT)
    for name in left_out if isinstance(left_out, Mapping) else ():
        words = gettext("The picture {name} was no PNG and was left out.", name=plain(name))
        st.caption(f":material/warning: {words}")
    if charts:
        _draw(number, charts, alone)
    elif panel.pictures:
        for name, picture in panel.pictures.items():
            if name.endswith(".png"):
                st.image(data_address(picture), caption=plain(name))
    else:
        st.caption(gettext("This panel has tables, but nothing to be drawn from them here."))


@st.cache_resource(max_entries=16, show_spinner=False)
def _redrawn(id: str, number: int, spoken: str, _panel: Bundle) -> dict[str, Any]:
    try:
        check_drawable(_panel.result)
        made = run_charts(_panel.result)
        return {name: make().to_dict(validate=False) for name, make in made.items()}
    except Exception:  # tables of a stranger may hold anything under any name
        return {}


def _draw(number: int, charts: Mapping[str, Any], alone: bool) -> None:
    # A single chart is not stretched over the whole page.
    with layout.grid(2) if alone else st.container():
        for name, spec in charts.items():
            with st.container(key=f"run-chart-{number}-{export.slug(name)}"):
                st.caption(plain(translated(name)))
                stretch = "width" in spec and "facet" not in spec
                st.vega_lite_chart(spec, width="stretch" if stretch else "content",
                                     alt=translated(name))  # fmt: skip
