"""Drags a slider of Streamlit's as a hand does, and counts what the browser tells the server."""

from __future__ import annotations

_COUNT = """() => {
    window.told = 0;
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (what) { window.told++; return send.call(this, what); };
}"""
THUMB = """key => {
    let at = document.querySelector(`.st-key-${key} input[type=range]`);
    while (at.getBoundingClientRect().width < 8) at = at.parentElement;
    const { x, y, width, height } = at.getBoundingClientRect();
    return [x + width / 2, y + height / 2];
}"""


class Drag:
    """A slider whose frames are there, held by the pointer until :meth:`drop`."""

    def __init__(self, seen, key):
        self.seen, self.page, self.key = seen, seen.page, key
        self.input = self.page.locator(f".st-key-{key} input[type=range]").first
        self.input.scroll_into_view_if_needed()
        with self.page.expect_response(lambda answer: "/frames/" in answer.url) as frames:
            self.page.hover(f".st-key-{key}")
        assert frames.value.status == 200
        frames.value.finished()
        self.page.evaluate(_COUNT)
        self.x, self.y = self.page.evaluate(THUMB, key)
        self.page.mouse.move(self.x, self.y)
        self.page.mouse.down()

    def move(self, by):
        """Move by so many px; the value that the slider then shows."""
        before = self.input.input_value()
        self.x += by
        self.page.mouse.move(self.x, self.y, steps=4)
        self.seen.until(lambda: self.input.input_value() != before, "the slider to move")
        self.seen.until(self.moving, "charts that follow")
        self.page.wait_for_timeout(200)
        return float(self.input.input_value())

    def moving(self):
        """Whether charts show frames rather than what the server says."""
        return self.page.evaluate("document.body.hasAttribute('data-live')")

    def told(self):
        """How many messages the browser has sent since the slider was taken."""
        return self.page.evaluate("window.told")

    def drop(self):
        """Let go, and wait for the server's numbers."""
        self.page.mouse.up()
        self.seen.until(lambda: not self.moving(), "the server's numbers").settle()


# What is painted of a chart: the pixels of a canvas, the marks of an SVG.
_INK = """() => [...document.querySelectorAll('[data-testid="stVegaLiteChart"]')].map((chart) => {
  const canvas = chart.querySelector('canvas');
  return canvas ? canvas.toDataURL() : chart.querySelector('svg')?.innerHTML ?? '';
})"""
_WORDS = """() => Object.fromEntries([...document.querySelectorAll('[class*="st-key-live-"]')]
  .map((place) => [[...place.classList].find((name) => name.startsWith('st-key-live-')).slice(12),
                   [...place.querySelectorAll('*')].map((one) => one.shadowRoot)
                     .find(Boolean)?.querySelector('p')?.textContent ?? '']))"""


def ink(seen):
    """What every chart shows, as a text, in the order of the page."""
    return seen.page.evaluate(_INK)


def words(seen):
    """The sentences that follow sliders, by their names."""
    return seen.page.evaluate(_WORDS)
