"""Numbers of an experiment in words."""

import pytest

from dashboard.features.experiment.cells import Cell
from dashboard.features.experiment.table import Spread, _runs, mean_text, number
from dashboard.features.regression.task_offer import METRICS as FITTED
from dashboard.features.training.task_offer import METRICS as TRAINED
from dashboard.records.request import Request
from dashboard.records.training import Training


@pytest.mark.parametrize(
    ("mean", "deviation", "digits", "text"),
    [
        (0.48512, 0.1488, 3, "0.485 ± 0.149"),
        (12345.6, 78.9, 3, "12,346 ± 79"),
        (93.204, 0.0, 3, "93.2 ± 0"),
        (50.0, 3e-7, 3, "50.0 ± 3e-07"),
        (2.0, None, 2, "2.0 ± –"),
        (None, None, 3, "–"),
    ],
)
def test_means_with_their_spread(mean, deviation, digits, text):
    assert mean_text(Spread(mean=mean, deviation=deviation), digits) == text


def test_numbers_keep_their_significant_digits():
    assert [number(v, 3) for v in (0.0, 1234.5, 0.012345, -2.5, 1e-7)] == [
        "0", "1,234", "0.0123", "-2.50", "1e-07",
    ]  # fmt: skip


def test_every_metric_says_what_it_is_and_which_side_is_better():
    assert [metric.heading for metric in TRAINED] == [
        "Loss, nats per token ↓", "BLEU ↑", "Near", "Far", "Copied", "AER ↓", "Entropy",
        "Time, s ↓", "Tokens/s ↑", "Memory, MB ↓",
    ]  # fmt: skip
    for metrics in (FITTED, TRAINED):
        assert len({metric.name for metric in metrics}) == len(metrics)
        assert all(metric.help.endswith(".") for metric in metrics)


def test_runs_at_work_say_how_far_they_are():
    def cell(seed, state, **live):
        request = Request.make("training", model="bahdanau", seed=seed)
        training = Training(
            id=str(seed), request=request, created=0.0, state=state, note="", live=live
        )
        return Cell("scaled_dot", seed, state, training=training)

    cells = [
        cell(0, "done"), cell(1, "running", fraction=0.25), cell(2, "running", fraction=0.5),
        cell(3, "running"), cell(4, "queued"),
    ]  # fmt: skip
    assert _runs(cells) == "1 of 5 done, 3 running (25%, 50%), 1 queued"
