"""Fifty visitors on mixed pages: no error, nobody else's result, no memory that only grows."""

import asyncio
import os

import pytest
from support.serving import ROOT, served

from .crowd import PAUSE, crowd
from .links import PAGES as EVERY
from .tables import percentiles, table

pytestmark = [pytest.mark.load, pytest.mark.timeout(1800)]
SESSIONS = int(os.environ.get("LOAD_SESSIONS", "50"))
SECONDS = float(os.environ.get("LOAD_SECONDS", "180"))
LEFT_OUT = os.environ.get("LOAD_WITHOUT", "").split()  # paths
PAGES = [page for page in EVERY if page.path not in LEFT_OUT]
WARM_UP = max(SECONDS / 3, PAUSE * len(PAGES))
MOST_GROWTH = 0.05
SHORT = 60.0  # seconds: until then caches fill


@pytest.fixture(scope="module")
def found():
    with served(ROOT / "streamlit_app.py", ATTENTION_TRUST_LOCAL="0") as server:
        made = asyncio.run(crowd(server, PAGES, SESSIONS, SECONDS, WARM_UP))
    print(_pages(made), _memory(made), sep="\n")
    return made


def _pages(found):
    every = [seconds for page in found.seconds.values() for seconds in page]
    rows = [(page, len(one), *percentiles(one)) for page, one in sorted(found.seconds.items())]
    head = (f"{SESSIONS} sessions, {SECONDS:.0f} s", "results", "p50", "p95")
    last = ("all", len(every), *percentiles(every))
    errors = ("errors; foreign results", f"{found.errors.total()}; {len(found.foreign)}", "", "")
    return table(head, [*rows, last, errors])


def _memory(found):
    rows = [
        (when, f"{one.server:.0f}", f"{one.workers:.0f}", one.files)
        for when, one in (("start", found.start), ("half", found.half), ("end", found.end))
    ]
    growth = ("growth of both in the second half", f"{found.growth:+.1%}", "", "")
    return table(("memory", "server, MB", "workers, MB", "open files"), [*rows, growth])


def test_every_page_answers_everybody_without_an_error(found):
    assert set(found.seconds) == {page.path for page in PAGES}
    assert dict(found.errors) == {}


def test_nobody_sees_what_another_asked_for(found):
    assert found.foreign == []


@pytest.mark.skipif(SECONDS < SHORT, reason=f"caches still fill in less than {SHORT:.0f} s")
def test_memory_stays_in_the_second_half(found):
    assert found.growth < MOST_GROWTH
