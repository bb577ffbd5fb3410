"""Mean, spread and the rule for the best, by hand; and how a page asks for them."""

import json
import math

import pytest

from dashboard.features.experiment.cells import Cell
from dashboard.features.experiment.summary import spreads, summary_request
from dashboard.features.experiment.task import Spread, best, spread
from dashboard.jobs.tasks import perform
from dashboard.records.metric import Metric
from dashboard.records.request import Request

LOSS = Metric(name="loss", title="Loss", better="lower")
SIZE = Metric(name="size", title="Size")


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
    assert best(SPREADS, "lower") == "near"
    assert best(SPREADS, "higher") == "far"
    assert best(SPREADS, "") is None
    assert best({**SPREADS, "next": Spread(4.0, 1.0, 3)}, "lower") is None
    assert best({**SPREADS, "near": Spread(3.0, 1.1, 3)}, "lower") is None


def test_one_seed_or_one_row_has_no_best():
    assert best({**SPREADS, "next": Spread(4.0, None, 1)}, "lower") is None
    assert best({"near": SPREADS["near"]}, "lower") is None
    assert best({**SPREADS, "none": Spread(None, None, 0)}, "lower") == "near"


def cell(scoring, seed, state="done", **figures):
    return Cell(scoring=scoring, seed=seed, state=state, figures=figures)


CELLS = [
    cell("near", 0, loss=1.0, size=3), cell("near", 1, loss=3.0, size=5),
    cell("far", 0, loss=11.0, size=None), cell("far", 1, loss=13.0, size=7, title="of a plugin"),
    cell("lost", 0, "failed"), cell("late", 0, "running"),
]  # fmt: skip


def test_a_worker_summarises_what_the_runs_that_are_done_measured():
    request = summary_request(CELLS, [LOSS, SIZE])
    table = perform(request, None).tables["summary"]
    rows = {(row["metric"], row["scoring"]): row for row in table.to_pylist()}
    assert [*rows] == [("loss", "far"), ("loss", "near"), ("size", "far"), ("size", "near")]
    near = {"metric": "loss", "scoring": "near", "mean": 2.0, "deviation": math.sqrt(2),
            "count": 2, "best": True}  # fmt: skip
    assert rows["loss", "near"] == pytest.approx(near)
    assert [row["best"] for row in rows.values()] == [False, True, False, False]
    one = rows["size", "far"]
    assert (one["mean"], one["deviation"], one["count"]) == (7.0, None, 1)


def test_the_answer_is_read_by_metric_and_scoring():
    found = spreads(perform(summary_request(CELLS, [LOSS]), None))
    assert (found["loss", "near"].mean, found["loss", "near"].best) == (2.0, True)
    assert ("loss", "late") not in found
    assert spreads(None) == {}


def test_equal_runs_ask_for_the_same_whatever_their_order():
    other = [CELLS[index] for index in (2, 3, 0, 1)]
    assert summary_request(CELLS, [LOSS, SIZE]) == summary_request(other, [SIZE, LOSS])


def test_without_a_run_that_is_done_nothing_is_asked():
    assert summary_request(CELLS[4:], [LOSS]) is None
    assert summary_request(CELLS, []) is None


@pytest.mark.parametrize(
    "options",
    [
        {}, {"runs": "no JSON"}, {"runs": "[]"}, {"runs": 3}, {"runs": '{"loss": {"values": {}}}'},
        {"runs": json.dumps({"loss": {"better": "up", "values": {}}})},
        {"runs": json.dumps({"loss": {"better": "lower", "values": {"near": ["much"]}}})},
    ],
)  # fmt: skip
def test_what_holds_no_runs_is_refused(options):
    with pytest.raises(ValueError, match="need the option runs"):
        perform(Request.make("experiment", options=options), None)
