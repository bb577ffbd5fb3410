"""Every page says in words what it waits for, from the first frame that is painted of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.browser.conftest import ROOT, UNTOLD, Window
from tests.browser.dragging import THUMB

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

WAITS = (ROOT / "tests/support/waits.js").read_text("utf-8")
OPENING = {
    "en-GB": {"": "Loading Start …", "regression": "Loading Kernel regression …",
              "translation": "Loading Translation …", "train": "Loading Train …"},
    "zh-CN": {"regression": "正在加载“核回归”……", "positions": "正在加载“位置编码”……"},
}  # fmt: skip
AFTER = """() => {
  const { content, visibility } = getComputedStyle(document.querySelector('.stApp'), '::after');
  return [content, visibility];
}"""
STATE = "state => { document.querySelector('.stApp').dataset.testScriptState = state; }"


@pytest.fixture
def opened(app, browser):
    """Opens pages that note what they say in every frame."""
    contexts = []

    def opened(path, language="en-GB", **more):
        contexts.append(browser.new_context(locale=language, **more))
        seen = Window(contexts[-1].new_page(), app)
        seen.page.add_init_script(WAITS)
        seen.open(path)
        # A page stands still too while it is connected and its first run has not begun.
        titled = "!['', 'words'].includes(window.waits.at(-1)?.[1] ?? '')"
        seen.until(lambda: seen.page.evaluate(titled), "the page's title")
        return seen.settle()

    yield opened
    for each in contexts:
        each.close()


def wordless(seen):
    """Frames in which nothing is said, or a grey box says nothing."""
    waits = seen.page.evaluate("window.waits")
    assert waits, "no frame was noted"
    return [one for one in waits if not one[1] or one[2]]


@pytest.mark.parametrize(
    ("language", "path"), [(spoken, path) for spoken, pages in OPENING.items() for path in pages]
)
def test_a_first_load_is_never_without_words(opened, language, path):
    seen = opened(path, language)
    first, *later = (said for _, said, *_ in seen.page.evaluate("window.waits"))
    assert first == "words"
    assert later
    assert seen.page.evaluate("window.opening") == f'"{OPENING[language][path]}"'
    assert wordless(seen) == []


def test_a_dark_phone_is_never_without_words(opened):
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    seen = opened("heads", **phone)
    assert wordless(seen) == []
    assert seen.overflow() <= 0


def test_a_page_that_the_menu_leads_to_is_never_without_words(opened):
    seen = opened("", viewport={"width": 1400, "height": 900})
    for section, title in (("Compare", "Kernel regression"), ("Understand", "Lessons")):
        seen.page.get_by_test_id("stTopNavSection").filter(has_text=section).click()
        seen.page.locator("[data-testid^=stTopNav]").get_by_text(title, exact=True).last.click()
        seen.until(lambda title=title: seen.page.url.endswith(title.split()[-1].lower()), title)
        seen.settle()
    titles = [said for (_, said, *_), _ in pairwise(seen.page.evaluate("window.waits"))]
    assert "Kernel regression" in titles
    assert wordless(seen) == []


def test_a_run_that_takes_longer_says_so(opened):
    seen = opened("lessons")
    assert seen.page.evaluate(AFTER)[0] == "none"
    seen.page.evaluate(STATE, "running")
    assert seen.page.evaluate(AFTER) == ['"Loading …"', "hidden"]
    seen.until(lambda: seen.page.evaluate(AFTER)[1] == "visible", "the words")
    seen.page.evaluate(STATE, "notRunning")
    assert seen.page.evaluate(AFTER)[0] == "none"


PLACE = """(first) => {
  document.querySelector('.stApp').dataset.testScriptState = "running";
  if (first) {
    document.documentElement.style.removeProperty("--opening");
    delete document.body.dataset.drawn;
  }
  const { content, fontSize } = getComputedStyle(
    document.querySelector('.stMainBlockContainer'), '::after');
  return first ? [content, fontSize] : content;
}"""


def test_below_what_is_there_of_a_page_stands_that_more_is_loaded(opened):
    seen = opened("positions")
    # On a busy machine a page's script comes after the page.
    seen.until(seen.page.locator("body[data-drawn]").count, "the page's script")
    assert seen.page.evaluate(PLACE, False) == "none"
    assert seen.page.evaluate(PLACE, True) == ['"Loading Positional encoding …"', "18px"]
    seen.page.evaluate(STATE, "notRunning")
    assert seen.page.evaluate(PLACE, False) == "none"


FADED = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
  .map((chart) => Number(getComputedStyle(chart.parentElement).opacity))"""


@pytest.mark.parametrize(
    ("key", "name", "fades"),
    [("regression-sine-noise", "Noise (sd)", {0.35}),
     ("panel-b-gaussian-width", "Width σ", {0.35, 1.0})],
)  # fmt: skip
def test_what_waits_for_a_slider_that_is_not_followed_fades_and_says_so(opened, key, name, fades):
    seen = opened("regression?a=gaussian&b=gaussian&b.learn=1")
    seen.until(lambda: seen.charts("side-by-side").count(), "all curves").settle(1.0)
    assert {*seen.page.evaluate(FADED)} == {1.0}
    seen.page.locator(f".st-key-{key}").scroll_into_view_if_needed()
    x, y = seen.page.evaluate(THUMB, key)
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(x - 25, y)
    seen.page.wait_for_timeout(300)
    at = seen.page.locator(f".st-key-{key} input[type=range]").get_attribute("aria-valuetext")
    said = f'"{name} {at}: computed when you let go"'
    assert seen.page.evaluate(AFTER) == [said, "visible"]
    assert {*seen.page.evaluate(FADED)} == fades
    seen.page.mouse.up()
    seen.until(lambda: "noise=" in seen.page.url or "b.width=" in seen.page.url, "the link")
    seen.until(lambda: seen.page.evaluate(AFTER)[0] == "none", "the server's charts").settle()
    assert {*seen.page.evaluate(FADED)} == {1.0}


def test_nothing_stays_faded_where_a_browser_does_not_tell_that_a_run_has_been(opened):
    seen = opened("regression?a=gaussian")
    seen.until(lambda: seen.charts("side-by-side").count(), "all curves").settle(1.0)
    seen.page.evaluate(UNTOLD)
    noise = seen.page.locator(".st-key-regression-sine-noise input[type=range]")
    noise.scroll_into_view_if_needed()
    noise.focus()
    seen.page.keyboard.press("ArrowRight")
    seen.until(lambda: seen.page.evaluate(AFTER)[0] != "none", "what is waited for")
    seen.until(lambda: "noise=" in seen.page.url, "the link")
    seen.page.wait_for_timeout(4000)
    assert seen.page.evaluate(AFTER)[0] == "none"
    assert {*seen.page.evaluate(FADED)} == {1.0}


def test_a_place_of_what_is_computed_says_so_and_stands_still(opened):
    """A grey box of the page's own, below no words of a worker; Streamlit's pulse without end."""
    seen = opened("regression?a=gaussian")
    seen.until(lambda: seen.charts().locator("canvas").count(), "the map").settle()
    said = """([above, name]) => {
      const place = document.createElement("div");
      place.innerHTML = `<div data-testid="stElementContainer">${above}</div>
        <div><div data-testid="${name}" style="animation: pulse 1s infinite"></div></div>`;
      document.querySelector(".stApp").append(place);
      const box = place.lastElementChild.firstElementChild;
      const { content } = getComputedStyle(box, "::after");
      const { animationName } = getComputedStyle(box);
      place.remove();
      return [content, animationName];
    }"""
    for name in ("stSkeleton", "stSkeletonElement"):
        assert seen.page.evaluate(said, ["", name]) == ['"Loading …"', "none"]
        above = "<p class='stProgress'></p>"
        assert seen.page.evaluate(said, [above, name]) == ["none", "none"]
