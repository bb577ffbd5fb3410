"""What is wrong with a card is said; what trains here and what is shipped has nothing wrong."""

import copy
import json
from pathlib import Path

import pytest

from dashboard.records.catalogue import Catalogue, problem_of

ROOT = Path(__file__).parents[3]
PART = {"sentences": 7, "bleu": 11.5}
CARD = {
    "title": "One", "model": "bahdanau", "scoring": "additive",
    "corpus": {"name": "pairs", "trained_on": 1601},
    "scores": {"held out": {"bleu": 47.123, "near": PART}},
}  # fmt: skip
OWN = {"metric": {"title": "Exact match", "value": 93, "unit": "%"}}
ADOPTED = {"family": "Marian", "addition": "", "repository": "a/b", "revision": "0123"}


def changed(place, value):
    """The card with another value at a place such as ``"scores/held out/bleu"``."""
    card = copy.deepcopy(CARD)
    *path, last = place.split("/")
    held = card
    for name in path:
        held = held[name]
    held[last] = value
    return card


@pytest.mark.parametrize("path", sorted((ROOT / "trained").glob("*/card.json")), ids=str)
def test_what_is_shipped_is_right(path):
    assert problem_of(json.loads(path.read_text("utf-8"))) == ""


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("scores", {}), ("scores/held out", {}), ("scores/held out/bleu", 0),
        ("scores/held out", OWN),
        ("scores/held out", {**OWN, "far": {"sentences": 3, "value": 1}}),
        ("normaliser", ""), ("adopted", ADOPTED), ("more", {"of": ["any", None]}),
        ("source_words", None), ("scoring", "=dot(q, k) / sqrt(d)"), ("normaliser", "entmax15"),
        ("scores/held out", {"nats": -0.5}),
    ],
)  # fmt: skip
def test_what_pages_can_show_is_right(place, value):
    assert problem_of(changed(place, value)) == ""


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (
            "scores/held out/bleu",
            "very good",
            r"at scores\.held out\.bleu: need a number, got ‘very good’",
        ),
        ("scores/held out/bleu", None, r"scores\.held out\.bleu: need a number, got nothing"),
        ("scores/held out/bleu", True, r"at scores\.held out\.bleu: need "),
        ("scores/held out/bleu", 10**400, r"at scores\.held out\.bleu: need "),
        ("scores/held out", "47", r"at scores\.held out: need an object"),
        (
            "scores/held out",
            [47],
            r"at scores\.held out: need an object with named values, got a list",
        ),
        (
            "scores/held out/near",
            {"sentences": "7", "bleu": 1},
            r"near\.sentences: need a whole number, got ‘7’",
        ),
        ("scores/held out/near", {"sentences": 7}, "near needs bleu, a number"),
        ("scores/held out", {**OWN, "near": PART}, "near needs value, a number"),
        ("scores/held out/copied", {"sentences": 7}, "copied needs bleu, a number"),
        ("scores/held out/metric", {"title": "T"}, r"metric\.value is missing"),
        ("scores/held out/metric", {"title": "T", "value": "x"}, r"metric\.value: need a number"),
        ("scores/held\x1fout\n", None, r"at scores\.held out: need an object"),
        ("corpus/trained_on", "many", r"corpus\.trained_on: need a whole number, got ‘many’"),
        ("corpus/trained_on", -1, r"corpus\.trained_on: need at least 0, got ‘-1’"),
        ("corpus/pairs", "all", r"corpus\.pairs: need a whole number"),
        ("corpus/name", ["a"], r"corpus\.name: need a text, got a list"),
        ("corpus", {"name": "a"}, r"corpus\.trained_on is missing"),
        ("title", "x" * 301, "title: need a length of at most 300"),
        ("model", "../../x", "model: need a text that fits"),
        ("scoring", 7, "scoring: need a text"),
        ("normaliser", ["softmax"], "normaliser"),
        ("adopted", {"family": "Marian"}, r"adopted\.addition is missing"),
        ("adopted", "yes", "adopted: need an object"),
        ("source_words", "7", "source_words"),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(place, value, said):
    problem = problem_of(changed(place, value))
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(problem)
    assert problem.isprintable()
    assert len(problem) < 400


def test_a_wrong_card_is_refused_alone_and_named(facts):
    facts["checkpoints"][1]["card"]["scores"] = {"held out": {"bleu": "very good"}}
    catalogue = Catalogue.of(facts)
    assert "two" not in catalogue.checkpoints
    assert {"one", "three"} <= catalogue.checkpoints.keys()
    (failure,) = catalogue.failures
    assert failure["plugin"] == "two"
    assert "bleu" in failure["message"]
    assert "‘very good’" in failure["message"]


@pytest.mark.parametrize("page", ["translation", "heads", "differences", "alignment", "plugins"])
def test_a_wrong_card_raises_on_no_page_and_is_named_on_each(page, facts, opened):
    facts["checkpoints"][0]["card"]["scores"] = {"held out": {"bleu": "very good"}}
    facts["checkpoints"][1]["card"]["corpus"] = {"name": 5}
    app = opened(page)
    assert not app.exception
    words = "\n".join(str(one.value) for one in (*app.caption, *app.text, *app.markdown))
    assert "got ‘very good’" in words
    assert "at corpus.name: need a text, got ‘5’" in words


@pytest.mark.parametrize("scoring", ["=", "=" + "q" * 301, "=q·k", "=q\n.k", "q.k"])
def test_a_scoring_is_a_name_or_a_formula_as_it_is_spelled(scoring):
    assert problem_of(changed("scoring", scoring)).startswith("at scoring: ")
