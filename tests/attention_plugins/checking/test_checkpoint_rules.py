"""Each rule of checkpoints catches the fault that it is there for, and says what to change."""

from __future__ import annotations

import json
import shutil

import pytest

from attention_plugins import CheckpointSpec, SentencePair, experiment
from attention_plugins.checking import Broken, check_checkpoint, rules
from attention_plugins.checkpoints import CARD, WEIGHTS, write
from attention_plugins.home import SHIPPED
from attention_plugins.recipe import Recipe
from attention_plugins.registry import installed
from attention_plugins.training import Progress

PAIRS = [SentencePair(f"i see {n} .", f"je vois {n} !") for n in ("cats", "dogs", "birds")]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    plan = experiment.Experiment(
        model="bahdanau", scoring="additive", corpus="animals",
        model_parameters={"embed": 6, "hidden": 10, "layers": 1}, scoring_parameters={},
        recipe=Recipe(epochs=1, min_frequency=1), held_out=0,
    )  # fmt: skip
    ready = experiment.prepare(plan, PAIRS, installed())
    progress = Progress(
        epoch=1, epochs=1, step=1, steps=1, loss=2.0, step_loss=2.0, tokens_per_second=1.0,
        seconds=1.0, epoch_seconds=1.0,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("checkpoints") / "animals"
    return write(folder, ready.model, experiment.card_after(ready, progress, "cpu")).folder


@pytest.fixture
def spec(kept, tmp_path):
    """A copy to plant a fault in."""
    return CheckpointSpec(name="animals", path=shutil.copytree(kept, tmp_path / "animals"))


def _broken(spec, rule):
    with pytest.raises(Broken) as caught:
        rules("checkpoints", spec)[rule](spec)
    return str(caught.value)


def _change(spec, change):
    path = spec.path / CARD
    card = json.loads(path.read_text("utf-8"))
    change(card)
    path.write_text(json.dumps(card), "utf-8")


@pytest.mark.parametrize(
    ("change", "rule", "phrase"),
    [
        (
            lambda card: card["corpus"].pop("sha256"), "a_card_says_how_it_came_to_be",
            "corpus lacks sha256",
        ),
        (
            lambda card: card.update(title=" "), "a_card_says_how_it_came_to_be",
            "say which model learned what",
        ),
        (
            lambda card: card["scores"].update(best={"bleu": 99}), "a_card_says_how_it_came_to_be",
            "measure it with",
        ),
        (lambda card: card.pop("corpus"), "a_card_says_how_it_came_to_be", "need corpus (dict)"),
        (
            lambda card: card.update(scoring="cosine"), "its_weights_are_those_of_its_model",
            "ship the weights with the card",
        ),
        (
            lambda card: card.update(scoring="unheard_of"), "its_weights_are_those_of_its_model",
            "a plugin that is not installed",
        ),
        (
            lambda card: card["training"].update(parameters=3), "it_has_the_size_it_says",
            "correct the card",
        ),
        (lambda card: card.update(max_tokens=2), "it_translates", "reads at most"),
    ],
)  # fmt: skip
def test_a_card_that_is_wrong_breaks_its_rule(spec, change, rule, phrase):
    _change(spec, change)
    assert phrase in _broken(spec, rule)


def test_weights_that_are_not_the_card_s_break_their_rule(spec):
    payload = bytearray((spec.path / WEIGHTS).read_bytes())
    payload[-1] ^= 1
    (spec.path / WEIGHTS).write_bytes(payload)
    assert "copied whole" in _broken(spec, "its_weights_are_those_that_were_kept")


def test_a_checkpoint_without_fault_keeps_every_rule(spec):
    assert [f for f in check_checkpoint(spec) if not f.passed] == []


SHIPPED_NAMES = sorted(path.parent.name for path in SHIPPED.glob(f"*/{CARD}"))


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_the_shipped_checkpoints_keep_every_rule(name):
    shipped = CheckpointSpec(name="shipped", path=SHIPPED / name)
    assert [f for f in check_checkpoint(shipped) if not f.passed] == []
