"""What the crowd's links must show follows from each alone."""

import asyncio

import pytest
from support.serving import ROOT, served
from support.visiting import Visit

from .links import PAGES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_every_page_tells_its_own_values_from_anothers():
    async def asked(server):
        async with Visit(server.url) as visit:
            for page in PAGES:
                await visit.open(page.path, page.link(1234))
                yield page.path, page.follows(visit, 1234), page.follows(visit, 1235)

    async def every(server):
        return [one async for one in asked(server)]

    with served(ROOT / "streamlit_app.py") as server:
        found = asyncio.run(every(server))
    assert found == [(page.path, True, False) for page in PAGES]
