"""Draws what a page shows of its own, and notes it, so that the page can be kept as it is seen.

These functions stand for those of Streamlit with the same names. What a page draws with
Streamlit itself is not kept: widgets, hints how to use them, what is still on its way. Nothing is
noted unless a whole page is being drawn, see :func:`recording`: where a part of one was
drawn by itself, while its results came in, the page is drawn anew once they are complete.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts.summary import Summary
from dashboard.language import ended, gettext, together
from dashboard.records.request import Request, Result
from dashboard.storage.bundle import slug
from dashboard.storage.seen import LONGEST_TEXT, Block, Chart, Group, Table, Text, Value
from dashboard.ui import navigation

Spec = Mapping[str, Any]


@dataclass
class _Noted:
    group: Group
    blocks: "list[Block | _Noted]" = field(default_factory=list)

    def whole(self) -> Group | None:
        """The group with all that came into it; None if nothing did."""
        found = [one.whole() if isinstance(one, _Noted) else one for one in self.blocks]
        if not any(found) and not self.group.title:
            return None
        # A column of a row has its place even if nothing stands in it.
        empty = Group() if self.group.layout == "row" else None
        blocks = tuple(one or empty for one in found if one or empty)
        return self.group.model_copy(update={"blocks": blocks})

    def titles(self) -> list[str]:
        """The titles of its panels, in their order."""
        found = [self.group.title] if self.group.letter and self.group.title else []
        for block in self.blocks:
            if isinstance(block, _Noted):
                found += block.titles()
        return found


class Slider(NamedTuple):
    """A slider that charts follow: its bounds and step, where it stands, what its frames are of.

    ``frames`` computes them, compressed as :mod:`dashboard.ui.live` does, or raises ValueError.
    """

    low: float
    high: float
    step: float
    at: float
    of: str
    frames: Callable[[], bytes]


@dataclass
class Record:
    """What was noted of a page.

    ``charts`` are specifications as they were sent, or functions that make them; ``makers`` make
    the tables; ``results`` are those that no job of the page made; ``incomplete`` says that more
    is on its way. ``following`` are charts as they follow sliders; ``told`` is what charts show,
    by what the browser calls them; ``sliders`` are by the keys of their widgets; ``moved`` says
    of a block, by its ``id``, which slider it is or under what name it follows sliders.
    """

    root: _Noted
    charts: dict[str, Spec | Callable[[], Spec]] = field(default_factory=dict)
    makers: dict[str, Callable[[], pa.Table]] = field(default_factory=dict)
    results: list[tuple[Request, Result]] = field(default_factory=list)
    summaries: list[tuple[str, Summary]] = field(default_factory=list)
    incomplete: bool = False
    following: dict[str, Spec] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    sliders: dict[str, Slider] = field(default_factory=dict)
    moved: dict[int, tuple[Literal["slider", "words"], str]] = field(default_factory=dict)

    @property
    def tables(self) -> dict[str, pa.Table]:
        """What the ``makers`` of tables make."""
        return {name: make() for name, make in self.makers.items()}

    @property
    def seen(self) -> Group:
        """All that stood on the page."""
        return self.root.whole() or Group()


_RECORD: ContextVar[Record | None] = ContextVar("record", default=None)
_HERE: ContextVar[_Noted | None] = ContextVar("here", default=None)


@contextmanager
def recording() -> Iterator[Record]:
    """Note all that is drawn by this module inside."""
    record = Record(_Noted(Group()))
    tokens = _RECORD.set(record), _HERE.set(record.root)
    try:
        yield record
    finally:
        _RECORD.reset(tokens[0])
        _HERE.reset(tokens[1])


def _note(block: Block | _Noted) -> None:
    here = _HERE.get()
    if here is not None and _RECORD.get() is not None:
        here.blocks.append(block)


def change(**attributes: str) -> None:
    """Set attributes of the group that is being filled, such as a panel's ``letter``."""
    here = _HERE.get()
    if here is not None and _RECORD.get() is not None:
        here.group = here.group.model_copy(update=attributes)


_LONGEST_NAME = 54  # of a chart or a table, with room for a number


class Place:
    """A place on the page that may be filled later, as a container of Streamlit."""

    def __init__(self, place: DeltaGenerator, group: Group, row: _Noted | None = None) -> None:
        self._place, self._noted = place, _Noted(group)
        self._tokens: list[Token[_Noted | None]] = []
        if row is None:
            _note(self._noted)
        else:
            row.blocks.append(self._noted)

    def __enter__(self) -> "Place":
        self._tokens.append(_HERE.set(self._noted))
        self._place.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._place.__exit__(*error)
        _HERE.reset(self._tokens.pop())

    def container(self, **more: Any) -> "Place":
        """A place in this one; see :func:`container`."""
        with self:
            return container(**more)


def container(
    *, border: bool | None = None, height: int | Literal["content"] = "content", **more: Any
) -> Place:
    """Things below each other."""
    group = Group(border=bool(border), height=0 if height == "content" else height)
    return Place(st.container(border=border, height=height, **more), group)


def grid(columns: int, **more: Any) -> Place:
    """Containers beside each other, as many as have room."""
    return Place(st.grid(columns, **more), Group(layout="grid"))


def columns(spec: int | Sequence[float], **more: Any) -> list[Place]:
    """Places beside each other, as wide as ``spec`` says."""
    weights = tuple(map(float, [1] * spec if isinstance(spec, int) else spec))
    row = _Noted(Group(layout="row", weights=weights))
    _note(row)
    return [Place(place, Group(), row) for place in st.columns(spec, **more)]


def title(text: str) -> None:
    """Say, without Markdown, what the place that is being filled is about."""
    change(title=" ".join(text.split())[:300])


def described(text: str) -> None:
    """Say what the caption of a figure says of the panel that is being filled.

    ``text``: as it stands, no Markdown; without a full stop.
    """
    change(said=" ".join(text.split())[:LONGEST_TEXT])


def setting(label: str, value: Any, key: str = "") -> None:
    """Say what a control is set to, the widget of that ``key``."""
    words = f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, bool):
        words = gettext("on") if value else gettext("off")
    block = Value(kind="setting", label=label[:300], value=words)
    _note(block)
    if (record := _RECORD.get()) and key:
        record.moved[id(block)] = "slider", key


def slider(key: str, slider: Slider) -> None:
    """Say that charts follow the slider of that key."""
    if record := _RECORD.get():
        record.sliders[key] = slider


def header(text: str, *, anchor: str = "") -> None:
    """The heading of a section; ``anchor`` is by what a link on the page leads here."""
    st.header(text, anchor=anchor or False)
    _note(Text(kind="heading", text=text))


def markdown(text: str) -> None:
    """Words in Markdown."""
    st.markdown(text)
    _note(Text(kind="markdown", text=text))


def caption(text: str, **more: Any) -> None:
    """Small words in Markdown."""
    st.caption(text, **more)
    _note(Text(kind="caption", text=text))


def text(text: str) -> None:
    """Words as they stand."""
    st.text(text)
    note_text(text)


def note_text(
    text: str, kind: Literal["text", "caption", "markdown", "latex"] = "text", *, follows: str = ""
) -> None:
    """Note words that something else draws; they may follow sliders under a name."""
    block = Text(kind=kind, text=text)
    _note(block)
    if (record := _RECORD.get()) and follows:
        record.moved[id(block)] = "words", follows


def error(text: str, **more: Any) -> None:
    """What is wrong, in Markdown."""
    st.error(text, **more)
    _note(Text(kind="error", text=text))


def latex(text: str, **more: Any) -> None:
    """A formula."""
    st.latex(text, **more)
    _note(Text(kind="latex", text=text))


def metric(label: str, value: str, **more: Any) -> None:
    """A figure under its label."""
    st.metric(label, value, **more)
    _note(Value(kind="metric", label=label, value=value))


class Kept(NamedTuple):
    """How a chart is kept, if not as drawn: its maker, its name, and its marks in a sentence.

    ``follows`` says that the drawn one follows sliders.
    """

    spec: Callable[[], Spec] | None = None
    name: str = ""
    marks: str = ""
    follows: bool = False


_AS_DRAWN = Kept()


def chart(
    spec: Spec, alt: str, *, stretch: bool = True, summary: Summary | None = None,
    kept: Kept = _AS_DRAWN, title: str = "", **more: Any,
) -> None:  # fmt: skip
    """A chart.

    Streamlit makes a chart anew whose words differ, so it is told only what stays of them; the
    page tells the browser the rest.

    Args:
        spec: with named data sets, as Streamlit takes them.
        alt: what it shows.
        stretch: whether it is as wide as its place.
        summary: the chart in words and numbers; a screen reader says the words.
        title: what stays of ``alt`` when the chart changes, if not all.
    """
    said = together((ended(alt), summary.words)) if summary else alt
    record, title = _RECORD.get(), title or (ended(alt) if summary else alt)
    if not record or record.told.setdefault(title, said) != said:
        title = said  # of a part that is drawn alone, or of another chart with this title
    st.vega_lite_chart(spec, width="stretch" if stretch else "content", alt=title, **more)
    if record:
        if summary:
            record.summaries.append((alt, summary))
        name = _free(kept.name or alt, record.charts)
        record.charts[name] = kept.spec or spec
        if kept.follows:
            record.following[name] = spec
        _note(Chart(name=name, alt=said[:LONGEST_TEXT], marks=kept.marks[:300], stretch=stretch))


def table(data: pd.DataFrame | pa.Table, **more: Any) -> None:
    """A table, as ``st.dataframe`` takes it; formats of numbers are kept with it."""
    st.dataframe(data, **more)
    note_table(data, **{"alt": gettext("table"), "hide_index": False, **more})


def note_table(
    data: pd.DataFrame | pa.Table, *, alt: str, bold: Sequence[tuple[int, str]] = (),
    hide_index: bool | None = True, **more: Any,
) -> None:  # fmt: skip
    """Note a table that is drawn by something else than :func:`table`, without its index.

    Args:
        bold: cells that stand out, as rows from 0 and names of columns.
        more: as ``st.dataframe`` takes it.
    """
    record = _RECORD.get()
    if record is None:
        return
    name = _free(alt, record.makers)
    record.makers[name] = partial(_held, data, indexed=not hide_index)
    names = data.column_names if isinstance(data, pa.Table) else [*map(str, data.columns)]
    formats: dict[str, str] = {}
    for column, config in (more.get("column_config") or {}).items():
        form = (config.get("type_config") or {}).get("format")
        if form and column in names:
            formats[column] = form
    stretch = more.get("width") != "content"
    _note(Table(name=name, formats=formats, stretch=stretch, bold=tuple(bold)))


def _held(data: pd.DataFrame | pa.Table, *, indexed: bool) -> pa.Table:
    if isinstance(data, pd.DataFrame):
        data = data.reset_index(names=[str(data.index.name or "")]) if indexed else data
        data = pa.Table.from_pandas(data.rename(columns=str), preserve_index=False)
    fields = [one.with_type(pa.string())
              if pa.types.is_null(one.type) or pa.types.is_large_string(one.type) else one
              for one in data.schema]  # fmt: skip
    return data.cast(pa.schema(fields))


def result(request: Request, result: Result) -> None:
    """Note a result that the page is drawn from, and that none of its jobs made."""
    if record := _RECORD.get():
        record.results.append((request, result))


def incomplete() -> None:
    """Say that more is on its way than the page's jobs."""
    if record := _RECORD.get():
        record.incomplete = True


def _free(words: str, taken: Mapping[str, Any]) -> str:
    name = free = slug(words, "", _LONGEST_NAME) or navigation.current().path
    number = 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
