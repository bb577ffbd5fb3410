"""The page *Experiment*: every run is computed, and the ticks are the means of the dots."""

from __future__ import annotations

import statistics

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
    field.press("Escape")  # else the list hides the rest of the page
    seen.page.get_by_role("textbox", name="Formula of another scoring").wait_for()
    field.focus()
    for _ in range(2):
        field.press("Backspace")
        seen.settle()

    seen.page.locator(".st-key-experiment-task button").nth(1).click()
    seen.until(lambda: "6 runs: 6 missing" in seen.text(), "trainings that wait").settle()
    assert "Train the 6 that are missing" in seen.text()
    kept = "/experiment?task=translation&scorings=gaussian%2Claplacian"  # three seeds are usual
    assert seen.page.url.endswith(kept)
