"""How fluid many weights are: ``python -m tests.benchmarks --only large_maps``.

In Chromium, on a real Streamlit server, 6 layers of 8 heads of 60 x 60 weights (172,800 cells):
milliseconds from a click that shows another result to the last painted pixel, for cells drawn one
by one and for the grid of heads, and their ratio; then what a click on a head and a moving
pointer cost, and how many messages they send to the server. A map of 500 x 500 likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.benchmarks.rows import Row, compared
from tests.benchmarks.watching import CHART, QUIET, chromium, opened, timed
from tests.support.serving import ROOT, served

REPEATS = 7


def press_next(page):
    return page.evaluate(
        """() => { const began = performance.now();
        document.querySelector('.st-key-next button').click(); return began; }"""
    )


def place(page, x, y):
    """Of the window, from a place of the chart, in px."""
    box = page.locator(CHART).bounding_box()
    return box["x"] + x, box["y"] + y


def move(x, y):
    """An action: the pointer moves there."""

    def act(page):
        page.mouse.move(*place(page, x, y), steps=3)  # as a hand does, in more than one leap
        return page.evaluate("window.acted")

    return act


def click(x, y):
    """An action: a click where the pointer already is."""

    def act(page):
        page.mouse.down()
        page.mouse.up()
        return page.evaluate("window.acted")

    def arrive(page):
        page.mouse.move(*place(page, x, y))
        page.wait_for_timeout(QUIET)
        return act

    return arrive


def rows(quick: bool) -> Iterator[Row]:
    """Another result beside cells drawn one by one; then what answers within the chart."""
    repeats = 3 if quick else REPEATS
    with served(ROOT / "tests/benchmarks/large_maps_app.py") as server, chromium() as browser:

        def page_of(variant):
            page = opened(browser, f"{server.url}/?variant={variant}")
            timed(page, press_next)  # the first one compiles
            return page

        page = page_of("rects")
        slow = [timed(page, press_next)[0] / 1e3 for _ in range(3)]
        page.close()
        page = page_of("grid")
        fast = [timed(page, press_next)[0] / 1e3 for _ in range(repeats)]
        yield compared(
            "48 heads of 60 x 60, another result painted", "cells one by one", (fast, slow)
        )
        bottom = page.locator(CHART).bounding_box()["height"] - 25
        heads = [(16 + 58 * n + 25, bottom) for n in range(repeats)]
        yield _answers("a click on a head", [timed(page, click(x, y)(page)) for x, y in heads])
        cells = [(60 + 37 * n, 90 + 41 * n) for n in range(repeats)]
        yield _answers(
            "the pointer moves in the large map", [timed(page, move(x, y)) for x, y in cells]
        )
        page.close()
        page = page_of("large")
        yield _answers(
            "one map of 500 x 500, another result",
            [timed(page, press_next) for _ in range(repeats)],
        )
        yield _answers("the pointer moves over it", [timed(page, move(x, y)) for x, y in cells])


def _answers(work: str, found: list[tuple[float, int]]) -> Row:
    times, messages = zip(*found, strict=True)
    note = f"messages to the server: {max(messages)}"
    row = compared(work, "", ([ms / 1e3 for ms in times], [0.0]))
    return replace(row, theirs=None, their_fastest=None, note=note)
