"""A lesson and one step of the anatomy follow the finger, and then say what the server says."""

from __future__ import annotations

import pytest

from tests.browser.dragging import Drag, ink

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
_WORDS = """() => [...document.querySelectorAll('[class*="st-key-live-"] *')]
  .map((one) => one.shadowRoot?.querySelector('p')?.textContent).filter(Boolean).join('\\n')"""
PLACES = {
    "lessons?lesson=7&guess=b": ("lessons-positions-at", ("x", "y", "series"), 60),
    "anatomy?scoring=gaussian": ("anatomy-gaussian-width", ("r", "c", "value"), -30),
    "anatomy?part=root": ("anatomy-count", ("x", "y", "series"), 30),
    "anatomy?part=landscape&scoring=gaussian&x=-2": ("anatomy-x", ("exact_left",), -30),
}


@pytest.mark.parametrize("path", PLACES)
def test_a_page_follows_its_slider_and_then_equals_its_link(path, window):
    key, columns, by = PLACES[path]
    view = window(path).settle()
    first, said = ink(view), view.page.evaluate(_WORDS)
    held = Drag(view, key)
    held.move(by)
    assert held.told() == 0
    words = view.page.evaluate(_WORDS)
    assert ink(view) != first
    assert words != said or "anatomy" in path  # its words say the same of every width
    held.drop()
    assert held.told() >= 1
    view.until(lambda: "=" in view.page.url.partition("?")[2], "its link")
    after = view.rows(*columns)
    view.page.wait_for_timeout(1000)
    address = view.page.url[len(view.url) :].lstrip("/")
    fresh = window(address).settle()
    assert fresh.rows(*columns) == after
    assert fresh.page.evaluate(_WORDS) == view.page.evaluate(_WORDS)
