"""One visitor floods the server; another one's small page goes on, and nothing stays behind."""

import asyncio
import os
import re
import time
from contextlib import AsyncExitStack

import numpy as np
import pytest
from support.serving import ROOT, served
from support.visiting import Visit, new_browser

from .links import PAGES
from .tables import percentiles, table

pytestmark = [pytest.mark.load, pytest.mark.timeout(1800)]
LINKS = int(os.environ.get("LOAD_LINKS", "12"))
TRAININGS = int(os.environ.get("LOAD_TRAININGS", "60"))
UPLOADS = int(os.environ.get("LOAD_UPLOADS", "100"))
SECONDS = float(os.environ.get("LOAD_SECONDS", "180")) / 3  # for which the flood lasts at least
LARGEST = 5_000  # pairs of the page Alignment
ALLOWED = 30  # trainings of one owner
IDLE_CHANGES, PAUSE = 20, 0.5
PATIENCE = 120.0  # seconds until what is left is gone
SMALL = PAGES[0]
_BUSY = re.compile(r"(\d+) of \d+ workers busy, ([\d,]+) waiting")


async def changes(visit, numbers):
    """Change the small page again and again; seconds to each answer, which must be its own."""
    taken = []
    for number in numbers:
        taken.append(await visit.open(SMALL.path, SMALL.link(number)))
        assert visit.errors() == []
        assert SMALL.follows(visit, number)
        await asyncio.sleep(PAUSE)
    return taken


async def flood(server, cookies, stack):
    """Ask for everything at once; the sessions stay until the stack is closed."""

    async def open_largest(place):
        visit = await stack.enter_async_context(Visit(server.url, cookies, afar=True))
        await visit.open("alignment", f"count={LARGEST - place}")
        await visit.press("begin-held")

    async def train():
        visit = await stack.enter_async_context(Visit(server.url, cookies, afar=True))
        await visit.open("train", "scorings=additive&epochs=1000")
        for _ in range(TRAININGS):
            await visit.press("train-start")
        return visit

    async def upload():
        visit = await stack.enter_async_context(Visit(server.url, cookies, afar=True))
        await visit.open("alignment", "")
        await visit.unfold("alignment-upload popover")
        for place in range(UPLOADS):
            line = f"Go {place}.\tVa {place} !\t0-0 1-1\n"
            await visit.upload("alignment-upload", f"{place}.tsv", line.encode())
        assert any(key.endswith(" use") for key in visit.buttons()), "no upload was taken"

    async with asyncio.TaskGroup() as group:
        trains = group.create_task(train())
        for place in range(LINKS):
            group.create_task(open_largest(place))
        group.create_task(upload())
    return trains.result()


async def work(server):
    """How many computations run and wait, and the states of all trainings."""
    async with Visit(server.url) as administrator:
        await administrator.show("server")
        busy = [_BUSY.search(text) for text in administrator.texts()]
        ((running, waiting),) = [found.groups() for found in busy if found]
        states = [
            state for one in administrator.tables() if "State" in one.column_names
            for state in one["State"].to_pylist()
        ]  # fmt: skip
    return int(running), int(waiting.replace(",", "")), states


async def besides(server):
    """What the other visitor waits on the idle server and in the flood; what is left of it."""
    flooding, other = [await asyncio.to_thread(new_browser, server.url) for _ in range(2)]
    async with Visit(server.url, other, afar=True) as visit:
        await changes(visit, range(3))
        idle = await changes(visit, range(3, 3 + IDLE_CHANGES))
        async with AsyncExitStack() as stack:
            asking = asyncio.create_task(flood(server, flooding, stack))
            flooded, end, number = [], time.monotonic() + SECONDS, 3 + IDLE_CHANGES
            while time.monotonic() < end or not asking.done():
                flooded += await changes(visit, [number])
                number += 1
            trains = await asking
            begun = sum(key.endswith("-cancel") for key in trains.buttons())
            refused = [text for text in trains.texts() if "trainings" in text]
            during = await work(server)
    return idle, flooded, (begun, refused), during, flooding


async def cancel_all(server, cookies):
    """Come back as the one who flooded, and cancel every training."""
    async with Visit(server.url, cookies, afar=True) as visit:
        await visit.show("train")
        while buttons := [key for key in visit.buttons() if key.endswith("-cancel")]:
            await visit.press(buttons[0].split("-", 2)[2])
            await visit.show("train")


async def emptied(server):
    """Wait until no computation runs or waits; seconds."""
    began = time.monotonic()
    while (left := (await work(server))[:2]) != (0, 0):
        assert time.monotonic() - began < PATIENCE, f"(running, waiting) = {left} are left"
        await asyncio.sleep(1)
    return time.monotonic() - began


async def everything(server):
    idle, flooded, (begun, refused), during, flooding = await besides(server)
    left = await emptied(server)
    await cancel_all(server, flooding)
    return idle, flooded, begun, refused, during, left, (await work(server))[2]


def test_a_flood_of_one_visitor_keeps_nobody_else_from_an_answer():
    with served(ROOT / "streamlit_app.py") as server:
        idle, flooded, begun, refused, during, left, states = asyncio.run(everything(server))
    ratios = [f"{np.percentile(flooded, p) / np.percentile(idle, p):.1f}" for p in (50, 95)]
    print(
        table(
            (f"a small page beside {LINKS} links, {begun} trainings", "answers", "p50", "p95"),
            [
                ("idle server", len(idle), *percentiles(idle)),
                ("in the flood", len(flooded), *percentiles(flooded)),
                ("ratio", "", *ratios),
                ("until no computation of the flood was left", "", f"{left:.0f} s", ""),
            ],
        )
    )
    assert during[0] + during[1] > 0, "the flood was over before it was looked at"
    assert begun == min(TRAININGS, ALLOWED)
    assert bool(refused) == (TRAININGS > ALLOWED)
    assert set(states) == {"cancelled"}
