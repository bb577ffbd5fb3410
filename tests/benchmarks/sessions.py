"""Many visitors at once, over Streamlit's own WebSocket protocol, and what a change costs."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from streamlit.proto.WidgetStates_pb2 import WidgetStates

from tests.benchmarks.rows import Row, compared
from tests.support.serving import ROOT, Served, served
from tests.support.visiting import Visit

FOUR = "a=gaussian&b=laplacian&c=epanechnikov&d=boxcar"


class Visitor:
    """One session: it opens a page, moves its first slider of a width, and waits for the end."""

    def __init__(self, server: Served, query: str) -> None:
        self.visit, self.query = Visit(server.url), query
        self.slider = ""
        self.faults = 0

    async def open(self) -> float:
        """Connect and open the page; seconds until everything of it is there."""
        began = time.perf_counter()
        await self.visit.__aenter__()
        await self.visit.open("", self.query)
        sliders = [one.element.slider for one in self.visit.shown.values()]
        self.slider = next(one.id for one in sliders if "Width" in one.label)
        return time.perf_counter() - began

    async def close(self) -> None:
        """Leave."""
        await self.visit.__aexit__()

    async def run(self, width: float) -> float:
        """Run the page again with another width; seconds to its end."""
        moved = WidgetStates()
        moved.widgets.add(id=self.slider).double_array_value.data.append(width)
        began = time.perf_counter()
        await self.visit.run(moved)
        taken = time.perf_counter() - began
        self.faults += len(self.visit.errors())
        return taken


def rows(quick: bool) -> Iterator[Row]:
    """What one change costs the server, and how 50 visitors fare who change something each 2 s."""
    with served(ROOT / "streamlit_app.py") as server:
        yield from asyncio.run(_alone(server, 8 if quick else 20))
        yield asyncio.run(_crowd(server, 10 if quick else 50, 10 if quick else 30))


async def _alone(server: Served, changes: int) -> list[Row]:
    visitor = Visitor(server, FOUR)
    await visitor.open()
    widths = [round(0.3 + 0.05 * number, 2) for number in range(2 * changes)]
    for width in widths[:3]:
        await visitor.run(width)
    found = []
    for name, asked in (
        ("server CPU of one change, four panels", widths[3 : 3 + changes]),
        ("server CPU of a rerun without a change", [widths[3 + changes]] * changes),
    ):
        await visitor.run(asked[0])
        before = _cpu(server.pid)
        waited = [await visitor.run(width) for width in asked]
        spent = (_cpu(server.pid) - before) / len(asked)
        note = f"answered after {1e3 * statistics.median(waited):.0f} ms"
        found.append(Row(work=name, ours=spent, note=note))
    await visitor.close()
    return found


async def _crowd(server: Served, visitors: int, seconds: float) -> Row:
    answered: list[float] = []
    opening: list[float] = []
    faults: list[int] = []
    clock = count()

    async def visit() -> None:
        visitor = Visitor(server, FOUR)
        opening.append(await visitor.open())
        await everyone.wait()
        await asyncio.sleep(2 * next(clock) / visitors)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.monotonic()
            width = round(0.3 + 0.05 * (next(clock) % 80), 2)
            answered.append(await visitor.run(width))
            await asyncio.sleep(max(0.0, 2 - (time.monotonic() - began)))
        faults.append(visitor.faults)
        await visitor.close()

    everyone = asyncio.Event()
    tasks = [asyncio.create_task(visit()) for _ in range(visitors)]
    while len(opening) < visitors and not any(task.done() for task in tasks):
        await asyncio.sleep(0.2)
    everyone.set()
    began = time.monotonic()
    await asyncio.gather(*tasks)
    taken = time.monotonic() - began
    answered.sort()
    late = answered[int(0.95 * (len(answered) - 1))]
    note = (
        f"p95 {late:.2f} s, {len(answered) / taken:.1f} changes a second of "
        f"{visitors / 2:.0f} asked, {sum(faults)} errors"
    )
    row = compared(f"{visitors} visitors, a change each 2 s: time to answer", "", (answered, [0]))
    return replace(row, theirs=None, their_fastest=None, note=note)


def _cpu(pid: int) -> float:
    """Seconds of processor that a process has taken, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
