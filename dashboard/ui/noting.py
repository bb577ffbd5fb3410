"""What was noted of a page while it was drawn, see :mod:`dashboard.ui.shown`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dashboard.charts.summary import Summary
from dashboard.records.request import Request, Result
from dashboard.storage.seen import Block, Group, whole

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


def group(made: Group, within: Noted | None = None) -> Noted:
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
