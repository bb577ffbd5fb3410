"""The page *Heads*, as painted, with the checkpoints that are shipped."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROW, OFF = 33, 118  # px: height of the table's rows, and where its column of switches is
SEEN = """(element) => {
  const {x, y, width, height} = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(x + width / 4, y + height / 2));
}"""


def said(seen):
    return seen.page.locator(".st-key-heads-after h2").inner_text()


def test_heads_go_off_with_a_click_and_the_translation_changes(window):
    seen = window("heads", height=1400)
    table = seen.page.locator('[data-testid="stDataFrame"]')
    seen.until(table.count, "the switchboard").settle()
    assert "je suis chez moi" in seen.page.inner_text(".st-key-heads-before")
    place = table.bounding_box()
    seen.page.mouse.click(place["x"] + OFF, place["y"] + ROW * 1.5)
    seen.until(lambda: "off=cross." in seen.page.url, "a head in the link").settle()
    assert table.bounding_box() == place  # what was clicked stays where it is
    seen.page.get_by_role("button", name="Switch all listed heads off").click()
    seen.until(lambda: "chez moi" not in said(seen) and len(said(seen)) > 1, "other words")
    changed = said(seen.settle())
    assert "cross.1.all%2Ccross.2.all" in seen.page.url
    assert seen.overflow() <= 0
    seen.screenshot("heads-1280")
    again = window(seen.page.url.removeprefix(f"{seen.url}/"))
    again.until(again.page.locator(".st-key-heads-after h2").count, "the changed words")
    assert said(again) == changed
    seen.page.get_by_role("button", name="Undo all changes").click()
    seen.until(lambda: "off=" not in seen.page.url, "no change").settle()
    assert "Nothing is changed" in seen.page.inner_text(".st-key-heads-after")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_changed_words_stay_in_sight_of_the_last_switch(window, width):
    seen = window("heads", width=width, height=800)
    table = seen.page.locator('[data-testid="stDataFrame"]')
    seen.until(table.count, "the switchboard").settle()
    pin = seen.page.get_by_role("button", name="Pin or patch")
    pin.scroll_into_view_if_needed()
    place = table.bounding_box()
    seen.page.mouse.click(place["x"] + OFF, place["y"] + ROW * 16.5)
    seen.until(lambda: "off=cross." in seen.page.url, "a head in the link").settle()
    assert table.bounding_box() == place
    after = seen.page.locator(".st-key-heads-after")
    assert after.evaluate(SEEN)
    assert after.bounding_box()["y"] < place["y"] + ROW * 16


def test_the_maps_are_ten_keys_away_from_the_sentence(window):
    seen = window("heads")
    seen.until(seen.page.locator('[data-testid="stDataFrame"]').count, "the switchboard").settle()
    seen.page.get_by_role("textbox", name="Source").focus()
    link = seen.page.get_by_role("link", name="To the maps")
    for _ in range(10):
        seen.page.keyboard.press("Tab")
        if link.evaluate("(element) => element === document.activeElement"):
            break
    seen.page.keyboard.press("Enter")
    seen.until(lambda: seen.page.url.endswith("#maps"), "the way to the maps").settle()
    choice = seen.page.get_by_role("combobox", name="Large map of the unchanged translation")
    for _ in range(4):  # what the maps show, and the full screen of the legend and of the map
        seen.page.keyboard.press("Tab")
    assert choice.evaluate("(element) => element === document.activeElement")
    assert choice.bounding_box()["y"] < 900


def test_a_phone_shows_the_heads_before_the_fold(window):
    seen = window("heads", width=390, height=844, touch=True)
    table = seen.page.locator('[data-testid="stDataFrame"]')
    seen.until(table.count, "the switchboard").settle()
    assert table.bounding_box()["y"] < 844
    assert seen.overflow() <= 0


def test_a_norm_above_1_is_read_back_from_the_chart(window):
    seen = window("heads?shows=norms")
    seen.until(seen.page.locator(".st-key-heads-maps-before canvas, .st-key-heads-maps-before svg")
               .count, "the maps").settle()  # fmt: skip
    cells = seen.page.locator('.st-key-heads-maps-before [aria-roledescription="rect mark"], '
                              '.st-key-heads-maps-before path[aria-label*="norm"]')  # fmt: skip
    said = [one.get_attribute("aria-label") for one in cells.all()]
    norms = [float(one.rsplit(" ", 1)[1]) for one in said if one and " norm " in one]
    assert max(norms) > 1
