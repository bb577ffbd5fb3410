"""Maps in the browser beside BertViz's head view: 12 layers of 12 heads.

Seconds from the tensors to the first map on the screen, and from a choice to another head, each as
one HTML file in Chromium. BertViz writes every weight as a number, and draws a line for each
weight of a layer. It needs its scripts, from the network or from the folder ``BERTVIZ_SCRIPTS``
(``require.min.js``, ``d3.min.js``, ``jquery.min.js``), so its sizes stop where a browser would.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from bertviz import head_view
from playwright.sync_api import Browser, Page

from dashboard.notebook import AttentionMaps
from tests.benchmarks.rows import Row
from tests.benchmarks.watching import PATIENCE, WATCH, chromium, quiet, timed

LAYERS, HEADS = 12, 12
OURS, THEIRS = (64, 128, 1024), (64, 128)  # tokens
# A task of the page and the two frames after it.
AFTER = """(act) => new Promise((done) => {
  const began = performance.now(); act();
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""


class Found(NamedTuple):
    first: float  # s, from tensors to a painted map
    other: float  # s, from a choice to another head
    size: float  # MB of HTML
    heap: float  # MB, of the page's JavaScript


def weights(tokens: int) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [(torch.randn(1, HEADS, tokens, tokens) * 3).softmax(-1) for _ in range(LAYERS)]


def opened(browser: Browser, html: str, painted: Callable[[Page], None]) -> tuple[Page, float]:
    """A page of a file, and seconds until ``painted`` returns."""
    path = Path(tempfile.mkdtemp()) / "map.html"
    path.write_text(html, "utf-8")
    page = browser.new_context(viewport={"width": 1200, "height": 2000}).new_page()
    if folder := os.environ.get("BERTVIZ_SCRIPTS"):
        page.route(
            "**/cdnjs.cloudflare.com/**",
            lambda route: route.fulfill(path=Path(folder) / Path(route.request.url).with_suffix(
                ".js" if route.request.url.endswith(".js") else ".min.js").name),
        )  # fmt: skip
    page.add_init_script(WATCH)
    page.set_default_timeout(PATIENCE)
    began = time.perf_counter()
    page.goto(path.as_uri(), timeout=PATIENCE)
    painted(page)
    return page, time.perf_counter() - began


def heap(page: Page) -> float:
    return page.evaluate("performance.memory.usedJSHeapSize") / 1e6


def theirs(browser: Browser, tokens: int) -> Found:
    attention, words = weights(tokens), [f"w{n}" for n in range(tokens)]
    began = time.perf_counter()
    html = head_view(attention, words, html_action="return").data
    made = time.perf_counter() - began

    def painted(page: Page) -> None:
        page.wait_for_function("document.querySelectorAll('svg line').length > 0")
        page.evaluate(f"({AFTER})(() => 0)")

    page, shown = opened(browser, html, painted)
    act = """() => document.querySelectorAll('svg rect[width="20"][height="20"]')[1]
        .dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))"""
    other = page.evaluate(f"({AFTER})({act})") / 1e3
    found = Found(made + shown, other, len(html) / 1e6, heap(page))
    page.context.close()
    return found


def ours(browser: Browser, tokens: int, *, every: bool) -> Found:
    """One chosen head; or all of them small, of which a click enlarges another."""
    words = [f"w{n}" for n in range(tokens)]
    maps = AttentionMaps.of(weights(tokens), words)
    began = time.perf_counter()
    html = (maps if every else maps[5]).plot(**{} if every else {"head": 3}).to_html(inline=True)
    made = time.perf_counter() - began

    def painted(page: Page) -> None:
        page.wait_for_selector("canvas, svg.marks")
        page.wait_for_function("window.painted.length > 0 || document.querySelector('svg.marks')")
        page.evaluate(f"({AFTER})(() => 0)")

    page, shown = opened(browser, html, painted)
    other = made + shown  # another chart
    if every:
        box = page.locator("canvas, svg.marks").first.bounding_box()

        def act(page: Page) -> float:
            page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + box["height"] - 30)
            return page.evaluate("window.acted")

        quiet(page)
        other = timed(page, act)[0] / 1e3
    found = Found(made + shown, other, len(html) / 1e6, heap(page))
    page.context.close()
    return found


def rows(quick: bool) -> Iterator[Row]:
    """Both where both can, ours alone beyond."""
    with chromium() as browser:
        for tokens in OURS[: 2 if quick else None]:
            their = theirs(browser, tokens) if tokens in THEIRS else None
            for name, every in (("one head", False), ("144 heads", True)):
                our = ours(browser, tokens, every=every)
                for work in ("first", "other"):
                    yield Row(
                        work=f"{tokens:,} tokens, {name}: to the {work} map",
                        ours=getattr(our, work),
                        against="BertViz's head view" if their else "",
                        theirs=getattr(their, work) if their else None,
                        note=_note("ours", our) + (f"; {_note('theirs', their)}" if their else ""),
                    )  # fmt: skip


def _note(whose: str, found: Found) -> str:
    return f"{whose} {found.size:.1f} MB of HTML, heap {found.heap:.0f} MB"
