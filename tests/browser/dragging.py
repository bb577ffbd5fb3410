"""A finger on a slider: what a page shows while it moves, and what is sent meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

SENT = """() => {
  if (window.sent === undefined) {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (given) {
      window.sent += 1;
      return send.call(this, given);
    };
  }
  window.sent = 0;
}"""
TRACK = """(key) => {
  let at = document.querySelector(`.st-key-${key} input[type=range]`);
  while (at.getBoundingClientRect().width < 5) at = at.parentElement;
  const thumb = at.getBoundingClientRect();
  const all = document.querySelector(`.st-key-${key} [data-testid="stSlider"]`)
    .getBoundingClientRect();
  return {x: thumb.x + thumb.width / 2, y: thumb.y + thumb.height / 2, left: all.x,
          right: all.x + all.width};
}"""
# What is painted of a chart: the pixels of a canvas, the marks of an SVG.
INK = """(key) => [...document.querySelectorAll(
    `${key ? `.st-key-${key} ` : ''}[data-testid="stVegaLiteChart"]`)]
  .map((chart) => {
    const canvas = chart.querySelector('canvas');
    return canvas ? canvas.toDataURL() : chart.querySelector('svg')?.innerHTML ?? '';
  })"""
WORDS = """() => Object.fromEntries([...document.querySelectorAll('[class*="st-key-live-"]')]
  .map((place) => [[...place.classList].find((name) => name.startsWith('st-key-live-')).slice(12),
                   [...place.querySelectorAll('*')].map((one) => one.shadowRoot?.textContent)
                     .find(Boolean) ?? place.textContent]))"""


def ink(seen, key=""):
    """What every chart shows, as a text, in the order of the page."""
    return seen.page.evaluate(INK, key)


def words(seen):
    """The sentences that follow sliders, by their names."""
    return seen.page.evaluate(WORDS)


def value(seen, key):
    return float(seen.page.locator(f".st-key-{key} input[type=range]").input_value())


@contextmanager
def dragged(seen, key, by=60.0) -> Iterator[list[float]]:
    """Hold a slider, moved by so many pixels in six steps, until the block ends: its positions.

    Nothing may be sent meanwhile. Its frames are there before it moves.
    """
    page = seen.page
    page.locator(f".st-key-{key}").scroll_into_view_if_needed()
    with page.expect_response(lambda answer: "/frames/" in answer.url, timeout=60_000) as frames:
        page.locator(f".st-key-{key} input[type=range]").focus()
    assert frames.value.ok, frames.value.status
    frames.value.finished()
    page.wait_for_timeout(300)
    at = page.evaluate(TRACK, key)
    page.mouse.move(at["x"], at["y"])
    page.mouse.down()
    page.evaluate(SENT)
    positions = []
    for step in range(1, 7):
        page.mouse.move(at["x"] + by * step / 6, at["y"])
        page.wait_for_timeout(40)
        positions.append(value(seen, key))
    page.wait_for_timeout(200)
    assert len(set(positions)) > 2, positions
    try:
        yield positions
        assert page.evaluate("window.sent") == 0, "the server heard of the drag"
    finally:
        page.mouse.up()
