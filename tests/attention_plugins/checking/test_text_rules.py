"""Each rule of tokenisers and metrics catches the fault that it is there for."""

import random

import pytest

from attention_plugins import MetricSpec, TokeniserSpec
from attention_plugins.checking import Broken, rules


class Whole:
    """Without fault."""

    def __init__(self, learned=""):
        self.learned = learned

    def tokenise(self, text):
        return text.split()

    def detokenise(self, tokens):
        return " ".join(tokens)


def without(tokenise=None, detokenise=None):
    def build(learned):
        made = Whole(learned)
        made.tokenise = tokenise or made.tokenise
        made.detokenise = detokenise or made.detokenise
        return made

    return build


def tokeniser(build=Whole, **fields):
    return TokeniserSpec(**{
        "name": "mine", "title": "Mine", "reference": "nobody", "build": build, **fields,
    })  # fmt: skip


def right(said, wanted):
    return sum(s in w for s, w in zip(said, wanted, strict=True)) / len(said)


def metric(score=right, **fields):
    return MetricSpec(**{
        "name": "mine", "title": "Mine", "reference": "nobody", "score": score, "best": 1.0,
        **fields,
    })  # fmt: skip


count = iter(range(99))


def another_each_time(learned):
    return without([str.split, str.splitlines][next(count) % 2])(learned)


TOKENISERS = {
    "texts": (tokeniser(reference=""), "the_record_explains_itself", "add reference="),
    "type": (tokeniser(without(str.upper)), "tokens_are_text", "return a list of str"),
    "bytes": (tokeniser(without(str.encode)), "tokens_are_text", "return a list of str"),
    "space": (
        tokeniser(without(lambda text: [text] * bool(text.strip()))), "tokens_are_text",
        "write a space as a sign",
    ),
    "nothing": (tokeniser(without(lambda text: [])), "tokens_are_text", "drop no sentence"),
    "empty text": (
        tokeniser(without(lambda text: text.split() or ["-"])), "tokens_are_text", "empty list",
    ),
    "lost": (
        tokeniser(without(None, "".join)), "sentences_come_back",
        "came back as 'theoldmanwalks.'",
    ),
    "no text": (
        tokeniser(without(None, list)), "sentences_come_back", "detokenise returned list",
    ),
    "draws": (
        tokeniser(learn=lambda texts: str(random.random())),
        "what_is_learned_is_reproducible", "random",
    ),
    "differs": (
        tokeniser(learn=lambda texts: str(next(count))), "what_is_learned_is_reproducible",
        "break ties",
    ),
    "learns nothing": (
        tokeniser(learn=lambda texts: ""), "what_is_learned_is_reproducible", "leave learn away",
    ),
    "built otherwise": (
        tokeniser(another_each_time),
        "what_is_learned_is_reproducible", "draw nothing in build",
    ),
}  # fmt: skip
METRICS = {
    "texts": (metric(reference=""), "the_record_explains_itself", "add reference="),
    "best": (metric(best=100.0), "identical_text_scores_best", "correct best"),
    "first reference": (
        metric(lambda s, w: right(s, [row[:1] for row in w])), "identical_text_scores_best",
        "reference that fits best",
    ),
    "direction": (
        metric(lambda s, w: 1 - right(s, w)), "wrong_text_scores_worse", "higher_is_better=False",
    ),
    "range": (metric(lambda s, w: 2 * right(s, w) - 1), "scores_are_in_range", "0 to 1"),
    "type": (metric(lambda s, w: "good"), "scores_are_in_range", "return a finite float"),
    "draws": (metric(lambda s, w: random.random()), "it_draws_nothing", "random"),
    "otherwise": (metric(lambda s, w: next(count)), "it_draws_nothing", "two different scores"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "fault"),
    [*(("tokenisers", f) for f in TOKENISERS), *(("metrics", f) for f in METRICS)],
)
def test_a_planted_fault_breaks_its_rule_which_says_what_to_change(kind, fault):
    planted, rule, phrase = {"tokenisers": TOKENISERS, "metrics": METRICS}[kind][fault]
    with pytest.raises(Broken) as caught:
        rules(kind, planted)[rule](planted)
    assert phrase in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "good", "faults"),
    [("tokenisers", tokeniser(), TOKENISERS), ("metrics", metric(), METRICS)],
)
def test_every_rule_has_a_fault_and_what_they_are_planted_in_has_none(kind, good, faults):
    found = rules(kind, good)
    assert set(found) == {rule for _, rule, _ in faults.values()}
    for rule in found.values():
        rule(good)


def test_what_is_lower_where_it_is_better_is_judged_so():
    found = metric(
        lambda s, w: 1 - right(s, w), higher_is_better=False, best=0.0, worst=1.0, unit="%"
    )
    kept = [rule(found) for rule in rules("metrics", found).values()]
    assert kept == [None] * len(rules("metrics", metric(right)))
