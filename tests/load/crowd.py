"""Many sessions at once on mixed pages, each with values of its own, for a bounded time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import websockets
from support.processes import descendants, megabytes, open_files
from support.serving import Served
from support.visiting import Visit, new_browser

from .links import NUMBERS, Page

PAUSE = 2.0  # seconds from one change of a session to its next
_PATIENCE = 120.0  # seconds for one result
_REFUSED = "Parts of this link were changed"


@dataclass(frozen=True)
class Footprint:
    """What a server takes: megabytes of its process and of its workers, and its open files."""

    server: float
    workers: float
    files: int

    @classmethod
    def of(cls, server: Served) -> Footprint:
        """Of a running server."""
        workers = sum(megabytes(each) for each in descendants(server.pid))
        return cls(megabytes(server.pid), workers, open_files(server.pid))

    @property
    def memory(self) -> float:
        """Megabytes of all processes."""
        return self.server + self.workers


@dataclass
class Found:
    """What a crowd found.

    Attributes:
        seconds: to each result, by the page's path.
        errors: how often each error was shown, or a session broke off by it.
        foreign: links whose page showed what does not follow from them.
        start, half, end: of the time, after every session had seen some pages.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    foreign: list[str] = field(default_factory=list)
    start: Footprint | None = None
    half: Footprint | None = None
    end: Footprint | None = None

    @property
    def growth(self) -> float:
        """Of the memory in the second half, as a fraction."""
        assert self.half, "the crowd has not come"
        assert self.end, "the crowd has not left"
        return self.end.memory / self.half.memory - 1


async def crowd(
    server: Served, pages: Sequence[Page], sessions: int, seconds: float, warm_up: float
) -> Found:
    """Let the sessions change something every :data:`PAUSE` seconds; return what they found.

    Args:
        pages: visited in turn.
        seconds: measured, after ``warm_up`` seconds of the same.
    """
    found, numbers = Found(), count()
    began = time.monotonic()
    measured, end = began + warm_up, began + warm_up + seconds

    async def visit(place: int) -> None:
        await asyncio.sleep(PAUSE * place / sessions)
        cookies = await asyncio.to_thread(new_browser, server.url)
        async with Visit(server.url, cookies) as session:
            for turn in count(place):
                asked = time.monotonic()
                if asked >= end:
                    return
                page, number = pages[turn % len(pages)], next(numbers) % NUMBERS
                await _change(session, page, number, found if asked >= measured else Found())
                await asyncio.sleep(max(0.0, asked + PAUSE - time.monotonic()))

    async def survive(place: int) -> None:
        while time.monotonic() < end:
            try:
                await visit(place)
            except (OSError, TimeoutError, websockets.WebSocketException) as error:
                found.errors[f"{type(error).__name__}: {error}"] += 1

    async def watch() -> None:
        await asyncio.sleep(warm_up)
        found.start = await asyncio.to_thread(Footprint.of, server)
        await asyncio.sleep(seconds / 2)
        found.half = await asyncio.to_thread(Footprint.of, server)
        await asyncio.sleep(seconds / 2)
        found.end = await asyncio.to_thread(Footprint.of, server)

    await asyncio.gather(watch(), *map(survive, range(sessions)))
    return found


async def _change(session: Visit, page: Page, number: int, found: Found) -> None:
    link = f"/{page.path}?{page.link(number)}"
    taken = await session.open(page.path, page.link(number), patience=_PATIENCE)
    refused = [text for text in session.texts() if _REFUSED in text]
    if errors := [*session.errors(), *refused]:
        found.errors.update(f"{link}: {error}" for error in errors)
        return
    found.seconds.setdefault(page.path, []).append(taken)
    try:
        own = page.follows(session, number)
    except (LookupError, ValueError) as error:
        found.errors[f"{link}: {error}"] += 1
        return
    if not own:
        found.foreign.append(link)
