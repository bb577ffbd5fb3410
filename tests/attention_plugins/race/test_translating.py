import math
from dataclasses import replace

import pytest
import torch

from attention_plugins.race import translating
from attention_plugins.race.data import pairs_of
from attention_plugins.race.records import Budget, Contestant, Trial
from attention_plugins.training import Progress

BUDGET = Budget(examples=200, epochs=1, batch_size=64, rates=(0.01,))


class _Enough(Exception):
    """Training would begin here."""


@pytest.fixture
def begun(monkeypatch):
    """Begins a trial: the initial weights by name, the recipe, and the seed of what is drawn."""
    seen = {}

    def train(model, encoded, recipe, *, device):
        weights = {name: w.clone() for name, w in model.named_parameters()}
        seen.update(weights=weights, recipe=recipe, seed=torch.initial_seed(), corpus=encoded)
        raise _Enough

    monkeypatch.setattr(translating, "train", train)

    def begin(scoring, seed=3, rate=0.01):
        who = Contestant(model="bahdanau", scoring=scoring)
        with pytest.raises(_Enough):
            translating.translate(Trial(task="copy", contestant=who, rate=rate, seed=seed), BUDGET)
        return dict(seen)

    return begin


def test_all_start_from_the_same_weights_but_for_their_scorings(begun):
    plain, own = begun("scaled_dot")["weights"], begun("additive")["weights"]
    assert len(own) > len(plain) > 5
    assert all(torch.equal(own[name], plain[name]) for name in plain)
    other = begun("scaled_dot", seed=4)["weights"]
    assert not any(torch.equal(other[n], plain[n]) for n in plain if plain[n].dim() > 1)


def test_a_seed_decides_what_is_learned_in_which_order_and_what_is_drawn(begun):
    one, same, other = begun("dot"), begun("cosine", rate=0.03), begun("dot", seed=4)
    assert one["seed"] == same["seed"] == 3
    assert other["seed"] == 4
    assert one["recipe"].seed == 3
    assert (one["recipe"].learning_rate, same["recipe"].learning_rate) == (0.01, 0.03)
    assert one["corpus"].source == same["corpus"].source
    assert one["corpus"].source != other["corpus"].source


def test_every_step_of_a_contestant_is_as_large_as_anothers(begun):
    recipes = [begun(name)["recipe"] for name in ("dot", "additive", "gaussian")]
    assert recipes[0] == recipes[1] == recipes[2]
    assert (recipes[0].epochs, recipes[0].batch_size) == (1, 64)


@pytest.mark.parametrize("tuning", [True, False])
def test_a_rate_is_chosen_by_sentences_that_are_never_reported(monkeypatch, tuning):
    """Whoever knows the validation's answers alone scores 100 there, and 0 on what is reported."""
    seed = 1_000_000 if tuning else 1
    data = pairs_of("copy", BUDGET.examples, seed)
    known = {pair.source: pair.target for pair in data.validation}
    asked = []

    def translated(translator, sources):
        asked.extend(sources)
        return [known.get(source, "") for source in sources]

    step = Progress(
        epoch=1, epochs=1, step=1, steps=1, loss=1.0, step_loss=1.0, tokens_per_second=1.0,
        seconds=1.0, epoch_seconds=1.0,
    )  # fmt: skip
    monkeypatch.setattr(translating, "train", lambda *given, **more: [step])
    monkeypatch.setattr(translating.Translator, "translate", translated)
    who = Contestant(model="bahdanau", scoring="dot")
    trial = Trial(task="copy", contestant=who, rate=0.01, seed=seed, tuning=tuning)
    found = translating.translate(trial, BUDGET)
    assert found.validation == 100
    if tuning:
        assert {*asked} == {*known}
        assert math.isnan(found.quality)
    else:
        assert found.quality == 0
        assert {*asked} > {pair.source for pair in data.reported}


def test_a_step_is_timed_without_the_first_epoch():
    def at(epoch, seconds):
        return Progress(
            epoch=epoch, epochs=3, step=4, steps=4, loss=1.0, step_loss=1.0,
            tokens_per_second=1.0, seconds=seconds, epoch_seconds=1.0,
        )  # fmt: skip

    history = [at(1, 100.0), at(2, 100.4), at(3, 100.8)]
    assert translating._milliseconds(history) == pytest.approx(100.0)
    alone = replace(history[0], epochs=1)
    assert math.isnan(translating._milliseconds([alone]))
