"""What pages call what goes in and what comes out."""

import copy

import pytest
from support.catalogue import FACTS, checkpoint, named

from dashboard.features.differences import view as differences
from dashboard.features.heads import view as heads
from dashboard.features.translation import view as translation
from dashboard.links.panels import (
    NEUTRAL,
    SENTENCE,
    examples_of,
    following,
    sides_of,
    sides_of_corpus,
    usual_sentence,
)
from dashboard.records.catalogue import Catalogue

SYMBOLS = ("symbols", "the symbols reversed")


def trained_on(name, **says):
    """A checkpoint of a corpus, whose card says this of it."""
    made = checkpoint(name, "bahdanau", "additive", name)
    made["card"]["corpus"] = {"name": name, "trained_on": 1601, **says}
    return made


@pytest.fixture
def several():
    facts = copy.deepcopy(FACTS)
    facts["datasets"].append(
        named("old", "translation", sides=["German", "Dutch"], examples=["geh ."])
    )
    facts["checkpoints"] += [
        trained_on("reverse", sides=list(SYMBOLS), examples=["a b c", "c b"]),
        trained_on("old"),
        trained_on("mine"),
        trained_on("mixed"),
        trained_on("mixed", examples=["ho ."]) | {"name": "later"},
        trained_on("odd", sides=["one"], examples="a b"),
        trained_on("worse", sides=[1, 2], examples=[3, "four"]),
    ]
    return Catalogue.of(facts)


def test_words_are_the_cards_then_the_data_sets_then_neutral(several):
    here = several.checkpoints
    assert sides_of(several, [here["one"], here["two"]]) == ("English", "French")
    assert sides_of(several, [here["reverse"]]) == SYMBOLS == sides_of_corpus(several, "reverse")
    assert sides_of(several, [here["old"]]) == ("German", "Dutch")
    assert examples_of(several, "old") == ("geh .",)
    assert examples_of(several, "mixed") == ("ho .",), "of the first that has some"
    for name in ("mine", "odd"):
        assert sides_of(several, [here[name]]) == NEUTRAL
        assert examples_of(several, name) == ()
        assert usual_sentence(several, name) == SENTENCE
    assert here["worse"].sides == ()
    assert here["worse"].examples == ("four",)


def test_what_a_card_says_counts_where_the_data_set_of_that_name_says_otherwise():
    """Whoever has another data set of that name here still sees what the model was made for."""
    facts = copy.deepcopy(FACTS)
    facts["datasets"].append(
        named("turned", "translation", sides=["German", "Dutch"], examples=["geh ."])
    )
    facts["checkpoints"].append(trained_on("turned", sides=["Dutch", "German"], examples=["ga ."]))
    here = Catalogue.of(facts)
    assert sides_of_corpus(here, "turned") == ("Dutch", "German")
    assert examples_of(here, "turned") == ("ga .",)
    assert following(here, "tatoeba", "turned", "go home .", "va !") == ("ga .", "")


def test_models_that_differ_are_named_neutrally(several):
    here = several.checkpoints
    assert sides_of(several, [here["one"], here["reverse"]]) == NEUTRAL
    assert sides_of(several, []) == NEUTRAL


def test_a_sentence_stays_where_the_sides_do(several):
    assert following(several, "tatoeba", "phrasebook", "go home .", "va !") == (
        "go home .",
        "va !",
    )
    assert following(several, "tatoeba", "reverse", "go home .", "va !") == ("a b c", "")


@pytest.mark.parametrize("page", [translation, differences, heads])
def test_a_bare_link_of_a_corpus_reads_its_first_example(page, several):
    view, problems = page.LINK.parse({"corpus": "reverse"}, several)
    assert (view.text, problems) == ("a b c", [])
    assert page.LINK.format(view, several) == {"corpus": "reverse"}
    assert page.default_view(several).text == "i'm home ."
    view, _ = page.LINK.parse({"corpus": "reverse", "text": SENTENCE}, several)
    assert view.text == SENTENCE
