import numpy as np
import pyarrow as pa
import pytest
from support.pages import maps

from dashboard.features.regression.task import perform
from dashboard.features.start import view
from dashboard.features.start.view import Reading, curve_sentence, marked, read, weight_sentence
from dashboard.records.beside import beside
from dashboard.records.request import Result

FIGURES = {"truth_mse": 0.25, "leave_one_out_mse": 0.6, "training_mse": 0.2}


def result(x, weights):
    tables = {
        "curve": pa.table({"x0": x, "prediction": x, "truth": x}),
        "maps": maps("pooling", np.array(weights), [f"{v:g}" for v in x], ["a", "b", "c"]),
    }
    return Result(tables=tables, facts={"metrics": FIGURES})


@pytest.mark.parametrize(
    ("row", "count"),
    [([0.95, 0.05, 0.0], 1), ([0.05, 0.45, 0.5], 2), ([0.3, 0.4, 0.3], 3), ([0.1, 0.9, 0.0], 1)],
)
def test_the_fewest_points_that_carry_90_percent_are_counted(row, count):
    assert read(result([0.0, 1.9], [row, row])) == Reading(count, 3, 0.25, pytest.approx(3.0))


def test_they_are_counted_at_every_query_as_the_line_may_stand_at_any():
    rows = [[0.3, 0.4, 0.3], [0.3, 0.4, 0.3], [1.0, 0, 0], [0.05, 0.45, 0.5], [0.2, 0.6, 0.2]]
    assert read(result([0.0, 1.0, 1.9, 3.0, 5.0], rows)).count == 2  # of 3, 3, 1, 2, 3


def test_the_marked_query_is_found_in_any_order_of_the_queries():
    found = result([5.0, 0.0, 1.9], [[1.0, 0, 0], [1.0, 0, 0], [0.3, 0.4, 0.3]])
    assert marked(found) == 1  # by its x
    assert marked(result([0.0, 1.9, 2.3], [[1.0, 0, 0]] * 3)) == 1, "the nearest, not the next"


def test_an_error_of_0_on_known_points_is_infinitely_smaller(monkeypatch):
    monkeypatch.setitem(FIGURES, "training_mse", 0.0)
    assert read(result([2.0], [[1.0, 0, 0]])).times == float("inf")


def test_weights_that_do_not_sum_to_1_are_counted_by_their_shares():
    assert read(result([2.0], [[4.0, 4.0, 0.1]])).count == 2


NOW = Reading(12, 50, 0.25, 1.5)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (12, "Averaged over x, 12 of 50 points carry 90% of the Kernel's weight."),
        (7, "Wider: averaged over x, 12 of 50 points carry 90% of the Kernel's"),
        (20, "Narrower: averaged over x, 12 of 50 points carry 90% of"),
    ],
)
def test_the_first_sentence_says_where_the_weight_went(before, words):
    said = weight_sentence(NOW, NOW._replace(count=before), title="Kernel")
    assert said.startswith(words)
    assert before == 12 or said.endswith(f"from {before} at width 0.5.")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "Its curve is nearer the truth than average pooling: its error is 0.25 against 1"),
        ({"times": 3.0}, "Its curve follows the noise: on points left out its error is 3.0 times"),
        ({"error": 0.6}, "Its curve is too flat: its error is 0.60, that of average pooling 1.00"),
    ],
)
def test_the_second_sentence_says_what_the_curve_follows(changed, words):
    baseline = Reading(46, 50, 1.0, 1.04)
    assert curve_sentence(NOW._replace(**changed), baseline).startswith(words)


class Context:
    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


def test_the_caption_is_right_about_queries_keys_and_values(catalogue):
    """The kernel of an x and the points' own x makes the weights, which mix the points' own y."""
    said = beside(view.__file__, "words.toml")["page"]["drawn"]
    assert "x of the vertical line is the query" in said
    assert "the x of each is a key, its y a value" in said
    assert "end at x = 4.9, the last of the textbook's 50 queries" in said
    found = perform(view.requests(view.Start(), catalogue)[view.MOVED], Context())
    curve, points = found.tables["curve"], found.tables["points"]
    queries, keys, values = curve["x0"].to_numpy(), points["x0"].to_numpy(), points["y"].to_numpy()
    assert (len(queries), queries.max()) == (50, pytest.approx(4.9))
    scores = np.exp(-((queries[:, None] - keys) ** 2) / (2 * view.USUAL_WIDTH**2))
    weights = scores / scores.sum(axis=1, keepdims=True)
    assert curve["prediction"].to_numpy() == pytest.approx(weights @ values, abs=1e-6)
