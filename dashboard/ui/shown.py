"""Draws what a page shows of its own, and notes it, so that the page can be kept as it is seen.

These functions stand for those of Streamlit with the same names. What a page draws with
Streamlit itself is not kept: widgets, hints how to use them, what is still on its way. Nothing is
noted unless a whole page is being drawn, see :func:`recording`: where a part of one was drawn by
itself, while its results came in, the page is drawn anew once they are complete.
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

from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.storage.bundle import slug
from dashboard.storage.seen import Block, Chart, Group, Table, Text, Value, whole

Spec = Mapping[str, Any]

_LONGEST_NAME = 54  # of a chart or a table, with room for a number


@dataclass
class _Noted:
    """A group that is still being filled."""

    group: Group
    blocks: list[Block | _Noted] = field(default_factory=list)

    def whole(self) -> Group | None:
        """The group with all that came into it; None if nothing did."""
        found = [one.whole() if isinstance(one, _Noted) else one for one in self.blocks]
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
        incomplete: whether more is on its way.
    """

    root: _Noted = field(default_factory=lambda: _Noted(Group()))
    charts: dict[str, Spec | Callable[[], Spec]] = field(default_factory=dict)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    results: list[tuple[Request, Result]] = field(default_factory=list)
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
_HERE: ContextVar[_Noted | None] = ContextVar("here", default=None)


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


class Place:
    """A place on the page that may be filled later, as a container of Streamlit."""

    def __init__(self, place: DeltaGenerator, noted: _Noted | None) -> None:
        self._place, self._noted = place, noted
        self._tokens: list[Token[_Noted | None]] = []

    def __enter__(self) -> Place:
        self._tokens.append(_HERE.set(self._noted))
        self._place.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._place.__exit__(*error)
        _HERE.reset(self._tokens.pop())

    def container(self, **more: Any) -> Place:
        """A place in this one; see :func:`container`."""
        with self:
            return container(**more)


def container(
    *, border: bool | None = None, height: int | Literal["content"] = "content", **more: Any
) -> Place:
    """Things below each other."""
    group = Group(border=bool(border), height=0 if height == "content" else height)
    return Place(st.container(border=border, height=height, **more), _group(group))


def grid(columns: int, **more: Any) -> Place:
    """Containers beside each other, as many as have room."""
    return Place(st.grid(columns, **more), _group(Group(layout="grid")))


def columns(spec: int | Sequence[float], **more: Any) -> list[Place]:
    """Places beside each other, as wide as ``spec`` says."""
    weights = tuple(map(float, [1] * spec if isinstance(spec, int) else spec))
    row = _group(Group(layout="row", weights=weights))
    return [Place(place, _group(Group(), row)) for place in st.columns(spec, **more)]


def panel(letter: str) -> None:
    """Say that the place that is being filled is the panel of that letter."""
    _change(letter=letter)


def title(text: str) -> None:
    """Say what the place that is being filled is about; its control says so to the reader.

    Args:
        text: as it stands, no Markdown.
    """
    _change(title=" ".join(text.split())[:300])


def setting(label: str, value: Any) -> None:
    """Say what a control is set to."""
    words = f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, bool):
        words = "on" if value else "off"
    _note(Value(kind="setting", label=label[:300], value=words))


def subheader(text: str) -> None:
    """The heading of a section."""
    st.subheader(text, anchor=False)
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
    _note(Text(kind="text", text=text))


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


def chart(
    spec: Spec, alt: str, *, stretch: bool = True, kept: Callable[[], Spec] | None = None,
    **more: Any,
) -> None:  # fmt: skip
    """A chart.

    Args:
        spec: with named data sets, as Streamlit takes them.
        alt: what it shows.
        stretch: whether it is as wide as its place.
        kept: makes what the page is kept with, where the reader changed the chart itself.
    """
    st.vega_lite_chart(spec, width="stretch" if stretch else "content", alt=alt, **more)
    if record := _RECORD.get():
        name = _free(alt, record.charts)
        record.charts[name] = kept or spec
        _note(Chart(name=name, alt=alt, stretch=stretch))


def table(data: pd.DataFrame | pa.Table, **more: Any) -> None:
    """A table.

    Args:
        more: as ``st.dataframe`` takes it; formats of numbers are kept with the table.
    """
    st.dataframe(data, **more)
    note_table(
        data, alt=more.get("alt") or "table", index=not more.get("hide_index"),
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
    record = _RECORD.get()
    if record is None:
        return
    name = _free(alt, record.tables)
    record.tables[name] = held = _arrow(data, index)
    formats = {own: (config.get("type_config") or {}).get("format")
               for own, config in (column_config or {}).items()
               if own in held.column_names}  # fmt: skip
    known = {own: form for own, form in formats.items() if form}
    _note(Table(name=name, formats=known, stretch=stretch, bold=tuple(bold)))


def result(request: Request, result: Result) -> None:
    """Note a result that the page is drawn from, and that none of its jobs made."""
    if record := _RECORD.get():
        record.results.append((request, result))


def incomplete() -> None:
    """Say that more is on its way than the page's jobs."""
    if record := _RECORD.get():
        record.incomplete = True


def _group(group: Group, within: _Noted | None = None) -> _Noted | None:
    noted = _Noted(group)
    _note(noted, within)
    return noted


def _note(block: Block | _Noted, within: _Noted | None = None) -> None:
    here = within or _HERE.get()
    if here is not None and _RECORD.get() is not None:
        here.blocks.append(block)


def _change(**attributes: str) -> None:
    here = _HERE.get()
    if here is not None and _RECORD.get() is not None:
        here.group = here.group.model_copy(update=attributes)


def _free(words: str, taken: Mapping[str, Any]) -> str:
    """A name made of these words that is not taken."""
    name = slug(words)[:_LONGEST_NAME]
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
