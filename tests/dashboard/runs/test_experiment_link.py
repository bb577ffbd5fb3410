"""The page *Experiment* as a link, and the requests that it names."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from dashboard.runs.experiment_link import format_experiment, parse_experiment
from dashboard.runs.experiment_view import default_experiment, experiment_requests, obstacle
from dashboard.runs.offers import Catalogue
from dashboard.runs.regression_link import parse_regression, regression_request
from dashboard.runs.train_link import parse_train
from dashboard.runs.train_view import train_requests

FITS = {
    "scorings": "gaussian,uniform,odd", "data": "clash", "data.seed": "5", "a": "0.25",
    "learn": "1", "learn.epochs": "13", "gaussian.width": "0.5", "odd.learn": "1.5",
    "seeds": "3", "figure": "seconds", "maps": "2", "device": "cpu",
}  # fmt: skip
TRAININGS = {
    "task": "translation", "model": "convolution", "scorings": "gaussian,additive",
    "data": "more_pairs", "start": "patient", "epochs": "13", "model.hidden": "46",
    "gaussian.width": "0.5", "probe": "Go !", "device": "cpu", "seeds": "2", "figure": "bleu",
    "maps": "1",
}  # fmt: skip


def problem_of(link, catalogue):
    view, problems = parse_experiment(link, catalogue)
    (problem,) = problems
    again = format_experiment(view, catalogue)
    assert format_experiment(parse_experiment(again, catalogue)[0], catalogue) == again
    return view, problem


def test_the_bare_link_is_four_kernels_with_five_seeds(catalogue):
    view, problems = parse_experiment({}, catalogue)
    assert problems == []
    assert view == replace(default_experiment(catalogue, "regression"), figure="truth_mse")
    assert format_experiment(view, catalogue) == {}
    places = list(experiment_requests(view, catalogue))
    scorings = ("uniform", "gaussian", "laplacian", "scaled_dot")
    assert places == [(name, seed) for seed, name in itertools.product(range(5), scorings)]


def test_a_run_is_what_the_page_of_its_task_would_ask_for(catalogue):
    """So that each finds what the other has made."""
    requests = experiment_requests(parse_experiment(FITS, catalogue)[0], catalogue)
    link = {"a": "gaussian", "a.width": "0.5", "a.learn": "1", "a.epochs": "13", "seed": "2",
            "data": "clash", "data.seed": "5", "data.a": "0.25", "device": "cpu"}  # fmt: skip
    page, problems = parse_regression(link, catalogue)
    assert problems == []
    assert requests["gaussian", 2] == regression_request(page, page.panels[0])
    trained = experiment_requests(parse_experiment(TRAININGS, catalogue)[0], catalogue)
    own = ("task", "seeds", "figure", "maps")
    link = {name: value for name, value in TRAININGS.items() if name not in own} | {"seed": "1"}
    page, problems = parse_train(link, catalogue)
    assert problems == []
    assert (trained["gaussian", 1], trained["additive", 1]) == train_requests(page)
    assert len(set(trained.values())) == len(trained) == 4


def test_a_scoring_without_weights_is_asked_for_as_it_is(catalogue):
    requests = experiment_requests(parse_experiment(FITS, catalogue)[0], catalogue)
    assert not dict(requests["uniform", 0].options).get("learn")
    assert dict(requests["gaussian", 0].options)["learn"] is True
    assert dict(requests["odd", 0].parameters)["learn"] == 1.5


@pytest.mark.parametrize("link", [FITS, TRAININGS])
def test_a_link_says_everything_and_comes_back_as_it_was(catalogue, link):
    view, problems = parse_experiment(link, catalogue)
    assert problems == []
    assert format_experiment(view, catalogue) == link


@pytest.mark.parametrize(
    ("link", "named"),
    [
        ({"seeds": "1000000000"}, "need 1 <= seeds <= 10, so 10 is used"),
        ({"seeds": "10^9"}, "seeds=‘10^9’: need a whole number, so 5 is used"),
        ({"seeds": "0"}, "need 1 <= seeds <= 10, so 1 is used"),
        ({"task": "<b>"}, "need one of regression, translation, so regression is used"),
        ({"figure": "bleu"}, "need one of truth_mse, leave_one_out_mse"),
        ({"maps": "77"}, "need 0 <= maps <= 9"),
        ({"scorings": "additive,../x"}, "scorings: ‘../x’ is not a scoring's name"),
        ({"data": "pairs"}, "data=‘pairs’ is not installed here; sine is used"),
        ({"learn.epochs": "7"}, "unknown parameter ‘learn.epochs’: ignored"),
        ({"task": "translation", "seed": "3"}, "unknown parameter ‘seed’: ignored"),
        ({"task": "translation", "epochs": "0"}, "need 1 <= epochs <= 10000, so 1 is used"),
        ({"task": "translation", "noise": "1"}, "unknown parameter ‘noise’: ignored"),
    ],
)
def test_what_cannot_be_taken_is_named(catalogue, link, named):
    assert named in problem_of(link, catalogue)[1]


def test_a_scoring_that_is_not_installed_stays_and_asks_for_nothing(catalogue):
    for task in ({}, {"task": "translation"}):
        link = {**task, "scorings": "entmax,gaussian"}
        view, problems = parse_experiment(link, catalogue)
        assert problems == []
        assert format_experiment(view, catalogue) == link
        assert {name for name, _ in experiment_requests(view, catalogue)} == {"gaussian"}
        assert obstacle(view, catalogue) == ""


def test_without_model_or_scoring_there_is_nothing_to_ask_for(catalogue):
    view, _ = parse_experiment({"task": "translation", "model": "mamba"}, catalogue)
    assert "Model ‘mamba’ is not installed here" in obstacle(view, catalogue)
    assert experiment_requests(view, catalogue) == {}
    view, _ = parse_experiment({"scorings": "none"}, catalogue)
    assert obstacle(view, catalogue) == "Choose at least one scoring."
    assert format_experiment(view, catalogue) == {"scorings": "none"}


def test_a_scoring_called_learn_keeps_its_parameters_apart(facts):
    facts["scorings"].append({**facts["scorings"][1], "name": "learn"})
    catalogue = Catalogue.of(facts)
    link = {"scorings": "learn", "scoring.learn.width": "0.5"}
    view, problems = parse_experiment(link, catalogue)
    assert problems == []
    assert experiment_requests(view, catalogue)["learn", 0].parameters == (
        ("hidden", 8), ("width", 0.5),
    )  # fmt: skip
    assert format_experiment(view, catalogue) == link
