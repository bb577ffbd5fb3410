"""The symbol tasks: right answers, right links, no sequence twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention_plugins import experiment
from attention_plugins.contract import ContractError, DatasetSpec, SentencePair
from attention_plugins.datasets.parallel import source_key
from attention_plugins.evaluation import evaluate
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load

REGISTRY = load(allow=[])
TASKS = ("copy", "reverse", "sort", "recall", "tagging")


def drawn(name, seed=0, **given):
    spec = REGISTRY.dataset(name)
    return spec.load({**{p.name: p.default for p in spec.parameters}, **given}, seed)


def before(symbol, left):
    return "same" if symbol == left else "up" if ord(symbol) > ord(left) else "down"


ANSWERS = {
    "copy": list,
    "reverse": lambda source: [source[-1 - i] for i in range(len(source))],
    "sort": sorted,
    "recall": lambda source: [dict(zip(source[:-1:2], source[1::2], strict=True))[source[-1]]],
    "tagging": lambda source: ["first", *map(before, source[1:], source)],
}


@pytest.mark.parametrize("name", TASKS)
def test_every_answer_is_right_and_every_link_leads_to_its_cause(name):
    for pair in drawn(name, pairs=300):
        source, target = pair.source.split(), pair.target.split()
        assert target == ANSWERS[name](source)
        assert [j for _, j in pair.alignment] == list(range(len(target)))
        places = [i for i, _ in pair.alignment]
        if name == "tagging":
            assert places == list(range(len(source)))
            assert pair.possible == tuple((j - 1, j) for j in range(1, len(source)))
        else:
            assert [source[i] for i in places] == target
            assert len(set(places)) == len(places)
        if name == "recall":
            assert source[places[0] - 1] == source[-1]


def test_equal_symbols_keep_their_order_when_sorted():
    found = [pair for pair in drawn("sort", symbols=2, pairs=100) if "a a" in pair.target]
    assert found
    for pair in found:
        of_a = [i for i, j in pair.alignment if pair.target.split()[j] == "a"]
        assert of_a == sorted(of_a)


@pytest.mark.parametrize("name", TASKS)
def test_no_sequence_comes_twice_and_none_is_on_both_sides_of_the_split(name):
    pairs = drawn(name, pairs=1000)
    assert len({source_key(pair.source) for pair in pairs}) == 1000
    learned, held_out = experiment.divide(pairs, 200, 0)
    assert (len(learned), len(held_out)) == (800, 200)
    assert not {p.source for p in learned} & {p.source for p in held_out}
    assert drawn(name, seed=1, pairs=1000) != pairs == drawn(name, pairs=1000)


@pytest.mark.parametrize("name", TASKS)
def test_parameters_are_kept_to(name):
    pairs = drawn(name, pairs=100, shortest=5, longest=6, symbols=7)
    keys = 2 if name == "recall" else 1
    lengths = {(len(pair.source.split()) - (keys - 1)) // keys for pair in pairs}
    assert lengths == {5, 6}
    letters = {sign for pair in pairs for sign in pair.source.split() if sign.isalpha()}
    assert letters == set("abcdefg")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shortest": 9}, "need shortest <= longest, got 9 and 8"),
        ({"symbols": 2, "longest": 3}, "found 8 different sequences, need 10,000; ask for fewer"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, message):
    with pytest.raises(ContractError, match=message):
        drawn("copy", **given)


def test_there_must_be_a_letter_for_every_key():
    with pytest.raises(ContractError, match="need longest <= symbols"):
        drawn("recall", longest=9)


@pytest.mark.parametrize("name", TASKS)
def test_a_training_on_it_is_scored_by_its_metric_and_held_against_gold(name):
    """Two epochs of a tiny model: everything is on the card, whatever it learned."""
    from attention_plugins.gold import alignment_error

    spec = REGISTRY.dataset(name)
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", corpus=name, dataset=name, held_out=10,
        model_parameters={"embed": 8, "hidden": 8, "layers": 1, "dropout": 0.0},
        recipe=Recipe(tokeniser=spec.tokeniser, epochs=1, min_frequency=1),
    )  # fmt: skip
    ready = experiment.prepare(plan, drawn(name, pairs=100), REGISTRY)
    corpus = ready.card["corpus"]
    assert corpus["sides"] == list(spec.sides)
    assert corpus["examples"] == list(spec.examples)
    assert corpus["metric"] == spec.metric == ready.metric.name
    assert len(ready.encoded.links) == 90
    assert all(ready.encoded.links)
    with experiment.at_rest(ready, "cpu") as translator:
        score = evaluate(translator, ready.held_out, metric=ready.metric)
        (rates,) = alignment_error(translator, ready.held_out, spec.tokeniser).values()
        said = translator.translate([pair.source for pair in ready.held_out])
    assert score["metric"]["name"] == spec.metric
    assert score["metric"]["title"] == ready.metric.title
    expected = ready.metric.score(said, [[pair.target] for pair in ready.held_out])
    assert score["metric"]["value"] == round(expected, 2)
    assert {"bleu", "signature"} <= score.keys()
    assert 0 <= rates[0] <= 1
    experiment.guard(ready, REGISTRY)


def test_links_count_the_tokens_of_their_data_set():
    """Over clitics, 1 would be the n't of don't."""
    pair = SentencePair("don't go", "reste ici", ((1, 1),))
    mine = DatasetSpec(
        name="mine", title="Mine", task="translation", load=lambda values, seed: [pair],
        tokeniser="spaces", aligned=True,
    )  # fmt: skip
    registry = replace(
        REGISTRY, records={**REGISTRY.records, "datasets": {**REGISTRY.datasets, "mine": mine}}
    )
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", corpus="mine", dataset="mine",
        recipe=Recipe(tokeniser="spaces", min_frequency=1),
    )  # fmt: skip
    assert experiment.prepare(plan, [pair], registry).encoded.links == [[(1, 1)]]


def test_a_file_brings_examples_of_its_own_and_names_no_sides():
    pairs = [SentencePair(text, "b") for text in ("a", "a", "x " * 40, "c", "d", "e", "f", "g")]
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", corpus="mine", recipe=Recipe(min_frequency=1)
    )
    corpus = experiment.prepare(plan, pairs, REGISTRY).card["corpus"]
    assert corpus["examples"] == ["a", "c", "d", "e", "f"]
    assert corpus["metric"] == "bleu"
    assert "sides" not in corpus
