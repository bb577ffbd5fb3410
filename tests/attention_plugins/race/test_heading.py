from dataclasses import replace

import pytest
from support.outcomes import contestant, outcome, outcomes

from attention_plugins.race.export import Heading, as_latex, as_markdown, caption
from attention_plugins.race.standings import standings

HEADING = Heading(task="Copy", metric="exact match", unit="%")
ONE, OTHER, THIRD = (contestant(name) for name in ("one", "other", "third"))


def rows(*counts: int):
    found = [
        part
        for n, (who, count) in enumerate(zip((ONE, OTHER, THIRD), counts, strict=False))
        for part in outcomes(who, range(n, n + count))
    ]
    return standings(found, "copy", reference=ONE, higher_is_better=True)


@pytest.mark.parametrize("write", [as_latex, as_markdown])
def test_every_table_names_seeds_interval_test_and_correction(write):
    text = write(rows(7, 7), HEADING)
    for said in (
        "7 seeds", "95", "bootstrap", "paired permutation test",
        "by Holm over the 1 comparison with it on this task", "Benjamini-Hochberg",
        "higher is better", "Difference to one in transformer",
    ):  # fmt: skip
        assert said in text


def test_seeds_are_a_range_where_some_are_missing():
    assert "Mean over 5 to 7 seeds" in caption(rows(7, 5, 6), HEADING)
    assert "Mean over 1 seed with" in caption(rows(1), HEADING)
    assert "Mean over 0 seeds with" in caption([], HEADING)


def test_comparisons_are_counted():
    text = caption(rows(7, 7, 7), HEADING)
    assert "by Holm over the 2 comparisons with it on this task" in text
    assert "at 5% over all 3 pairs" in text
    assert "Holm" not in caption(rows(7), HEADING)
    waiting = outcome(OTHER, 100, tuning=True)
    found = [*outcomes(ONE, range(7)), *outcomes(THIRD, range(1, 8)), waiting]
    tuned = standings(found, "copy", reference=ONE, higher_is_better=True)
    assert "by Holm over the 1 comparison with it" in caption(tuned, HEADING)
    assert "Mean over 7 seeds with" in caption(tuned, HEADING)


def test_a_caption_is_one_line_and_says_which_way_is_better():
    lower = replace(HEADING, task="Copy\nof a copy", higher_is_better=False, unit="")
    text = caption(rows(7, 7), lower)
    assert text.startswith("Copy of a copy: exact match, lower is better")
    assert "\n" not in text
