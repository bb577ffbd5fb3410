"""Positional encoding, complexity, normalisation: as painted, one cheap look at each."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def drawn(seen, *columns, count):
    seen.until(lambda: len(seen.rows(*columns)) >= count, f"{count} charts with {columns}")
    return seen.settle().rows(*columns)


def test_positions_follow_their_controls_and_their_link(window):
    seen = window("positions?size=8&positions=11&columns=1,4&pair=2")
    curves = drawn(seen, "series", "x", "y", count=2)[0]
    fourth = [row["y"] for row in curves if row["series"] == "column 4"]
    np.testing.assert_allclose(fourth, np.sin(np.arange(11) / 100.0), atol=1e-4)
    assert "for 8,844 points" in seen.text()
    slider = seen.page.get_by_role("slider", name="Offset δ")
    slider.focus()
    slider.press("ArrowRight")
    seen.until(lambda: "offset=11" in seen.page.url, "the link").settle()
    assert "From 4 it leads to 15" in seen.text()
    seen.screenshot("positions-1280-light")


def test_complexity_is_measured_while_one_looks(window):
    seen = window("complexity?longest=256&widest=64&repeats=1", scheme="dark")
    seen.until(lambda: "Fitted exponents" in seen.text(), "the results").settle()
    charts = drawn(seen, "series", "x", "y", count=2)
    assert {row["x"] for row in charts[0]} == {16, 32, 64, 128, 256}
    assert all(row["y"] > 0 for chart in charts for row in chart)
    seen.screenshot("complexity-1280-dark")


def test_an_edited_matrix_is_normalised_anew(window):
    seen = window("normalisation")
    before = drawn(seen, "r", "c", "value", count=10)[1]
    columns = seen.page.get_by_role("spinbutton", name="Columns")
    columns.fill("3")
    columns.press("Enter")
    seen.until(lambda: "x=1" in seen.page.url, "the link").settle()
    after = drawn(seen, "r", "c", "value", count=10)[1]
    assert len(after) == len(before) + 2
    again = window(seen.page.url.removeprefix(f"{seen.url}/"))
    assert drawn(again, "r", "c", "value", count=10)[1] == after
    seen.screenshot("normalisation-1280-light")


@pytest.mark.parametrize("page", ["positions", "normalisation"])
def test_a_narrow_window_holds_them(window, page):
    seen = window(page, width=390)
    seen.until(lambda: len(seen.views()) >= 10, "the charts").settle()
    assert seen.overflow() <= 0
    seen.screenshot(f"{page}-390-light")


def test_the_table_of_scorings_is_not_cut(window):
    seen = window("plugins")
    heading = seen.page.get_by_text("Scorings · ").first
    seen.until(heading.count, "the scorings").settle()
    count = int(heading.inner_text().partition("· ")[2])
    assert seen.page.get_by_test_id("stDataFrame").first.bounding_box()["height"] > 35 * count
