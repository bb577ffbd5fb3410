"""What leaves the app: pages that work without it, and runs that come in again."""

from __future__ import annotations

import csv
import io
import zipfile

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

LINK = "regression?a=gaussian&a.width=0.5&points=29&queries=31"
DIGITS = 2e-4  # charts carry five significant digits
PATIENCE = 240_000  # ms, a picture takes seconds on a small machine

# Every data set of a page's chart by name, as the browser tests read them in the app.
DATA = """() => {
  const plain = (row) => Object.fromEntries(Object.entries(row)
    .filter(([name, value]) => value === null || typeof value !== 'object'));
  const { chart } = window.views;
  const names = Object.keys(chart.getState({data: () => true, signals: () => false}).data);
  return names.map((name) => (chart.data(name) || []).map(plain));
}"""


def drawn(seen, key="panel-a"):
    return seen.until(lambda: seen.rows("q", "x", "prediction", key=key), "a curve").settle()


def menu(seen):
    seen.page.locator(".st-key-panel-a-export button").first.click()
    seen.page.get_by_role("button", name="Bundle", exact=True).wait_for(timeout=PATIENCE)
    return seen.settle()


def keep(seen):
    """Keep the page; returns the link to the run."""
    seen.page.locator(".st-key-page-keep button").first.click()
    seen.page.get_by_role("button", name="Keep this page").wait_for(timeout=PATIENCE)
    seen.page.get_by_label("Name").fill("Wide against narrow")
    seen.page.get_by_label("Note").fill("two lines\nof a note")
    seen.page.get_by_label("Note").blur()
    seen.settle()
    seen.page.get_by_role("button", name="Keep this page").click()
    opens = seen.page.get_by_role("link", name="Kept: open it")
    opens.wait_for(timeout=PATIENCE)
    return opens.get_attribute("href").lstrip("/")


def download(seen, name):
    with seen.page.expect_download(timeout=PATIENCE) as coming:
        seen.page.get_by_role("button", name=name, exact=True).click()
    return coming.value.path()


def rows(sets, *columns):
    """The largest of these data sets that has the columns, by query and key."""
    names = {c: (c, f"exact_{c}") for c in columns}  # the second where the chart follows a slider
    held = ([{c: row.get(name, row.get(exact)) for c, (name, exact) in names.items()} for row in r]
            for r in sets if r)  # fmt: skip
    found = max((r for r in held if None not in r[0].values()), key=len)
    return sorted(found, key=lambda row: [*row.values()])


def test_an_exported_page_draws_the_same_data_without_a_network(window, browser, tmp_path):
    seen = menu(drawn(window(LINK)))
    page = tmp_path / "chart.html"
    page.write_bytes(download(seen, "HTML").read_bytes())
    weights = list(csv.DictReader(io.StringIO(download(seen, "weights").read_text("utf-8"))))
    in_app = [rows for view in seen.views("panel-a") for rows in view.values()]
    context = browser.new_context(offline=True)
    offline, asked, errors = context.new_page(), [], []
    offline.on("request", lambda request: asked.append(request.url))
    offline.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    offline.on("pageerror", lambda error: errors.append(str(error)))
    offline.goto(page.as_uri())
    offline.locator("html[data-drawn]").wait_for(timeout=PATIENCE)
    outside = offline.evaluate(DATA)
    marks = offline.locator(".chart svg path, .chart canvas").count()
    offline.screenshot(path=tmp_path / "chart.png")
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert errors == []
    assert marks > 0
    for columns in (("q", "x", "prediction"), ("k", "x", "y"), ("q", "weights")):
        assert rows(outside, *columns) == rows(in_app, *columns)
    queries = sorted(rows(outside, "q", "weights"), key=lambda row: row["q"])
    cells = [float(weight) for row in queries for weight in row["weights"].split(" ")]
    assert len(cells) == len(weights) == 29 * 31
    np.testing.assert_allclose(
        cells,
        [float(row["weight"]) for row in weights],
        rtol=DIGITS, atol=1e-30,
    )  # fmt: skip


def take_in(seen, data):
    seen.page.get_by_role("button", name="Import a run").click()
    seen.page.locator("input[type=file]").set_input_files(
        {"name": "from a friend.zip", "mimeType": "application/zip", "buffer": data}
    )


def test_a_bundle_goes_out_and_comes_in_again(window):
    seen = menu(drawn(window(LINK)))
    before = rows([r for v in seen.views("panel-a") for r in v.values()], "q", "x", "prediction")
    bundle = download(seen, "Bundle").read_bytes()
    with zipfile.ZipFile(io.BytesIO(bundle)) as opened:
        assert opened.read("pictures/curve-and-weights.png").startswith(b"\x89PNG")
        assert b"<svg" in opened.read("pictures/curve-and-weights.svg")
    other = window("runs")
    take_in(other, bundle)
    other.until(lambda: "id=" in other.page.url, "the run's address")
    drawn(other, "run-chart-1-curve-and-weights")
    sets = [r for v in other.views("run-chart-1-curve-and-weights") for r in v.values()]
    assert rows(sets, "q", "x", "prediction") == before
    assert "imported from from a friend.zip" in other.text()
    other.screenshot("runs-imported")


def test_a_tampered_bundle_is_refused_on_the_page(window):
    seen = menu(drawn(window(LINK)))
    data = bytearray(download(seen, "Bundle").read_bytes())
    data[len(data) // 2] ^= 1
    other = window("runs")
    take_in(other, bytes(data))
    other.until(lambda: "Refused:" in other.text(), "the reason")
    other.screenshot("runs-refused")
    assert "id=" not in other.page.url


def test_a_page_that_is_kept_is_seen_again_with_all_its_panels(window):
    seen = window(f"{LINK}&b=uniform")
    drawn(seen)
    drawn(seen, "panel-b")
    link = keep(seen)
    seen.screenshot("keep-1280")
    again = window(link)
    for letter in "ab":
        drawn(again, f"run-panel-{letter}")
        sets = [r for v in again.views(f"run-panel-{letter}") for r in v.values()]
        first = [r for v in seen.views(f"panel-{letter}") for r in v.values()]
        for columns in (("q", "x", "prediction"), ("q", "weights")):
            assert rows(sets, *columns) == rows(first, *columns)
    assert "/regression?a=gaussian&a.width=0.5&b=uniform&points=29&queries=31" in again.text()
    assert "two lines\nof a note" in again.text()
    assert again.overflow() <= 0
    again.screenshot("runs-1280")
    narrow = window(link, width=390, scheme="dark")
    drawn(narrow, "run-panel-a")
    assert narrow.overflow() <= 0
    narrow.screenshot("runs-390-dark")
    listed = window("runs")
    listed.until(lambda: "Wide against narrow" in listed.text(), "the list").settle()
    picture = listed.page.locator("img[src^='preview/']").first
    whole = "image => image.complete && image.naturalWidth > 200"
    listed.until(lambda: picture.evaluate(whole), "the run's picture")
    assert listed.overflow() <= 0
    listed.screenshot("runs-list-1280")


def linked(seen):
    """The cells of all linked maps, by map, query and key."""
    (cells,) = seen.rows("tile", "q", "k", "value", "near")
    return {(cell["tile"], cell["q"], cell["k"]): cell["value"] for cell in cells}


def test_the_linked_maps_of_differences_are_kept_and_still_answer_the_pointer(window):
    models = "a=bahdanau.additive&b=transformer.scaled_dot"
    seen = window(f"differences?{models}&text=i lost .&target=j'ai perdu .")
    seen.until(lambda: seen.rows("tile", "q", "k", "value", "over"), "the linked maps").settle()
    verdict = next(line for line in seen.text().splitlines() if "differ most at" in line)
    again = window(keep(seen))
    again.until(lambda: again.rows("tile", "q", "k", "value", "over"), "the kept maps").settle()
    assert linked(again) == linked(seen)
    assert verdict in again.text()
    again.page.locator("[aria-label^='b, query perdu']").first.hover()
    again.until(
        lambda: {row["q"] for rows in again.rows("tile", "q", "over") for row in rows} == {2},
        "the row that is pointed at, in every map",
    )
    assert again.overflow() <= 0
    again.screenshot("runs-differences")


def test_a_hostile_id_in_a_link_is_named(window):
    seen = window("runs?id=%3Cimg%20src%3Dx%3E").settle()
    assert "32 hexadecimal digits" in seen.page.inner_text(".st-key-link-problems")
    assert seen.page.locator("img[src=x]").count() == 0
