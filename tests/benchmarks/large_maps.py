"""How fluid many weights are: ``python tests/benchmarks/large_maps.py`` from the project root.

In Chromium, on a real Streamlit server, 6 layers of 8 heads of 60 x 60 weights (172,800 cells):
milliseconds from a click that shows another result to the last painted pixel, for cells drawn one
by one and for the grid of heads, and their ratio; then what a click on a head and a moving
pointer cost, and how many messages they send to the server. A map of 500 x 500 likewise.
"""

from __future__ import annotations

import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REPEATS = 7
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
  for (const name of ['pointermove', 'pointerdown'])
    document.addEventListener(name, () => { window.acted = performance.now(); }, true);
  const inChart = (node) => node.parentElement?.closest('[data-testid=stVegaLiteChart]');
  new MutationObserver((changes) => changes.some((one) => inChart(one.target)) && change())
    .observe(document, {subtree: true, childList: true, attributes: true});
})();
"""


@contextmanager
def server():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", str(HERE / "large_maps_app.py"),
        "--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true",
    ]  # fmt: skip
    running = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        running.terminate()
        running.wait()


def quiet(page):
    """Wait until nothing was painted for a while; when the last painting was."""
    page.wait_for_function(
        f"window.painted.length && performance.now() - window.painted.at(-1) > {QUIET}",
        timeout=PATIENCE,
    )
    return page.evaluate("window.painted.at(-1)")


def timed(page, act):
    """Milliseconds from the action to the last painting that follows it, and messages sent.

    Raises:
        playwright.sync_api.TimeoutError: nothing was painted, so the action met nothing.
    """
    quiet(page)
    sent, count = page.evaluate("[window.sent, window.painted.length]")
    began = act(page)
    page.wait_for_function(f"window.painted.length > {count}", timeout=PATIENCE)
    return quiet(page) - began, page.evaluate("window.sent") - sent


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


def main() -> None:
    with server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )

        def open_page(variant):
            page = browser.new_page(viewport={"width": 1400, "height": 1300})
            page.add_init_script(WATCH)
            page.goto(f"{url}/?variant={variant}")
            page.wait_for_selector(
                "[data-testid=stVegaLiteChart] :is(canvas, svg)", timeout=PATIENCE
            )
            quiet(page)
            timed(page, press_next)  # the first one compiles
            return page

        def report(name, found):
            times, messages = zip(*found, strict=True)
            middle = statistics.median(times)
            print(f"{name:<46} {middle:7.0f} ms   {min(times):5.0f} to {max(times):5.0f}   "
                  f"messages to the server: {max(messages)}")  # fmt: skip
            return middle

        page = open_page("rects")
        slow = report("172,800 cells one by one, another result",
                      [timed(page, press_next) for _ in range(3)])  # fmt: skip
        page.close()
        page = open_page("grid")
        fast = report("grid of 48 heads, another result",
                      [timed(page, press_next) for _ in range(REPEATS)])  # fmt: skip
        print(f"{'ratio':<46} {slow / fast:7.1f}")
        bottom = page.locator(CHART).bounding_box()["height"] - 25
        heads = [(16 + 58 * n + 25, bottom) for n in range(REPEATS)]
        report("a click on a head", [timed(page, click(x, y)(page)) for x, y in heads])
        cells = [(60 + 37 * n, 90 + 41 * n) for n in range(REPEATS)]
        report("the pointer moves in the large map",
               [timed(page, move(x, y)) for x, y in cells])  # fmt: skip
        page.close()
        page = open_page("large")
        report("one map of 500 x 500, another result",
               [timed(page, press_next) for _ in range(REPEATS)])  # fmt: skip
        report("the pointer moves over it",
               [timed(page, move(x, y)) for x, y in cells])  # fmt: skip
        browser.close()


if __name__ == "__main__":
    main()
