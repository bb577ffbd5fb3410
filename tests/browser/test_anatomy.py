"""The page *Anatomy*, as painted."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def matrices(seen, stage):
    """The matrices of a stage as painted."""
    found = []
    for rows in seen.rows("r", "c", "value", key=f"stage-{stage}"):
        grid = np.full((max(r["r"] for r in rows) + 1, max(r["c"] for r in rows) + 1), np.nan)
        for row in rows:
            grid[row["r"], row["c"]] = row["value"]
        found.append(grid)
    return found


def changed(seen, before):
    found = matrices(seen, "scores")
    return found and not np.array_equal(found[0], before)


def drawn(seen):
    return seen.until(lambda: matrices(seen, "output"), "the output").settle()


def test_an_edited_number_goes_all_the_way_and_into_the_link(window):
    seen = drawn(window("anatomy"))
    (before,) = matrices(seen, "scores")
    (weights,) = matrices(seen, "weights")
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=5e-3)
    seen.page.get_by_role("button", name="Edit numbers").click()
    field = seen.page.get_by_label("Queries, 3 × 4")
    field.fill("9 0 0 0\n0 0 0 0\n1 1 1 1")
    field.press("Control+Enter")
    seen.until(lambda: changed(seen, before), "other scores").settle()
    (after,) = matrices(seen, "scores")
    keys = matrices(seen, "inputs")[1]
    np.testing.assert_allclose(after[0], keys[:, 0] * 4.5, atol=5e-3)
    np.testing.assert_allclose(after[1], 0)
    np.testing.assert_allclose(matrices(seen, "weights")[0][1], [0.25] * 4 + [0], atol=1e-3)
    seen.until(lambda: "q=9" in seen.page.url, "the link")
    again = drawn(window(seen.page.url.removeprefix(f"{seen.url}/")))
    np.testing.assert_array_equal(matrices(again, "scores")[0], after)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_heads_fit_the_window(window, width, scheme):
    seen = drawn(window("anatomy?example=heads&column=7", width=width, scheme=scheme))
    flows = seen.rows("step", "name", "label", key="stage-heads")
    assert {row["label"] for row in flows[0]} == {"B = 2", "n = 4", "H = 3", "d = 3"}
    assert seen.overflow() <= 0
    parts = seen.page.locator(".st-key-anatomy-part button")
    tops = {parts.nth(i).bounding_box()["y"] for i in range(parts.count())}
    assert (parts.count(), len(tops)) == (4, 1)
    seen.screenshot(f"anatomy-heads-{width}")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_scoring_is_walked_through_while_it_is_typed(window, width, scheme):
    seen = drawn(window("anatomy?scoring=gaussian", width=width, scheme=scheme))
    queries, keys = matrices(seen, "inputs")[:2]
    seen.page.locator(".st-key-anatomy-scoring input").click()
    seen.page.keyboard.type("Type a")
    seen.page.get_by_role("option", name="Type a formula").click()
    field = seen.page.locator(".st-key-anatomy-formula input")
    field.press_sequentially("-max(abs(q - k)) / w - |i -", delay=20)
    # The scoring that it was, or what was right on the way there.
    drawn(seen.until(lambda: "charts below still show" in seen.text(), "what is wrong"))
    assert seen.overflow() == 0
    seen.screenshot(f"anatomy-formula-wrong-{width}-{scheme}")
    before = matrices(seen, "scores")[0]
    field.press_sequentially(" j|", delay=20)  # no Enter
    drawn(seen.until(lambda: changed(seen, before), "the typed scores"))
    far = np.abs(queries[:, None] - keys[None]).max(-1)
    away = np.abs(np.arange(len(queries))[:, None] - np.arange(len(keys)))
    np.testing.assert_allclose(matrices(seen, "scores")[0], -far - away, atol=5e-3)
    assert seen.overflow() == 0
    seen.screenshot(f"anatomy-formula-{width}-{scheme}")


def walk(seen):
    """The chart with every number of the walk."""
    return seen.charts("stage-lineage")


def cell(seen, name):
    """A number of the walk by what a screen reader says first of it."""
    return walk(seen).locator(f'.cells_marks path[aria-label^="{name}:"]')


def middles(seen, places):
    """Where these lie, in px of the window, from the left."""
    boxes = [places.nth(i).bounding_box() for i in range(places.count())]
    return sorted((round(b["x"] + b["width"] / 2), round(b["y"] + b["height"] / 2)) for b in boxes)


@pytest.mark.parametrize(("width", "touch"), [(1400, False), (390, True)])
def test_a_number_that_is_pointed_at_shows_where_it_comes_from(window, width, touch):
    seen = drawn(window("anatomy?example=sentence", width=width, touch=touch))
    marks = walk(seen)
    seen.until(lambda: marks.locator(".cells_marks path").count() == 69, "the walk")
    assert "0.24·3 + 0.09·1 + 0.67·4 = 3.49" in marks.inner_text()
    pointed = cell(seen, "Weights (cats, fish)")
    pointed.scroll_into_view_if_needed()
    seen.page.mouse.wheel(0, 100)
    pointed.tap() if touch else pointed.hover()
    seen.until(lambda: "7.39 / (2.72 + 2.72 + 7.39) = 0.58" in marks.inner_text(), "its sum")
    pointed.dispatch_event("pointerdown")
    seen.until(seen.page.locator(".held-picture").count, "a copy with the same marks")
    for way, names in {
        "from": ["exp (cats, cats)", "exp (cats, eat)", "exp (cats, fish)"],
        "into": ["Output (cats, 0)", "Output (cats, 1)"],
        "self": ["Weights (cats, fish)"],
    }.items():
        marked = middles(seen, marks.locator(f".{way}_marks path"))
        assert marked == sorted(
            place for name in names for place in middles(seen, cell(seen, name))
        )
    assert seen.overflow() <= 0
    if not touch:  # between two numbers, the last one stays
        seen.page.mouse.move(*middles(seen, marks)[0])
        assert marks.locator(".self_marks path").count() == 1
    seen.screenshot(f"anatomy-walk-{width}")
