"""Corpora whose targets continue their sources, and the models that learn them."""

import json
import math
from dataclasses import replace

import pytest
import torch

from attention_plugins import experiment
from attention_plugins.checkpoints import read
from attention_plugins.commands.evaluate import disagreements
from attention_plugins.contract import ContractError, DatasetSpec, SentencePair
from attention_plugins.datasets.parallel import split_by_source, whole
from attention_plugins.datasets.phrasebook import beginnings
from attention_plugins.encoding import encode
from attention_plugins.evaluation import foretold
from attention_plugins.home import SHIPPED
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.tap import Site
from attention_plugins.translator import Translator

SENTENCES = [
    f"{who} {does} the {what}."
    for who in ("I", "we", "they")
    for does in ("see", "don't like")
    for what in ("cat", "old dog", "horse")
]
PAIRS = [
    SentencePair(" ".join(words[:cut]), " ".join(words[cut:]))
    for words in (sentence.split(" ") for sentence in SENTENCES)
    for cut in (1, 2, 3)
]
SPEC = DatasetSpec(
    name="animals", title="Animals", task="translation", load=lambda values, seed: PAIRS,
    continues=True, sides=("beginning", "rest"),
)  # fmt: skip
SHIPPED_ONES = sorted(SHIPPED.glob("decoder-*/card.json"))


@pytest.fixture(scope="module")
def registry():
    known = load(allow=[])
    datasets = {**known.records["datasets"], "animals": SPEC}
    return replace(known, records={**known.records, "datasets": datasets})


@pytest.fixture(scope="module")
def trained(registry):
    plan = experiment.Experiment(
        model="decoder", scoring="scaled_dot", corpus="animals", dataset="animals", held_out=4,
        model_parameters={"hidden": 16, "ffn": 16, "heads": 2, "layers": 2, "dropout": 0.0},
        recipe=Recipe(
            tokeniser="clitics", min_frequency=1, epochs=6, batch_size=9, learning_rate=0.02
        ),
    )  # fmt: skip
    return experiment.run(plan, PAIRS, registry)


@pytest.fixture(scope="module")
def translator(trained, registry, tmp_path_factory):
    return Translator(experiment.keep(trained, tmp_path_factory.mktemp("animals")), registry)


def test_no_sentence_is_on_both_sides_of_the_split():
    plain, _ = split_by_source(PAIRS, held_out=2, seed=3)
    kept, held_out = split_by_source(PAIRS, held_out=4, seed=3, continued=True)
    assert {*map(whole, kept)} | {*map(whole, held_out)} == {*SENTENCES}
    assert not {*map(whole, kept)} & {*map(whole, held_out)}
    assert len({*map(whole, held_out)}) == 4
    assert len(held_out) == 12
    # By source alone, the rest of a sentence would be known by another of its beginnings.
    assert {*map(whole, plain)} == {*SENTENCES}


def test_both_sides_have_the_vocabulary_of_whole_sentences(registry):
    found = encode(PAIRS, Recipe(tokeniser="clitics", min_frequency=4), registry, continued=True)
    assert found.source_vocabulary.tokens == found.target_vocabulary.tokens
    # Nine sentences have n't, six a dog; whether cut often or rarely, each counts once.
    assert {"n't", "dog", "we", "."} < {*found.source_vocabulary.tokens}
    rare = encode(PAIRS, Recipe(tokeniser="clitics", min_frequency=7), registry, continued=True)
    assert "dog" not in rare.source_vocabulary
    pieces = encode(PAIRS, Recipe(tokeniser="pieces"), registry, continued=True)
    assert pieces.learned[0] == pieces.learned[1] != ""


def test_the_card_says_that_it_continues_and_what_was_held_out(trained, translator):
    card = trained.card
    assert card["corpus"]["continues"] is True
    checkpoint = read(SHIPPED / "bahdanau-additive-phrasebook")
    assert checkpoint.kind == checkpoint.summary["kind"] == "encoder-decoder"
    assert translator.summary["kind"] == "decoder"
    learned, unseen = experiment.learned_and_unseen(card, PAIRS, "animals")
    assert (list(learned), list(unseen)) == (list(trained.learned), list(trained.held_out))
    more = [*PAIRS, SentencePair("we", "see a bird."), SentencePair("We see", "the cat.")]
    assert experiment.new_to(card, more) == [
        *unseen, more[-2], *([more[-1]] if "we see the cat." in map(whole, unseen) else [])
    ]  # fmt: skip


def test_rows_and_columns_are_labelled_by_what_they_read(translator):
    said = translator.explain("We don't", target="like the cat.")
    assert [found.site for found in said.maps] == [Site("decoder", 0), Site("decoder", 1)]
    read_in_a_row = ("<bos>", "we", "do", "n't", "like", "the", "cat", ".")
    for found in said.maps:
        assert found.query_labels == found.key_labels == read_in_a_row
        assert found.weights.shape == (2, 8, 8)
    assert said.tokens == ("like", "the", "cat", ".", "<eos>")
    assert translator.source_keys(Site("decoder", 0), 8, 8) is None


def test_maps_of_a_batch_are_those_that_each_pair_has_alone(translator):
    pairs = [("We", "see the old dog."), ("They don't like", "the."), ("I", "see")]
    for (source, target), sites in zip(pairs, translator.look(pairs), strict=True):
        for found in translator.explain(source, target=target).maps:
            torch.testing.assert_close(sites[found.site], found.weights, rtol=0, atol=1e-5)


def test_what_is_foretold_is_what_forced_words_cost(trained, translator):
    found = foretold(translator, trained.held_out)
    sentences = list(dict.fromkeys(map(whole, trained.held_out)))
    costs = []
    for sentence in sentences:
        first, _, rest = sentence.partition(" ")
        costs += translator.explain(first, target=rest).log_probabilities
    assert found["words"] == len(costs)
    assert found["sentences"] == len(sentences) == 4
    assert found["nats"] == pytest.approx(-sum(costs) / len(costs), abs=1e-4)
    assert found["too_long"] == 0
    # A sentence counts from after its shortest beginning, whichever of them comes first.
    assert foretold(translator, trained.held_out[::-1]) == found
    assert foretold(translator, [*PAIRS, SentencePair("we", "see " * 20)])["too_long"] == 1
    with pytest.raises(ContractError, match="one sentence that this model reads, got none"):
        foretold(translator, [])


def test_the_likeliest_word_is_counted_as_right(translator):
    """Of a sentence that it writes by itself every word is foretold."""
    written = translator.explain("We")
    assert written.tokens[-1] == "<eos>"
    assert foretold(translator, [SentencePair("We", written.text)])["accuracy"] == 1.0


def test_counts_are_those_of_witten_and_bell(translator):
    learned = [SentencePair("we", "see"), SentencePair("we", "like"), SentencePair("I", "see")]
    found = foretold(translator, [SentencePair("we", "see")], learned)
    words = len(translator.card["target_vocabulary"])
    # Tokens: we see <eos> we like <eos> i see <eos>; see follows we once of twice.
    see, end = math.log(3 / (9 + words)), math.log(4 / (9 + words))
    assert found["unigram"]["nats"] == pytest.approx(-(see + end) / 2, abs=1e-4)
    assert found["unigram"]["accuracy"] == 0.5  # <eos>
    assert found["unigram"].keys() == found["bigram"].keys() == {"nats", "accuracy"}
    after_we = math.log((1 + 2 * math.exp(see)) / (2 + 2))
    after_see = math.log((2 + 1 * math.exp(end)) / (2 + 1))
    assert found["bigram"]["nats"] == pytest.approx(-(after_we + after_see) / 2, abs=1e-4)
    assert found["bigram"]["accuracy"] == 1.0
    # The same sentence cut elsewhere, or one that the model does not read, counts no second time.
    more = [*learned, SentencePair("we see", "")._replace(source="we", target="see")]
    more.append(SentencePair("we", "see " * 20))
    assert foretold(translator, [SentencePair("we", "see")], more) == found


@pytest.mark.parametrize("path", SHIPPED_ONES, ids=lambda path: path.parent.name)
def test_a_shipped_decoder_foretells_better_than_counts(path):
    score = json.loads(path.read_text("utf-8"))["scores"]["held out"]
    assert score["nats"] < score["bigram"]["nats"] < score["unigram"]["nats"]
    assert score["accuracy"] > score["bigram"]["accuracy"] > score["unigram"]["accuracy"]


@pytest.fixture(scope="module", params=SHIPPED_ONES, ids=lambda path: path.parent.name)
def shipped(request):
    return Translator(read(request.param.parent), load(allow=[]))


def test_a_shipped_decoder_ends_what_its_card_begins(shipped):
    for beginning in shipped.card["corpus"]["examples"]:
        said = shipped.explain(beginning)
        *words, mark, end = said.tokens
        assert end == "<eos>"
        assert mark in ".?!"
        assert len(words) > 1
        assert said.unknown == ()


@pytest.mark.slow
def test_a_shipped_decoder_foretells_as_its_card_says(shipped):
    corpus = shipped.card["corpus"]
    learned, unseen = experiment.learned_and_unseen(shipped.card, beginnings(), corpus["name"])
    found = foretold(shipped, unseen, learned)
    assert disagreements(shipped.card["scores"]["held out"], found) == []
