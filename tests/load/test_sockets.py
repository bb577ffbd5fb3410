"""Silent sockets, half requests and files that nobody asked for, beside another's small page."""

import asyncio
import os
import re
import socket
import time
import urllib.error
import urllib.request
import uuid
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import pytest
import websockets
from support.serving import ROOT, served
from support.visiting import Visit, new_browser

from .links import PAGES
from .tables import percentiles, table

pytestmark = [pytest.mark.load, pytest.mark.timeout(600)]
SOCKETS = int(os.environ.get("LOAD_SOCKETS", "300"))
FILES = int(os.environ.get("LOAD_FILES", "14"))
MEGABYTES = 49
CHANGES, PAUSE = 20, 0.5
SMALL = PAGES[0]
GONE = 40.0  # seconds until what says nothing has ended
_XSRF = "_streamlit_xsrf"


def memory(server):
    """Megabytes of the page process."""
    status = Path(f"/proc/{server.pid}/status").read_text("utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def open_files(server):
    return len(os.listdir(f"/proc/{server.pid}/fd"))


async def changes(server, browser, count=CHANGES):
    """Change the small page again and again; seconds to each answer, which must be its own."""
    taken = []
    async with Visit(server.url, browser, afar=True) as visit:
        for number in range(count):
            taken.append(await visit.open(SMALL.path, SMALL.link(number)))
            assert visit.errors() == []
            assert SMALL.follows(visit, number)
            await asyncio.sleep(PAUSE)
    return taken


def healthy(server):
    with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=20) as answer:
        return answer.read() == b"ok"


async def silence(server, stack):
    """Open as many WebSockets as there are let in, and half requests; how many were refused."""
    stream, refused = server.url.replace("http", "ws", 1) + "/_stcore/stream", 0
    for place in range(SOCKETS + 50):
        opened = websockets.connect(
            stream, subprotocols=[websockets.Subprotocol("streamlit")], open_timeout=60,
            additional_headers={"X-Forwarded-For": "192.0.2.66"},
        )  # fmt: skip
        try:
            await stack.enter_async_context(opened)
        except websockets.InvalidStatus as error:
            refused += error.response.status_code == 503
        half = stack.enter_context(socket.create_connection(("127.0.0.1", port(server))))
        half.sendall(b"GET / HTTP/1.1\r\nHost: local" if place % 2 else b"")
    return refused


def port(server):
    return int(server.url.rpartition(":")[2])


def test_silent_sockets_and_half_requests_end_and_keep_nobody_from_a_page():
    async def happens(server):
        browser = await asyncio.to_thread(new_browser, server.url)
        await changes(server, browser, 3)
        idle, before = await changes(server, browser), open_files(server)
        async with AsyncExitStack() as stack:
            attack = asyncio.create_task(silence(server, stack))
            beside = await changes(server, browser)
            refused, most = await attack, open_files(server)
            assert await asyncio.to_thread(healthy, server)
            await asyncio.sleep(GONE)
            after = open_files(server)
        return idle, beside, refused, before, most, after

    with served(ROOT / "streamlit_app.py") as server:
        idle, beside, refused, before, most, after = asyncio.run(happens(server))
    print(
        table(
            (f"a small page beside {SOCKETS} silent sockets", "p50", "p95"),
            [("idle", *percentiles(idle)), ("attacked", *percentiles(beside))],
        ),
        f"files: {before} before, {most} at most, {after} when all had ended; {refused} refused",
        sep="\n",
    )
    assert after <= before + 40


def put(url, browser, session, content):
    """Send a file to Streamlit's address for uploads; the status of the answer."""
    edge = uuid.uuid4().hex
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    request = urllib.request.Request(
        f"{url}/_stcore/upload_file/{session}/{uuid.uuid4()}",
        data=head.encode() + content + f"\r\n--{edge}--\r\n".encode(),
        headers={
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "Cookie": "; ".join(f"{name}={value}" for name, value in browser.items()),
            "X-Xsrftoken": browser[_XSRF],
        },
        method="PUT",
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:  # it was refused, and closed, before all of it was sent
        return 0


@pytest.mark.parametrize("classroom", ["0", "1"])
def test_files_that_no_page_asks_for_take_no_memory(classroom):
    async def happens(server):
        browser = await asyncio.to_thread(new_browser, server.url)
        content = bytes(MEGABYTES * 2**20)
        async with Visit(server.url, browser, afar=True) as visit:
            await visit.open(SMALL.path, SMALL.link(1))
            before = memory(server)
            answers = [
                await asyncio.to_thread(put, server.url, browser, visit._session, content)
                for _ in range(FILES)
            ]
            return before, memory(server), answers

    with served(ROOT / "streamlit_app.py", ATTENTION_CLASSROOM=classroom) as server:
        before, after, answers = asyncio.run(happens(server))
    print(f"page process: {before:.0f} MB, after {FILES} files {after:.0f} MB; {answers}")
    assert set(answers) <= {403, 0}
    assert after < before + 30


def test_files_that_a_page_asks_for_are_taken_in_and_have_a_limit():
    async def happens(server):
        content = b"x\ty\n" + b"1\t2\n" * 1000
        async with AsyncExitStack() as stack:
            visits = []
            for place in range(6):
                browser = await asyncio.to_thread(new_browser, server.url)
                visit = await stack.enter_async_context(Visit(server.url, browser, afar=True))
                await visit.open("regression", "")
                await visit.unfold("regression-upload popover")
                await visit.upload("regression-upload", f"{place}.tsv", content)
                assert not any("Content-Length" in text for text in visit.texts())
                await visit.unfold("regression-upload popover")
                visits.append((visit, browser))
            before, began = memory(server), time.monotonic()
            with suppress(OSError):
                answers = [
                    await asyncio.to_thread(
                        put, server.url, browser, visit._session, bytes(MEGABYTES * 2**20)
                    )
                    for visit, browser in visits
                ]  # fmt: skip
            assert time.monotonic() - began < 60
            return before, memory(server), answers

    with served(ROOT / "streamlit_app.py") as server:
        before, after, answers = asyncio.run(happens(server))
    print(f"page process: {before:.0f} MB, with files {after:.0f} MB; {answers}")
    assert answers[:4] == [204] * 4
    assert set(answers[4:]) <= {503, 0}
    assert after < before + 5 * MEGABYTES + 60
