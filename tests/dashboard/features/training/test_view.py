"""The page *Train* as a link, and the requests that its view stands for."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.features.training.view import LINK, missing, requests
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request

OPTIONS = {
    "pairs": 401, "held_out": 23, "recipe.epochs": 7, "recipe.batch_size": 64,
    "recipe.learning_rate": 0.005, "recipe.schedule": "cosine",
    "model.hidden": 62, "model.dropout": 0.3, "probe": "I am not tired.",
}  # fmt: skip
EVERYTHING = {
    "model": "convolution", "scorings": "gaussian,additive", "data": f"upload:{'4f' * 32}",
    "start": "patient", "epochs": "13", "learning_rate": "0.03", "schedule": "constant",
    "model.hidden": "46", "gaussian.width": "0.5", "pairs": "0", "held_out": "0",
    "probe": "Go !", "seed": "3", "device": "cpu", "show": "0123abcd,00ff00ff00", "epoch": "5",
}  # fmt: skip


def test_the_bare_link_trains_two_scorings_as_the_first_preset_says(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert problems == []
    assert requests(view) == tuple(
        Request.make(
            "training", model="bahdanau", scoring=scoring, data="pairs", options=OPTIONS,
        )
        for scoring in ("additive", "scaled_dot")
    )  # fmt: skip
    assert LINK.format(view, catalogue) == {}


def test_a_link_says_everything_and_comes_back_as_it_was(catalogue):
    view, problems = LINK.parse(EVERYTHING, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == EVERYTHING
    gaussian, additive = requests(view)
    assert dict(gaussian.options) == {
        "pairs": 0, "held_out": 0, "recipe.epochs": 13, "recipe.batch_size": 64,
        "recipe.learning_rate": 0.03, "recipe.schedule": "constant", "model.hidden": 46,
        "probe": "Go !",
    }  # fmt: skip
    assert (gaussian.parameters, additive.parameters) == ((("width", 0.5),), ())
    assert (gaussian.seed, gaussian.device, gaussian.data) == (3, "cpu", f"upload:{'4f' * 32}")
    assert (view.shown, view.epoch) == (("0123abcd", "00ff00ff00"), 5)


def test_nothing_chosen_is_not_the_default(catalogue):
    for key, field in (("scorings", "scorings"), ("show", "shown")):
        view, problems = LINK.parse({key: "none"}, catalogue)
        assert problems == []
        assert getattr(view, field) == ()
        assert LINK.format(view, catalogue) == {key: "none"}


@pytest.mark.parametrize(
    ("link", "named"),
    [
        ({"model": "<b>"}, "model=‘<b>’: need one of bahdanau, convolution, so bahdanau is used"),
        ({"scorings": "additive,../x"}, "scorings: ‘../x’ is not a scoring's name"),
        ({"scorings": ",".join(f"s{n}" for n in range(11))}, "11 of them; the first 8 are used"),
        ({"data": "../etc"}, "data=‘../etc’: need one of pairs, more_pairs, so pairs is used"),
        ({"data": "upload:abc"}, "data=‘upload:abc’: need one of pairs"),
        ({"start": "never"}, "start=‘never’: need one of quick, patient, so quick is used"),
        ({"pairs": "9999"}, "need 0 <= pairs <= 5003, so 5003 is used"),
        ({"epochs": "1e9"}, "epochs=‘1e9’: need a whole number, so 7 is used"),
        ({"learning_rate": "nan"}, "learning_rate=‘nan’: need a number"),
        ({"model.hidden": "0"}, "need 2 <= model.hidden <= 1024, so 2 is used"),
        ({"show": "xyz,0123abcd"}, "show: ‘xyz’ is not a training"),
        ({"show": ",".join(f"{n:08x}" for n in range(7))}, "7 trainings; the first 4 are shown"),
        ({"epoch": "-1"}, "need 0 <= epoch <= 10000, so 0 is used"),
        ({"probe": "x" * 300}, "probe has 300 characters; the first 200 are used"),
        ({"train": "1"}, "unknown parameter ‘train’: ignored"),
    ],
)
def test_what_cannot_be_taken_is_named(catalogue, link, named):
    view, problems = LINK.parse(link, catalogue)
    (problem,) = problems
    assert named in problem
    assert LINK.parse(LINK.format(view, catalogue), catalogue) == (view, [])


VALUES = st.one_of(
    st.text("aé٣<\u202e\n0.,:_", max_size=300),
    st.sampled_from(
        ["1", "0", "7", "-1", "1e999", "nan", "", "none", "odd,entmax", "gaussian", "patient",
         "more_pairs", "0123abcd", "0123abcd,ffff0000", f"upload:{'4f' * 32}"]
    ),
)  # fmt: skip


@given(query=st.dictionaries(st.sampled_from([*EVERYTHING, "model.dropout", "task"]), VALUES))
def test_no_link_whatever_makes_reading_fail(catalogue, query):
    view, problems = LINK.parse(query, catalogue)
    link = parse_qs(urlencode(LINK.format(view, catalogue)), keep_blank_values=True)
    assert LINK.parse(link, catalogue) == (view, [])
    assert all(len(sentence) < 400 and sentence.isprintable() for sentence in problems)
    requests(view)


def test_names_of_a_friend_stay_in_the_link_and_are_said_to_be_missing(catalogue):
    link = {"model": "mamba", "scorings": "entmax"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert "Model ‘mamba’ is not installed here" in missing(view, catalogue)
    assert "Scoring ‘entmax’" in missing(replace(view, model="bahdanau"), catalogue)
    assert LINK.format(view, catalogue) == link


def test_a_model_of_another_task_cannot_be_trained_here(catalogue):
    view, _ = LINK.parse({"model": "nadaraya_watson"}, catalogue)
    assert "not installed" in missing(view, catalogue)


def test_without_a_scoring_there_is_nothing_to_train(catalogue):
    view, _ = LINK.parse({"scorings": "none"}, catalogue)
    assert missing(view, catalogue) == "Choose at least one scoring."
    assert requests(view) == ()


def test_a_scoring_called_model_keeps_its_parameters_apart(facts):
    facts["scorings"].append(
        {**facts["scorings"][1], "name": "model", "parameters": [
            {**facts["models"][2]["parameters"][0], "name": "hidden", "default": 3},
        ]}
    )  # fmt: skip
    catalogue = Catalogue.of(facts)
    link = {"scorings": "model", "model.hidden": "44", "scoring.model.hidden": "5"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    (request,) = requests(view)
    assert (dict(request.options)["model.hidden"], request.parameters) == (44, (("hidden", 5),))
    assert LINK.format(view, catalogue) == link


def test_a_catalogue_without_presets_trains_with_the_parameters_own_values(facts):
    del facts["presets"]
    catalogue = Catalogue.of(facts)
    view, problems = LINK.parse({}, catalogue)
    assert problems == []
    assert dict(view.settings)["model.hidden"] == 32
    assert LINK.format(view, catalogue) == {}


def test_trainings_that_would_learn_from_nothing_are_refused(catalogue):
    view, _ = LINK.parse({"pairs": "200", "held_out": "200"}, catalogue)
    said = missing(view, catalogue)
    assert said.startswith("Nothing is left to learn from: 200 of at most 200 source sentences")
    fewer, _ = LINK.parse({"pairs": "200", "held_out": "199"}, catalogue)
    assert missing(fewer, catalogue) == ""
    assert "199 of at most 150" in missing(fewer, catalogue, rows=150)
    everything, _ = LINK.parse({"held_out": "200"}, catalogue)
    assert missing(everything, catalogue) == ""


def test_a_training_is_in_the_charts_once_and_the_latest_are_where_none_is_named(catalogue):
    assert LINK.parse({"show": "0123abcd,0123abcd"}, catalogue)[0].shown == ("0123abcd",)
    view, problems = LINK.parse({"show": "zz"}, catalogue)
    assert (view.shown, len(problems)) == (None, 1)
