"""Mean, spread and the rule for the best, by hand; and how a page asks for them."""

import json
import math
from dataclasses import replace

import pytest

from dashboard.features.experiment.cells import Cell, same_data
from dashboard.features.experiment.table import gains, spreads, summary_request
from dashboard.features.experiment.task import Spread, best, spread
from dashboard.features.experiment.view import Experiment
from dashboard.jobs.tasks import perform
from dashboard.records.parameter import Metric
from dashboard.records.request import Request, Result

LOSS = Metric(name="loss", title="Loss", better="lower")
SIZE = Metric(name="size", title="Size")


def test_mean_and_sample_deviation_by_hand():
    """Deviations -3, -1, 1, 3 from 5: squares sum to 20, over n - 1 = 3."""
    found = spread([2.0, 4.0, 6.0, 8.0])
    assert (found.mean, found.count) == (5.0, 4)
    assert found.deviation == pytest.approx(math.sqrt(20 / 3))


def test_what_was_not_measured_does_not_count():
    assert spread([math.nan, 3.0, math.inf, 5.0]) == Spread(4.0, math.sqrt(2), 2)
    assert spread([7.0, math.nan]) == Spread(7.0, None, 1)
    assert spread([math.nan]) == Spread(None, None, 0)


# The spread over the seeds is larger than any difference, the differences are all of one sign.
PAIRED = [float(n) for n in (1, 9, 4, 16, 2, 11, 7)]
VALUES = {
    "far": [value + 5 for value in PAIRED],
    "near": PAIRED,
    "next": [value + 0.5 for value in PAIRED],
}


def test_best_is_beyond_chance_seed_by_seed():
    assert best(VALUES, "lower") == "near"
    assert best(VALUES, "higher") == "far"
    assert best(VALUES, "") is None
    twisted = [value + (0.5 if n else -0.5) for n, value in enumerate(PAIRED)]
    assert best({**VALUES, "next": twisted}, "lower") is None


def test_few_seeds_or_one_row_have_no_best():
    six = {name: found[:6] for name, found in VALUES.items()}
    assert best(six, "lower") is None  # 2 comparisons of p = 2 / 2**6
    assert best({name: six[name] for name in ("near", "next")}, "lower") == "near"
    assert best({"near": PAIRED}, "lower") is None
    assert best({**VALUES, "none": [math.nan] * 7}, "lower") == "near"
    assert best({"zero": [0.0] * 7, "one": [1.0] * 7}, "lower") == "zero"


def compared(values, better="lower", reference="near", **more):
    runs = {"loss": {"better": better, "values": values}}
    request = Request.make(
        "experiment", options={"runs": json.dumps(runs), "reference": reference, **more}
    )  # fmt: skip
    return {
        row["scoring"]: row for row in perform(request, None).tables["differences"].to_pylist()
    }


def test_differences_are_taken_seed_by_seed_from_the_reference():
    found = compared({name: [None, *values] for name, values in VALUES.items()})
    assert set(found) == {"far", "next"}
    far = found["far"]
    assert (far["mean"], far["low"], far["high"], far["pairs"]) == (-5.0, -5.0, -5.0, 7)
    assert far["p"] == pytest.approx(2 * 2 / 2**7)  # twice the smallest of seven pairs
    assert (far["verdict"], far["seeds_needed"]) == ("worse", 7)
    assert compared(VALUES, "higher")["far"]["verdict"] == "better"


def test_five_seeds_are_too_few_for_a_verdict():
    found = compared({name: values[:5] for name, values in VALUES.items()})
    assert {row["verdict"] for row in found.values()} == {"too few seeds"}
    assert found["far"]["mean"] == -5.0


# Of a file: nothing in the first two is random but the rounding of a sum.
SAME = {
    "near": [0.1 + 0.2, *[0.3] * 6],
    "far": [5.0] * 7,
    "drawn": [value + 9 for value in PAIRED],
}


def test_what_every_seed_gives_is_not_tested_on_the_same_data():
    found = compared(SAME, same_data=True)
    far, drawn = found["far"], found["drawn"]
    assert (far["verdict"], far["pairs"]) == ("not tested", 7)
    assert far["mean"] == pytest.approx(-4.7)
    assert [far[name] for name in ("p", "low", "high")] == [None] * 3
    assert drawn["p"] == pytest.approx(2 / 2**7)  # corrected for the one that is tested
    assert compared(SAME)["far"]["verdict"] == "worse"  # saturated, on data of each seed
    of_drawn = compared(SAME, reference="drawn", same_data=True).values()
    assert {row["verdict"] for row in of_drawn} == {"better"}
    (one,) = compared({name: row[:1] for name, row in SAME.items() if name != "drawn"},
                      same_data=True).values()  # fmt: skip
    assert (one["verdict"], one["p"]) == ("not tested", None), "another seed would say the same"
    assert best(SAME, "lower") == "near"
    assert best(SAME, "lower", {"near", "far"}) is None
    assert best(SAME, "higher", {"near", "far"}) == "drawn"


def test_the_figures_of_a_file_have_no_best():
    result = Result(facts={"data_sha256": "0"})
    cells = [
        Cell(scoring=name, seed=seed, state="done", figures={"loss": loss}, result=result)
        for seed in range(7)
        for name, loss in (("near", 1.0), ("far", 2.0))
    ]
    view = Experiment()
    assert same_data(view, cells)
    found = perform(summary_request(cells, [LOSS], "far", same_data=True), None)
    assert not any(one.best for one in spreads(found).values())
    assert gains(found)["loss", "near"].verdict == "not tested"
    drawn = [replace(one, result=Result(facts={"data_sha256": str(one.seed)})) for one in cells]
    assert not same_data(view, drawn)
    assert same_data(replace(view, data="upload:0"), drawn[:2])
    assert spreads(perform(summary_request(drawn, [LOSS], "far"), None))["loss", "near"].best


def test_nothing_is_compared_without_a_better_side_or_a_reference():
    assert compared(VALUES, "") == {}
    assert compared(VALUES, reference="absent") == {}


def cell(scoring, seed, state="done", **figures):
    return Cell(scoring=scoring, seed=seed, state=state, figures=figures)


CELLS = [
    cell("near", 0, loss=1.0, size=3), cell("near", 1, loss=3.0, size=5),
    cell("far", 0, loss=11.0, size=None), cell("far", 1, loss=13.0, size=7, title="of a plugin"),
    cell("lost", 0, "failed"), cell("late", 0, "running"),
]  # fmt: skip


def test_a_worker_summarises_what_the_runs_that_are_done_measured():
    request = summary_request(CELLS, [LOSS, SIZE], "far")
    table = perform(request, None).tables["summary"]
    rows = {(row["metric"], row["scoring"]): row for row in table.to_pylist()}
    assert [*rows] == [("loss", "far"), ("loss", "near"), ("size", "far"), ("size", "near")]
    near = {"metric": "loss", "scoring": "near", "mean": 2.0, "deviation": math.sqrt(2),
            "count": 2, "best": False}  # fmt: skip
    assert rows["loss", "near"] == pytest.approx(near)
    one = rows["size", "far"]
    assert (one["mean"], one["deviation"], one["count"]) == (7.0, None, 1)


def test_the_answer_is_read_by_metric_and_scoring():
    found = spreads(perform(summary_request(CELLS, [LOSS], "far"), None))
    assert found["loss", "near"].mean == 2.0
    assert ("loss", "late") not in found
    assert spreads(None) == {}
    gain = gains(perform(summary_request(CELLS, [LOSS], "far"), None))["loss", "near"]
    assert (gain.mean, gain.pairs, gain.verdict) == (10.0, 2, "too few seeds")
    assert gains(None) == {}


def test_runs_are_paired_by_their_seed():
    """A run that is missing leaves its place empty."""
    cells = [cell("a", 1, loss=1.0), cell("a", 0, "failed"), cell("b", 0, loss=9.0),
             cell("b", 1, loss=4.0)]  # fmt: skip
    found = gains(perform(summary_request(cells, [LOSS], "b"), None))
    assert (found["loss", "a"].mean, found["loss", "a"].pairs) == (3.0, 1)


def test_equal_runs_ask_for_the_same_whatever_their_order():
    other = [CELLS[index] for index in (2, 3, 0, 1)]
    assert summary_request(CELLS, [LOSS, SIZE], "far") == summary_request(
        other, [SIZE, LOSS], "far"
    )


def test_without_a_run_that_is_done_nothing_is_asked():
    assert summary_request(CELLS[4:], [LOSS], "far") is None
    assert summary_request(CELLS, [], "far") is None


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
