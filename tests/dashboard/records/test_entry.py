"""An entry of the catalogue."""

import pytest

from dashboard.records.catalogue import Catalogue, Checkpoint, Entry, examples_in, sides_in


@pytest.mark.parametrize(
    ("name", "title", "short"),
    [
        ("additive", "Additive (Bahdanau)", "Additive"),
        ("additive", "加性（Bahdanau）", "加性"),
        ("dot", "Dot product", "Dot product"),
        ("bahdanau_7", "Bahdanau (recurrent) No. 7", "Bahdanau No. 7"),
        ("=dot(q, k) * (1 + w)", "dot(q, k) * (1 + w)", "dot(q, k) * (1 + w)"),
    ],
)
def test_the_short_title_has_no_brackets(name, title, short):
    assert Entry(name=name, title=title).short_title == short


@pytest.mark.parametrize(
    ("held", "sides"),
    [(["a", "b"], ("a", "b")), (["a", ""], ()), (["", "b"], ()), (["a"], ()), ("ab", ()),
     ([1, "b"], ()), (None, ())],
)  # fmt: skip
def test_sides_are_two_names_or_none(held, sides):
    assert sides_in({"sides": held}) == sides


def test_examples_are_texts_whatever_else_a_card_lists():
    assert examples_in({"examples": ["a", 1, None, "b"]}) == ("a", "b")
    assert examples_in({"examples": "ab"}) == examples_in({}) == ()


def checkpoint(name, corpus, *, shipped=False, adopted=False):
    card = {"corpus": {"name": corpus}, "adopted": {"family": "Marian"} if adopted else None}
    return Checkpoint(name=name, title=name, model="m", scoring="s", corpus=corpus, card=card,
                      shipped=shipped)  # fmt: skip


MODELS = Catalogue(
    datasets={"one": Entry(name="one", title="One (of all)")},
    checkpoints={each.name: each for each in (
        checkpoint("theirs", "zero", adopted=True), checkpoint("own", "own"),
        checkpoint("a", "one", shipped=True), checkpoint("b", "two", shipped=True),
        checkpoint("c", "two", shipped=True), checkpoint("d", "one"), checkpoint("e", "one"),
        checkpoint("of_one", "one", adopted=True),
    )},
)  # fmt: skip


def names(found):
    return [each.name for each in found]


def test_corpora_of_most_shipped_models_come_first_and_those_of_adopted_ones_last():
    assert MODELS.corpora() == ("two", "one", "own", "zero")


def test_a_page_shows_the_shipped_models_of_a_corpus_unasked_or_else_all_of_it():
    assert names(MODELS.usual("one")) == ["a"]
    assert names(MODELS.usual("own")) == ["own"]


def test_beside_the_models_of_a_corpus_stands_every_adopted_one_once():
    assert names(MODELS.readers("one")) == ["a", "d", "e", "of_one", "theirs"]


def test_a_corpus_has_its_data_sets_short_title_or_its_name():
    assert [MODELS.corpus_title(name) for name in ("one", "two")] == ["One", "two"]


def test_a_checkpoint_is_shipped_and_translates_where_nothing_else_is_said():
    card = {"title": "T", "model": "m", "scoring": "s", "corpus": {"name": "c"}}
    assert Checkpoint.of({"name": "n", "card": card}).shipped
    assert Checkpoint.of({"name": "n", "card": card}).kind == "encoder-decoder"
    kept = Checkpoint.of({"name": "n", "card": {**card, "kind": "decoder"},
                          "plugin": {"built_in": False}})  # fmt: skip
    assert (kept.shipped, kept.kind) == (False, "decoder")
    assert Entry.of({"name": "n", "title": "N", "plugin": {"code": "c0de"}}).code == "c0de"


def test_a_scoring_that_says_no_task_makes_sense_in_all():
    every, some = Entry(name="a", title="A"), Entry(name="b", title="B", tasks=("x",))
    formula = Entry(name="=q", title="q")
    held = Catalogue(scorings={each.name: each for each in (every, some, formula)})
    assert [*held.scorings_for("x")] == [*held.scorings_for()] == ["a", "b"]
    assert [*held.scorings_for("y")] == ["a"]
