"""The page *Race*: a row and a cell open their contestant, and maps stand side by side."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from support.races import laid_down

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def raced(server, tmp_path_factory):
    """The address of an app with a race in its data folder."""
    folder: Path = tmp_path_factory.mktemp("race")
    laid_down(folder / "home" / "races" / "mine")
    with server(folder) as url:
        yield url


@pytest.fixture
def app(raced):
    return raced


def rows_of(seen, key, *columns):
    found = seen.rows(*columns, key=key)
    return found[0] if found else []


BEYOND = """() => {  // px by which the table is wider than its place
  const e = document.querySelector('.st-key-race-wide .dvn-scroller');
  return e.scrollWidth - e.clientWidth;
}"""


def opened(seen, tab):
    seen.page.get_by_role("tab", name=tab).click()
    return seen.settle()


def test_a_row_and_a_cell_are_opened(window):
    seen = window("race?race=mine", width=1366, height=1400)
    seen.until(lambda: rows_of(seen, "race-differences", "difference", "low"), "lanes").settle()
    drawn = rows_of(seen, "race-differences", "difference", "low")
    names = [row["name"] for row in drawn]
    assert names == ["Additive", "Scaled dot product + Sparsemax", "Average pooling"]

    # The box before the third row, painted on the table's canvas.
    table = seen.page.locator('[data-testid="stDataFrame"]').first
    table.click(position={"x": 17, "y": 3 * 35 + 52})
    seen.until(lambda: "Average pooling on Reverse" in seen.text(), "the row's").settle()
    assert "a=transformer.uniform" in seen.page.url
    assert len(seen.views("race-map-a")) == len(seen.views("race-map-b")) == 1

    opened(seen, "Every task")
    seen.until(lambda: rows_of(seen, "race-matrix-place", "verdict", "key"), "the matrix").settle()
    # A cell of another task, in the last column.
    chart = seen.charts("race-matrix-place").locator("canvas").first
    size = chart.bounding_box()
    cells = rows_of(seen, "race-matrix-place", "verdict", "key")
    assert {cell["column"] for cell in cells} == {"Reverse", "Sine and power"}
    chart.click(position={"x": size["width"] - 60, "y": size["height"] - 90})
    seen.until(lambda: "on Sine and power" in seen.text(), "the cell's contestant").settle()
    assert "task=sine" in seen.page.url
    assert "a=nadaraya_watson." in seen.page.url


@pytest.mark.parametrize("width", [1280, 390])
def test_a_formula_is_raced_from_the_first_screen_within_three_minutes(window, width):
    began, seen = time.monotonic(), window("race?race=mine&task=sine", width=width)
    form = seen.page.get_by_text("Run a race of your own")
    form.wait_for()
    box = form.bounding_box()
    assert box["y"] + box["height"] < seen.page.viewport_size["height"]  # nobody scrolls to it
    form.click()
    seen.page.locator(".st-key-race-formula input").fill(f"-sum((q - k)^2) / {width}")
    seen.page.keyboard.press("Enter")
    for key in ("race-estimate", "race-start"):
        button = seen.page.locator(f".st-key-{key} button:enabled")
        seen.until(button.count, f"the button {key}").settle()
        button.click()
    seen.until(lambda: f"/ {width}: rank " in seen.text(), "the formula's place")
    assert time.monotonic() - began < 180
    field = seen.page.locator(".st-key-race-formula input")
    seen.until(lambda: not field.is_visible(), "the folded form").settle()  # it folds slowly
    assert seen.overflow() <= 0
    seen.screenshot(f"race-formula-{width}")


def test_a_phone_shows_task_model_and_reference_without_a_swipe(window):
    seen = window("race?race=mine&task=sine", width=390)
    seen.until(seen.views, "charts").settle()
    boxes = seen.page.locator(".st-key-race-controls [data-testid=stSelectbox]").all()
    places = [box.bounding_box() for box in boxes]
    assert len(places) == 4
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in places)
    cut = "(found) => found.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.value)"
    assert seen.page.locator(".st-key-race-controls input").evaluate_all(cut) == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_it_fits_every_window(window, width, scheme):
    seen = window("race?race=mine&a=transformer.additive", width=width, scheme=scheme)
    for tab in ("Standings", "Two contestants", "Every task"):
        opened(seen, tab).until(seen.views, "charts").settle()
        assert seen.overflow() <= 0
        seen.screenshot(f"race-{tab[:5].lower()}-{width}-{scheme}")
    fits = window("race?race=mine&task=sine", width=width, scheme=scheme)
    opened(fits, "Two contestants").until(lambda: fits.views("race-fits"), "the curves").settle()
    assert fits.overflow() <= 0
    fits.screenshot(f"race-fits-{width}-{scheme}")


def test_the_whole_table_of_the_shipped_race_fits_a_window_of_1366_px(window):
    seen = window("race?race=shipped", width=1366)
    seen.until(lambda: rows_of(seen, "race-differences", "difference", "low"), "lanes").settle()
    assert seen.page.evaluate(BEYOND) == 0


def test_on_a_phone_each_part_of_the_shipped_race_takes_five_screens_at_most(window):
    seen = window("race?race=shipped", width=390)
    for tab in ("Standings", "Two contestants", "Every task"):
        seen.until(lambda tab=tab: seen.page.get_by_role("tab", name=tab).count(), tab)
        opened(seen, tab).until(seen.views, "charts").settle()
        high = seen.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        assert 844 < high <= 5 * 844, (tab, high)
