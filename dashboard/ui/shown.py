"""Draws what a page shows of its own, and notes it, so that the page can be kept as it is seen.

These functions stand for those of Streamlit with the same names. What a page draws with
Streamlit itself is not kept: widgets, hints how to use them, what is still on its way. Nothing is
noted unless a whole page is being drawn, see :func:`recording`: where a part of one was
drawn by itself, while its results came in, the page is drawn anew once they are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts.summary import Summary
from dashboard.language import ended, gettext, together
from dashboard.records.request import Request, Result
from dashboard.storage.bundle import slug
from dashboard.storage.seen import LONGEST_TEXT, Block, Chart, Group, Table, Text, Value, whole
from dashboard.ui import navigation

Spec = Mapping[str, Any]


@dataclass
class Noted:
    """A group that is still being filled."""

    group: Group
    blocks: list[Block | Noted] = field(default_factory=list)

    def whole(self) -> Group | None:
        """The group with all that came into it; None if nothing did."""
        found = [one.whole() if isinstance(one, Noted) else one for one in self.blocks]
        if not any(found) and not self.group.title:
            return None
        # A column of a row has its place even if nothing stands in it.
        empty = Group() if self.group.layout == "row" else None
        blocks = tuple(one or empty for one in found if one or empty)
        return self.group.model_copy(update={"blocks": blocks})


@dataclass
class Record:
    """What was noted of a page.

    Attributes:
        charts: specifications as they were sent, or functions that make them, by name.
        tables: by name.
        results: those that no job of the page made, with what asked for them.
        summaries: of the charts, with what each is called.
        incomplete: whether more is on its way.
    """

    root: Noted = field(default_factory=lambda: Noted(Group()))
    charts: dict[str, Spec | Callable[[], Spec]] = field(default_factory=dict)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    results: list[tuple[Request, Result]] = field(default_factory=list)
    summaries: list[tuple[str, Summary]] = field(default_factory=list)
    incomplete: bool = False

    @property
    def seen(self) -> Group:
        """All that stood on the page."""
        return self.root.whole() or Group()

    @property
    def titles(self) -> list[str]:
        """The titles of its panels, in their order."""
        groups = [one for one in whole(self.seen.blocks) if isinstance(one, Group)]
        return [one.title for one in groups if one.letter and one.title]


_RECORD: ContextVar[Record | None] = ContextVar("record", default=None)
_HERE: ContextVar[Noted | None] = ContextVar("here", default=None)


@contextmanager
def recording() -> Iterator[Record]:
    """Note all that is drawn by this module inside."""
    record = Record()
    tokens = _RECORD.set(record), _HERE.set(record.root)
    try:
        yield record
    finally:
        _RECORD.reset(tokens[0])
        _HERE.reset(tokens[1])


def current() -> Record | None:
    """The record of the page that is being drawn; None where no whole page is."""
    return _RECORD.get()


def enter(group: Noted) -> Token[Noted | None]:
    """Note what follows in that group, until :func:`leave`."""
    return _HERE.set(group)


def leave(token: Token[Noted | None]) -> None:
    """Note what follows where it was noted before :func:`enter`."""
    _HERE.reset(token)


def note_group(made: Group, within: Noted | None = None) -> Noted:
    """Note a group, to be filled, in another one or here."""
    noted = Noted(made)
    note(noted, within)
    return noted


def note(block: Block | Noted, within: Noted | None = None) -> None:
    """Note a block, in a group or here."""
    here = within or _HERE.get()
    if here is not None and _RECORD.get() is not None:
        here.blocks.append(block)


def change(**attributes: str) -> None:
    """Set attributes of the group that is being filled."""
    here = _HERE.get()
    if here is not None and _RECORD.get() is not None:
        here.group = here.group.model_copy(update=attributes)


_LONGEST_NAME = 54  # of a chart or a table, with room for a number


class Place:
    """A place on the page that may be filled later, as a container of Streamlit."""

    def __init__(self, place: DeltaGenerator, noted: Noted) -> None:
        self._place, self._noted = place, noted
        self._tokens: list[Token[Noted | None]] = []

    def __enter__(self) -> Place:
        self._tokens.append(enter(self._noted))
        self._place.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._place.__exit__(*error)
        leave(self._tokens.pop())

    def container(self, **more: Any) -> Place:
        """A place in this one; see :func:`container`."""
        with self:
            return container(**more)


def container(
    *, border: bool | None = None, height: int | Literal["content"] = "content", **more: Any
) -> Place:
    """Things below each other."""
    group = Group(border=bool(border), height=0 if height == "content" else height)
    return Place(st.container(border=border, height=height, **more), note_group(group))


def grid(columns: int, **more: Any) -> Place:
    """Containers beside each other, as many as have room."""
    return Place(st.grid(columns, **more), note_group(Group(layout="grid")))


def columns(spec: int | Sequence[float], **more: Any) -> list[Place]:
    """Places beside each other, as wide as ``spec`` says."""
    weights = tuple(map(float, [1] * spec if isinstance(spec, int) else spec))
    row = note_group(Group(layout="row", weights=weights))
    return [Place(place, note_group(Group(), row)) for place in st.columns(spec, **more)]


def panel(letter: str) -> None:
    """Say that the place that is being filled is the panel of that letter."""
    change(letter=letter)


def title(text: str) -> None:
    """Say what the place that is being filled is about; its control says so to the reader.

    Args:
        text: as it stands, no Markdown.
    """
    change(title=_line(text)[:300])


def described(text: str) -> None:
    """Say what the caption of a figure says of the panel that is being filled.

    Args:
        text: as it stands, no Markdown; without a full stop.
    """
    change(said=_line(text)[:LONGEST_TEXT])


def setting(label: str, value: Any) -> None:
    """Say what a control is set to."""
    words = f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, bool):
        words = gettext("on") if value else gettext("off")
    note(Value(kind="setting", label=label[:300], value=words))


def is_off(words: str) -> bool:
    """Whether :func:`setting` said so of a switch, in this language or in English."""
    return words in ("off", gettext("off"))


def header(text: str, *, anchor: str = "") -> None:
    """The heading of a section.

    Args:
        anchor: by which a link on the page leads here; empty for none.
    """
    st.header(text, anchor=anchor or False)
    note(Text(kind="heading", text=text))


def markdown(text: str) -> None:
    """Words in Markdown."""
    st.markdown(text)
    note(Text(kind="markdown", text=text))


def caption(text: str, **more: Any) -> None:
    """Small words in Markdown."""
    st.caption(text, **more)
    note(Text(kind="caption", text=text))


def text(text: str) -> None:
    """Words as they stand."""
    st.text(text)
    note(Text(kind="text", text=text))


def error(text: str, **more: Any) -> None:
    """What is wrong, in Markdown."""
    st.error(text, **more)
    note(Text(kind="error", text=text))


def latex(text: str, **more: Any) -> None:
    """A formula."""
    st.latex(text, **more)
    note(Text(kind="latex", text=text))


def metric(label: str, value: str, **more: Any) -> None:
    """A figure under its label."""
    st.metric(label, value, **more)
    note(Value(kind="metric", label=label, value=value))


def chart(
    spec: Spec, alt: str, *, stretch: bool = True, kept: Callable[[], Spec] | None = None,
    summary: Summary | None = None, name: str = "", marks: str = "", **more: Any,
) -> None:  # fmt: skip
    """A chart.

    Args:
        spec: with named data sets, as Streamlit takes them.
        alt: what it shows.
        stretch: whether it is as wide as its place.
        kept: makes what the page is kept with, where the reader changed the chart itself.
        summary: the chart in words and numbers; its words belong to what a screen reader says.
        name: under which it is kept; one made of ``alt`` where empty.
        marks: what its marks mean, in a sentence, for the caption of a figure.
    """
    said = together((ended(alt), summary.words)) if summary else alt
    st.vega_lite_chart(spec, width="stretch" if stretch else "content", alt=said, **more)
    if record := current():
        if summary:
            record.summaries.append((alt, summary))
        free = _free(name or alt, record.charts)
        record.charts[free] = kept or spec
        note(Chart(name=free, alt=said[:LONGEST_TEXT], marks=marks, stretch=stretch))


def table(data: pd.DataFrame | pa.Table, **more: Any) -> None:
    """A table.

    Args:
        more: as ``st.dataframe`` takes it; formats of numbers are kept with the table.
    """
    st.dataframe(data, **more)
    note_table(
        data, alt=more.get("alt") or gettext("table"), index=not more.get("hide_index"),
        column_config=more.get("column_config"), stretch=more.get("width") != "content",
    )  # fmt: skip


def note_table(
    data: pd.DataFrame | pa.Table, *, alt: str, index: bool = False,
    column_config: Mapping[str, Any] | None = None, stretch: bool = True,
    bold: Sequence[tuple[int, str]] = (),
) -> None:  # fmt: skip
    """Note a table that is drawn by something else than :func:`table`.

    Args:
        index: whether the index of a data frame is seen.
        column_config: as ``st.dataframe`` takes it.
        stretch: whether it fills its place.
        bold: cells that stand out, as rows from 0 and names of columns.
    """
    record = current()
    if record is None:
        return
    name = _free(alt, record.tables)
    record.tables[name] = held = _arrow(data, index)
    formats = {own: (config.get("type_config") or {}).get("format")
               for own, config in (column_config or {}).items()
               if own in held.column_names}  # fmt: skip
    known = {own: form for own, form in formats.items() if form}
    note(Table(name=name, formats=known, stretch=stretch, bold=tuple(bold)))


def result(request: Request, result: Result) -> None:
    """Note a result that the page is drawn from, and that none of its jobs made."""
    if record := current():
        record.results.append((request, result))


def incomplete() -> None:
    """Say that more is on its way than the page's jobs."""
    if record := current():
        record.incomplete = True


def _line(text: str) -> str:
    return " ".join(text.split())


def _free(words: str, taken: Mapping[str, Any]) -> str:
    """A name made of these words, or of the page's, that is not taken."""
    name = slug(words, navigation.current().path)[:_LONGEST_NAME]
    more = (f"{name}-{number}" for number in range(2, len(taken) + 2))
    return name if name not in taken else next(one for one in more if one not in taken)


def _arrow(data: pd.DataFrame | pa.Table, index: bool) -> pa.Table:
    """The table with plain types, its index as the first column where it is seen."""
    if isinstance(data, pd.DataFrame):
        frame = data.reset_index(names=[str(data.index.name or "")]) if index else data
        data = pa.Table.from_pandas(frame.rename(columns=str), preserve_index=False)
    plain = [pa.string() if pa.types.is_null(kind) or pa.types.is_large_string(kind) else kind
             for kind in data.schema.types]  # fmt: skip
    return data.cast(pa.schema(list(zip(data.column_names, plain, strict=True))))
