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

    seen.page.locator(".st-key-experiment-task button").nth(1).click()
    seen.until(lambda: "6 runs: 6 missing" in seen.text(), "trainings that wait").settle()
    assert "Train the 6 that are missing" in seen.text()
    kept = "/experiment?task=translation&scorings=gaussian%2Claplacian"  # three seeds are usual
    assert seen.page.url.endswith(kept)
