"""The page *Kernel regression*, as painted: its numbers are computed again from its own points."""

from __future__ import annotations

import math
from contextlib import suppress
from urllib.parse import parse_qs, unquote_plus, urlsplit

import numpy as np
import pytest
from playwright.sync_api import TimeoutError as Late

from tests.browser.dragging import Drag

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

FIELD = ".st-key-regression-formula-a input"  # in which a scoring is typed
MARKS = "[...document.querySelectorAll('.stVegaLiteChart :is(canvas, svg.marks)')]"
DIGITS = 2e-4  # charts carry five significant digits


def column(rows, name):
    return np.array([row[name] for row in rows], dtype=float)


def curve(seen, panel):
    """A panel's curve as painted: ``x`` and ``prediction``, sorted by x."""
    found = seen.rows("q", "x", "prediction", key=f"panel-{panel}")
    if not found:
        return None
    rows = sorted(found[0], key=lambda row: row["q"])
    return column(rows, "x"), column(rows, "prediction")


def points(seen, panel):
    rows = seen.rows("k", "x", "y", key=f"panel-{panel}")[0]
    return column(rows, "x"), column(rows, "y")


def weights(seen, panel):
    """A panel's map as its chart holds it for the pointer, ``(queries, keys)``."""
    names = "weights", "exact_weights"  # the second where the chart follows a slider
    held = {name: seen.rows("q", name, key=f"panel-{panel}") for name in names}
    name, (rows, *_) = next((name, found) for name, found in held.items() if found)
    texts = [row[name] for row in sorted(rows, key=lambda row: row["q"])]
    return np.array([text.split(" ") for text in texts], dtype=float)


def gaussian_weights(queries, keys, width):
    scores = -((queries[:, None] - keys[None, :]) ** 2) / (2 * width**2)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def all_drawn(seen, panels):
    return seen.until(
        lambda: all(curve(seen, panel) is not None for panel in panels), f"curves {panels}"
    ).settle()


def test_the_bare_page_is_a_finished_comparison(window):
    seen = all_drawn(window("regression"), "abcd")
    curves = [curve(seen, panel)[1] for panel in "abcd"]
    assert all(np.isfinite(one).all() for one in curves)
    assert len({one.tobytes() for one in curves}) == 4
    for panel in "abcd":
        np.testing.assert_allclose(weights(seen, panel).sum(axis=1), 1.0, atol=50 * DIGITS)
    _, y = points(seen, "a")
    np.testing.assert_allclose(curves[0], y.mean(), rtol=DIGITS)  # average pooling
    seen.screenshot("regression-1280-light")


def test_the_painted_curve_is_the_kernel_regression_of_the_painted_points(window):
    seen = all_drawn(window("regression?a=gaussian&a.width=0.5&b=gaussian&b.width=2"), "ab")
    for panel, width in (("a", 0.5), ("b", 2.0)):
        x, y = points(seen, panel)
        queries, predictions = curve(seen, panel)
        expected = gaussian_weights(queries, x, width)
        np.testing.assert_allclose(predictions, expected @ y, rtol=20 * DIGITS)
        np.testing.assert_allclose(weights(seen, panel), expected, atol=20 * DIGITS)


def test_a_slider_moves_the_curve_and_the_link_keeps_it(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    before, other = curve(seen, "a")[1], curve(seen, "b")[1]
    thumb = seen.page.locator(".st-key-panel-a-gaussian-width input[type=range]")
    thumb.focus()
    for _ in range(20):
        thumb.press("ArrowLeft")

    def moved():
        now = curve(seen, "a")  # None while the chart is drawn anew
        return now is not None and not np.array_equal(now[1], before)

    seen.until(moved, "the curve to follow the slider")
    seen.until(lambda: "a.width" in seen.page.url, "the link to follow the slider").settle()
    width = float(parse_qs(urlsplit(seen.page.url).query)["a.width"][0])
    assert math.isclose(width, 0.8, abs_tol=1e-9)
    x, y = points(seen, "a")
    queries, after = curve(seen, "a")
    np.testing.assert_allclose(after, gaussian_weights(queries, x, width) @ y, rtol=20 * DIGITS)
    np.testing.assert_array_equal(curve(seen, "b")[1], other)

    again = all_drawn(window(seen.page.url.removeprefix(f"{seen.url}/")), "ab")
    np.testing.assert_array_equal(curve(again, "a")[1], after)
    assert "learn" not in again.page.url
    assert curve(again, "c") is None


HOSTILE = (
    "regression?a=gaussian&a.width=99999&b=<img src=x onerror=alert(1)>&c=gaussian&c.width=nan"
    "&seed=-5&points=9e99&device=cuda:99&zzz=1"
)


def test_a_hostile_link_is_named_and_still_drawn(window):
    seen = all_drawn(window(HOSTILE), "ac")
    notice = seen.page.inner_text(".st-key-link-problems")
    for name in ("a.width", "c.width", "seed", "points", "device", "zzz"):
        assert name in notice, f"{name} is not named in: {notice}"
    assert np.isfinite(curve(seen, "a")[1]).all()
    assert seen.page.locator("img[src=x]").count() == 0
    seen.screenshot("regression-hostile-link")


def test_a_link_to_a_missing_plugin_says_which_and_draws_the_rest(window):
    seen = all_drawn(window("regression?a=from_a_friend&b=gaussian"), "b")
    assert "from_a_friend" in seen.page.inner_text(".st-key-panel-a")
    assert "not installed" in seen.page.inner_text(".st-key-panel-a").lower()
    seen.screenshot("regression-missing-plugin")


@pytest.mark.parametrize(("width", "rows", "scheme"), [(1280, 1, "dark"), (390, 4, "light")])
def test_four_panels_fit_the_window_and_a_dark_page_is_dark(window, width, rows, scheme):
    seen = all_drawn(window("regression", width=width, scheme=scheme), "abcd")
    assert seen.overflow() <= 0
    charts = [seen.page.locator(f".st-key-panel-{one} [data-testid=stVegaLiteChart]").first
              for one in "abcd"]  # fmt: skip
    boxes = [chart.bounding_box() for chart in charts]
    assert len({round(box["y"]) for box in boxes}) == rows
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    colour = seen.page.evaluate(
        """() => getComputedStyle(document.querySelector('[data-testid="stApp"]'))
            .backgroundColor"""
    )
    red, green, blue = (int(part) for part in colour.strip("rgb()").split(",")[:3])
    assert (max(red, green, blue) < 60) == (scheme == "dark")
    seen.screenshot(f"regression-{width}-{scheme}")


def upload(seen, name, text):
    seen.page.get_by_role("button", name="Your data").click()
    seen.page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": text.encode()}
    )


def test_an_uploaded_table_is_drawn(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    upload(seen, "mine.csv", "x,y\n0,2\n1,3\n2,5\n4,7\n8,11\n")
    seen.until(lambda: "upload%3A" in seen.page.url or "upload:" in seen.page.url, "the upload")
    seen.until(lambda: curve(seen, "b") is not None and len(points(seen, "b")[0]) == 5, "5 points")
    np.testing.assert_allclose(curve(seen, "b")[1], 28 / 5, rtol=DIGITS)


def test_text_and_missing_values_of_a_table_are_skipped_and_columns_chosen(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    upload(seen, "mine.csv", "city;x;z;y\nA;0,5;1;2\nB;n/a;2;3\nC;2,5;four;5\nD;4,5;4;7\n")
    seen.until(lambda: "Skipped 1 of 4 rows" in seen.text(), "the row skipped").settle()
    assert "columns=2" in seen.page.url
    seen.until(lambda: curve(seen, "b") is not None and len(points(seen, "b")[0]) == 3, "3 points")
    np.testing.assert_allclose(points(seen, "b")[0], [0.5, 2.5, 4.5])
    # By the keyboard alone: another input, and one less.
    seen.page.get_by_role("combobox", name="From").focus()
    seen.page.keyboard.type("z")
    seen.page.keyboard.press("Enter")
    seen.until(lambda: "Skipped 2 of 4 rows" in seen.text(), "one column more").settle()
    assert "Side by side: predicted against measured" in seen.text()
    rows = seen.rows("measured", "prediction", key="side-by-side")[0]
    assert sorted({row["measured"] for row in rows}) == [2, 7]
    seen.screenshot("regression-table")
    seen.page.get_by_role("combobox", name="From").focus()
    seen.page.keyboard.press("Backspace")
    seen.until(lambda: "Skipped 1 of 4 rows" in seen.text(), "one column less").settle()
    seen.page.keyboard.press("Backspace")
    field = seen.page.get_by_role("combobox", name="From")
    seen.until(lambda: field.get_attribute("placeholder"), "what an empty field says").settle()
    assert field.get_attribute("placeholder") == "Choose one; the last are used"
    assert "predicted from x" in seen.text()


CUT = """() => {
  const box = document.querySelector('.stMultiSelect'), seen = box.getBoundingClientRect();
  const within = (rect) => rect.left >= seen.left && rect.right <= seen.right
    && rect.top >= seen.top && rect.bottom <= seen.bottom;
  const tags = [...box.querySelectorAll('[data-tag]')].filter((tag) => tag.offsetParent);
  const cut = tags.filter((tag) => !within(tag.getBoundingClientRect())
    || [...tag.children].some((one) => one.scrollWidth > one.clientWidth));
  return [tags.length, cut.length, seen.left >= 0 && seen.right <= innerWidth];
}"""


def test_all_inputs_that_are_chosen_of_a_table_are_seen(window):
    seen = all_drawn(window("regression?a=gaussian"), "a")
    lines = [f"2024-0{n}-0{n},{n},{n % 3},{'ABC'[n % 3]},{n * n}" for n in range(1, 9)]
    upload(seen, "mine.csv", "\n".join(["day,area,temperature,kind,y", *lines]))
    seen.until(lambda: "upload%3A" in seen.page.url or "upload:" in seen.page.url, "the upload")
    data = parse_qs(urlsplit(seen.page.url).query)["data"][0]
    for width, more in ((1280, ""), (390, ""), (1920, "&embed=true")):
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.open(f"regression?a=gaussian&data={data}&columns=2,3,4,-1:5{more}")
        assert seen.page.evaluate(CUT) == [4, 0, True], width
        seen.screenshot(f"regression-inputs-{width}")


def test_a_bad_table_costs_only_a_sentence(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    upload(seen, "bad.csv", "x,y\none,2\ntwo,3\n")
    sentence = seen.page.get_by_text("need two columns of numbers")
    seen.until(lambda: sentence.count() == 1, "why it is refused").settle()
    seen.screenshot("regression-table-popover")
    assert "upload" not in seen.page.url
    assert curve(seen, "a") is not None


def test_a_table_that_is_refused_later_says_so_once_and_leads_back(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    upload(seen, "constant.csv", "x,y\n7,2\n7,3\n")
    seen.until(lambda: "in every row" in seen.text(), "why it is refused").settle()
    assert seen.text().count("in every row") == 1
    seen.screenshot("regression-table-refused")
    seen.page.get_by_role("button", name="Back to").click()
    all_drawn(seen.settle(), "ab")
    assert "upload" not in seen.page.url


def test_a_typed_curve_is_painted_and_a_friend_sees_the_same(window):
    seen = all_drawn(window("regression?a=uniform&b=laplacian"), "ab").settle()
    flat = curve(seen, "a")[1]
    option = seen.page.get_by_role("option", name="Type a formula")
    # A run that ends meanwhile closes an open menu.
    for _ in range(5):
        seen.page.locator(".st-key-panel-a-scoring input").click()
        with suppress(Late):
            option.click(timeout=5_000)
            break
    seen.page.locator(FIELD).fill("-|q - k|^2 / (2 w^2")
    seen.page.locator(FIELD).press("Enter")
    all_drawn(seen.until(lambda: "^" in seen.text(), "a caret under what is wrong"), "ab")
    np.testing.assert_array_equal(curve(seen, "a")[1], flat)
    seen.screenshot("formula-wrong-1280-light")
    seen.page.locator(FIELD).fill("-|q - k|^2 / (2 w^2)")
    seen.page.locator(FIELD).press("Enter")

    def is_another() -> bool:
        drawn = curve(seen, "a")  # None while one chart replaces another
        return drawn is not None and not np.array_equal(drawn[1], flat)

    all_drawn(seen.until(is_another, "the typed curve"), "ab")
    x, y = points(seen, "a")
    queries, predicted = curve(seen, "a")
    np.testing.assert_allclose(
        predicted, gaussian_weights(queries, x, 1.0) @ y, rtol=20 * DIGITS
    )  # fmt: skip
    seen.screenshot("formula-1280-light")
    link = "regression" + seen.page.evaluate("location.search")
    friend = all_drawn(window(link), "ab")
    np.testing.assert_array_equal(curve(friend, "a")[1], predicted)
    assert friend.page.locator(FIELD).input_value() == "-norm(q - k)^2 / (2 * w^2)"


def test_the_curve_follows_a_formula_while_it_is_typed(window):
    seen = all_drawn(window("regression?a==-|q-k|&b=laplacian"), "ab")
    before = curve(seen, "a")[1]
    field = seen.page.locator(FIELD)
    field.fill("")
    seen.until(lambda: "Type a formula of q and k" in seen.text(), "the empty field's hint")
    field.press_sequentially("-|q - k|^2 / sq", delay=40)  # and neither Enter nor another click
    seen.until(lambda: "square" in seen.text(), "what the last word may become")
    seen.page.get_by_role("button", name="sqrt").click()
    seen.until(lambda: field.input_value() == "-|q - k|^2 / sqrt(", "the word in the field")
    field.press("End")
    field.press_sequentially("4) / w", delay=40)

    def is_another() -> bool:
        drawn = curve(seen, "a")  # None while one chart replaces another
        whole = "sqrt(4) / w" in unquote_plus(seen.page.url)
        return whole and drawn is not None and not np.array_equal(drawn[1], before)

    all_drawn(seen.until(is_another, "the typed curve"), "ab")
    assert field.input_value() == "-|q - k|^2 / sqrt(4) / w"
    assert seen.page.evaluate("document.activeElement.matches('input[type=text]')")
    assert "q = 1 scores -0.5 for k = 0" in seen.text()
    x, y = points(seen, "a")
    queries, predicted = curve(seen, "a")
    np.testing.assert_allclose(
        predicted, gaussian_weights(queries, x, 1.0) @ y, rtol=20 * DIGITS
    )  # fmt: skip
    assert seen.overflow() == 0


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_a_formula_fits_its_panel(window, width, scheme):
    link = (
        "regression?a=%3Dmax(1-%7Cq-k%7C%5E2%2Fw%5E2%2C0)&b=gaussian&c=uniform&d=%3D-w+%7Cq-k%7C"
    )
    seen = all_drawn(window(link, width=width, scheme=scheme), "abcd")
    seen.page.locator(FIELD).fill("q.k / sqr(d) - cosine(q, k) * norm(q) ^ 2 + relu(q.k - 3)")
    seen.page.locator(FIELD).press("Enter")
    seen.until(lambda: "^" in seen.text(), "a caret under what is wrong").settle()
    assert seen.overflow() == 0
    seen.screenshot(f"formula-{width}-{scheme}")


def test_one_click_copies_the_link_and_says_so(window):
    seen = all_drawn(window("regression?a=gaussian&a.width=0.3"), "a").settle()
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert seen.page.title() == "Gaussian kernel · Kernel regression · Attention Workbench"
    button = seen.page.locator(".st-key-copy-link button")
    button.click()
    seen.until(lambda: button.inner_text() == "Link copied", "it says so")
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert parse_qs(urlsplit(copied).query) == {"a": ["gaussian"], "a.width": ["0.3"]}
    seen.until(lambda: button.inner_text() == "Copy link", "the button's own words again")
    seen.page.get_by_role("button", name="QR code").click()
    seen.page.locator(".stImage img").wait_for()
    text = seen.page.get_by_text(copied, exact=True)
    seen.until(lambda: text.count() == 1, "the link as text")


def test_curves_and_words_follow_the_finger_and_the_server_hears_of_it_once(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    x, y = points(seen, "a")
    other, drag = curve(seen, "b")[1], Drag(seen, "panel-a-gaussian-width")
    words = seen.page.locator(".st-key-panel-a p", has_text="Leave-one-out error").first
    said = {words.inner_text()}
    for by in (12, 40, -25):
        value = drag.move(by)
        queries, drawn = curve(seen, "a")
        expected = gaussian_weights(queries, x, value) @ y
        assert np.abs(drawn - expected).max() < 0.01 * np.ptp(y)
        lines = seen.rows("line", "prediction")[0]
        together = [row["prediction"] for row in lines if row["line"] == "p0"]
        np.testing.assert_array_equal(together, drawn)
        said.add(words.inner_text())
    assert len(said) == 4
    assert drag.told() == 0
    assert drag.moving()
    label = seen.charts("panel-a").first.get_attribute("aria-label")
    seen.page.evaluate(f"() => {{ window.before = {MARKS}; }}")
    drag.drop()
    assert drag.told() == 1
    same = f"{MARKS}.every((each, at) => each === window.before[at])"
    assert seen.page.evaluate(same), "a chart was made anew where its data changed"
    now = seen.charts("panel-a").first.get_attribute("aria-label")
    assert now != label
    assert "The largest weight is" in now
    queries, drawn = curve(seen, "a")
    width = float(parse_qs(urlsplit(seen.page.url).query)["a.width"][0])
    np.testing.assert_allclose(drawn, gaussian_weights(queries, x, width) @ y, rtol=20 * DIGITS)
    np.testing.assert_array_equal(curve(seen, "b")[1], other)


_GO = """([x, y]) => {
  const at = { clientX: x, clientY: y, isPrimary: true, pointerId: 1, buttons: 1, bubbles: true };
  dispatchEvent(new PointerEvent("pointermove", at));
  const input = document.querySelector(".st-key-panel-a-gaussian-width input[type=range]");
  return [document.body.value?.at, Number(input.value)];
}"""


_RULES = """() => [...document.styleSheets].filter(({ ownerNode }) => ownerNode?.dataset.emotion)
  .map((sheet) => sheet.cssRules.length)"""


def test_charts_are_where_the_pointer_is_before_the_slider_is(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    drag = Drag(seen, "panel-a-gaussian-width")
    drag.move(20)
    rules = seen.page.evaluate(_RULES)
    value = drag.move(10)
    assert seen.page.evaluate(_RULES) == rules, "each position costs a look through a large sheet"
    at, shown = seen.page.evaluate(_GO, [drag.x + 40, drag.y])
    assert shown == value, "the slider follows a frame later"
    assert at != value
    seen.until(lambda: float(drag.input.input_value()) != value, "the slider to move")
    assert float(drag.input.input_value()) == at
    drag.drop()
    let_go = seen.page.evaluate("document.body.value.at")
    assert seen.page.evaluate(_GO, [drag.x + 90, drag.y])[0] == let_go


_INSERTED = """() => {
  const total = () => [...document.styleSheets]
    .reduce((sum, { cssRules }) => sum + cssRules.length, 0);
  window.begun = total();
  window.inserted = () => total() - window.begun;
}"""
# The share of the track that is coloured, where the thumb stands, and whether the track says so
# itself.
_TRACK = """() => {
  const all = [...document.querySelectorAll(".st-key-panel-a-gaussian-width .stSlider *")];
  const track = all.find((one) => getComputedStyle(one).backgroundImage.includes("gradient"));
  const input = all.find((one) => one.type === "range");
  const [value, low, high] = [input.value, input.min, input.max].map(Number);
  const { backgroundImage, position } = getComputedStyle(track);
  const shares = [...backgroundImage.matchAll(/([\\d.]+)%/g)].map(([, share]) => Number(share));
  return [Math.max(...shares), 100 * (value - low) / (high - low), position, track.style.cssText];
}"""


_LET_GO = {
    "a key": "dispatchEvent(new KeyboardEvent('keydown', { key: 'Shift', bubbles: true }))",
    "a hand that opened where nobody heard of it": """dispatchEvent(new PointerEvent(
      "pointermove", { clientX: 1, clientY: 1, isPrimary: true, buttons: 0, bubbles: true }))""",
}


def test_a_track_is_coloured_without_a_rule_for_each_position(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    drag = Drag(seen, "panel-a-gaussian-width")
    drag.move(20)
    seen.page.evaluate(_INSERTED)
    for by in (7, 5, -9):
        drag.move(by)
        share, thumb, position, own = seen.page.evaluate(_TRACK)
        assert share == pytest.approx(thumb, abs=0.01)
        assert position == "absolute"
        assert own
    assert seen.page.evaluate("window.inserted()") == 0
    back = drag.input.input_value()
    drag.drop()
    assert seen.page.evaluate("window.inserted()") >= 3
    for key in ("ArrowRight", "ArrowLeft"):  # from here, and back to a position of the drag
        drag.input.press(key)
        seen.settle()
    assert drag.input.input_value() == back
    share, thumb, position, own = seen.page.evaluate(_TRACK)
    assert share == pytest.approx(thumb, abs=0.01)
    assert (position, own) == ("absolute", "")


@pytest.mark.parametrize("end", ["a key", "a hand that opened where nobody heard of it"])
def test_charts_leave_a_pointer_that_no_longer_holds_the_slider(window, end):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    drag = Drag(seen, "panel-a-gaussian-width")
    drag.move(20)
    assert seen.page.evaluate(_TRACK)[3], "the track has its own words while it is held"
    seen.page.evaluate(_LET_GO[end])
    before = seen.page.evaluate("document.body.value.at")
    assert seen.page.evaluate(_GO, [drag.x + 40, drag.y])[0] == before
    assert seen.page.evaluate(_TRACK)[2:] == ["absolute", ""]
    drag.drop()
    share, thumb, *_ = seen.page.evaluate(_TRACK)
    assert share == pytest.approx(thumb, abs=0.01)


def test_charts_follow_a_slider_that_goes_elsewhere_than_the_pointer(window):
    seen = all_drawn(window("regression?a=gaussian&b=uniform"), "ab")
    drag = Drag(seen, "panel-a-gaussian-width")
    drag.move(30)
    drag.input.evaluate("input => { input.value = 9; input.setAttribute('value', 9); }")
    seen.until(lambda: seen.page.evaluate("document.body.value.at") == 9, "charts at the slider")


def test_between_two_frames_a_name_says_the_position_and_words_that_they_are_near(window):
    seen = window("regression?a=gaussian&b=gaussian&b.width=2", height=1600)
    seen.until(lambda: seen.views() and words_of(seen), "the panels").settle(1.0)
    drag = Drag(seen, "panel-a-gaussian-width")
    near = []
    for by in (23, 3, 400):  # the last is the end of the slider, which has a frame
        value = drag.move(by)
        names = seen.charts().locator("text", has_text="a: Gaussian kernel, σ = ")
        assert {f"a: Gaussian kernel, σ = {value:g}"} == {*names.all_text_contents()}
        near.append(words_of(seen).startswith("≈ "))
    assert near == [True, True, False]
    drag.drop()
    assert not words_of(seen).startswith("≈")


def words_of(seen):
    return seen.page.locator(
        ".st-key-panel-a p", has_text="Leave-one-out error"
    ).first.inner_text()


def test_charts_of_panels_are_on_one_line_whatever_stands_above_them(window):
    seen = window("regression?a=gaussian&b=%3D-norm(q%20-%20k)%20/%20w", height=1400)
    charts = [seen.charts(f"panel-{letter}") for letter in "ab"]
    seen.until(lambda: all(one.count() for one in charts), "both panels").settle()
    boxes = [one.first.bounding_box() for one in charts]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["width"] == boxes[1]["width"]


def test_a_long_formula_goes_on_in_the_next_line(window):
    seen = window("regression?a=matern&b=gaussian&c=laplacian&d=dot")
    long = seen.page.locator(".st-key-panel-a-formula .katex-display")
    seen.until(long.count, "the formula").settle()
    assert long.evaluate("e => e.scrollWidth <= e.clientWidth")
    box, place = long.bounding_box(), seen.page.locator(".st-key-panel-a-below").bounding_box()
    assert box["y"] + box["height"] <= place["y"]
