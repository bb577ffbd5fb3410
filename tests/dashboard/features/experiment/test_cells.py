"""Tuning by the real tasks, on problems that no experiment reports."""

import pytest

from attention_plugins.registry import installed
from dashboard.features.experiment import task
from dashboard.features.experiment.view import TUNING_SEEDS
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result


class Context:
    """Takes every report."""

    def __init__(self):
        self.fractions = []

    def report(self, fraction, note="", facts=None):
        self.fractions.append(fraction)

    def stopped(self):
        return False


def tune(scoring, parameters=None, **options):
    chosen = {"data.points": 23, "data.queries": 5, **options}
    request = Request.make(
        "experiment", model="nadaraya_watson", scoring=scoring, data="sine",
        parameters=parameters or {}, options=chosen, device="cpu",
    )  # fmt: skip
    return perform(request, Context())


def error_of(width, **options):
    """The mean left-out error of the tuning seeds, each fitted by itself."""
    found = [
        perform(
            Request.make(
                "regression", model="nadaraya_watson", scoring="gaussian", data="sine",
                parameters={"width": width}, seed=seed, device="cpu",
                options={"data.points": 23, "data.queries": 5, **options},
            ),
            Context(),
        ).facts["metrics"]["leave_one_out_mse"]
        for seed in TUNING_SEEDS
    ]  # fmt: skip
    return sum(found) / len(found)


def test_the_width_with_the_smallest_error_on_other_seeds_is_chosen():
    facts = tune("gaussian").facts
    widths = [
        one["width"] for one in task.fitting.grid(installed().scoring("gaussian").parameters)
    ]
    assert len(widths) == facts["combinations"] == 8
    assert facts["chosen"]["width"] == min(widths, key=error_of) != 1.0


@pytest.mark.parametrize(("low", "high", "edge"), [(0.4, 9.0, "lowest"), (0.01, 0.1, "highest"),
                                                   (0.01, 9.0, "")])  # fmt: skip
def test_a_value_at_an_end_of_its_grid_is_named(monkeypatch, low, high, edge):
    """Of these problems a width between 0.1 and 0.4 is best."""
    ratio = (high / low) ** (1 / 6)
    widths = [{"width": low * ratio**n} for n in range(7)]
    monkeypatch.setattr(task.fitting, "grid", lambda parameters: widths)
    facts = tune("gaussian").facts
    assert facts["edges"] == ({"width": edge} if edge else {})


def test_what_makes_no_difference_is_at_no_edge(monkeypatch):
    grid = [{"width": 0.5}, {"width": 1.0}]
    monkeypatch.setattr(task.fitting, "grid", lambda parameters: grid)
    monkeypatch.setattr(task.tasks, "perform", lambda *given: Result(
        facts={"metrics": {"leave_one_out_mse": 0.5}}
    ))  # fmt: skip
    assert tune("gaussian").facts["edges"] == {}


def test_a_scoring_without_parameters_has_nothing_to_choose():
    result = tune("uniform")
    assert (result.facts["chosen"], result.facts["combinations"]) == ({}, 1)


def test_where_a_scoring_learns_its_rate_is_tuned():
    result = tune("gaussian", learn=True, epochs=3)
    assert {*result.facts["chosen"]} == {"lr"}
    assert result.facts["chosen"]["lr"] in (5.0, 5 / 3, 15.0)
    assert result.facts["combinations"] == 3


def test_what_no_combination_can_do_is_refused():
    with pytest.raises(ValueError, match="nowhere"):
        tune("nowhere")
    with pytest.raises(ValueError, match="learn"):
        tune("gaussian", learn="yes")
