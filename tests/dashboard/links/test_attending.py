"""Normalisers in the links of every page that lets its reader choose one."""

import copy
import importlib
from dataclasses import replace

import pytest
from support.catalogue import FACTS, normaliser, parameter, scoring

from dashboard.links.attending import learns
from dashboard.links.recipes import obstacle
from dashboard.records.attending import Attending
from dashboard.records.catalogue import Catalogue

# Of each page: a link, the key of its normaliser, and the record that holds it.
PAGES = {
    "regression": ({"a": "gaussian"}, "a.normaliser", lambda view: view.panels[0]),
    "anatomy": ({}, "normaliser", lambda view: view),
    "training": ({}, "normaliser", lambda view: view),
    "experiment": ({}, "normaliser", lambda view: view),
    "complexity": ({}, "normaliser", lambda view: view),
}


def link_of(page):
    return importlib.import_module(f"dashboard.features.{page}.view").LINK


def parsed(page, installed, **given):
    usual, key, record = PAGES[page]
    query = usual | {f"{key}{name}": value for name, value in given.items()}
    view, problems = link_of(page).parse(query, installed)
    return record(view), problems, link_of(page).format(view, installed), query


@pytest.fixture
def odd():
    """A catalogue with plugins that take our own words for their names."""
    facts = copy.deepcopy(FACTS)
    number = parameter("value", 1.0, 0.0, 9.0)
    facts["scorings"] += [
        scoring("normaliser", [parameter("alpha", 2.0, 0.0, 9.0)]),
        scoring("taken", [parameter("normaliser", 3.0, 0.0, 9.0)]),
        scoring("own", own_normaliser=True),
    ]
    facts["normalisers"].append(normaliser("odd", [number, parameter("learn", 1, 0, 5)]))
    return Catalogue.of(facts)


@pytest.mark.parametrize("page", PAGES)
def test_a_chosen_normaliser_and_its_parameters_come_back(page, catalogue):
    record, problems, written, query = parsed(page, catalogue, **{"": "entmax", ".alpha": "1.75"})
    assert (record.normaliser, record.normaliser_parameters) == ("entmax", (("alpha", 1.75),))
    assert not problems
    assert written == query


@pytest.mark.parametrize("page", PAGES)
def test_the_softmax_is_left_out(page, catalogue):
    record, problems, written, _ = parsed(page, catalogue, **{"": "softmax"})
    assert record.options() == {}
    assert not problems
    assert not any("normaliser" in key for key in written)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"": "<b>"}, "normaliser=‘<b>’: need one of softmax, sparsemax, entmax, sigmoid, so"),
        ({"": ""}, "so softmax is used"),
        ({"": "entmax", ".alpha": "1e99"}, "normaliser.alpha=‘1e99’: need 1.05 <="),
        ({"": "entmax", ".width": "1"}, "unknown parameter ‘"),
        ({".alpha": "1.5"}, "unknown parameter ‘"),
    ],
)
def test_what_is_refused_is_said(page, catalogue, given, sentence):
    record, problems, _, _ = parsed(page, catalogue, **given)
    assert record.normaliser in ("softmax", "entmax")
    assert len(problems) == 1
    assert sentence in problems[0]


@pytest.mark.parametrize("page", PAGES)
def test_one_that_is_not_installed_stays_in_the_link(page, catalogue):
    record, problems, written, query = parsed(page, catalogue, **{"": "theirs", ".k": "3<b>"})
    assert record.options() == {"normaliser": "theirs", "normaliser.k": "3<b>"}
    assert not problems
    assert written == query
    given = {"": "theirs", ".k": "3\u202e<b>", ".K!": "1"}
    strange, problems, _, _ = parsed(page, catalogue, **given)
    assert dict(strange.options()) == {"normaliser": "theirs", "normaliser.k": "3 <b>"}
    assert not problems


def test_a_panel_learns_where_its_scoring_or_its_normaliser_does(catalogue):
    for scored, normalised, learned in (
        ("gaussian", "softmax", True), ("uniform", "entmax", True), ("uniform", "softmax", False),
        ("not_here", "not_here_either", False),
    ):  # fmt: skip
        assert learns(Attending(scoring=scored, normaliser=normalised), catalogue) == learned


def test_a_scoring_with_a_way_of_its_own_takes_none(odd):
    link = link_of("regression")
    view, problems = link.parse({"a": "own", "a.normaliser": "entmax", "a.normaliser.alpha": "2"},
                                odd)  # fmt: skip
    assert view.panels[0].normaliser == "softmax"
    assert problems == [
        "a.normaliser=‘entmax’: need no normaliser, since ‘own’ makes its weights in its own way, "
        "so none is used"
    ]
    view, _ = link_of("training").parse(
        {"scorings": "own,additive", "normaliser": "sparsemax"}, odd
    )
    assert "Own makes its weights in its own way and takes no other normaliser" in obstacle(
        view, odd
    )
    assert not obstacle(replace(view, normaliser="softmax"), odd)
    assert "Normaliser ‘theirs’ is not installed" in obstacle(
        replace(view, normaliser="theirs"), odd
    )


def test_plugins_with_our_own_words_for_names_do_not_meet_ours(odd):
    query = {
        "a": "taken", "a.scoring.normaliser": "4", "a.normaliser": "odd",
        "a.normaliser.value": "5", "a.normaliser.learn": "2",
    }  # fmt: skip
    view, problems = link_of("regression").parse(query, odd)
    assert not problems
    assert dict(view.panels[0].parameters)["normaliser"] == 4.0
    assert dict(view.panels[0].normaliser_parameters) == {"value": 5.0, "learn": 2}
    assert link_of("regression").format(view, odd) == query
    for page in ("training", "experiment"):
        query = {
            "scorings": "normaliser", "scoring.normaliser.alpha": "3", "normaliser": "entmax",
            "normaliser.alpha": "1.5",
        }  # fmt: skip
        view, problems = link_of(page).parse(query, odd)
        assert not problems
        assert view.parameters == (("normaliser.alpha", 3.0),)
        assert view.normaliser_parameters == (("alpha", 1.5),)
        assert link_of(page).format(view, odd) == query


def test_an_experiment_asks_for_what_the_panel_asks(catalogue):
    chosen = {"normaliser": "entmax", "normaliser.alpha": "1.75"}
    regression, experiment = (
        importlib.import_module(f"dashboard.features.{page}.view")
        for page in ("regression", "experiment")
    )
    panel = {"a": "gaussian"} | {f"a.{key}": value for key, value in chosen.items()}
    view, _ = regression.LINK.parse(panel, catalogue)
    (asked,) = regression.requests(view, catalogue).values()
    assert dict(asked.options)["normaliser.alpha"] == 1.75
    view, _ = experiment.LINK.parse({"scorings": "gaussian", "seeds": "1", **chosen}, catalogue)
    assert experiment.requests(view, catalogue) == {("gaussian", 0): asked}
