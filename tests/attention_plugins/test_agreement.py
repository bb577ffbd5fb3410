"""Training and decoding are compared before a model is kept, and the cause is named."""

import json
import re
from dataclasses import replace

import pytest
import torch
from torch import nn

from attention_plugins import (
    ContractError,
    ModelSpec,
    Scoring,
    ScoringSpec,
    SentencePair,
    scoring,
)
from attention_plugins.agreement import Losses, batch_of, losses, require_agreement
from attention_plugins.checkpoints import CheckpointError, read
from attention_plugins.experiment import Experiment, guard, keep, prepare, run
from attention_plugins.models.transformer import TRANSFORMER, Transformer
from attention_plugins.recipe import Recipe
from attention_plugins.registry import Registry, load
from attention_plugins.translator import Translator

BUILT_IN = load(allow=[])
WORDS = "one two three four five six seven".split()
PAIRS = [
    SentencePair(" ".join(WORDS[: 2 + n % 5]), " ".join(reversed(WORDS[: 2 + n % 5])))
    for n in range(20)
]
RECIPE = Recipe(epochs=1, batch_size=8, min_frequency=1, max_tokens=9)


@scoring("counted", formula="q k", needs=("positions",), same_size=True)
def counted(queries, keys, positions):
    return queries @ keys.mT - positions.distances.abs()


@scoring("uncounted", formula="q k", same_size=True)
def uncounted(queries, keys):
    """Counts by itself: right when all queries come at once, wrong when they come in turn."""
    places = torch.arange(queries.shape[-2])[:, None] - torch.arange(keys.shape[-2])
    return queries @ keys.mT - places.abs()


@scoring("from_the_end", formula="q k", same_size=True)
def from_the_end(queries, keys):
    return queries @ keys.mT * (torch.arange(keys.shape[-2]) - keys.shape[-2])


@scoring("over_keys", formula="q k", same_size=True)
def over_keys(queries, keys):
    """A norm over all keys, the padded ones too."""
    return queries @ keys.mT / keys.norm(dim=(-2, -1), keepdim=True).clamp_min(1.0)


def registry(*scorings, models=(), distribution=""):
    """The built-ins, and these."""
    records = {kind: dict(found) for kind, found in BUILT_IN.records.items()}
    records["scorings"] |= {spec.name: spec for spec in scorings}
    records["models"] |= {spec.name: spec for spec in models}
    (ours,) = [plugin for plugin in BUILT_IN.plugins if plugin.name == "scorings"]
    mine = replace(
        ours, name="mine", distribution=distribution or "mine", version="3",
        offers={"scorings": tuple(s.name for s in scorings),
                "models": tuple(m.name for m in models)},
    )  # fmt: skip
    return Registry(records=records, plugins=(*BUILT_IN.plugins, mine))


def experiment(name, model="transformer", **more):
    small = {"hidden": 16, "heads": 2, "layers": 1, "ffn": 16}
    return Experiment(
        model=model, scoring=name, recipe=RECIPE, corpus="reversed", held_out=4,
        model_parameters=small if model != "bahdanau" else {}, **more,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
@pytest.mark.parametrize("name", ["scaled_dot", "additive", "counted"])
def test_a_model_that_agrees_is_kept(name, model, tmp_path):
    here = registry(counted)
    trained = run(experiment(name, model), PAIRS, here)
    keep(trained, tmp_path / "kept")
    read(tmp_path / "kept").build(here)
    batch = batch_of(trained.encoded.source[:5], trained.encoded.target[:5])
    found = losses(trained.model, batch)
    assert found.spread < 1e-9
    assert found.at_once > 0.1


@pytest.mark.parametrize(
    ("spec", "model", "said"),
    [
        (uncounted, "transformer", "training and decoding disagree"),
        (over_keys, "transformer", "training and decoding disagree"),
        (from_the_end, "bahdanau", "padding changes the result"),
    ],
)
def test_a_scoring_that_disagrees_is_refused_by_name(spec, model, said):
    with pytest.raises(ContractError, match=said) as caught:
        run(experiment(spec.name, model), PAIRS, registry(spec))
    assert f"The cause is scoring {spec.name!r}" in str(caught.value)


class Forgetful(Transformer):
    """Decodes as if every word were the first."""

    def step(self, state, tokens, tap):
        found, new = super().step(state, tokens, tap)
        return found, {name: kept for name, kept in new.items() if name in state}


def test_a_model_that_disagrees_is_refused_by_name():
    spec = ModelSpec(
        name="forgetful", title="F", task="translation", build=Forgetful,
        parameters=TRANSFORMER.parameters,
    )  # fmt: skip
    here = registry(models=(spec,))
    ready = prepare(experiment("dot", "forgetful"), PAIRS, here)
    drawn = torch.get_rng_state()
    with pytest.raises(ContractError, match="The cause is model 'forgetful'"):
        guard(ready, here)
    assert torch.get_rng_state().equal(drawn)
    with pytest.raises(ContractError, match="The cause is model 'forgetful'"):
        run(experiment("dot", "forgetful"), PAIRS, here)


def test_a_refusal_says_which_way_costs_what():
    two = "cost 1.0000 nats per token scored at once, .* and 2.0000 word by word"
    with pytest.raises(ContractError, match=two):
        require_agreement(Losses(1.0, 2.0, 1.0, 2.0), "mine")
    three = "cost 1.0000 nats per token, and 3.0000 at once or 4.0000 word by word with 3 tokens"
    with pytest.raises(ContractError, match=three):
        require_agreement(Losses(1.0, 1.0, 3.0, 4.0), "mine")


class Counting(Transformer):
    """Steps that cost more the longer the padded source is."""

    def step(self, state, tokens, tap):
        found, new = super().step(state, tokens, tap)
        return found - 0.01 * state["mask"].shape[-1], new


def test_padding_that_changes_the_steps_alone_is_seen():
    spec = ModelSpec(
        name="counting", title="C", task="translation", build=Counting,
        parameters=TRANSFORMER.parameters,
    )  # fmt: skip
    ready = prepare(experiment("dot", "counting"), PAIRS, registry(models=(spec,)))
    batch = batch_of(ready.encoded.source[:5], ready.encoded.target[:5])
    found = losses(ready.model, batch)
    assert found.at_once_padded == pytest.approx(found.at_once)
    assert found.word_by_word_padded == pytest.approx(found.word_by_word + 0.03)


class Zeros(Scoring):
    """A table of positions that starts at 0, and so hides at first that it miscounts."""

    def __init__(self, sizes, values):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(50))

    def forward(self, queries, keys):
        return queries @ keys.mT + self.table[torch.arange(queries.shape[-2])[:, None]
                                              + torch.arange(keys.shape[-2])]  # fmt: skip


def test_weights_that_start_at_zero_do_not_hide_it():
    spec = ScoringSpec(name="zeros", title="Z", formula="q", build=Zeros, same_size=True)
    here = registry(spec)
    guard(prepare(experiment("zeros"), PAIRS, here), here)  # nothing to see before training
    with pytest.raises(ContractError, match="disagree"):
        run(replace(experiment("zeros"), recipe=replace(RECIPE, epochs=20)), PAIRS, here)


def test_the_guard_leaves_the_model_and_its_random_draws_as_they_are():
    here = registry()
    ready = prepare(experiment("additive"), PAIRS, here)
    before = {name: t.clone() for name, t in ready.model.state_dict().items()}
    ready.model.train()
    drawn = torch.get_rng_state()
    guard(ready, here)
    assert torch.get_rng_state().equal(drawn)
    assert ready.model.training
    assert all(t.equal(before[name]) for name, t in ready.model.state_dict().items())


def test_a_card_says_whose_plugins_the_model_was_trained_with(tmp_path):
    here = registry(counted)
    trained = run(experiment("counted", normaliser="sparsemax"), PAIRS, here)
    kept = keep(trained, tmp_path / "kept")
    plugins = kept.card["plugins"]
    assert plugins["scoring"] == {
        "name": "counted", "distribution": "mine", "version": "3", "contract": "",
    }  # fmt: skip
    assert plugins["model"]["distribution"] == "attention-workbench"
    assert plugins["normaliser"]["name"] == "sparsemax"
    with pytest.raises(ContractError, match=re.escape("'counted' of mine 3; here theirs 3")):
        read(tmp_path / "kept").build(registry(counted, distribution="theirs"))
    with pytest.raises(ContractError, match=r"no scoring 'counted' here: .*; install mine"):
        read(tmp_path / "kept").build(BUILT_IN)


def test_a_card_with_a_bad_origin_is_refused(tmp_path):
    keep(run(experiment("dot"), PAIRS, registry()), tmp_path)
    card = json.loads((tmp_path / "card.json").read_text("utf-8"))
    for bad in ({"scoring": 3}, {"scoring": {"name": "dot"}}, {"chart": {}}, []):
        (tmp_path / "card.json").write_text(json.dumps({**card, "plugins": bad}), "utf-8")
        with pytest.raises(CheckpointError, match="plugins"):
            read(tmp_path)


def test_the_normaliser_is_part_of_the_model_and_of_its_card(tmp_path):
    here = registry()
    trained = run(
        experiment("dot", normaliser="temperature", normaliser_parameters={"temperature": 2.0}),
        PAIRS, here,
    )  # fmt: skip
    kept = keep(trained, tmp_path / "kept")
    assert kept.card["normaliser_parameters"] == {"temperature": 2.0}
    assert "Softmax at a temperature" in kept.card["title"]
    names = [n for n, _ in trained.model.named_parameters() if "temperature" in n]
    assert names
    assert all(".normaliser.learned_temperature" in name for name in names)
    built = read(tmp_path / "kept").build(here)
    for name in names:
        assert built.state_dict()[name] == trained.model.state_dict()[name].half().float() != 2.0


def test_an_own_normaliser_cannot_be_replaced():
    spec = ScoringSpec(
        name="own", title="O", formula="q", build=Zeros, same_size=True, own_normaliser=True
    )
    with pytest.raises(ContractError, match="in its own way; choose no normaliser"):
        prepare(experiment("own", normaliser="sparsemax"), PAIRS, registry(spec))
    prepare(experiment("own", normaliser="softmax"), PAIRS, registry(spec))


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
def test_a_formula_is_trained_and_its_checkpoint_needs_nothing_else(model, tmp_path):
    trained = run(experiment("=q·k/√d - m|i - j|", model), PAIRS, BUILT_IN)
    keep(trained, tmp_path / "kept")
    found = read(tmp_path / "kept")
    name = "=dot(q, k) / sqrt(d) - m * abs(i - j)"
    assert found.card["scoring"] == found.card["plugins"]["scoring"]["name"] == name
    assert found.card["scoring_parameters"] == {"m": 1.0}
    assert found.card["plugins"]["scoring"]["distribution"] == "attention-workbench"
    batch = batch_of(trained.encoded.source[:5], trained.encoded.target[:5])
    opened = found.build(BUILT_IN)
    assert losses(opened, batch).at_once == pytest.approx(
        losses(trained.model, batch).at_once, rel=1e-2
    )
    learned = [weight for key, weight in opened.named_parameters() if key.endswith("learned_m")]
    assert learned
    assert all(weight != 1.0 for weight in learned)


def test_a_card_with_a_bad_formula_is_refused_at_its_character(tmp_path):
    keep(run(experiment("=q.k"), PAIRS, BUILT_IN), tmp_path / "kept")
    path = tmp_path / "kept" / "card.json"
    card = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**card, "scoring": "=__import__(q)", "plugins": {}}), "utf-8")
    with pytest.raises(ContractError, match='character 2: nothing is called "__import__"'):
        read(tmp_path / "kept").build(BUILT_IN)


@pytest.mark.parametrize(
    ("spec", "tasks"),
    [(BUILT_IN.scoring("=q.k * n"), "regression"), (replace(counted, tasks=("encoding",)), "enc")],
)
def test_a_scoring_of_other_tasks_is_not_trained(spec, tasks):
    with pytest.raises(ContractError, match=f"is for {tasks}.*; need one for translation"):
        prepare(experiment(spec.name), PAIRS, registry(spec))


class Signed(Scoring):
    sums_to_one = False

    def __init__(self, sizes, values):
        super().__init__()

    def forward(self, queries, keys):
        return queries @ keys.mT

    def normalise(self, scores):
        return super().normalise(scores) - 0.9 * super().normalise(scores / 2)


def test_weights_below_0_train_and_translate_and_are_no_map(tmp_path):
    """No normaliser may be named by None as well."""
    spec = ScoringSpec(name="signed", title="S", formula="q", build=Signed, same_size=True)
    here = registry(spec)
    checkpoint = keep(run(experiment("signed", normaliser=None), PAIRS, here), tmp_path / "kept")
    translator = Translator(checkpoint, here)
    assert isinstance(translator.translate(["one two"])[0], str)
    with pytest.raises(ContractError, match="nothing in the model says that they may be"):
        translator.explain("one two")
