"""The start page: a finished comparison on the first screen, a slider that moves it, the doors."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

DIGITS = 2e-4  # charts carry five significant digits
SIZES = {"1280": (1280, 800), "390": (390, 844)}


def curves(seen):
    """By scoring, the predictions as painted; empty while there is no chart."""
    found = seen.rows("scoring", "x", "prediction")
    rows = found[0] if found else []
    names = dict.fromkeys(row["scoring"] for row in rows)
    return {
        name: np.array([row["prediction"] for row in rows if row["scoring"] == name])
        for name in names
    }


def drawn(seen):
    seen.until(lambda: len(curves(seen)) == 3, "three curves")
    return seen.until(lambda: words(seen), "the sentences").settle()


def words(seen):
    return "\n".join(seen.page.locator(".st-key-start-words p").all_inner_texts())


def bottom(seen, selector):
    box = seen.page.locator(selector).bounding_box()
    return box["y"] + box["height"]


@pytest.mark.parametrize(("size", "scheme"), [("1280", "light"), ("390", "dark")])
def test_a_finished_comparison_stands_above_the_fold(window, size, scheme):
    """Without a click, without the internet (see the fixture), and without any message."""
    width, height = SIZES[size]
    seen = window("translation", width=width, height=height, scheme=scheme)
    messages = []
    seen.page.on("console", lambda message: messages.append(message.text))
    drawn(seen.open())
    assert messages == []
    assert bottom(seen, '[data-testid="stVegaLiteChart"]') <= height
    assert bottom(seen, ".st-key-start-words") <= height
    assert seen.page.get_by_role("slider", name="Width").bounding_box()["y"] < height
    assert "points carry 90% of the Gaussian kernel's weight" in words(seen)
    assert seen.overflow() <= 0
    seen.screenshot(f"start-{size}-{scheme}")


def test_what_is_below_the_chart_keeps_its_place_while_the_page_loads(window):
    """The doors are drawn before the first result is there, and jumped by 232 px."""
    seen = window()
    seen.page.add_init_script("""window.tops = []; setInterval(() => {
      const doors = document.querySelector(".st-key-doors");
      if (doors) window.tops.push(doors.getBoundingClientRect().top);
    }, 20)""")
    drawn(seen.open())
    tops = seen.page.evaluate("window.tops")
    assert max(abs(top - tops[-1]) for top in tops) < 80  # lines of the heading


@pytest.mark.parametrize(("width", "embedded"), [(1024, ""), (960, "true"), (1920, "true")])
def test_sentences_are_whole_and_as_high_as_their_place(window, width, embedded):
    seen = drawn(window(f"?width=0.2&embed={embedded}", width=width))
    last = seen.page.locator(".st-key-start-words p").last.bounding_box()
    assert last["y"] + last["height"] <= bottom(seen, ".st-key-start-words")
    assert seen.page.locator(".st-key-start-words").evaluate(
        "place => place.offsetHeight == Math.round(parseFloat(getComputedStyle(place).minHeight))"
    )


def test_the_slider_moves_the_kernels_and_the_sentence_says_what_it_did(window):
    seen = drawn(window(width=390, height=844))
    before, said = curves(seen), words(seen)
    chart = seen.page.locator('[data-testid="stVegaLiteChart"]')
    place = chart.bounding_box()["y"]
    slider = seen.page.get_by_role("slider", name="Width")
    for _ in range(6):
        slider.press("ArrowLeft")
    seen.until(lambda: "Narrower" in words(seen), "the sentence to follow the slider")
    drawn(seen.until(lambda: "width=0.2" in seen.page.url, "the link to follow the slider"))
    after = curves(seen)
    for kernel in ("Gaussian kernel", "Laplacian kernel"):
        assert np.abs(after[kernel] - before[kernel]).max() > 0.1
    np.testing.assert_array_equal(after["Average pooling"], before["Average pooling"])
    assert words(seen) != said
    assert chart.bounding_box()["y"] == place  # nothing jumps while it is dragged

    again = drawn(window("?width=0.2"))
    np.testing.assert_array_equal(curves(again)["Gaussian kernel"], after["Gaussian kernel"])
    assert words(again) == words(seen)


def marked(seen):
    """Of every mark on the line that follows the pointer, its x."""
    return {row["x"] for rows in seen.rows("x", "said", "weight") for row in rows}


def test_a_tap_moves_the_line_and_scrolling_hides_what_it_said(window):
    seen = drawn(window(width=390, height=844, touch=True))
    before = marked(seen)
    assert len(before) == 1
    box = seen.page.locator('[data-testid="stVegaLiteChart"]').bounding_box()
    seen.page.touchscreen.tap(box["x"] + 0.8 * box["width"], box["y"] + 100)
    seen.until(lambda: marked(seen) != before, "the line to move")
    assert len(marked(seen)) == 1
    tooltip = seen.page.locator("#vg-tooltip-element")
    seen.until(tooltip.is_visible, "the values at the line")
    moved = marked(seen)
    seen.page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 200)")
    seen.until(tooltip.is_hidden, "the tooltip to go")
    assert marked(seen) == moved


@pytest.mark.parametrize("size", SIZES)
def test_type_a_formula_leads_to_the_field(window, size):
    width, height = SIZES[size]
    seen = drawn(window(width=width, height=height))
    seen.page.get_by_text("Type a formula", exact=True).click()
    field = seen.page.get_by_role("textbox", name="Formula of panel a")
    seen.until(lambda: len(seen.views()) >= 3, "the curves").settle()
    assert field.evaluate("field => field === document.activeElement")
    box = field.bounding_box()
    assert box["y"] > 0
    assert box["y"] + box["height"] < height
    seen.page.go_back()
    drawn(seen)


def test_all_doors_open_by_the_keyboard(window):
    seen = drawn(window())
    doors = seen.page.locator(".st-key-doors a")
    assert doors.count() == 4
    seen.page.get_by_role("slider", name="Width").focus()
    reached = set()
    for _ in range(20):
        seen.page.keyboard.press("Tab")
        reached.add(seen.page.evaluate("document.activeElement.getAttribute('href')"))
    assert {doors.nth(number).get_attribute("href") for number in range(4)} <= reached
    doors.nth(1).focus()
    seen.page.keyboard.press("Enter")
    seen.until(lambda: "/regression?a=gaussian&a.width=0.5" in seen.page.url, "the second door")
    names = ("x", "prediction", "q")
    seen.until(lambda: len(seen.rows(*names)) >= 3, "the same curves").settle()
    seen.page.go_back()
    drawn(seen)


def test_a_link_of_former_times_opens_kernel_regression(window):
    seen = window("?a=gaussian&a.width=0.5&data=step")
    seen.until(lambda: seen.rows("q", "prediction", key="panel-a"), "its panel").settle()
    assert seen.page.url == f"{seen.url}/regression?a=gaussian&a.width=0.5&data=step"


def test_the_doors_are_equally_high(window):
    seen = drawn(window())
    doors = seen.page.locator(".st-key-doors [class*=st-key-door-]")
    heights = doors.evaluate_all("list => list.map(e => Math.round(e.offsetHeight))")
    assert len(heights) == 3
    assert len({*heights}) == 1
