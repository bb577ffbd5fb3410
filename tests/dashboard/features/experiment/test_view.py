"""The page *Experiment* as a link, and the requests that it names."""

from __future__ import annotations

import itertools
from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.catalogue import named

from attention_plugins.race.statistics import seeds_needed
from dashboard.features.experiment.view import (
    LINK,
    MOST_SEEDS,
    enough_seeds,
    metrics,
    obstacle,
    reference_of,
    requests,
    switched,
    tunes,
)
from dashboard.features.regression import view as regression
from dashboard.features.training import view as training
from dashboard.links.fields import MOST_SCORINGS
from dashboard.records.catalogue import Catalogue
from dashboard.storage.page_run import MOST_PANELS

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
    view, problems = LINK.parse(link, catalogue)
    (problem,) = problems
    assert LINK.parse(LINK.format(view, catalogue), catalogue) == (view, [])
    return view, problem


def test_the_bare_link_is_four_kernels_with_seeds_enough_to_compare_them(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert problems == []
    assert view.figure == "truth_mse"
    assert LINK.format(view, catalogue) == {}
    places = list(requests(view, catalogue))
    scorings = ("uniform", "gaussian", "laplacian", "scaled_dot")
    assert places == [(name, seed) for seed, name in itertools.product(range(7), scorings)]


@pytest.mark.parametrize(
    ("link", "seeds"),
    [
        ({}, 7), ({"tune": "0"}, 5), ({"task": "translation"}, 3), ({"data": "step"}, 5),
        ({"scorings": "gaussian,uniform"}, 5), ({"seeds": "5"}, 5), ({"odd": "1"}, 5),
    ],
)  # fmt: skip
def test_a_link_without_seeds_keeps_the_number_that_it_was_written_with(catalogue, link, seeds):
    view, _ = LINK.parse(link, catalogue)
    assert view.seeds == seeds
    assert LINK.parse(LINK.format(view, catalogue), catalogue)[0] == view


def test_as_many_seeds_are_usual_as_can_tell_scorings_from_chance(catalogue):
    """As the statistics of the workers count it, which a page does not import."""
    for scorings in range(2, MOST_SCORINGS + 1):
        assert enough_seeds(scorings) == seeds_needed(scorings - 1)
        assert enough_seeds(scorings) <= MOST_SEEDS
    assert enough_seeds(1) == 6
    assert MOST_SEEDS >= 30, "as many as are usual in papers"
    # A run for each seed, a tuning of each scoring, and the statistics.
    assert MOST_SCORINGS * (MOST_SEEDS + 1) + 1 <= MOST_PANELS, "the page could not be kept"
    of_file = LINK.parse({}, catalogue)[0].changed(data="upload:" + "0" * 64)
    assert (of_file.seeds, switched(of_file, "translation", catalogue).seeds) == (1, 6)
    view = switched(LINK.parse({}, catalogue)[0], "translation", catalogue)
    assert view.scorings == LINK.parse({"task": "translation"}, catalogue)[0].scorings
    assert view.seeds == enough_seeds(len(view.scorings))
    assert LINK.format(view, catalogue) == {"task": "translation", "seeds": str(view.seeds)}


def test_the_other_task_keeps_what_was_chosen(catalogue):
    link = {"scorings": "gaussian,additive", "gaussian.width": "0.5", "seeds": "8"}
    other = switched(LINK.parse(link, catalogue)[0], "translation", catalogue)
    assert LINK.format(other, catalogue) == {"task": "translation", **link}
    assert LINK.format(switched(other, "regression", catalogue), catalogue) == link


@pytest.mark.parametrize(
    ("link", "task", "reference"),
    [
        ({"scorings": "gaussian,scaled_dot"}, "translation", "gaussian"),
        ({"task": "translation", "scorings": "gaussian,scaled_dot"}, "regression", "scaled_dot"),
        ({"scorings": "uniform,scaled_dot", "reference": "uniform"}, "translation", "uniform"),
        ({"scorings": "odd,scaled_dot", "reference": "odd"}, "translation", "odd"),
        ({"scorings": "gaussian,gone", "reference": "gone"}, "translation", "gaussian"),
    ],
)
def test_the_other_task_compares_with_the_same_scoring_where_it_has_it(
    catalogue, link, task, reference
):
    """A usual reference too, which is another one there."""
    other = switched(LINK.parse(link, catalogue)[0], task, catalogue)
    assert reference_of(other) == reference
    assert LINK.parse(LINK.format(other, catalogue), catalogue)[0] == other


def test_a_run_is_what_the_page_of_its_task_would_ask_for(catalogue):
    """So that each finds what the other has made."""
    fits = requests(LINK.parse(FITS, catalogue)[0], catalogue)
    link = {"a": "gaussian", "a.width": "0.5", "a.learn": "1", "a.epochs": "13", "seed": "2",
            "data": "clash", "data.seed": "5", "data.a": "0.25", "device": "cpu"}  # fmt: skip
    page, problems = regression.LINK.parse(link, catalogue)
    assert problems == []
    assert fits["gaussian", 2] == regression.requests(page, catalogue)["a"]
    trained = requests(LINK.parse(TRAININGS, catalogue)[0], catalogue)
    own = ("task", "seeds", "figure", "maps")
    link = {name: value for name, value in TRAININGS.items() if name not in own} | {"seed": "1"}
    page, problems = training.LINK.parse(link, catalogue)
    assert problems == []
    assert (trained["gaussian", 1], trained["additive", 1]) == training.requests(page)
    assert len(set(trained.values())) == len(trained) == 4


def test_a_scoring_without_weights_is_asked_for_as_it_is(catalogue):
    fits = requests(LINK.parse(FITS, catalogue)[0], catalogue)
    assert not dict(fits["uniform", 0].options).get("learn")
    assert dict(fits["gaussian", 0].options)["learn"] is True
    assert dict(fits["odd", 0].parameters)["learn"] == 1.5


@pytest.mark.parametrize("link", [FITS, TRAININGS])
def test_a_link_says_everything_and_comes_back_as_it_was(catalogue, link):
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == link


@pytest.mark.parametrize(
    ("link", "named"),
    [
        ({"seeds": "1000000000"}, "need 1 <= seeds <= 30, so 30 is used"),
        ({"seeds": "10^9"}, "seeds=‘10^9’: need a whole number, so 5 is used"),
        ({"seeds": "0"}, "need 1 <= seeds <= 30, so 1 is used"),
        ({"task": "<b>"}, "need one of regression, translation, so regression is used"),
        ({"figure": "bleu"}, "need one of truth_mse, leave_one_out_mse"),
        ({"maps": "77"}, "need 0 <= maps <= 29"),
        ({"scorings": "additive,../x"}, "scorings: ‘../x’ is not a scoring's name"),
        ({"data": "pairs"}, "data=‘pairs’: need one of sine, step, clash, so sine is used"),
        ({"learn.epochs": "7"}, "unknown parameter ‘learn.epochs’: ignored"),
        ({"task": "translation", "seed": "3"}, "unknown parameter ‘seed’: ignored"),
        ({"task": "translation", "epochs": "0"}, "need 1 <= epochs <= 10000, so 1 is used"),
        ({"task": "translation", "noise": "1"}, "unknown parameter ‘noise’: ignored"),
    ],
)
def test_what_cannot_be_taken_is_named(catalogue, link, named):
    assert named in problem_of(link, catalogue)[1]


@pytest.mark.parametrize(
    ("link", "tuned"),
    [
        ({}, True), ({"scorings": "gaussian,uniform", "seeds": "8"}, True), ({"tune": "0"}, False),
        ({"gaussian.width": "0.5"}, False), ({"gaussian.width": "0.5", "tune": "1"}, True),
        ({"learn": "1"}, False), ({"learn": "1", "tune": "1"}, True),
        ({"data": f"upload:{'4f' * 32}", "tune": "1"}, False), ({"task": "translation"}, False),
    ],
)  # fmt: skip
def test_scorings_are_tuned_unless_someone_has_set_them(catalogue, link, tuned):
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert tunes(view) is tuned
    assert LINK.format(view, catalogue) == link


def test_a_reference_that_is_compared_no_more_leaves_the_link(catalogue):
    link = {"scorings": "gaussian,uniform", "reference": "uniform"}
    view, problems = LINK.parse(link, catalogue)
    assert (problems, reference_of(view)) == ([], "uniform")
    other = replace(view, scorings=("gaussian", "laplacian"))
    assert reference_of(other) == "gaussian"
    assert LINK.format(other, catalogue) == {"scorings": "gaussian,laplacian"}


def test_what_was_tuned_is_fitted_with_the_values_chosen(catalogue):
    view, _ = LINK.parse({"scorings": "gaussian,uniform", "seeds": "2"}, catalogue)
    fits = requests(view, catalogue, {"gaussian": (("width", 0.25),)})
    assert [*fits] == [("gaussian", 0), ("gaussian", 1)]
    assert {dict(one.parameters)["width"] for one in fits.values()} == {0.25}
    view, _ = LINK.parse({"scorings": "gaussian", "learn": "1", "seeds": "1"}, catalogue)
    (fit,) = requests(view, catalogue, {"gaussian": (("lr", 15.0),)}).values()
    assert dict(fit.options)["lr"] == 15.0
    assert dict(fit.parameters)["width"] == 1.0


VALUES = st.one_of(
    st.text("aé٣<\u202e\n0.,:_", max_size=300),
    st.sampled_from(
        ["translation", "regression", "1", "0", "7", "-1", "1e999", "nan", "", "none",
         "odd,entmax", "gaussian", "bleu", "seconds", "patient", "more_pairs", "clash",
         f"upload:{'4f' * 32}"]
    ),
)  # fmt: skip


@given(query=st.dictionaries(st.sampled_from([*FITS, *TRAININGS, "seed", "show"]), VALUES))
def test_no_link_whatever_makes_reading_fail(catalogue, query):
    view, problems = LINK.parse(query, catalogue)
    link = parse_qs(urlencode(LINK.format(view, catalogue)), keep_blank_values=True)
    assert LINK.parse(link, catalogue) == (view, [])
    assert all(len(sentence) < 400 and sentence.isprintable() for sentence in problems)
    requests(view, catalogue)


def test_a_scoring_that_is_not_installed_stays_and_asks_for_nothing(catalogue):
    for task in ({}, {"task": "translation"}):
        link = {**task, "scorings": "entmax,gaussian"}
        view, problems = LINK.parse(link, catalogue)
        assert problems == []
        assert LINK.format(view, catalogue) == link
        assert {name for name, _ in requests(view, catalogue)} == {"gaussian"}
        assert obstacle(view, catalogue) == ""


def test_without_model_or_scoring_there_is_nothing_to_ask_for(catalogue):
    view, _ = LINK.parse({"task": "translation", "model": "mamba"}, catalogue)
    assert "Model ‘mamba’ is not installed here" in obstacle(view, catalogue)
    assert requests(view, catalogue) == {}
    view, _ = LINK.parse({"scorings": "none"}, catalogue)
    assert obstacle(view, catalogue) == "Choose at least one scoring."
    assert LINK.format(view, catalogue) == {"scorings": "none"}


def test_a_scoring_called_learn_keeps_its_parameters_apart(facts):
    facts["scorings"].append({**facts["scorings"][1], "name": "learn"})
    catalogue = Catalogue.of(facts)
    link = {"scorings": "learn", "scoring.learn.width": "0.5"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert requests(view, catalogue)["learn", 0].parameters == (
        ("hidden", 8), ("width", 0.5),
    )  # fmt: skip
    assert LINK.format(view, catalogue) == link


def test_another_model_of_the_regression_is_in_the_link(catalogue):
    link = {"scorings": "gaussian", "model": "other_model"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == link
    (request, *_) = requests(view, catalogue).values()
    assert (request.model, dict(request.parameters)) == ("other_model", {"width": 1.0, "depth": 3})
    view, _ = LINK.parse({"model": "from_a_friend"}, catalogue)
    assert "Model ‘from_a_friend’ is not installed here" in obstacle(view, catalogue)


def test_a_catalogue_without_metrics_is_read(facts):
    """As of a worker that is older than this page."""
    del facts["measured"]
    view, problems = LINK.parse({"scorings": "gaussian"}, Catalogue.of(facts))
    assert (view.figure, problems) == ("", [])


def test_a_data_sets_own_metric_stands_in_bleus_place(facts):
    facts["datasets"].append(named("reverse", "translation", metric="exact_match"))
    facts["metrics"] = [{"name": "exact_match", "title": "Exact match", "unit": "%"}]
    here = Catalogue.of(facts)
    titles = {}
    for data in ("pairs", "reverse"):
        link = {"task": "translation", "data": data, "figure": "score"}
        view, problems = LINK.parse(link, here)
        titles[data] = [metric.heading for metric in metrics(view, here)]
        assert (view.figure == "score") is (data == "reverse") is (not problems)
    places = [titles["pairs"].index("BLEU ↑"), titles["reverse"].index("Exact match, % ↑")]
    assert places[0] == places[1]
    assert "BLEU ↑" not in titles["reverse"]
