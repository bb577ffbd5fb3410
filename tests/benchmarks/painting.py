"""From a change to the last painted pixel, in Chromium, beside plain Streamlit.

A slider step on *Kernel regression*, another sentence on *Translation*, and first loads. A
character typed into a formula stands beside a slider step of ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from playwright.sync_api import Browser, Page

from tests.benchmarks.rows import Row, compared
from tests.benchmarks.watching import CHART, PATIENCE, chromium, opened, timed
from tests.support.serving import ROOT, served

ONE_CHART = ROOT / "tests/benchmarks/one_chart_app.py"
EMPTY = ROOT / "tests/benchmarks/empty_app.py"
FOUR = "/regression?a=gaussian&b=laplacian&c=epanechnikov&d=boxcar"
TYPED = "/regression?a=%3D-norm(q%20-%20k)%5E2%20%2F%201"  # =-norm(q - k)^2 / 1
DIGITS = "23456789"  # in the place of its 1
THREE = "/translation"  # its usual panels, two Bahdanau models and a Transformer
# Of several lengths, so that every one needs a map of another shape.
SENTENCES = (
    "where is the station ?", "i like this old house .", "he has lost his keys again .",
    "do you want to eat with us ?", "she is very tired .", "we will leave tomorrow morning .",
    "my brother works in a large hospital .", "open the window , please .",
    "they are looking for a cheap hotel .", "it is raining .", "nobody knows where he went .",
    "i read this book last year .", "what time is it ?",
)  # fmt: skip


def rows(quick: bool) -> Iterator[Row]:
    """A slider step with one panel and with four, a sentence, and the first load."""
    steps = 5 if quick else 12
    app = ROOT / "streamlit_app.py"
    with served(app) as ours, served(ONE_CHART) as plain, chromium() as browser:
        other = opened(browser, plain.url)
        for name, link in (("one panel", "/regression?a=gaussian"), ("four panels", FOUR)):
            page = opened(browser, ours.url + link)
            work = f"a slider step, {name}, to painted"
            yield _steps(work, page, other, [_step] * (steps + 1))
            page.close()
        page, slider = (
            opened(browser, ours.url + TYPED),
            opened(browser, ours.url + "/regression?a=gaussian"),
        )
        characters = [partial(_type, digit) for digit in DIGITS[: steps + 1]]
        work = "a character of a formula, one panel, to painted"
        yield _steps(work, page, slider, characters, beside="our slider step")
        page.close()
        slider.close()
        page = opened(browser, ours.url + THREE)
        page.locator(CHART).nth(3).wait_for(timeout=PATIENCE)  # the colours', and each model's
        typed = [partial(_enter, sentence) for sentence in SENTENCES[: steps + 1]]
        yield _steps("translation: text to painted, three models", page, other, typed)
        page.close()
    with served(app) as ours, served(EMPTY) as empty, chromium() as browser:
        for name, loads in (("first load of a fresh server", 1), ("another visitor's load", 3)):
            taken = [[_loaded(browser, s.url) for _ in range(loads)] for s in (ours, empty)]
            yield compared(f"{name}, finished", "an empty app", (taken[0], taken[1]))


def _steps(
    name: str, page: Page, other: Page, acts: Sequence[Callable[[Page], float]],
    beside: str = "a slider and a chart",
) -> Row:  # fmt: skip
    """Each change of ours in turn with a slider step of the other app."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number, act in enumerate(acts):
        for found, each, change in zip(taken, (page, other), (act, _step), strict=True):
            milliseconds, _ = timed(each, change)
            if number:  # the first one compiles
                found.append(milliseconds / 1e3)
    return compared(name, beside, taken)


def _step(page: Page) -> float:
    """The slider of a width moves by one; of the first panel, where there are several."""
    slider = page.get_by_role("slider", name="Width").first
    slider.press("ArrowRight")
    return page.evaluate("window.acted")


def _type(character: str, page: Page) -> float:
    """The last character of the formula becomes another one; nothing else is pressed."""
    field = page.get_by_role("textbox", name="Formula of panel a")
    field.press("End")
    field.press("Shift+ArrowLeft")
    field.press(character)
    return page.evaluate("window.acted")


def _enter(sentence: str, page: Page) -> float:
    """The sentence is written, and the clock starts as Enter is pressed."""
    field = page.get_by_role("textbox", name="Source")
    field.fill(sentence)
    field.press("Enter")
    return page.evaluate("window.acted")


def _loaded(browser: Browser, url: str) -> float:
    """Seconds until the page's charts stand still, in a browser that has nothing of it yet."""
    began = time.perf_counter()
    page = opened(browser, url)
    quiet_for = page.evaluate("performance.now() - window.painted.at(-1)") / 1e3
    taken = time.perf_counter() - began - quiet_for
    page.context.close()
    return taken
