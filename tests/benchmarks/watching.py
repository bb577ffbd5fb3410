"""A page in a real Chromium on a real server: when what was changed is on the screen."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

QUIET = 700  # ms without a painting, after which a change counts as painted
PATIENCE = 60_000  # ms
CHART = "[data-testid=stVegaLiteChart] :is(canvas, svg.marks)"

# Notes when a chart's change is on the screen, and counts what goes to the server. A chart is
# drawn on a canvas or, where it is smaller, as elements of the page.
WATCH = """
window.painted = []; window.sent = 0;
(() => {
  let dirty = false;
  const change = () => {
    if (dirty) return;
    dirty = true;
    requestAnimationFrame(() => {
      // A message arrives after the frame that is now made was painted.
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        dirty = false;
        window.painted.push(performance.now());
      };
      channel.port2.postMessage(null);
    });
  };
  const draw = CanvasRenderingContext2D.prototype;
  for (const name of ['fillRect', 'drawImage', 'fill', 'stroke', 'fillText', 'clearRect']) {
    const original = draw[name];
    draw[name] = function (...given) { change(); return original.apply(this, given); };
  }
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...given) {
    window.sent += 1; return send.apply(this, given);
  };
  for (const name of ['pointermove', 'pointerdown', 'keydown'])
    document.addEventListener(name, () => { window.acted = performance.now(); }, true);
  const inChart = (node) => node.parentElement?.closest('[data-testid=stVegaLiteChart]');
  new MutationObserver((changes) => changes.some((one) => inChart(one.target)) && change())
    .observe(document, {subtree: true, childList: true, attributes: true});
})();
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def opened(browser: Browser, url: str) -> Page:
    """A page that is watched, once its charts stand still; its browser knew nothing of it."""
    # What is waited for here is evaluated in the page, whose policy would refuse it.
    context = browser.new_context(viewport={"width": 1400, "height": 1300}, bypass_csp=True)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(url)
    page.wait_for_selector("[data-testid=stVegaLiteChart] :is(canvas, svg)", timeout=PATIENCE)
    quiet(page)
    return page


def quiet(page: Page) -> float:
    """Wait until nothing was painted for a while; when the last painting was, in ms."""
    page.wait_for_function(
        f"window.painted.length && performance.now() - window.painted.at(-1) > {QUIET}",
        timeout=PATIENCE,
    )
    return page.evaluate("window.painted.at(-1)")


def timed(page: Page, act: Callable[[Page], float]) -> tuple[float, int]:
    """Milliseconds from the action to the last painting that follows it, and messages sent.

    Raises:
        playwright.sync_api.TimeoutError: nothing was painted, so the action met nothing.
    """
    quiet(page)
    sent, count = page.evaluate("[window.sent, window.painted.length]")
    began = act(page)
    page.wait_for_function(f"window.painted.length > {count}", timeout=PATIENCE)
    return quiet(page) - began, page.evaluate("window.sent") - sent
