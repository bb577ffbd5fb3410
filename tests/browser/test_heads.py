"""The page *Heads*, as painted, with the checkpoints that are shipped."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROW, ON = 35, 125  # px: height of the table's rows, and where its column of switches is


def said(seen):
    return seen.page.locator(".st-key-heads-after h2").inner_text()


def test_heads_go_off_with_a_click_and_the_translation_changes(window):
    seen = window("heads", height=1400)
    table = seen.page.locator('[data-testid="stDataFrame"]')
    seen.until(table.count, "the switchboard").settle()
    assert "je suis chez moi" in seen.page.inner_text(".st-key-heads-before")
    place = table.bounding_box()
    seen.page.mouse.click(place["x"] + ON, place["y"] + ROW * 1.5)
    seen.until(lambda: "off=cross." in seen.page.url, "a head in the link").settle()
    assert table.bounding_box() == place  # what was clicked stays where it is
    seen.page.get_by_role("button", name="All cross heads off").click()
    seen.until(lambda: "chez moi" not in said(seen) and len(said(seen)) > 1, "other words")
    changed = said(seen.settle())
    assert "cross.1.all%2Ccross.2.all" in seen.page.url
    assert seen.overflow() <= 0
    seen.screenshot("heads-1280")
    again = window(seen.page.url.removeprefix(f"{seen.url}/"))
    again.until(again.page.locator(".st-key-heads-after h2").count, "the changed words")
    assert said(again) == changed
    seen.page.get_by_role("button", name="Everything on").click()
    seen.until(lambda: "off=" not in seen.page.url, "everything on").settle()
    assert "Nothing is changed" in seen.page.inner_text(".st-key-heads-after")
