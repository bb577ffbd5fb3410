"""From a slider step to the last painted pixel, in Chromium, beside plain Streamlit."""

from __future__ import annotations

import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

from tests.benchmarks.rows import Row, compared
from tests.benchmarks.watching import ROOT, chromium, opened, served, timed

ONE_CHART = ROOT / "tests/benchmarks/one_chart_app.py"
EMPTY = ROOT / "tests/benchmarks/empty_app.py"
FOUR = "/?a=gaussian&b=laplacian&c=epanechnikov&d=boxcar"


def rows(quick: bool) -> Iterator[Row]:
    """A slider step on *Kernel regression*, one panel and four, and the first load."""
    steps = 5 if quick else 12
    app = ROOT / "streamlit_app.py"
    with served(app) as ours, served(ONE_CHART) as plain, chromium() as browser:
        other = opened(browser, plain.url)
        for name, link in (("one panel", "/?a=gaussian"), ("four panels", FOUR)):
            page = opened(browser, ours.url + link)
            yield _steps(f"a slider step, {name}, to painted", page, other, steps)
            page.close()
    with served(app) as ours, served(EMPTY) as empty, chromium() as browser:
        for name, loads in (("first load of a fresh server", 1), ("another visitor's load", 3)):
            taken = [[_loaded(browser, s.url) for _ in range(loads)] for s in (ours, empty)]
            yield compared(f"{name}, finished", "an empty app", (taken[0], taken[1]))


def _steps(name: str, page: Page, other: Page, steps: int) -> Row:
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(steps + 1):
        for found, each in zip(taken, (page, other), strict=True):
            milliseconds, _ = timed(each, _step)
            if number:  # the first one compiles
                found.append(milliseconds / 1e3)
    return compared(name, "a slider and a chart", taken)


def _step(page: Page) -> float:
    """The slider of a width moves by one; of the first panel, where there are several."""
    slider = page.get_by_role("slider", name="Width").first
    slider.press("ArrowRight")
    return page.evaluate("window.acted")


def _loaded(browser: Browser, url: str) -> float:
    """Seconds until the page's charts stand still, in a browser that has nothing of it yet."""
    began = time.perf_counter()
    page = opened(browser, url)
    quiet_for = page.evaluate("performance.now() - window.painted.at(-1)") / 1e3
    taken = time.perf_counter() - began - quiet_for
    page.context.close()
    return taken
