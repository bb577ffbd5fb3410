"""What trainings have in common, whichever page asks for them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.catalogue import named, parameter

from dashboard.links.fields import Text
from dashboard.links.link import Link
from dashboard.links.recipes import (
    FIELDS,
    Recipe,
    followed,
    in_charts,
    obstacle,
    own_metric,
    refitted,
    setting_parameters,
    training_requests,
    usual_probe,
    usual_scorings,
)
from dashboard.records.catalogue import Catalogue

LINK = Link(default=lambda _: Recipe(), fields=FIELDS)


@pytest.fixture
def usual(catalogue):
    return LINK.parse({}, catalogue)[0]


def test_another_data_set_has_no_more_pairs_than_it_can_give(catalogue):
    recipe, _ = LINK.parse({"data": "more_pairs", "pairs": "70001"}, catalogue)
    moved = refitted(replace(recipe, data="pairs"), catalogue, dict(recipe.settings))
    assert dict(moved.settings)["pairs"] == 5003
    assert {k.name: k for k in setting_parameters(moved, catalogue)}["pairs"].high == 5003


def test_another_start_brings_its_values_and_a_kept_one_stays(usual, catalogue):
    moved = refitted(
        replace(usual, start="patient"), catalogue, {"recipe.epochs": 17, "model.unknown": 1}
    )
    values = dict(moved.settings)
    assert (values["recipe.epochs"], values["pairs"], values["model.hidden"]) == (17, 0, 128)
    assert "model.unknown" not in values


def test_settings_follow_another_model_and_another_preset(usual, catalogue):
    changed = refitted(usual, catalogue, {"recipe.epochs": 17, "model.hidden": 19, "pairs": 211})
    settings = dict(followed(changed, replace(changed, model="convolution"), catalogue).settings)
    assert (settings["recipe.epochs"], settings["model.hidden"]) == (17, 34)
    assert "model.dropout" not in settings
    settings = dict(followed(usual, replace(changed, model="convolution"), catalogue).settings)
    assert settings["recipe.epochs"] == 17  # of the recipe itself, not of what it was before
    settings = dict(followed(changed, replace(changed, data="more_pairs"), catalogue).settings)
    assert (settings["pairs"], settings["model.hidden"]) == (211, 19)
    settings = dict(followed(changed, replace(changed, start="patient"), catalogue).settings)
    assert (settings["recipe.epochs"], settings["model.hidden"]) == (211, 128)


def test_a_probe_that_was_written_stays_with_another_model(usual, catalogue):
    written = replace(usual, probe="Go !")
    assert followed(written, replace(written, model="convolution"), catalogue).probe == "Go !"
    (field,) = [field for field in FIELDS if isinstance(field, Text)]
    assert field.write(written, catalogue) == {"probe": "Go !"}


def test_every_scoring_is_a_training_with_its_own_parameters(usual, catalogue):
    recipe = refitted(replace(usual, scorings=("gaussian", "uniform")), catalogue, {})
    gaussian, uniform = training_requests(recipe, seed=7)
    assert (gaussian.scoring, uniform.scoring) == ("gaussian", "uniform")
    assert (gaussian.parameters, uniform.parameters) == ((("width", 1.0),), ())
    assert gaussian.seed == uniform.seed == 7
    on_gpu = training_requests(replace(recipe, device="cuda:0"), seed=7)
    assert [one.device for one in (gaussian, *on_gpu)] == ["auto", "cuda:0", "cuda:0"]
    assert dict(gaussian.options)["probe"] == "I am not tired."


def test_usual_scorings_are_those_installed_else_the_first(catalogue):
    assert usual_scorings(catalogue) == ("additive", "scaled_dot")
    few = {name: catalogue.scorings[name] for name in ("odd", "scaled_dot")}
    assert usual_scorings(replace(catalogue, scorings=few)) == ("scaled_dot",)
    assert usual_scorings(replace(catalogue, scorings=few), ("entmax",)) == ("odd",)
    assert usual_scorings(replace(catalogue, scorings={})) == ()


def test_what_cannot_be_made_says_why(usual, catalogue):
    assert obstacle(usual, catalogue) == ""
    assert "Model ‘mamba’" in obstacle(replace(usual, model="mamba"), catalogue)
    assert obstacle(replace(usual, scorings=()), catalogue) == "Choose at least one scoring."
    assert "Model ‘bahdanau’" in obstacle(usual, catalogue, "regression")
    for held_out, wrong in ((6, False), (7, True)):
        few = replace(usual, settings=(("held_out", held_out), ("pairs", 7)))
        assert bool(obstacle(few, catalogue)) is wrong
        every = replace(few, settings=(("held_out", held_out), ("pairs", 0)))
        assert bool(obstacle(every, catalogue, rows=7)) is wrong
        assert bool(obstacle(few, catalogue, rows=99)) is wrong


def test_a_link_to_trainings_names_as_many_as_are_shown():
    ids = [f"{number:x}" * 32 for number in range(1, 7)]
    assert in_charts(ids) == {"show": "11111111,22222222,33333333,44444444"}


def test_the_usual_normaliser_is_left_out_and_another_is_asked_for():
    def asked(**chosen):
        (request,) = training_requests(
            Recipe(scorings=("dot",), settings=(("pairs", 3),), **chosen), seed=0
        )
        return dict(request.options)

    usual = {"pairs": 3, "probe": ""}
    assert asked() == asked(normaliser="softmax") == usual
    assert asked(normaliser="relu") == {"normaliser": "relu", **usual}
    assert asked(normaliser="entmax", normaliser_parameters=(("alpha", 1.5),)) == {
        "normaliser": "entmax", "normaliser.alpha": 1.5, **usual,
    }  # fmt: skip


@pytest.fixture
def reversing(facts):
    facts["datasets"].append(
        named("reverse", "translation", tokeniser="spaces", metric="exact_match",
              sides=["symbols", "reversed"], examples=["a b c", "c a"])
    )  # fmt: skip
    facts["metrics"] = [
        {"name": "bleu", "title": "BLEU"},
        {"name": "exact_match", "title": "Exact match", "unit": "%", "higher_is_better": True},
    ]
    facts["options"]["training"].append(
        parameter("recipe.tokeniser", "clitics", choices=["clitics", "spaces", "words"])
    )
    return Catalogue.of(facts)


def test_a_data_set_brings_its_tokeniser_and_its_probe(reversing):
    english, _ = LINK.parse({}, reversing)
    assert (dict(english.settings)["recipe.tokeniser"], english.probe) == (
        "clitics", "I am not tired.",
    )  # fmt: skip
    symbols, _ = LINK.parse({"data": "reverse"}, reversing)
    assert (dict(symbols.settings)["recipe.tokeniser"], symbols.probe) == ("spaces", "a b c")
    assert LINK.format(symbols, reversing) == {"data": "reverse"}
    moved = followed(english, replace(english, data="reverse"), reversing)
    assert (moved.settings, moved.probe) == (symbols.settings, symbols.probe)
    back = followed(moved, replace(moved, data="pairs"), reversing)
    assert (back.settings, back.probe) == (english.settings, english.probe)
    chosen, _ = LINK.parse({"data": "reverse", "tokeniser": "words", "probe": "b b"}, reversing)
    assert (dict(chosen.settings)["recipe.tokeniser"], chosen.probe) == ("words", "b b")
    moved = followed(chosen, replace(chosen, data="pairs"), reversing)
    assert (dict(moved.settings)["recipe.tokeniser"], moved.probe) == ("clitics", "b b")


def test_a_data_sets_own_metric_is_known_beforehand(reversing):
    assert own_metric("pairs", reversing) is None
    assert own_metric("upload:x", reversing) is None
    found = own_metric("reverse", reversing)
    assert (found.name, found.label, found.better) == ("score", "Exact match, %", "higher")
    metrics = reversing.others["metrics"]
    exact = replace(metrics["exact_match"], higher_is_better=False)
    others = {**reversing.others, "metrics": {**metrics, "exact_match": exact}}
    assert own_metric("reverse", replace(reversing, others=others)).better == "lower"
    usual = replace(reversing.datasets["reverse"], metric="bleu")
    datasets = {**reversing.datasets, "reverse": usual}
    assert own_metric("reverse", replace(reversing, datasets=datasets)) is None


def test_where_english_is_read_the_probe_is_the_presets(usual, catalogue):
    corpus = replace(catalogue.datasets["pairs"], sides=("English", "French"), examples=("Go .",))
    for sides, probe in ((("English", "French"), "I am not tired."), (("French", "x"), "Go .")):
        datasets = {**catalogue.datasets, "pairs": replace(corpus, sides=sides)}
        asked = replace(usual, data="pairs")
        assert usual_probe(asked, replace(catalogue, datasets=datasets)) == probe


def test_a_small_data_set_lowers_what_is_usual(usual, catalogue):
    corpus = catalogue.datasets["pairs"]
    few = tuple(replace(own, high=7, default=5) if own.name == "pairs" else own
                for own in corpus.parameters)  # fmt: skip
    small = replace(
        catalogue, datasets={**catalogue.datasets, "pairs": replace(corpus, parameters=few)}
    )
    for start in catalogue.presets:
        recipe = replace(usual, data="pairs", start=start)
        (pairs,) = (one for one in setting_parameters(recipe, small) if one.name == "pairs")
        assert (pairs.high, pairs.default <= 7) == (7, True)
        assert dict(refitted(recipe, small, {}).settings)["pairs"] <= 7
