"""The page *Differences* in a browser: a row that is pointed at is shown in every panel."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PAGE = "differences?a=bahdanau.additive&b=transformer.scaled_dot&text=i lost .&target=j'ai perdu ."
QUERIES = ["j'", "ai", "perdu", ".", "<eos>"]
COUNT = """() => {
  window.sent = 0;
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...given) {
    window.sent += 1;
    return send.apply(this, given);
  };
}"""


def words(seen):
    """By map, the weights of the words under it, as the chart's own view holds them."""
    found = seen.rows("tile", "q", "k", "value", "over")
    return {(row["tile"], row["k"]): (row["q"], row["value"]) for rows in found for row in rows}


def weights(seen):
    (cells,) = seen.rows("tile", "q", "k", "value", "near")
    grid = np.full([1 + max(cell[name] for cell in cells) for name in ("tile", "q", "k")], np.nan)
    for cell in cells:
        grid[cell["tile"], cell["q"], cell["k"]] = cell["value"]
    return grid


def shown(seen):
    """The rows that the words of all maps belong to."""
    return {q for q, _ in words(seen).values()}


def corner(seen, letter):
    """Left and top of a map's first cell, in px."""
    box = seen.page.locator(f"[aria-label^='{letter}, query']").first.bounding_box()
    return round(box["x"]), round(box["y"])


def open_page(window, **settings):
    seen = window(PAGE, **settings)
    return seen.until(lambda: words(seen), "the linked maps").settle()


def test_pointing_at_a_word_moves_every_panel_and_tells_the_server_nothing(window):
    seen = open_page(window)
    maps = weights(seen)
    assert maps.shape[:2] == (3, len(QUERIES))
    np.testing.assert_allclose(maps[:2].sum(axis=2), 1.0, atol=5e-4)
    np.testing.assert_allclose(maps[2], maps[0] - maps[1], atol=5e-5)
    (first,) = shown(seen)
    seen.page.evaluate(COUNT)
    for row, query in enumerate(QUERIES):
        if row == first:
            continue
        seen.page.locator(f'[aria-label^="a, query {query}, key"]').first.hover()
        seen.until(lambda row=row: shown(seen) == {row}, f"the row of {query}")
        for (tile, key), (_, value) in words(seen).items():
            assert value == maps[tile, row, key]
    seen.charts().locator(".handles_marks path").nth(first).hover()
    seen.until(lambda: shown(seen) == {first}, "the row of the word itself")
    assert seen.page.evaluate("window.sent") == 0
    tops = {corner(seen, letter)[1] for letter in ("a", "b", "a − b")}
    assert len(tops) == 1, "not side by side"
    seen.page.get_by_text("Encoder", exact=True).click()
    seen.until(lambda: "kind=encoder" in seen.page.url, "the link")
    assert seen.page.evaluate("window.sent") > 0, "the counter of messages does not count"


def test_a_row_of_the_table_puts_its_two_heads_into_the_panels(window):
    seen = open_page(window)
    table = seen.page.locator('[data-testid="stDataFrame"]').first
    table.scroll_into_view_if_needed()
    table.click(position={"x": 18, "y": 55})  # the box of the first row
    seen.until(lambda: "b.map=" in seen.page.url, "the matched head in the link").settle()
    layer, head = seen.page.url.split("b.map=")[1].split("&")[0].split(".")
    assert f"layer {layer} · head {head}" in seen.text()


def test_a_phone_stacks_the_maps_and_answers_a_tap(window):
    seen = open_page(window, width=390, scheme="dark")
    assert seen.overflow() <= 0
    corners = [corner(seen, letter) for letter in ("a", "b", "a − b")]
    assert len({left for left, _ in corners}) == 1
    tops = [top for _, top in corners]
    assert tops[0] < tops[1] < tops[2]
    (first,) = shown(seen)
    other = (first + 1) % len(QUERIES)
    cell = seen.page.locator(f'[aria-label^="b, query {QUERIES[other]}, key"]').first
    cell.scroll_into_view_if_needed()
    cell.dispatch_event("pointerover", {"pointerType": "touch", "bubbles": True})
    seen.until(lambda: shown(seen) == {other}, "the tapped row")
    seen.screenshot("differences-390-dark")


def test_the_first_map_of_a_phone_begins_above_the_fold(window):
    seen = window("differences", width=390, height=844, touch=True)
    seen.until(lambda: words(seen), "the linked maps").settle()
    assert corner(seen, "a")[1] < 844
    assert seen.overflow() <= 0
    choices = seen.page.locator('[aria-label*="Map of panel"]')
    assert choices.count() == 1, "a model with one head has no other map to choose"
