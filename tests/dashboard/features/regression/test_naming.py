from dataclasses import replace

import pytest

from dashboard.features.regression.panel import (
    learned_sentence,
    panel_description,
    panel_titles,
)
from dashboard.links.fits import default_fit
from dashboard.records.request import Result

LEARNED = {"learned": {"width": 0.3141}, "parameters": 1}


@pytest.fixture
def catalogue(catalogue):
    """With titles that end in a letter, as those of kernels do."""
    entry = catalogue.scorings["gaussian"]
    (width,) = entry.parameters
    named = replace(entry, parameters=(replace(width, title="Width σ"),))
    return replace(catalogue, scorings={**catalogue.scorings, "gaussian": named})


@pytest.fixture
def fit(catalogue):
    def new(scoring="gaussian", *, learn=False, **parameters):
        made = default_fit(catalogue, scoring, learn=learn)
        held = {**dict(made.parameters), **parameters}
        return replace(made, parameters=tuple(sorted(held.items())))

    return new


def titles(catalogue, *fits, **facts):
    found = {letter: Result(facts=own) for letter, own in facts.items()}
    return [*panel_titles(dict(zip("abcd", fits, strict=False)), found, catalogue).values()]


def test_a_title_says_what_tells_a_panel_from_the_others(catalogue, fit):
    assert titles(catalogue, fit(), fit("uniform")) == ["Gaussian", "Uniform"]
    assert titles(catalogue, fit(), fit(width=0.5)) == ["Gaussian, σ = 1", "Gaussian, σ = 0.5"]
    # The hidden size tells none apart that the width does not.
    assert titles(catalogue, fit(), fit(width=0.5, hidden=16), fit("uniform")) == [
        "Gaussian, σ = 1", "Gaussian, σ = 0.5", "Uniform",
    ]  # fmt: skip
    assert titles(catalogue, fit(), fit()) == ["Gaussian", "Gaussian"]
    sparse = replace(fit(), normaliser="entmax", normaliser_parameters=(("alpha", 1.3),))
    denser = replace(sparse, normaliser_parameters=(("alpha", 2.0),))
    assert titles(catalogue, fit(), sparse, denser) == [
        "Gaussian", "Gaussian, Entmax, alpha 1.3", "Gaussian, Entmax, alpha 2",
    ]  # fmt: skip
    other = replace(fit(), model="other_model")
    assert titles(catalogue, fit(), other) == [
        "Gaussian, Nadaraya_watson",
        "Gaussian, Other_model",
    ]


def test_a_learned_panel_is_called_by_the_one_value_that_it_learned(catalogue, fit):
    learned = fit(learn=True)
    assert titles(catalogue, fit(), learned) == ["Gaussian", "Gaussian, learned"]
    assert titles(catalogue, fit(), learned, b=LEARNED) == [
        "Gaussian", "Gaussian, learned σ = 0.314",
    ]  # fmt: skip
    assert titles(catalogue, learned, fit(learn=True, width=0.5)) == [
        "Gaussian, learned, from σ = 1", "Gaussian, learned, from σ = 0.5",
    ]  # fmt: skip
    assert titles(catalogue, fit("additive", learn=True), a={"learned": {}, "parameters": 33}) == [
        "Additive, learned"
    ]


def test_a_panel_says_what_it_learned_and_from_where(catalogue, fit):
    def sentence(fit, **facts):
        return learned_sentence(fit, facts, catalogue)

    assert sentence(fit(), **LEARNED) == ""
    assert sentence(fit(learn=True, width=2.0), **LEARNED) == "Learned σ = 0.314 (from 2)."
    assert sentence(fit("additive", learn=True), learned={}, parameters=1033) == (
        "1,033 weights were learned."
    )
    entmax = replace(fit(learn=True), normaliser="entmax", normaliser_parameters=(("alpha", 1.3),))
    both = {"width": 0.25, "normaliser alpha": 1.75, "of another version": 3.0}
    assert sentence(entmax, learned=both, parameters=2) == (
        "Learned σ = 0.25 (from 1), alpha 1.75 (from 1.3)."
    )
    assert sentence(entmax, learned=both, parameters=5) == (
        "Learned σ = 0.25 (from 1), alpha 1.75 (from 1.3). 5 weights were learned."
    )


def test_a_caption_says_what_is_unusual_what_differs_and_what_was_learned(catalogue, fit):
    fits = {"a": fit("uniform"), "b": fit(), "c": fit(learn=True), "d": fit(hidden=16)}

    def said(letter, among=fits, **facts):
        return panel_description(letter, among, facts, catalogue)

    assert said("a") == "Uniform"
    assert said("b") == "Gaussian, σ = 1, hidden 8"
    assert said("c", **LEARNED) == "Gaussian, hidden 8, learned σ = 0.314 (from 1)"
    assert said("d") == "Gaussian, σ = 1, hidden 16"
    assert said("b", {"b": fit()}) == "Gaussian, σ = 1"
    assert said("b", {"b": fit(width=0.5)}) == "Gaussian, σ = 0.5"
    additive = {"a": fit("additive", learn=True)}
    assert said("a", additive, learned={}, parameters=33) == "Additive, 33 learned weights"


@pytest.mark.usefixtures("chinese")
def test_a_chinese_panel_says_the_same(catalogue, fit):
    learned = fit(learn=True)
    assert learned_sentence(learned, LEARNED, catalogue) == "学得 σ = 0.314（初值 1）。"
