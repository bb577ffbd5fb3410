"""A chart that gets another map shows the one before, until the new one is drawn."""

from __future__ import annotations

import pytest

from tests.browser.conftest import UNTOLD

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

# Notes in every frame, of charts within the window, how much ink the emptiest canvas has, which
# share of an SVG's images is there at least, and whether any shows the picture of before. Where
# nothing at all is drawn there is none of both.
RECORD = """() => {
  const small = document.createElement("canvas"), pen = small.getContext("2d");
  small.width = small.height = 48;
  const ink = (canvas) => {
    pen.drawImage(canvas, 0, 0, 48, 48);
    const { data } = pen.getImageData(0, 0, 48, 48);
    let found = 0;
    for (let at = 0; at < data.length; at += 4)
      if ([0, 1, 2].some((part) => Math.abs(data[at + part] - data[part]) > 12)) found++;
    return found / 48 ** 2;
  };
  const share = (svg) => {
    const images = [...svg.querySelectorAll("image")];
    return images.length ? images.filter((each) => each.href.baseVal).length / images.length : 1;
  };
  const isSeen = (chart) => {
    const { top, bottom } = chart.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  window.recorded = [];
  const look = () => {
    const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")].filter(isSeen);
    const held = charts.map((each) => each.parentElement.querySelector(".held-picture > *"))
      .map((each) => each?.parentElement.clientHeight &&
        getComputedStyle(each).visibility === "visible" ? each : null);
    const seen = charts.map((each, at) => held[at] ?? each.querySelector("canvas, svg.marks"));
    const least = (tag, amount) => Math.min(1, ...seen.map(
      (each) => each ? (each.tagName.toLowerCase() === tag ? amount(each) : 1) : 0));
    window.recorded.push([least("canvas", ink), least("svg", share), held.some(Boolean)]);
    requestAnimationFrame(look);
  };
  look();
}"""
SHOWN = "document.querySelectorAll('.held-picture[data-shown]').length"
# How far they lie from what they stand over, in px.
OFF = """() => [...document.querySelectorAll(".held-picture[data-shown]")].map((held) => {
  const drawn = held.parentElement.querySelector("[data-testid=stVegaLiteChart] svg.marks");
  const [here, there] = [held.firstChild, drawn].map((each) => each.getBoundingClientRect());
  return Math.hypot(here.x - there.x, here.y - there.y);
})"""
LEFT = "document.querySelectorAll('.held-picture').length"


def watch(seen):
    """Record; what the first frame has."""
    seen.page.evaluate(RECORD)
    seen.until(lambda: seen.page.evaluate("window.recorded.length") > 3, "frames")
    return seen.page.evaluate("window.recorded[0]")


def least(seen, *, kept=(True, False)):
    """The least ink and share of images of all frames; whether some are of before is ``kept``."""
    seen.until(lambda: not seen.page.evaluate(LEFT), "the pictures of before to go").settle()
    inks, shares, held = zip(*seen.page.evaluate("window.recorded"), strict=True)
    assert any(held) in kept, "what was kept of before"
    return min(inks), min(shares)


def grid(seen):
    """The chart with the maps of all heads."""
    charts = seen.charts()

    def many():
        maps = [charts.nth(one).locator("image").count() for one in range(charts.count())]
        return [one for one, count in enumerate(maps) if count > 10]

    seen.until(many, "the maps of all heads").settle()
    return charts.nth(many()[0])


# A browser that takes so many ms more to load a picture.
SLOWER = """(ms) => {
  const { set, get } = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
  const slowly = function (value) { setTimeout(() => set.call(this, value), ms); };
  Object.defineProperty(HTMLImageElement.prototype, "src", { set: slowly, get });
}"""


def test_another_head_comes_without_a_blank_frame(window):
    """Its map is in the chart already, which stays, whatever it is said to show."""
    seen = window("translation", height=1500)
    chart = grid(seen)
    label = chart.get_attribute("aria-label")
    watch(seen)
    chart.locator("[aria-label='layer 1 · head 2']").click()
    seen.until(lambda: chart.get_attribute("aria-label") != label, "another head in words")
    assert least(seen, kept=(False,))[1] == 1


def choose(seen, layer, head):
    """Choose the large map of panel a."""
    seen.page.get_by_role("combobox", name="Large map of panel a").click()
    seen.page.get_by_role("option", name=f"layer {layer} · head {head}").click()
    seen.until(lambda: f"{layer}.{head}" in seen.page.url, "the head in the link")


@pytest.mark.parametrize("slower", [1, 4])
def test_a_head_that_is_chosen_comes_without_a_blank_frame(window, slower):
    """Its chart is made anew; a slow browser may not tell that the page has begun to run."""
    seen = window("translation?a=transformer.scaled_dot", height=1500)
    grid(seen)
    tools = seen.page.context.new_cdp_session(seen.page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    watch(seen)
    for layer, head in (("1", "2"), ("2", "1"), ("2", "3")):
        choose(seen, layer, head)
        seen.settle(1.0)
    assert least(seen, kept=(True,))[1] == 1


@pytest.mark.parametrize("kind", [SLOWER, UNTOLD], ids=["slow", "untold"])
def test_another_sentence_comes_without_a_blank_frame(window, kind):
    """Its results are there: where a worker still makes them, grey boxes stand meanwhile."""
    seen = window("translation", height=1500)
    grid(seen)
    field, other = seen.page.get_by_role("textbox", name="Source"), "where is the station ?"

    def enter(sentence):
        field.fill(sentence)
        field.press("Enter")
        named = sentence == other
        seen.until(lambda: ("station" in seen.page.url) == named, "another sentence").settle(1.0)

    first = field.input_value()
    enter(other)
    enter(first)
    seen.page.evaluate(kind, 400)
    watch(seen)
    enter(other)
    assert least(seen)[1] == 1


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("slower", [0, 400])
def test_a_map_on_a_canvas_comes_without_a_blank_frame(window, slower, told):
    """The slider's frames come at the key press, and must not be shown before they are loaded."""
    seen = window("regression?a=gaussian", height=1500)
    seen.until(lambda: seen.charts().locator("canvas").count(), "the map").settle()
    seen.page.evaluate(SLOWER, slower)
    if not told:
        seen.page.evaluate(UNTOLD)
    start, _, _ = watch(seen)
    assert 0.1 < start < 1
    seen.page.get_by_role("slider", name="Width").press("ArrowRight")
    seen.until(lambda: "a.width" in seen.page.url, "another width").settle()
    assert least(seen)[0] > 0.7 * start


def test_a_picture_of_before_is_no_part_of_the_page_and_goes_where_nothing_comes(window):
    seen = window("translation?a=transformer.scaled_dot", height=1500)
    grid(seen)
    height = "document.querySelector('[data-testid=stMain]').scrollHeight"
    before = seen.page.evaluate(height)
    seen.page.evaluate("""() => {
      Object.defineProperty(HTMLImageElement.prototype, "src", { set() {}, get: () => "" });
    }""")
    choose(seen, "1", "2")
    seen.until(lambda: seen.page.evaluate(SHOWN), "the picture of before")
    off = seen.page.evaluate(OFF)
    assert off
    assert max(off) < 1
    assert seen.page.locator(".held-picture:not([aria-hidden=true])").count() == 0
    assert seen.page.evaluate(height) == before
    seen.until(lambda: not seen.page.evaluate(LEFT), "it to go")
