"""Many type formulas, or send links with hostile ones; another one's small page goes on."""

import asyncio
import itertools
import os
import time
from contextlib import AsyncExitStack

import pytest
from support.serving import ROOT, served
from support.visiting import Visit, new_browser

from .links import PAGES
from .tables import percentiles, table

pytestmark = [pytest.mark.load, pytest.mark.timeout(900)]
TYPISTS = int(os.environ.get("LOAD_TYPISTS", "10"))
BOMBS = int(os.environ.get("LOAD_BOMBS", "4"))
SECONDS = float(os.environ.get("LOAD_SECONDS", "90")) / 3  # of each attack
KEY = 0.25  # seconds between two keys, each of which is sent, whatever pause the field asks for
IDLE_CHANGES, PAUSE = 20, 0.5
PATIENCE = 30.0  # seconds for one answer
FORMULAS = ("-|q - k|^2 / (2 w^2)", "-max(abs(q - k)) * a", "-(q - k).abs().sum(-1) / b")
SMALL = PAGES[0]


async def changes(visit, numbers, until=None):
    """Change the small page again and again; seconds to each answer, which must be its own."""
    taken = []
    for number in numbers:
        try:
            taken.append(await visit.open(SMALL.path, SMALL.link(number), patience=PATIENCE))
        except TimeoutError:
            return [*taken, PATIENCE]
        assert visit.errors() == []
        assert SMALL.follows(visit, number)
        if until and until():
            return taken
        await asyncio.sleep(PAUSE)
    return taken


def keys(place):
    """What stands in a typist's field after each key: formulas that nobody else types."""
    for turn in itertools.count():
        text = f"{FORMULAS[turn % len(FORMULAS)]} * {place}.{turn + 1}"
        yield from (text[:length] for length in range(1, len(text) + 1))


async def typist(server, place, ready):
    cookies = await asyncio.to_thread(new_browser, server.url)
    async with Visit(server.url, cookies, afar=True) as visit:
        await visit.open("regression", "a==q.k/sqrt(d)")
        ready.release()
        await visit.type("regression-formula-a", keys(place), KEY)


async def bomb(server, place, ready):
    """Open a link whose formula squares itself again and again, and reload it."""
    inner = f"sum((q*k*{place + 2}){'.square()' * 16})"
    cookies = await asyncio.to_thread(new_browser, server.url)
    ready.release()
    for turn in itertools.count():
        async with Visit(server.url, cookies, afar=True) as visit:
            await visit.open("regression", f"a=={inner}/{turn + 1}".replace("+", "%2B"))
        await asyncio.sleep(KEY)


async def beside(server, visit, attackers, numbers):
    """What the visitor waits beside these."""
    ready = asyncio.Semaphore(0)
    tasks = [asyncio.create_task(each(ready)) for each in attackers]
    try:
        for _ in tasks:
            await asyncio.wait_for(ready.acquire(), 120)
        end = time.monotonic() + SECONDS
        taken = await changes(visit, numbers, lambda: time.monotonic() > end)
        assert not any(task.done() for task in tasks), [t.exception() for t in tasks if t.done()]
        return taken
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def everything(server):
    numbers = itertools.count()
    cookies = await asyncio.to_thread(new_browser, server.url)
    async with AsyncExitStack() as stack:
        visit = await stack.enter_async_context(Visit(server.url, cookies, afar=True))
        await changes(visit, itertools.islice(numbers, 3))
        found = {"idle": await changes(visit, itertools.islice(numbers, IDLE_CHANGES))}
        attacks = {f"{TYPISTS} typists": (typist, TYPISTS), f"{BOMBS} bombs": (bomb, BOMBS)}
        for name, (attack, count) in attacks.items():
            attackers = [
                lambda ready, attack=attack, place=place: attack(server, place, ready)
                for place in range(count)
            ]
            found[name] = await beside(server, visit, attackers, numbers)
    return found


def test_typists_and_hostile_formulas_keep_nobody_from_an_answer():
    with served(ROOT / "streamlit_app.py") as server:
        found = asyncio.run(everything(server))
    rows = [(name, len(taken), *percentiles(taken)) for name, taken in found.items()]
    print(table(("a small page", "answers", "p50", "p95"), rows))
    for name, taken in found.items():
        assert max(taken) < PATIENCE, name
