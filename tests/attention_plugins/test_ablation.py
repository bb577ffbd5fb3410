"""Heads switched off: what it does to the words' likelihood and to BLEU, and what it must not."""

import pytest
import torch

from attention_plugins import checkpoints, experiment
from attention_plugins.contract import SentencePair
from attention_plugins.datasets.parallel import references
from attention_plugins.datasets.phrasebook import phrasebook
from attention_plugins.decoding import force
from attention_plugins.health import heads_of, leave_one_out
from attention_plugins.home import SHIPPED
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.scores import corpus_bleu
from attention_plugins.tap import Intervention, Site
from attention_plugins.translator import Translator

REGISTRY = load(allow=[])
PAIRS = [
    SentencePair(f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]


@pytest.fixture(scope="module", params=["transformer", "bahdanau"])
def translator(request):
    sizes = {
        "transformer": {"hidden": 14, "heads": 7, "layers": 3, "ffn": 11},
        "bahdanau": {"embed": 5, "hidden": 14, "layers": 1},
    }[request.param]
    plan = experiment.Experiment(
        model=request.param, scoring="scaled_dot", corpus="few", model_parameters=sizes,
        recipe=Recipe(min_frequency=1, epochs=1),
    )  # fmt: skip
    with experiment.at_rest(experiment.prepare(plan, PAIRS, REGISTRY), "cpu") as made:
        yield made


def test_leaving_a_head_out_is_what_an_intervention_does(translator):
    pair = translator.pair(PAIRS[2].source, PAIRS[4].target)
    usual, sites = force(translator.model, *pair)
    expected = {}
    for site, head in heads_of(sites):
        off = [Intervention(site=site, action="off", head=head)]
        changed, _ = force(translator.model, *pair, interventions=off)
        expected[site, head] = (changed - usual).sum().item()
    found = {tuple(head): change for head, change in leave_one_out(translator, pair)}
    assert found == pytest.approx(expected, abs=2e-5)
    assert len(found) == (3 * 3 * 7 if len(sites) > 1 else 1)
    assert max(map(abs, found.values())) > 1e-3
    assert len(set(found.values())) == len(found)


@pytest.fixture(scope="module")
def shipped():
    """The shipped Phrasebook Transformer, and 200 pairs that it never saw."""
    found = checkpoints.read(SHIPPED / "transformer-scaled-dot-phrasebook")
    corpus = found.card["corpus"]
    _, held_out = experiment.divide(
        phrasebook()[: corpus["pairs"]], corpus["held_out_sources"], corpus["split_seed"]
    )
    return Translator(found, REGISTRY), held_out[:200]


def test_without_cross_attention_bleu_drops_by_more_than_half(shipped):
    translator, pairs = shipped
    off = [Intervention(site=Site("cross", layer), action="off") for layer in range(2)]
    by_source = references(pairs)
    usual, blind = (
        corpus_bleu(
            translator.translate(list(by_source), interventions=changes),
            list(by_source.values()),
        ).score
        for changes in ((), off)
    )
    assert usual > 90
    assert blind < usual / 2


def test_no_intervention_changes_no_bit(shipped):
    translator, pairs = shipped
    sentences = [pair.source for pair in pairs[:5]]
    elsewhere = [Intervention(site=Site("pooling", 0), action="off")]
    assert translator.translate(sentences) == translator.translate(
        sentences, interventions=elsewhere
    )
    pair = translator.pair(*pairs[0][:2])
    (usual, maps), (again, same) = (
        force(translator.model, *pair, interventions=none) for none in ((), elsewhere)
    )
    assert torch.equal(usual, again)
    assert maps.keys() == same.keys()
    assert all(torch.equal(maps[site], same[site]) for site in maps)


def test_the_untrained_model_is_the_one_that_training_began_with():
    plan = experiment.Experiment(
        model="transformer", scoring="additive", corpus="few",
        model_parameters={"hidden": 14, "heads": 7, "layers": 1, "ffn": 11},
        recipe=Recipe(min_frequency=1, epochs=1, seed=5),
    )  # fmt: skip
    ready = experiment.prepare(plan, PAIRS, REGISTRY)
    before = torch.random.get_rng_state()
    fresh = checkpoints.Checkpoint(None, ready.card).untrained(REGISTRY)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not fresh.training
    expected = ready.model.state_dict()
    assert expected.keys() == fresh.state_dict().keys()
    assert all(torch.equal(part, expected[name]) for name, part in fresh.state_dict().items())
