"""A slider dragged by a pointer, 60 moves a second: what is painted, and what the server hears.

Ours, four panels of *Kernel regression* with all that they have, in turn with a bare app of four
charts that follow one slider too (``following_app.py``), and with our page when its frames are
refused, as pages were before. Milliseconds from a move of the pointer until the frame is painted
in which charts show the position that it means, or a later one; from the release to the last
painting; from a key to the first painting after it. The pointer goes half the slider's length, so
that where a slider has as many positions, every move is to another one.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from playwright.sync_api import Browser, CDPSession, Page, Request

from tests.benchmarks.painting import FOUR
from tests.benchmarks.rows import Row
from tests.benchmarks.watching import CHART, PATIENCE, chromium
from tests.support.serving import ROOT, served

_SECONDS, _RATE = 2.5, 60  # of a drag; moves a second
_KEYS = 4  # presses after each drag
_REST = 1500  # ms until everything is painted
_OURS, _BARE = ".st-key-panel-a-gaussian-width", ".st-key-width"
_MORE = {
    "Start": ("/", ".st-key-start-width"),
    "Why √d": ("/anatomy?part=root", ".st-key-anatomy-count"),
    "Landscape": ("/anatomy?part=landscape&scoring=gaussian&x=-2", ".st-key-anatomy-x"),
}
_RECORD = """
window.acts = []; window.drawn = []; window.heard = 0; window.said = 0;
(() => {
  let asked = false, drew = 0, shown = null;
  const draw = () => {
    drew = performance.now();
    shown = document.body.value?.at ?? null;  // what both apps tell their charts
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      const until = drew, at = shown, channel = new MessageChannel();
      asked = false;  // what is drawn from now on is of the next frame
      channel.port1.onmessage = () => window.drawn.push([until, performance.now(), at]);
      channel.port2.postMessage(null);
    });
  };
  const pen = CanvasRenderingContext2D.prototype;
  for (const name of ['stroke', 'fill', 'drawImage', 'fillText']) {
    const original = pen[name];
    pen[name] = function (...given) {
      if (this.canvas.isConnected) draw();  // else nobody sees it
      return original.apply(this, given);
    };
  }
  const inChart = (one) => one.target.closest?.('svg.marks');
  new MutationObserver((changes) => changes.some(inChart) && draw())
    .observe(document, { subtree: true, childList: true, attributes: true });
  for (const kind of ['pointermove', 'pointerup', 'keydown'])
    addEventListener(kind, (event) =>
      window.acts.push([kind, event.timeStamp, event.clientX]), true);
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...given) {
    window.said += 1; return send.apply(this, given);
  };
  window.WebSocket = new Proxy(WebSocket, { construct(made, given) {
    const opened = new made(...given);
    opened.addEventListener('message', () => { window.heard += 1; });
    return opened;
  } });
})();
"""
_FORGET = "() => { window.acts = []; window.drawn = []; window.heard = 0; window.said = 0; }"
_THUMB = """(place) => {
  const input = document.querySelector(`${place} input[type=range]`);
  let at = input.parentElement;  // itself it is unseen, and wider than the thumb
  while (at.getBoundingClientRect().width < 8) at = at.parentElement;
  const { x, y, width, height } = at.getBoundingClientRect(), [value, low, high] =
    [input.value, input.min, input.max].map(Number);
  const whole = input.closest('.stSlider').getBoundingClientRect().width;
  return [x + width / 2, y + height / 2, value > (low + high) / 2, whole / 2];
}"""
_STANDS = """(place) => {
  const input = document.querySelector(`${place} input[type=range]`);
  const { width } = input.closest('[data-orientation]').getBoundingClientRect();
  const [value, low, high, step] = [input.value, input.min, input.max, input.step].map(Number);
  return [(value - low) / step, (high - low) / step / width, low, step];
}"""


@dataclass
class _Found:
    """What was measured of a page, a number for each drag, move or key."""

    moved: list[float] = field(default_factory=list)
    painted: list[float] = field(default_factory=list)  # a second
    during: list[int] = field(default_factory=list)  # messages to the server
    said: list[int] = field(default_factory=list)  # to it, on release
    heard: list[int] = field(default_factory=list)  # from it, on release
    released: list[float] = field(default_factory=list)
    pressed: list[float] = field(default_factory=list)


@dataclass
class _Dragged:
    """A page, its slider, and what was measured of it."""

    page: Page
    place: str
    found: _Found = field(default_factory=_Found)

    def drag(self, tools: CDPSession) -> None:
        """Drag the slider towards its farther end, let go, and press some keys."""
        page, found = self.page, self.found
        page.bring_to_front()
        x, y, back, length = page.evaluate(_THUMB, self.place)
        page.mouse.move(x, y)
        page.wait_for_timeout(2 * _REST)
        page.mouse.down()
        page.wait_for_timeout(300)
        stands = page.evaluate(_STANDS, self.place)
        page.evaluate(_FORGET)
        began, moves = time.perf_counter(), int(_SECONDS * _RATE)
        for number in range(1, moves + 1):
            at = {"x": x + (-1 if back else 1) * length * number / moves, "y": y}
            tools.send("Input.dispatchMouseEvent",
                       {"type": "mouseMoved", "button": "left", "buttons": 1, **at})  # fmt: skip
            time.sleep(max(0.0, began + number / _RATE - time.perf_counter()))
        taken = time.perf_counter() - began
        page.wait_for_timeout(200)
        acts, drawn, said = page.evaluate("[window.acts, window.drawn, window.said]")
        found.moved += _followed(acts, drawn, x, *stands)
        found.painted.append(len(drawn) / taken)
        found.during.append(said)
        page.evaluate(_FORGET)
        page.mouse.up()
        page.wait_for_timeout(_REST)
        acts, drawn, said, heard = page.evaluate(
            "[window.acts, window.drawn, window.said, window.heard]"
        )
        up = next(when for kind, when, _ in acts if kind == "pointerup")
        found.released += [max(end for _, end, _ in drawn) - up] if drawn else []
        found.said.append(said)
        found.heard.append(heard)
        page.locator(f"{self.place} input[type=range]").focus()
        for _ in range(_KEYS):
            page.evaluate(_FORGET)
            page.keyboard.press("ArrowRight" if back else "ArrowLeft")  # where there is room
            page.wait_for_timeout(_REST)
            acts, drawn = page.evaluate("[window.acts, window.drawn]")
            found.pressed += _waits(acts, drawn, "keydown")


def _followed(
    acts: Sequence[tuple], drawn: Sequence[tuple], x: float,
    start: float, dense: float, low: float, step: float,
) -> list[float]:  # fmt: skip
    """From each move of the pointer to another position to the frame that shows it, in ms.

    The pointer began at ``x`` and the slider at its position ``start``; ``dense``: positions
    a px.
    """
    moves = [(when, round(start + (to - x) * dense)) for kind, when, to in acts
             if kind == "pointermove"]  # fmt: skip
    forth = moves[-1][1] > start
    shown = [(drew, end, round((at - low) / step)) for drew, end, at in drawn if at is not None]
    waits: list[float] = []
    for (_, before), (when, means) in itertools.pairwise([(0.0, round(start)), *moves]):
        ends = [end for drew, end, at in shown
                if drew >= when and (at >= means if forth else at <= means)]  # fmt: skip
        waits += [min(ends) - when] if ends and means != before else []
    return waits


def _waits(acts: Sequence[tuple], drawn: Sequence[tuple], kind: str) -> list[float]:
    """From each act to the end of the first frame that was drawn after it, in ms."""
    begun = [when for one, when, _ in acts if one == kind]
    ends = [[end for drew, end, _ in drawn if drew >= when] for when in begun]
    return [end[0] - when for when, end in zip(begun, ends, strict=True) if end]


def rows(quick: bool) -> Iterator[Row]:
    """Some drags of each page in turn."""
    bare = ROOT / "tests/benchmarks/following_app.py"
    with served(ROOT / "streamlit_app.py") as ours, served(bare) as other, chromium() as browser:
        pages = [
            _opened(browser, ours.url + FOUR, _OURS),
            _opened(browser, other.url, _BARE, framed=False),
            _opened(browser, ours.url + FOUR, _OURS, framed=False),
        ]  # fmt: skip
        for _ in range(2 if quick else 5):
            for each in pages:
                each.drag(each.page.context.new_cdp_session(each.page))
        more = {name: _opened(browser, ours.url + to, at) for name, (to, at) in _MORE.items()}
        for name, each in more.items():
            for _ in range(2 if quick else 5):
                each.drag(each.page.context.new_cdp_session(each.page))
            yield _beside(name, each.found)
        yield from _compared(*(each.found for each in pages))


def _opened(browser: Browser, url: str, place: str, *, framed: bool = True) -> _Dragged:
    page = browser.new_context(viewport={"width": 1400, "height": 1800}).new_page()
    page.add_init_script(_RECORD)
    if not framed:
        page.route("**/frames/**", lambda route: route.abort())
    page.goto(url)
    page.locator(CHART).first.wait_for(timeout=PATIENCE)
    page.wait_for_timeout(5 * _REST)
    if framed:  # they are asked for once the pointer is near
        with page.expect_request_finished(_of_frames, timeout=PATIENCE):
            page.locator(place).hover()
    return _Dragged(page, place)


def _of_frames(request: Request) -> bool:
    return "/frames/" in request.url


def _compared(ours: _Found, bare: _Found, before: _Found) -> Iterator[Row]:
    against = "four bare charts"
    waits = (
        ("the pointer moves to painted, median", lambda each: _share(each.moved, 0.5)),
        ("the same, 95 of 100 within", lambda each: _share(each.moved, 0.95)),
        ("a key to painted, median", lambda each: _share(each.pressed, 0.5)),
        ("the release to the last painting, median", lambda each: _share(each.released, 0.5)),
    )
    for work, of in waits:
        yield Row(work=work, ours=of(ours) or 0.0, unit="ms", against=against, theirs=of(bare),
                  note=f"without frames {_told(of(before))}")  # fmt: skip
    counts = (
        ("painted a second while dragging", "painted"),
        ("messages to the server while dragging", "during"),
        ("messages to it on release", "said"), ("messages from it on release", "heard"),
    )  # fmt: skip
    for work, name in counts:
        own, theirs, former = (
            statistics.median(getattr(one, name)) for one in (ours, bare, before)
        )
        note = f"{against} {theirs:.3g}, without frames {former:.3g}"
        yield Row(work=work, ours=own, unit="", note=note)


def _beside(name: str, found: _Found) -> Row:
    counts = (found.during, found.said, found.heard)
    during, said, heard = (f"{statistics.median(one):g}" for one in counts)
    late, key = _told(_share(found.moved, 0.95)), _told(_share(found.pressed, 0.5))
    note = (
        f"95 of 100 within {late}, {statistics.median(found.painted):.3g} a second, a key {key}, "
        f"release {_told(_share(found.released, 0.5))}; messages: {during} while dragging, "
        f"{said} on release, {heard} from the server"
    )
    work = f"{name}: the pointer moves to painted, median"
    return Row(work=work, ours=_share(found.moved, 0.5) or 0.0, unit="ms", note=note)


def _share(values: Sequence[float], share: float) -> float | None:
    found = sorted(values)
    return found[min(len(found) - 1, int(len(found) * share))] if found else None


def _told(value: float | None) -> str:
    return "never" if value is None else f"{value:.0f} ms"
