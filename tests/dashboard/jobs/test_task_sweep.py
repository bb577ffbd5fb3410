"""A worker computes all positions of a slider, each as if it had been asked for alone."""

import pytest

from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result
from dashboard.records.sweep import results, sweep


class Context:
    def __init__(self, steps=10**6):
        self.left, self.notes = steps, []

    def report(self, fraction, note="", facts=None):
        self.notes.append((fraction, note))

    def stopped(self):
        self.left -= 1
        return self.left < 0


def fit(width):
    return Request.make(
        "regression", model="nadaraya_watson", scoring="gaussian", data="sine",
        parameters={"width": width}, options={"data.points": 12, "data.queries": 9},
    )  # fmt: skip


def test_each_result_is_the_one_that_is_computed_alone():
    asked, context = [fit(0.3), fit(1.0)], Context()
    found = results(sweep(asked), perform(sweep(asked), context))
    for request in asked:
        alone = Result.from_bytes(perform(request, Context()).to_bytes())
        assert found[request].tables.keys() == alone.tables.keys()
        assert all(found[request].tables[n].equals(alone.tables[n]) for n in alone.tables)
    assert context.notes[-1][0] == 1.0


def test_a_sweep_can_be_stopped_between_two_positions():
    with pytest.raises(Cancelled):
        perform(sweep([fit(0.3), fit(1.0)]), Context(steps=0))


def test_what_is_refused_at_one_position_is_refused_in_its_own_words():
    with pytest.raises(ValueError, match="width"):
        perform(sweep([fit(1.0), fit(-1.0)]), Context())


@pytest.mark.parametrize("task", ["sweep", "catalogue"])
def test_a_sweep_of_sweeps_is_refused(task):
    with pytest.raises(ValueError, match="results follow a slider"):
        perform(sweep([Request.make(task)]), Context())
