"""Drives the real app in Chromium: a server of its own, no path to the internet, clean consoles.

Nothing here knows a page's content. Streamlit tells by attributes of its root element whether a
script runs; the Vega view of a chart hangs on React's hooks, since Streamlit does not export it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, sync_playwright

ROOT = Path(__file__).parents[2]
SCREENSHOTS = os.environ.get("ATTENTION_TEST_SCREENSHOTS")
CHROMIUM_ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]  # fmt: skip
START_SECONDS = 60
WORK_SECONDS = 240  # the longest that a page may be busy on a small, shared machine

# A browser so busy that it hears of a run's beginning and end at once, and so tells of neither.
UNTOLD = """() => {
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name !== "data-test-script-state") set.call(this, name, value);
  };
}"""

IDLE = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app && app.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && !document.querySelector('[data-testid="stSkeleton"], [data-stale="true"]');
}"""

# Of every chart below the selector: its scalar data by name, or null where no view hangs on it. As
# text, as Playwright takes ten times as long for so many objects; JSON has finite numbers alone.
VIEWS = """(selector) => {
  const viewOf = (element) => {
    const fibre = Object.keys(element).find((key) => key.startsWith('__reactFiber'));
    for (let node = element[fibre], up = 0; node && up < 15; node = node.return, up++) {
      for (let hook = node.memoizedState; hook && typeof hook === 'object' && 'next' in hook;
           hook = hook.next) {
        const held = hook.memoizedState && hook.memoizedState.current;
        if (held && typeof held.runAsync === 'function' && typeof held.data === 'function')
          return held;
      }
    }
    return null;
  };
  const plain = (row) => Object.fromEntries(Object.entries(row)
    .filter(([name, value]) => value === null || typeof value !== 'object'));
  const told = (_, value) => value === undefined ? null
    : typeof value === 'number' && !Number.isFinite(value) ? `\\0${value}` : value;
  return JSON.stringify([...document.querySelectorAll(selector)].map((element) => {
    const view = viewOf(element);
    if (!view) return null;
    const names = Object.keys(view.getState({data: () => true, signals: () => false}).data || {});
    return Object.fromEntries(names.map((name) => [name, (view.data(name) || []).map(plain)]));
  }), told);
}"""
_NOT_FINITE = re.compile(r'"\\u0000(NaN|-?Infinity)"')

# Streamlit's browser asks for the file of each download once, when its button appears, and on a
# busy machine later runs have replaced both by then. Clicks on downloads are tested elsewhere.
_REPLACED = ("/media/", ".csv"), "Client Error: Download Button source error - 404"

Rows = list[dict]


@dataclass
class Window:
    """One browser tab on the app, and what it complained about."""

    page: Page
    url: str
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def open(self, path: str = "") -> Window:
        """Open a path of the app and wait until it is drawn."""
        self.page.goto(f"{self.url}/{path}", wait_until="domcontentloaded")
        self.page.wait_for_selector('[data-testid="stApp"]', timeout=START_SECONDS * 1000)
        return self.settle()

    def settle(self, quiet: float = 0.4) -> Window:
        """Wait until the script has stood still for ``quiet`` seconds."""
        end = time.monotonic() + WORK_SECONDS
        since = time.monotonic()
        while time.monotonic() - since < quiet:
            if not self.page.evaluate(IDLE):
                since = time.monotonic()
            assert time.monotonic() < end, f"busy for {WORK_SECONDS} s: {self.text()[:500]}"
            self.page.wait_for_timeout(50)
        return self

    def until(self, condition: Callable[[], object], what: str) -> Window:
        """Wait until ``condition`` holds: better than idleness where an effect is known."""
        end = time.monotonic() + WORK_SECONDS
        while not condition():
            assert not self.page.locator('[data-testid="stException"]').count(), "the page raised"
            waited = f"waited {WORK_SECONDS} s for {what}; drawn charts: {len(self.views())}"
            assert time.monotonic() < end, f"{waited}\n{self.text()[:1000]}"
            self.page.wait_for_timeout(100)
        return self

    def charts(self, key: str = "") -> Locator:
        """Every chart (below that key's container), in page order.

        Marks are looked for in here alone: beside a chart may lie a copy of what it showed before,
        see ``held_pictures.js``, with the same marks in the same places.
        """
        return self.page.locator(_charts(key))

    def views(self, key: str = "") -> list[dict[str, Rows]]:
        """The data sets of every drawn chart (below that key's container), in page order."""
        told = self.page.evaluate(VIEWS, _charts(key))
        found = json.loads(_NOT_FINITE.sub(r"\1", told))
        return [view for view in found if view is not None]  # null: its frame is there, not yet it

    def rows(self, *columns: str, key: str = "") -> list[Rows]:
        """Of every chart, the largest data set that has these columns; charts without are left."""
        found = []
        for view in self.views(key):
            sets = [rows for rows in view.values() if rows and set(columns) <= rows[0].keys()]
            if sets:
                found.append(max(sets, key=len))
        return found

    def text(self) -> str:
        """What a reader sees; the sentences that follow sliders last."""
        live = self.page.locator("[class*='st-key-live-'] p").all_inner_texts()
        return "\n".join([self.page.inner_text('[data-testid="stApp"]'), *live])

    def overflow(self) -> int:
        """Pixels by which the content is wider than the window."""
        return self.page.evaluate(
            """() => Math.max(...['html', '[data-testid="stMain"]']
                .map((s) => document.querySelector(s))
                .map((e) => e.scrollWidth - e.clientWidth))"""
        )

    def screenshot(self, name: str) -> None:
        """Save what is seen, as far down as the page goes, where a folder for it is named."""
        if not SCREENSHOTS:
            return
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        size = self.page.viewport_size
        height = self.page.evaluate(
            """() => document.querySelector('[data-testid="stMain"]').scrollHeight"""
        )
        # Streamlit scrolls inside the page, so a "full page" picture would end at the window.
        self.page.set_viewport_size({"width": size["width"], "height": max(height, 400)})
        self.settle()
        self.page.screenshot(path=f"{SCREENSHOTS}/{name}.png")
        self.page.set_viewport_size(size)


def _charts(key: str) -> str:
    below = f".st-key-{key} " if key else ""
    return f'{below}[data-testid="stVegaLiteChart"]'


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's binary; a missing browser is an error, since these tests were asked for."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("the browser tests need Chromium: install it, or name its binary in CHROMIUM")
    return found


@contextmanager
def serve(folder: Path, *, port: int = 0, **variables: str) -> Iterator[str]:
    """The address of the real app, kept in ``folder``; its log must end without a traceback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        port = probe.getsockname()[1]
    log = folder / "server.log"
    command = [
        sys.executable, "-m", "streamlit", "run", "streamlit_app.py", "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true",
    ]  # fmt: skip
    environment = os.environ | {"ATTENTION_WORKBENCH_HOME": str(folder / "home")} | variables
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for_health(url, server, log)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    text = log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in text, text


def _wait_for_health(url: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.poll() is None, f"the app ended at its start:\n{log.read_text()}"
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except (URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"the app was not healthy after {START_SECONDS} s:\n{log.read_text()}")


@pytest.fixture(scope="session")
def server() -> Callable[..., AbstractContextManager[str]]:
    """Starts further apps, with other variables in their environment."""
    return serve


@pytest.fixture(scope="session")
def app(tmp_path_factory) -> Iterator[str]:
    """The address of the app as a newcomer starts it."""
    with serve(tmp_path_factory.mktemp("app")) as url:
        yield url


@pytest.fixture(scope="session")
def browser(chromium) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def window(app, browser) -> Iterator[Callable[..., Window]]:
    """Opens windows of a width and a colour scheme; none may err or reach for the internet."""
    windows: list[Window] = []

    def new(
        path: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        scheme="light",
        touch: bool = False,
    ) -> Window:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB",
            has_touch=touch, is_mobile=touch,
        )  # fmt: skip
        made = Window(context.new_page(), app)
        windows.append(made)
        _watch(made)
        return made.open(path)

    yield new
    for made in windows:
        made.page.context.close()
    assert [made.strangers for made in windows] == [[] for _ in windows]
    assert [made.errors for made in windows] == [[] for _ in windows]


def _watch(window: Window) -> None:
    own = urlsplit(window.url).netloc

    def keep_stranger(request: Request) -> None:  # Chromium finds no other host
        address = urlsplit(request.url)
        if address.netloc != own and address.scheme not in ("data", "blob"):
            window.strangers.append(request.url)

    def keep_error(message) -> None:
        address, ((folder, kind), told) = message.location.get("url", ""), _REPLACED
        gone = "404" in message.text and folder in address and address.endswith(kind)
        if message.type == "error" and not gone and told not in message.text:
            window.errors.append(f"{message.text} ({address})")

    def keep_socket(opened) -> None:
        if urlsplit(opened.url).netloc != own:
            window.strangers.append(opened.url)

    window.page.on("request", keep_stranger)
    window.page.on("console", keep_error)
    window.page.on("pageerror", lambda error: window.errors.append(str(error)))
    window.page.on("websocket", keep_socket)
    window.page.on("dialog", lambda dialog: window.errors.append(f"dialog: {dialog.message}"))
