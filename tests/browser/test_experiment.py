"""The page *Experiment*: every run is computed, and the ticks are the means of the dots."""

from __future__ import annotations

import statistics
from itertools import pairwise
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.browser


def drawn(seen, name):
    """The rows of one data set of the chart."""
    views = seen.views("experiment-chart")
    return views[0].get(name, []) if views else []


def test_ticks_are_the_means_of_the_dots_and_another_task_starts_nothing(window):
    seen = window("experiment?scorings=gaussian,laplacian&seeds=3&maps=1")
    seen.until(lambda: "6 runs: 6 done" in seen.text(), "six finished fits")
    seen.until(lambda: len(drawn(seen, "means")) == 2, "a tick for each scoring").settle()
    for tick in drawn(seen, "means"):
        own = [dot["value"] for dot in drawn(seen, "seeds") if dot["scoring"] == tick["scoring"]]
        assert len(own) == 3
        assert tick["value"] == pytest.approx(statistics.fmean(own))
    assert seen.overflow() <= 0
    seen.screenshot("experiment-1280-light")

    field = seen.page.locator(".st-key-experiment-scorings input")
    for typed, words in (("cos", "9 runs: 9 done"), ("formula", "")):
        field.press_sequentially(typed)
        seen.page.get_by_role("option").first.wait_for()
        assert seen.page.get_by_role("option").count() > (typed == "cos"), "several match"
        field.press("Enter")
        seen.until(lambda words=words: words in seen.text(), "one more of them").settle()
    assert seen.page.url.endswith("scorings=gaussian%2Claplacian%2Ccosine")
    typed = seen.page.get_by_role("textbox", name="Formula of another scoring")
    seen.until(lambda: typed.evaluate("it => it === document.activeElement"), "the field")
    seen.page.get_by_role("listbox").wait_for(state="detached")  # it would lie over the field
    field.click()
    for _ in range(2):
        field.press("Backspace")
        seen.settle()
    field.press("Escape")

    seen.page.locator(".st-key-experiment-task button").nth(1).click()
    seen.until(lambda: "6 runs: 6 missing" in seen.text(), "trainings that wait").settle()
    assert "Train the 6 that are missing" in seen.text()
    kept = "/experiment?task=translation&scorings=gaussian%2Claplacian"  # three seeds are usual
    assert seen.page.url.endswith(kept)


def test_on_a_phone_what_is_compared_with_is_not_hidden_in_its_row(window):
    seen = window("experiment", width=390, height=844)
    box = seen.page.get_by_role("combobox", name="Compare with").bounding_box()
    assert box["x"] + box["width"] <= 390
    assert seen.overflow() <= 0


def test_the_number_of_characters_stands_under_a_formula_and_its_lines_apart(window):
    long = "-norm(q - k) / w - log(1 + norm(q - k)^2 / (2 * w^2)) - norm(q - k) / (1 + w)"
    seen = window(f"regression?a=gaussian&b=laplacian&c=scaled_dot&d={quote('=' + long)}")
    seen.until(lambda: len(seen.views()) >= 5, "the curves").settle()
    field = seen.page.get_by_role("textbox", name="Formula of panel d")
    field.press("End")
    seen.page.evaluate("""window.gaps = []; setInterval(() => {
      const told = document.querySelector("[data-testid=InputInstructions]");
      const box = document.activeElement.getBoundingClientRect();
      if (told) window.gaps.push(told.getBoundingClientRect().top - box.bottom);
    }, 5)""")
    field.press_sequentially(" - 1")  # until that is sent it says how many they are
    seen.until(lambda: seen.page.evaluate("gaps.length"), "the number of characters").settle()
    assert min(seen.page.evaluate("gaps")) >= 0
    lines = seen.page.locator(".st-key-panel-d-formula .katex-html > .base").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(r => [r.top, r.bottom])"
    )
    ends = sorted({(round(top), round(bottom)) for top, bottom in lines})
    gaps = [top - bottom for (_, bottom), (top, _) in pairwise(ends) if top > bottom - 5]
    assert gaps
    assert min(gaps) >= 4
