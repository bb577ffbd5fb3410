"""When each page says what it waits for: at a first load, and reached from another page.

Milliseconds from the first paint, or from the click in the menu, to words in the page's main part;
then to its title, to its first chart, and to the last change, when it is finished. ``dumb`` is how
long grey boxes stood without a word, ``messages`` how many the server sent, and what is said first
stands at the end. Two rows below list the pages that had words later than 300 ms, and those that
were not finished within 3 s.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from dashboard.pages import Entry
from dashboard.ui.navigation import installed, location
from tests.benchmarks.rows import Row
from tests.benchmarks.watching import WATCH, chromium
from tests.support.serving import ROOT, served

WAITS = (ROOT / "tests/support/waits.js").read_text("utf-8")
_QUIET = 1.5  # seconds in which nothing changes, after which a page is there
_LONGEST = 60.0
_SOON, _LATE = 300, 3_000  # ms: when words must be there, and what is listed as a wait
_PAINTED = "performance.getEntriesByName('first-paint')[0]?.startTime ?? null"
_BUSY = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  return !app || app.dataset.testScriptState !== 'notRunning'
    || Boolean(document.querySelector(
      '[data-testid^=stSkeleton], [data-stale=true], .stProgress, .st-key-starting'));
}"""
_CHANGES = """
window.changed = 0; window.charted = null; window.former = new Set(); window.heard = 0;
window.WebSocket = new Proxy(WebSocket, { construct(made, given) {
  const opened = new made(...given);
  opened.addEventListener('message', () => { window.heard += 1; });
  return opened;
} });
window.charts = () =>
  [...document.querySelectorAll('[data-testid=stVegaLiteChart] :is(canvas, svg.marks)')];
requestAnimationFrame(function look(now) {
  if (window.charted === null && window.charts().some((each) => !window.former.has(each)))
    window.charted = now;
  requestAnimationFrame(look);
});
new MutationObserver(() => { window.changed = performance.now(); })
  .observe(document, { subtree: true, childList: true, characterData: true });
"""
# What was said before the menu is used; from here on charts are those of the next page.
_LEAVE = """() => {
  window.waits = [window.waits.at(-1)];
  window.charted = null; window.heard = 0;
  window.former = new Set(window.charts());
  return window.waits[0][1];
}"""
_MENU = "[data-testid=stTopNavSection]"


class Load(NamedTuple):
    """A page's way onto the screen, in ms from its begin; None of what did not come.

    ``begin`` is the first paint, in ms from the navigation, or 0 for a click.
    """

    begin: float
    words: float | None
    title: float | None
    chart: float | None
    last: float
    dumb: float
    messages: int
    said: str


def rows(quick: bool) -> Iterator[Row]:
    """Every page at a first load and by the menu, two if ``quick``; then those that wait."""
    found = {}
    for work, load in _loads(quick):
        found[work] = load
        yield _row(work, load)
    silent = [work for work, load in found.items() if load.words is None or load.words > _SOON]
    late = {work: load.last for work, load in found.items() if load.last > _LATE}
    told = [
        f"{work} {ms / 1e3:.1f} s" for work, ms in sorted(late.items(), key=lambda one: -one[1])
    ]
    for words, listed in (
        (f"words later than {_SOON} ms", silent),
        (f"finished later than {_LATE} ms", told),
    ):
        note = "; ".join(listed) or "none"
        yield Row(work=f"{words}, of {len(found)}", ours=len(listed), unit="pages", note=note)


def _loads(quick: bool) -> Iterator[tuple[str, Load]]:
    with served(ROOT / "streamlit_app.py") as ours, chromium() as browser:
        entries = [entry for entry in installed() if entry.path or entry.name == "start"]
        for number, entry in enumerate(entries[: 2 if quick else None]):
            server = "a fresh server" if number == 0 else "a first visit"
            yield f"{entry.name}, {server}", _first(browser, ours.url, entry)
            yield f"{entry.name}, once more", _first(browser, ours.url, entry)
        page = _open(browser, ours.url + location(entries[-1]))
        for entry in entries[: 2 if quick else None]:
            yield f"{entry.name}, by the menu", _reached(page, entry)


def _row(work: str, load: Load) -> Row:
    def told(name: str, value: float | None) -> str:
        return f"{name} {value:.0f} ms" if value is not None else f"{name} never"

    times = ("begin", "title", "chart", "last", "dumb")[not load.begin :]
    note = ", ".join(told(name, getattr(load, name)) for name in times)
    note += f", {load.messages} messages, {load.said}"
    return Row(work=f"{work}: words", ours=load.words or 0.0, unit="ms", note=note)


def _open(browser: Browser, url: str) -> Page:
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    for script in (WATCH, WAITS, _CHANGES):
        page.add_init_script(script)
    page.goto(url)
    _settle(page)
    return page


def _settle(page: Page) -> None:
    end, since = time.monotonic() + _LONGEST, time.monotonic()
    while time.monotonic() - since < _QUIET and time.monotonic() < end:
        page.wait_for_timeout(100)
        if page.evaluate(_BUSY):
            since = time.monotonic()


def _first(browser: Browser, url: str, entry: Entry) -> Load:
    page = _open(browser, url + location(entry))
    load = _seen(page, page.evaluate(_PAINTED))
    page.context.close()
    return load


def _reached(page: Page, entry: Entry) -> Load:
    link = page.locator(f'[data-testid^=stTopNav][href="{page.evaluate("location.origin")}'
                        f'{location(entry)}"]')  # fmt: skip
    sections = page.locator(_MENU)
    for number in range(sections.count()):
        if link.count():
            break
        sections.nth(number).click()
        page.wait_for_timeout(400)
        if not link.count():
            page.keyboard.press("Escape")
            page.wait_for_timeout(400)
    before = page.evaluate(_LEAVE)
    link.click()
    began = page.evaluate("window.acted")
    _settle(page)
    return _seen(page, began, before)


def _seen(page: Page, began: float, before: str = "") -> Load:
    waits, charted, changed, painted, messages, said = page.evaluate(
        "[window.waits, window.charted, window.changed, window.painted.at(-1) ?? 0,"
        " window.heard, window.opening]"
    )
    now = page.evaluate("performance.now()")
    spans = [(max(one[0], began), two[0], *one[1:]) for one, two in pairwise([*waits, [now]])]
    spans = [one for one in spans if one[1] > one[0]]
    new = [one for one in spans if one[2] not in ("", before) or one[4]]
    titled = [one for one in spans if one[2] not in ("", "words", before)]
    dumb = sum(end - start for start, end, said, grey, _ in spans if grey or not said)
    return Load(
        begin=0.0 if before else began,
        words=new[0][0] - began if new else None,
        title=titled[0][0] - began if titled else None,
        chart=charted - began if charted is not None else None,
        last=max(changed, painted) - began, dumb=dumb, messages=messages,
        said=f"“{new[0][2]}”" if before and new else said,
    )  # fmt: skip
