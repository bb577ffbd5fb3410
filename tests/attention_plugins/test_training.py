import json
import random
from dataclasses import replace

import pytest
import torch

from attention_plugins import experiment
from attention_plugins.agreement import losses
from attention_plugins.contract import ContractError, ModelSizes, SentencePair
from attention_plugins.encoding import batches, encode
from attention_plugins.evaluation import evaluate
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.recipe import PRESETS, Recipe, parameters
from attention_plugins.registry import load
from attention_plugins.text import EOS_ID, PAD_ID
from attention_plugins.training import Progress, Trainer, train

PAIRS = [
    SentencePair(f"the {a} is {b} .", f"le {a} est {b} !" + " vraiment" * (i % 3))
    for i, (a, b) in enumerate((a, b) for a in ("chat", "lion", "ours") for b in ("ici", "las"))
]
RECIPE = Recipe(min_frequency=1, epochs=3, batch_size=5, learning_rate=0.01)


def _model(encoded, seed=0):
    torch.manual_seed(seed)
    sizes = ModelSizes(len(encoded.source_vocabulary), len(encoded.target_vocabulary))
    scoring = load(allow=[]).scoring("scaled_dot")
    values = {"embed": 6, "hidden": 14, "layers": 1, "dropout": 0.0}
    return BAHDANAU.create(scoring.factory(), sizes, values)


def test_every_pair_comes_once_an_epoch_with_its_padding():
    encoded = encode(PAIRS, RECIPE)
    seen = []
    for batch in batches(encoded, 5, random.Random(0), torch.device("cpu")):
        assert len(batch.source) <= 5
        for row, length in zip(batch.target, batch.target_lengths, strict=True):
            assert row[length - 1] == EOS_ID
            assert row[length:].eq(PAD_ID).all()
            assert not row[:length].eq(PAD_ID).any()
            seen.append(tuple(row[:length].tolist()))
    assert sorted(seen) == sorted(map(tuple, encoded.target))


def test_equal_seeds_give_equal_models_and_other_seeds_do_not():
    encoded, trained = encode(PAIRS, RECIPE), []
    for order_seed in (0, 0, 1):
        model = _model(encoded)
        history = train(model, encoded, Recipe(**{**vars(RECIPE), "seed": order_seed}))
        trained.append((history[-1].loss, torch.cat([p.flatten() for p in model.parameters()])))
    assert trained[0][0] == trained[1][0]
    assert torch.equal(trained[0][1], trained[1][1])
    assert not torch.equal(trained[0][1], trained[2][1])


def test_the_loss_falls_and_is_reported_per_token():
    encoded = encode(PAIRS, RECIPE)
    steps, epochs = [], []
    recipe = Recipe(**{**vars(RECIPE), "epochs": 60, "learning_rate": 0.03})
    history = train(_model(encoded), encoded, recipe, on_step=steps.append, on_epoch=epochs.append)
    assert epochs == history
    assert len(history) == 60
    assert len(steps) == 120  # six pairs in batches of five
    # An untrained model gives every word about the same chance: the entropy of the vocabulary.
    assert history[0].loss == pytest.approx(
        torch.tensor(len(encoded.target_vocabulary) * 1.0).log().item(), abs=0.4
    )
    assert history[-1].loss < 0.1
    tokens = sum(map(len, encoded.target))
    for one in history:  # the speed is that of the epoch
        assert one.tokens_per_second * one.epoch_seconds == pytest.approx(tokens)
    assert history[-1].seconds == pytest.approx(sum(one.epoch_seconds for one in history))


def test_a_callback_that_raises_stops_the_training():
    encoded = encode(PAIRS, RECIPE)

    def stop(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(_model(encoded), encoded, RECIPE, on_step=stop)


def test_a_loss_that_is_not_finite_is_named():
    encoded = encode(PAIRS, RECIPE)
    model = _model(encoded)
    model.output.bias.data[4] = torch.inf
    with pytest.raises(FloatingPointError, match=r"learning rate 0.01; try a lower one"):
        train(model, encoded, RECIPE)


def test_the_cosine_schedule_rises_and_ends_at_nothing():
    encoded = encode(PAIRS, RECIPE)
    recipe = Recipe(
        min_frequency=1, epochs=20, batch_size=5, schedule="cosine", warmup=4, learning_rate=0.01
    )
    model, moves = _model(encoded), []
    before = [model.output.weight.detach().clone()]

    def watch(progress):
        now = model.output.weight.detach().clone()
        moves.append((now - before[0]).abs().max().item())
        before[0] = now

    train(model, encoded, recipe, on_step=watch)
    assert moves[0] < moves[4] / 3  # Adam's first steps are as large as the rate
    assert moves[-1] < moves[4] / 50


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("epochs", 0, "need 1 <= epochs <= 10000, got 0"),
        ("tokeniser", 7, "need tokeniser to be a name, got 7"),
        ("schedule", "magic", "need schedule to be one of constant, cosine, got 'magic'"),
        ("max_tokens", 1, "need 2 <= max_tokens <= 500, got 1"),
        ("learning_rate", float("nan"), "need learning_rate to be a number, got nan"),
    ],
)
def test_a_recipe_names_what_is_wrong(field, value, message):
    with pytest.raises(ContractError, match=message):
        Recipe(**{field: value})


def test_long_sentences_are_cut_and_still_end():
    encoded = encode(
        [SentencePair("a b c d e f", "u v w x y z")], Recipe(min_frequency=1, max_tokens=4)
    )
    assert [len(row) for row in (*encoded.source, *encoded.target)] == [4, 4]
    assert encoded.target[0][-1] == EOS_ID


LINKED = [
    SentencePair("a b c", "u v w", ((0, 2), (2, 0), (1, 1)), ((0, 0),)),
    SentencePair("c", "w"),
    SentencePair("b a a b a", "v u u v u", ((4, 4), (3, 3), (2, 2), (0, 1))),
]


def test_a_batch_has_the_gold_links_that_are_left_of_its_sentences():
    """Cut at four ids, three words and the end, the last pair keeps two of its four links."""
    encoded = encode(LINKED, Recipe(min_frequency=1, max_tokens=4), counted="words")
    (batch,) = batches(encoded, 5, random.Random(0), torch.device("cpu"))
    assert batch.alignment.shape == (3, *batch.target.shape[1:], *batch.source.shape[1:])
    assert batch.alignment.dtype == torch.bool
    found = {}
    for row, links in enumerate(batch.alignment):
        words = encoded.source_vocabulary.words(batch.source[row].tolist())
        others = encoded.target_vocabulary.words(batch.target[row].tolist())
        found[" ".join(words)] = [(words[i], others[j], i, j) for j, i in links.nonzero().tolist()]
    assert found == {
        "a b c <eos>": [("c", "u", 2, 0), ("b", "v", 1, 1), ("a", "w", 0, 2)],
        "c <eos> <pad> <pad>": [],
        "b a a <eos>": [("b", "u", 0, 1), ("a", "u", 2, 2)],
    }


def test_links_that_count_other_tokens_are_carried():
    pair = SentencePair("I'm home", "je suis ici", ((0, 0), (1, 1), (2, 2)))
    assert encode([pair], Recipe(tokeniser="words", min_frequency=1)).links == [
        [(0, 0), (0, 1), (1, 2)]
    ]
    assert encode([pair], Recipe(tokeniser="clitics", min_frequency=1)).links == [
        [(0, 0), (1, 1), (2, 2)]
    ]


def test_a_corpus_without_links_has_no_alignments():
    encoded = encode(PAIRS, RECIPE)
    assert encoded.links is None
    made = batches(encoded, 5, random.Random(0), torch.device("cpu"))
    assert [batch.alignment for batch in made] == [None, None]


class _Guided(torch.nn.Module):
    """A model whose loss also asks that gold links be looked at."""

    def __init__(self, inner):
        super().__init__()
        self.inner, self.asked = inner, []

    def start(self, *given):
        return self.inner.start(*given)

    def step(self, *given):
        return self.inner.step(*given)

    def loss(self, batch, label_smoothing=0.0):
        self.asked.append(batch.alignment)
        loss = self.inner.loss(batch, label_smoothing)
        return loss if batch.alignment is None else loss + 0.1 * batch.alignment.sum()


def test_a_loss_can_use_the_links_and_the_guard_asks_without():
    encoded = encode(LINKED, Recipe(min_frequency=1), counted="words")
    model = _Guided(_model(encoded))
    train(model, encoded, Recipe(epochs=1, batch_size=3))
    assert [int(seen.sum()) for seen in model.asked] == [7]
    (batch,) = batches(encoded, 3, random.Random(0), torch.device("cpu"))
    assert losses(model, batch).agree


def test_nothing_to_train_on_is_refused():
    with pytest.raises(ContractError, match="at least one sentence pair"):
        encode([], RECIPE)


def _trainer(encoded, recipe, model=BAHDANAU, **values):
    torch.manual_seed(recipe.seed)
    sizes = ModelSizes(len(encoded.source_vocabulary), len(encoded.target_vocabulary))
    scoring = load(allow=[]).scoring("additive")
    return Trainer(model.create(scoring.factory(), sizes, values), encoded, recipe)


SMALL = {
    BAHDANAU: {"embed": 6, "hidden": 14, "layers": 2, "dropout": 0.3, "deep_readout": True},
    TRANSFORMER: {"hidden": 12, "heads": 2, "layers": 1, "ffn": 10, "dropout": 0.3, "tied": True},
}
STOPS = Recipe(
    min_frequency=1, epochs=4, batch_size=2, schedule="cosine", warmup=3, weight_decay=0.1
)


class _Stop(Exception):
    pass


def _weights(trainer):
    return torch.cat([p.detach().flatten() for p in trainer.model.parameters()])


@pytest.mark.parametrize("model", SMALL, ids=lambda spec: spec.name)
@pytest.mark.parametrize(("epoch", "step"), [(1, 2), (2, 3), (3, 1), (4, 3)])
def test_a_stopped_training_goes_on_as_if_it_had_not_stopped(model, epoch, step):
    """Three steps an epoch: stopped within one, at the end of one, before the last is counted."""
    encoded = encode(PAIRS, STOPS)
    whole = _trainer(encoded, STOPS, model, **SMALL[model])
    expected = [(p.epoch, p.loss) for p in whole.epochs()]

    def stop(now):
        if (now.epoch, now.step) == (epoch, step):
            raise _Stop

    first = _trainer(encoded, STOPS, model, **SMALL[model])
    seen = []
    with pytest.raises(_Stop):
        seen += ((p.epoch, p.loss) for p in first.epochs(stop))
    tensors, facts = first.state()
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    second = _trainer(encoded, replace(STOPS), model, **SMALL[model])
    torch.manual_seed(99)  # what happens in between must not count
    second.restore(tensors, json.loads(json.dumps(facts)))
    assert [*_before(seen, epoch), *((p.epoch, p.loss) for p in second.epochs())] == expected
    assert torch.equal(_weights(second), _weights(whole))


def _before(seen, epoch):
    return [entry for entry in seen if entry[0] < epoch]


def test_a_state_is_taken_after_an_epoch_too():
    encoded = encode(PAIRS, STOPS)
    whole = _trainer(encoded, STOPS, **SMALL[BAHDANAU])
    expected = [p.loss for p in whole.epochs()]
    first = _trainer(encoded, STOPS, **SMALL[BAHDANAU])
    next(first.epochs())
    state = first.state()
    second = _trainer(encoded, STOPS, **SMALL[BAHDANAU])
    second.restore(*state)
    assert [p.loss for p in second.epochs()] == expected[1:]
    assert torch.equal(_weights(second), _weights(whole))


def test_the_state_of_another_model_is_refused():
    encoded = encode(PAIRS, STOPS)
    state = _trainer(encoded, STOPS, **SMALL[BAHDANAU]).state()
    other = _trainer(encoded, STOPS, **SMALL[BAHDANAU] | {"hidden": 18})
    with pytest.raises(ContractError, match="that of another model; start a new training"):
        other.restore(*state)


def test_every_hyperparameter_but_the_seed_is_described():
    every = parameters(load(allow=[]).tokenisers)
    assert {p.name for p in every} == set(vars(STOPS)) - {"seed"}
    assert all(p.help for p in every)
    assert {p.name: p.default for p in every} == {
        name: value for name, value in vars(Recipe()).items() if name != "seed"
    }


def test_looking_at_a_model_in_training_changes_nothing():
    """A scoring may draw at random even at rest; the training must not see it."""
    plan = experiment.Experiment(
        model="bahdanau", scoring="additive", corpus="animals", recipe=STOPS, held_out=1,
        model_parameters=SMALL[BAHDANAU],
    )  # fmt: skip
    losses = []
    for looks in (False, True):
        ready = experiment.prepare(plan, PAIRS, load(allow=[]))
        trainer = Trainer(ready.model, ready.encoded, ready.recipe)
        losses.append([])
        for progress in trainer.epochs():
            losses[-1].append(progress.loss)
            if looks:
                with experiment.at_rest(ready, "cpu") as translator:
                    assert not ready.model.training
                    assert translator.explain("the chat is las .").maps
                    evaluate(translator, ready.held_out)
                    torch.rand(3)
                assert ready.model.training
    assert losses[0] == losses[1]


@pytest.mark.parametrize("model", SMALL, ids=lambda spec: spec.name)
def test_the_seed_of_an_experiment_draws_its_starting_weights(model):
    """Whatever was drawn before: an experiment's spread is that of its starting weights."""

    def weights(seed, drawn_before):
        torch.manual_seed(drawn_before)
        plan = experiment.Experiment(
            model=model.name, scoring="additive", corpus="animals",
            recipe=replace(STOPS, seed=seed), model_parameters=SMALL[model],
        )  # fmt: skip
        return dict(experiment.prepare(plan, PAIRS, load(allow=[])).model.named_parameters())

    one, same, other = weights(1, 7), weights(1, 8), weights(2, 7)
    for name, parameter in one.items():
        assert torch.equal(parameter, same[name])
        drawn = parameter.detach().unique().numel() > 1  # not all ones, or all zeros
        assert drawn != torch.equal(parameter, other[name])


def test_a_sample_has_whole_sources_and_is_always_the_same():
    twice = [*PAIRS, SentencePair("the chat is las .", "le chat est fatigué .")]
    drawn = experiment.sample(twice, 3)
    assert drawn == experiment.sample(twice, 3) != experiment.sample(twice, 3, seed=1)
    assert len({pair.source for pair in drawn}) == 3
    everything = experiment.sample(twice, 100)
    assert len(everything) == 7
    assert [p.target for p in everything if p.source == "the chat is las ."] == [
        "le chat est las ! vraiment", "le chat est fatigué .",
    ]  # fmt: skip


def test_what_is_given_goes_before_a_preset_and_its_recipe():
    preset = PRESETS["quick"]
    given = {"corpus": "pairs", "scoring": "dot", "model_parameters": {"hidden": 16}}
    usual = experiment.Experiment.of_preset(preset, "luong", None, recipe={}, **given)
    assert (usual.held_out, usual.recipe) == (200, preset.recipe)
    assert usual.model_parameters == {"embed": 64, "hidden": 16}
    made = experiment.Experiment.of_preset(
        preset, "luong", load(allow=[]).dataset("copy"), held_out=7,
        recipe={"tokeniser": "spaces", "epochs": 3}, **given,
    )  # fmt: skip
    assert (made.held_out, made.dataset) == (7, "copy")
    assert made.recipe == replace(preset.recipe, tokeniser="spaces", epochs=3)


def test_a_card_says_the_mean_loss_of_its_last_epoch_and_offers_what_it_did_not_learn():
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", corpus="animals", held_out=1, recipe=RECIPE,
        model_parameters=SMALL[BAHDANAU],
    )  # fmt: skip
    ready = experiment.prepare(plan, PAIRS, load(allow=[]))
    after = Progress(
        epoch=2, epochs=3, step=5, steps=5, loss=1.23456, step_loss=9.0, tokens_per_second=1.0,
        seconds=20.04, epoch_seconds=3.0,
    )  # fmt: skip
    told = experiment.card_after(ready, after, torch.device("cpu"))["training"]
    assert {
        "epochs_done": 2,
        "seconds": 20.0,
        "loss": 1.2346,
        "device": "cpu",
    }.items() <= told.items()
    assert ready.card["corpus"]["examples"] == [pair.source for pair in ready.held_out]
