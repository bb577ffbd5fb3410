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

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.benchmarks.rows import Row, compared
from tests.benchmarks.watching import ROOT, Served, served

FOUR = "a=gaussian&b=laplacian&c=epanechnikov&d=boxcar"
_CHARTS = 5  # of the page when all its results are there
_PATIENCE = 120.0  # seconds for one answer


class Visitor:
    """One session: it opens a page, moves its first slider of a width, and waits for the end."""

    def __init__(self, server: Served, query: str) -> None:
        self.url = server.url.replace("http", "ws") + "/_stcore/stream"
        self.query = query
        self.slider = ""
        self.charts = 0
        self.faults = 0

    async def open(self) -> float:
        """Connect and run the page until its charts are there; seconds."""
        began = time.perf_counter()
        self.socket = await websockets.connect(
            self.url, subprotocols=["streamlit"], max_size=None, compression=None, open_timeout=60
        )
        while not self.slider or self.charts < _CHARTS:
            self.charts = 0
            await self.run()
            await asyncio.sleep(0.3)
        return time.perf_counter() - began

    async def close(self) -> None:
        """Leave."""
        await self.socket.close()

    async def run(self, width: float | None = None) -> float:
        """Run the page again, with another width where one is given; seconds to its end."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        if width is not None:
            state = message.rerun_script.widget_states.widgets.add(id=self.slider)
            state.double_array_value.data.append(width)
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg()
            answer.ParseFromString(await asyncio.wait_for(self.socket.recv(), _PATIENCE))
            kind = answer.WhichOneof("type")
            if kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
                element = answer.delta.new_element
                shown = element.WhichOneof("type")
                if shown == "slider" and "Width" in element.slider.label:
                    self.slider = self.slider or element.slider.id
                self.charts += shown == "vega_lite_chart"
                self.faults += shown == "exception"
            elif kind == "script_finished" and (
                answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                return time.perf_counter() - began


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
