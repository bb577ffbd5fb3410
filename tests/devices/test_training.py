"""Training on a device: it learns what the CPU learns, stops, goes on, and may be looked at."""

import json
from dataclasses import astuple, replace
from itertools import pairwise

import pytest
import torch
from support.pretend_device import DEVICE

from attention_plugins import experiment
from attention_plugins.contract import SentencePair
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.training import Trainer

REGISTRY = load(allow=[])
PAIRS = [
    SentencePair(f"the {a} is {b} .", f"le {a} est {b} !" + " vraiment" * (i % 3))
    for i, (a, b) in enumerate((a, b) for a in ("chat", "lion", "ours") for b in ("ici", "las"))
]
RECIPE = Recipe(min_frequency=1, epochs=2, batch_size=4, learning_rate=0.01, max_tokens=13)
SMALL = {
    "bahdanau": {"embed": 6, "hidden": 14, "layers": 2},
    "transformer": {"hidden": 14, "heads": 7, "layers": 2, "ffn": 11, "tied": True},
}
MODELS = pytest.mark.parametrize("model", SMALL)


def prepared(model, dropout):
    plan = experiment.Experiment(
        model=model, scoring="additive", corpus="animals", recipe=RECIPE, held_out=1,
        model_parameters=SMALL[model] | {"dropout": dropout},
    )  # fmt: skip
    return experiment.prepare(plan, PAIRS, REGISTRY)


def trainer(device, model, dropout=0.3):
    ready = prepared(model, dropout)
    return Trainer(ready.model, ready.encoded, ready.recipe, device)


def weights(of):
    return torch.cat([weight.detach().cpu().flatten() for weight in of.model.parameters()])


class _Stop(Exception):
    pass


@MODELS
def test_it_learns_what_the_cpu_learns(device, model):
    one, other = (trainer(place, model, dropout=0.0) for place in ("cpu", device))
    losses = [[progress.loss for progress in each.epochs()] for each in (one, other)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert losses[0][-1] < losses[0][0]
    torch.testing.assert_close(weights(other), weights(one), rtol=1e-2, atol=1e-3)


@MODELS
def test_it_goes_on_as_if_it_had_not_stopped(device, model):
    """With dropout, which draws from the device's own generator."""
    whole = trainer(device, model)
    expected = [progress.loss for progress in whole.epochs()]

    def stop(now):
        if (now.epoch, now.step) == (2, 1):
            raise _Stop

    first, seen = trainer(device, model), []
    with pytest.raises(_Stop):
        seen += (progress.loss for progress in first.epochs(stop))
    tensors, facts = first.state()
    tensors = {name: tensor.cpu().clone() for name, tensor in tensors.items()}  # as a file does
    second = trainer(device, model)
    torch.manual_seed(99)  # what happens in between must not count
    second.restore(tensors, json.loads(json.dumps(facts)))
    found = seen + [progress.loss for progress in second.epochs()]
    assert found == pytest.approx(expected, rel=1e-5)
    torch.testing.assert_close(weights(second), weights(whole), rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_a_state_of_the_device_goes_on_on_the_cpu(device):
    first = trainer(device, "bahdanau")
    next(first.epochs())
    tensors, facts = first.state()
    second = trainer("cpu", "bahdanau")
    second.restore({name: tensor.cpu() for name, tensor in tensors.items()}, facts)
    torch.testing.assert_close(weights(second), weights(first), rtol=0, atol=0)
    assert len(list(second.epochs())) == RECIPE.epochs - 1


@pytest.mark.slow
def test_looking_at_it_changes_nothing(device):
    losses = []
    for looks in (False, True):
        ready = prepared("bahdanau", 0.3)
        learning = Trainer(ready.model, ready.encoded, ready.recipe, device)
        losses.append([])
        for progress in learning.epochs():
            losses[-1].append(progress.loss)
            if looks:
                with experiment.at_rest(ready, device) as translator:
                    torch.randn(5, device=device)
                    assert len(translator.translate(["the chat is las ."])) == 1
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


@MODELS
def test_what_it_learned_decodes_alike(device, model):
    """The guard compares losses in float64, which not every device has."""
    ready = prepared(model, 0.3)
    next(Trainer(ready.model, ready.encoded, ready.recipe, device).epochs())
    before = {weight.device for weight in ready.model.parameters()}
    experiment.guard(ready, REGISTRY)
    assert {weight.device for weight in ready.model.parameters()} == before == {device}


@pytest.mark.slow
def test_a_whole_experiment(device):
    plan = experiment.Experiment(
        model="transformer", scoring="scaled_dot", corpus="animals", held_out=1,
        recipe=replace(RECIPE, epochs=1), model_parameters=SMALL["transformer"],
    )  # fmt: skip
    done = experiment.run(plan, PAIRS, REGISTRY, device=device)
    assert done.card["training"]["device"] == str(device)


@MODELS
def test_a_step_seldom_waits(pretended, model):
    """Copies, and numbers that are read back, stall an accelerator: so many a step, no more."""
    seen = []

    def note(progress):
        seen.append(astuple(pretended))

    list(trainer(DEVICE, model).epochs(note))
    taken = [tuple(b - a for a, b in zip(one, two, strict=True)) for one, two in pairwise(seen)]
    most = tuple(max(column) for column in zip(*taken, strict=True))
    assert all(found <= allowed for found, allowed in zip(most, STALLS[model], strict=True)), most
    assert most[0] >= 4  # a batch's sentences and their lengths


# To the device, back from it, and read: the loss, the number of tokens, and masks that choose
# among tokens. What a GRU reads must be packed by the CPU.
STALLS = {"bahdanau": (5, 2, 7), "transformer": (4, 0, 5)}
