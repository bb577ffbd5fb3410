from dataclasses import replace

import pytest

from dashboard.records.attending import Attending
from dashboard.records.catalogue import Entry
from dashboard.records.parameter import Metric, Parameter
from dashboard.records.training import said
from dashboard.ui.layout import (
    attending_title,
    checkpoint_title,
    lettered,
    normaliser_title,
    number_words,
    setting_words,
)


def test_a_normaliser_is_named_where_it_is_not_the_usual_one(catalogue):
    usual = Attending(scoring="scaled_dot")
    assert attending_title(usual, catalogue) == "Scaled dot"
    assert attending_title(replace(usual, normaliser="entmax"), catalogue) == "Scaled dot, Entmax"
    theirs = replace(usual, normaliser="theirs")
    assert attending_title(theirs, catalogue) == "Scaled dot, theirs (not installed)"


@pytest.mark.usefixtures("chinese")
def test_signs_between_chinese_words_are_chinese(catalogue):
    named = Attending(scoring="scaled_dot", normaliser="entmax")
    assert attending_title(named, catalogue) == "Scaled dot、Entmax"
    assert Metric(name="t", title="时间", unit="秒", better="lower").label == "时间（秒）"
    assert said({"near": {"score": 5.0}, "far": {"score": 3.0}}) == "相近 5.0、较远 3.0"


def test_the_softmax_has_a_title_in_a_catalogue_without_normalisers(catalogue):
    assert normaliser_title("softmax", replace(catalogue, normalisers={})) == "Softmax"


def test_a_checkpoint_is_called_by_the_normaliser_on_its_card(catalogue):
    one = catalogue.checkpoints["one"]
    assert checkpoint_title("bahdanau.additive", one, catalogue) == "Additive"
    sparse = replace(one, card={**one.card, "normaliser": "sparsemax"})
    assert checkpoint_title("bahdanau.additive", sparse, catalogue) == "Additive, Sparsemax"


def test_a_checkpoint_is_called_by_titles_without_brackets(catalogue):
    one = catalogue.checkpoints["one"]
    named = {
        "additive": Entry(name="additive", title="Additive (Bahdanau)"),
        "bahdanau": Entry(name="bahdanau", title="Bahdanau (recurrent)"),
    }
    two = {"one": one, "two": replace(one, model="transformer")}
    known = replace(catalogue, scorings=named, models=named, checkpoints=two)
    assert checkpoint_title("bahdanau.additive", one, known) == "Additive · Bahdanau"


def test_a_checkpoint_is_called_by_the_attention_layer_on_its_card(catalogue):
    one, entry = catalogue.checkpoints["one"], Entry(name="delta_rule", title="Delta rule")
    with_layers = replace(catalogue, others={"layers": {"delta_rule": entry}})
    titles = [
        checkpoint_title(
            "bahdanau.additive",
            replace(one, card={**one.card, "model_parameters": parameters}), with_layers,
        )
        for parameters in ({}, {"layer": "multi_head"}, {"layer": "delta_rule"})
    ]  # fmt: skip
    assert titles == ["Additive", "Additive", "Additive, Delta rule"]


def test_a_checkpoint_that_was_kept_here_begins_with_its_own_name(catalogue):
    kept = replace(catalogue.checkpoints["one"], name="my_first", shipped=False)
    assert checkpoint_title("bahdanau.additive", kept, catalogue) == "my_first · Additive"


def test_a_setting_stands_amid_a_sentence():
    sigma = Parameter(name="w", title="Width σ", default=1.0)
    assert setting_words(sigma, 0.31459) == "σ = 0.315"
    assert setting_words(replace(sigma, title="Noise", unit="sd"), 0.5) == "noise 0.5 sd"
    assert setting_words(replace(sigma, title="BLEU order"), 4) == "BLEU order 4"
    assert setting_words(replace(sigma, title="w"), True) == "w on"


def test_a_title_that_begins_with_a_minus_stands_apart_from_its_letter(catalogue):
    title = attending_title(Attending(scoring="=-norm(q - k)"), catalogue)
    assert lettered("a", title) == "a: −norm(q − k)"


def test_a_typed_scoring_is_its_formula_and_needs_no_plugin(catalogue):
    assert attending_title(Attending(scoring="=dot(q, k)"), catalogue) == "dot(q, k)"
    typed = replace(catalogue.checkpoints["one"], name="typed", scoring="=dot(q, k)")
    assert checkpoint_title("typed", typed, catalogue) == "dot(q, k) · typed"


def test_a_number_is_told_with_three_digits_and_a_word_as_it_is():
    said = [number_words(one) for one in (0.123456, 5787.3, 2e6, 1234567, True, False, "cosine")]
    assert said == ["0.123", "5790", "2e+06", "1234567", "on", "off", "cosine"]


def test_an_adopted_checkpoint_is_called_by_its_family_and_one_of_pieces_says_so(catalogue):
    one = catalogue.checkpoints["one"]
    adopted = replace(one, title="Opus", card={**one.card, "adopted": {"family": "Marian"}})
    assert checkpoint_title("opus", adopted, catalogue) == "Additive · Marian · Opus"
    pieces = replace(one, card={**one.card, "tokeniser": "pieces"})
    assert checkpoint_title("bahdanau.additive", pieces, catalogue) == "Additive · pieces of words"
    assert checkpoint_title("one", one, catalogue) == "Additive · one"
