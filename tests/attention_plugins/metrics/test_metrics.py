"""The built-in metrics against counts by hand and against sacrebleu."""

import pytest
import sacrebleu

from attention_plugins.checking import check
from attention_plugins.contract import ContractError, MetricSpec
from attention_plugins.registry import load
from attention_plugins.scores import corpus_bleu

REGISTRY = load(allow=[])
SAID = ["Le chat dort .", "b b a", "un deux", ""]
WANTED = [
    ["le chat dort ici .", "le  chat dort ."],
    ["b a a"],
    ["deux un", "un trois quatre"],
    ["a"],
]


def score(name, said=SAID, wanted=WANTED):
    return REGISTRY.metric(name).score(said, wanted)


@pytest.mark.parametrize("name", REGISTRY.metrics)
def test_the_built_in_metrics_keep_every_rule(name):
    assert [f for f in check("metrics", REGISTRY.metric(name)) if not f.passed] == []


def test_bleu_is_that_of_before():
    assert score("bleu") == corpus_bleu(SAID, WANTED).score


def test_chrf_is_sacrebleus():
    said, wanted = ["The cat sleeps", "b b a"], [["the cat is asleep", "cats sleep"], ["B A A"]]
    expected = sacrebleu.corpus_chrf(
        [text.lower() for text in said], [["the cat is asleep", "b a a"], ["cats sleep", None]]
    )
    assert score("chrf", said, wanted) == pytest.approx(expected.score, abs=1e-9)
    assert 0 < expected.score < 100


def test_exact_match_counts_whole_sentences():
    assert score("exact_match") == 25.0


def test_token_accuracy_counts_positions_of_the_best_reference():
    """4 of 4, 2 of 3, then 1 of 3 by its second reference, and 0 of 1."""
    assert score("token_accuracy") == pytest.approx(100 * (4 + 2 + 1 + 0) / (4 + 3 + 3 + 1))
    assert score("token_accuracy", ["a b c d"], [["a b"]]) == 50.0
    assert score("token_accuracy", ["a b c d"], [["a b c x y z w", "a b"]]) == 50.0  # by share
    assert score("token_accuracy", [""], [["a", ""]]) == 100.0


def test_they_are_listed_in_their_order():
    assert [*REGISTRY.metrics] == ["bleu", "chrf", "exact_match", "token_accuracy"]


@pytest.mark.parametrize("name", REGISTRY.metrics)
def test_what_cannot_be_scored_is_refused(name):
    with pytest.raises(ContractError, match="at least one hypothesis"):
        score(name, [], [])
    with pytest.raises(ContractError, match="sentence 1 needs a list of at least one reference"):
        score(name, ["a"], [[]])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": 1}, "score must be callable"),
        ({"unit": None}, "unit is a str"),
        ({"best": float("inf")}, "best and worst are numbers or None, got inf"),
        ({"worst": float("-inf")}, "best and worst are numbers or None, got -inf"),
        ({"best": 0.0, "higher_is_better": False}, "best is 0 and worst 0"),
        ({"best": 0.0, "worst": 1.0}, "best is 0 and worst 1, but higher_is_better is True"),
        ({"higher_is_better": "yes"}, "higher_is_better is True or False"),
    ],
)
def test_a_wrong_record_is_refused(changes, message):
    with pytest.raises(ContractError, match=message):
        MetricSpec(**{"name": "mine", "title": "Mine", "score": score, **changes})


@pytest.mark.parametrize("open_end", ["best", "worst"])
def test_a_metric_may_be_without_a_bound(open_end):
    made = MetricSpec(name="mine", title="Mine", score=score, **{open_end: None})
    assert getattr(made, open_end) is None
