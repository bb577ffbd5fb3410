"""The page *Translation*, as painted, with the checkpoints that are shipped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
CARDS = [json.loads(path.read_text("utf-8")) for path in ROOT.glob("trained/*/card.json")]


def maps(seen, panel):
    """The maps of a panel as painted, each ``(queries, keys)``."""
    found = []
    for rows in seen.rows("q", "k", "value", key=f"panel-{panel}"):
        grid = np.full((max(r["q"] for r in rows) + 1, max(r["k"] for r in rows) + 1), np.nan)
        for row in rows:
            grid[row["q"], row["k"]] = row["value"]
        found.append(grid)
    return found


def all_drawn(seen, panels):
    return seen.until(
        lambda: all(maps(seen, panel) for panel in panels), f"maps {panels}"
    ).settle()


def test_three_scorings_are_shipped():
    scorings = {card["scoring"] for card in CARDS if card["model"] == "bahdanau"}
    assert scorings >= {"additive", "scaled_dot", "bilinear"}


def test_a_sentence_is_translated_at_once(window):
    seen = all_drawn(window("translation"), "abc")
    assert "je suis chez moi" in seen.text()
    drawn = [maps(seen, panel)[0] for panel in "abc"]
    for grid in drawn:
        np.testing.assert_allclose(grid.sum(axis=1), 1.0, atol=5e-3)
        assert grid.shape[0] >= 2
        assert grid.shape[1] >= 3
    assert len({grid.tobytes() for grid in drawn}) == 3
    seen.screenshot("translation-1280-light")


CUT = "(found) => found.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"


def test_models_have_their_whole_names_in_a_panel_and_in_its_list(window):
    wide = all_drawn(window("translation"), "abc")
    boxes = wide.page.locator("[class*=st-key-panel-] [data-testid=stSelectbox] input")
    assert boxes.count() >= 3
    assert boxes.evaluate_all(CUT.replace("textContent", "value")) == []
    phone = all_drawn(window("translation", width=390, height=844, touch=True), "abc")
    phone.page.locator(".st-key-translation-a input").tap()
    rows = phone.page.locator("[role=option] > div")
    rows.first.wait_for()
    assert rows.count() > len({card["scoring"] for card in CARDS})
    assert rows.evaluate_all(CUT) == []
    lines = rows.evaluate_all("(found) => found.map((e) => e.scrollHeight > e.clientHeight)")
    assert not any(lines)


def test_another_sentence_gives_other_maps_and_a_link_that_restores_them(window):
    seen = all_drawn(window("translation?a=bahdanau.additive"), "a")
    before = maps(seen, "a")[0]
    field = seen.page.get_by_role("textbox", name="Source")
    field.fill("i lost .")
    field.press("Enter")
    seen.until(
        lambda: maps(seen, "a") and not np.array_equal(maps(seen, "a")[0], before), "other maps"
    )
    seen.until(lambda: "lost" in seen.page.url, "the link").settle()
    after = maps(seen, "a")[0]
    again = all_drawn(window(seen.page.url.removeprefix(f"{seen.url}/")), "a")
    np.testing.assert_array_equal(maps(again, "a")[0], after)
    assert again.page.get_by_role("textbox", name="Source").input_value() == "i lost ."


def test_markup_in_a_sentence_stays_text(window):
    text = "<img src=x onerror=alert(1)> ![a](https://example.com/a.png)"
    seen = all_drawn(window(f"translation?a=bahdanau.additive&text={text}"), "a")
    assert seen.page.locator("img[src=x], img[src*=example]").count() == 0


def test_an_empty_sentence_gets_a_sentence(window):
    seen = window("translation?a=bahdanau.additive&text=")
    seen.until(lambda: "empty" in seen.text().lower(), "a word on the empty sentence")
    assert "Traceback" not in seen.text()
    seen.screenshot("translation-empty-sentence")


def test_a_link_to_a_missing_checkpoint_says_which_and_draws_the_rest(window):
    seen = all_drawn(window("translation?a=bahdanau.from_a_friend&b=bahdanau.additive"), "b")
    assert "from_a_friend" in seen.page.inner_text(".st-key-panel-a")


@pytest.mark.parametrize("width", [1280, 390])
def test_four_panels_fit_the_window(window, width):
    scorings = ("additive", "scaled_dot", "bilinear", "additive")
    four = "&".join(f"{p}=bahdanau.{name}" for p, name in zip("abcd", scorings, strict=True))
    seen = all_drawn(window(f"translation?{four}", width=width), "abcd")
    assert seen.overflow() <= 0
    seen.screenshot(f"translation-{width}")


def test_a_dark_page(window):
    seen = all_drawn(window("translation", scheme="dark"), "abc")
    seen.screenshot("translation-1280-dark")


def test_a_tap_on_a_phone_reads_a_weight(window):
    seen = all_drawn(
        window("translation?a=bahdanau.additive", width=390, height=844, touch=True), "a"
    )
    chart = seen.charts("panel-a").first
    chart.scroll_into_view_if_needed()
    place = chart.bounding_box()
    x, y = (place[side] + place[size] / 2 for side, size in (("x", "width"), ("y", "height")))
    seen.page.touchscreen.tap(x, y)
    tooltip = seen.page.locator("#vg-tooltip-element.visible")
    seen.until(tooltip.count, "the weight of the tapped cell")
    told = tooltip.inner_text()
    weight = float(told.split("weight")[1].split()[0])
    assert "query" in told
    assert np.isclose(maps(seen, "a")[0], weight, atol=5e-4).any()
