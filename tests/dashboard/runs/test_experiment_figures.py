"""Mean, spread and the rule for bold, by hand."""

import math

import pytest

from dashboard.runs.experiment_figures import FIGURES, Spread, best, mean_text, number, spread


def test_mean_and_sample_deviation_by_hand():
    """Deviations -3, -1, 1, 3 from 5: squares sum to 20, over n - 1 = 3."""
    found = spread([2.0, 4.0, 6.0, 8.0])
    assert (found.mean, found.count) == (5.0, 4)
    assert found.deviation == pytest.approx(math.sqrt(20 / 3))


def test_what_was_not_measured_does_not_count():
    assert spread([None, 3.0, math.nan, 5.0]) == Spread(4.0, math.sqrt(2), 2)
    assert spread([7.0, None]) == Spread(7.0, None, 1)
    assert spread([None]) == Spread(None, None, 0)


SPREADS = {"far": Spread(9.0, 0.5, 3), "near": Spread(3.0, 0.25, 3), "next": Spread(4.0, 0.9, 3)}


def test_best_is_beyond_the_spread_of_the_next_and_of_its_own():
    assert best(SPREADS, -1) == "near"
    assert best(SPREADS, 1) == "far"
    assert best(SPREADS, 0) is None
    assert best({**SPREADS, "next": Spread(4.0, 1.0, 3)}, -1) is None
    assert best({**SPREADS, "near": Spread(3.0, 1.1, 3)}, -1) is None


def test_one_seed_or_one_row_has_no_best():
    assert best({**SPREADS, "next": Spread(4.0, None, 1)}, -1) is None
    assert best({"near": SPREADS["near"]}, -1) is None
    assert best({**SPREADS, "none": Spread(None, None, 0)}, -1) == "near"


@pytest.mark.parametrize(
    ("one", "digits", "text"),
    [
        (Spread(0.48512, 0.1488, 5), 3, "0.485 ± 0.149"),
        (Spread(12345.6, 78.9, 3), 3, "12,346 ± 79"),
        (Spread(93.204, 0.0, 2), 3, "93.2 ± 0"),
        (Spread(50.0, 3e-7, 2), 3, "50.0 ± 3e-07"),
        (Spread(2.0, None, 1), 2, "2.0 ± –"),
        (Spread(None, None, 0), 3, "–"),
    ],
)
def test_means_with_their_spread(one, digits, text):
    assert mean_text(one, digits) == text


def test_numbers_keep_their_significant_digits():
    assert [number(v, 3) for v in (0.0, 1234.5, 0.012345, -2.5, 1e-7)] == [
        "0", "1,234", "0.0123", "-2.50", "1e-07",
    ]  # fmt: skip


def test_every_figure_says_what_it_is_and_which_side_is_better():
    headings = [figure.heading for figure in FIGURES["translation"]]
    assert headings == [
        "Loss ↓", "BLEU ↑", "AER ↓", "Entropy", "Time, s ↓", "Tokens/s ↑", "Memory, MB ↓",
    ]  # fmt: skip
    for figures in FIGURES.values():
        assert len({figure.name for figure in figures}) == len(figures)
        assert all(figure.help.endswith(".") for figure in figures)
