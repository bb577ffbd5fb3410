import random

import pytest
import torch

from attention_plugins.contract import ContractError, ModelSizes, SentencePair
from attention_plugins.encoding import batches, encode
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.text import EOS_ID, PAD_ID
from attention_plugins.training import train

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
        ("tokeniser", "bytes", "need tokeniser to be one of words, clitics, got 'bytes'"),
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


def test_nothing_to_train_on_is_refused():
    with pytest.raises(ContractError, match="at least one sentence pair"):
        encode([], RECIPE)
