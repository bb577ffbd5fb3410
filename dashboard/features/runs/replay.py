"""Draws a run as its page was seen, from what was stored alone.

Texts and charts of a run that was kept here are this dashboard's own. Those of an imported one
are a stranger's: its texts are shown as they stand, its pictures instead of its charts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts.export import SCREEN
from dashboard.features.runs import card
from dashboard.language import gettext
from dashboard.records.text import can_be_set
from dashboard.storage.page_run import PageRun
from dashboard.storage.seen import Chart, Group, Table, Text, Value
from dashboard.storage.tables import count_values
from dashboard.ui import layout
from dashboard.ui.widgets import plain

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
    """Draw all that stood on the page.

    Args:
        foreign: whether it comes from elsewhere.
    """
    _Replay(page, foreign).below(page.seen.blocks)


class _Replay:
    def __init__(self, page: PageRun, foreign: bool) -> None:
        self._page, self._foreign = page, foreign
        self._letters = {""}

    def below(self, blocks: Sequence[Any]) -> None:
        """Blocks below each other; what several controls were set to is one line."""
        for setting, found in groupby(blocks, key=lambda block: block.kind == "setting"):
            if setting:
                _settings(list(found))
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
            st.image(card.data_address(picture), width=_width(picture))
        else:
            said = gettext("No picture: {title}", title=plain(block.alt))
            st.caption(f":material/image_not_supported: {said}")

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
                    _title(group)
                self.below(group.blocks)


def _width(png: bytes) -> int:
    """In px of the page, as the picture's head says; it has several pixels for each."""
    return max(1, round(int.from_bytes(png[16:20], "big") / SCREEN))


def _safe(line: str) -> str:
    """A stranger's Markdown as its reader saw it, without its marks; formulas where they can be.

    Of a colour in another one, both go.
    """
    bare = _COLOURS.sub(r"\1", _COLOURS.sub(r"\1", _ICONS.sub("", line)))
    parts = [plain(_MARKS.sub("", part)) for part in _MATHS.split(bare)]
    for number, latex in enumerate(_MATHS.findall(bare)):
        if can_be_set(latex):
            parts[2 * number + 1] = f"${latex}$"
    return " ".join(filter(None, parts))


def _title(group: Group) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if group.letter:
            layout.badge(group.letter)
        st.markdown(f"**{plain(group.title)}**")


def _settings(values: Sequence[Any]) -> None:
    told = ({"label": plain(one.label), "value": plain(one.value)} for one in values)
    st.caption(" · ".join(gettext("{label}: **{value}**", **each) for each in told))


def _table(held: pa.Table, block: Table) -> None:
    if (values := count_values(held)) > _MOST_VALUES:
        said = gettext("A table of {count:,} values is too large to be shown.", count=values)
        st.caption(f":material/warning: {said}")
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
