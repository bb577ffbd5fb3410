"""Training a model by the workbench: it stops between steps, goes on, and lowers the loss."""

from __future__ import annotations

import torch

from attention_plugins.checking.findings import Broken, draw, rule
from attention_plugins.checking.models.benches import (
    SOURCE_WORDS,
    TARGET_WORDS,
    bench,
    translating,
)
from attention_plugins.checking.models.common import make
from attention_plugins.contract import ModelSpec, RegressionData
from attention_plugins.encoding import Encoded
from attention_plugins.fitting import fit
from attention_plugins.models.protocols import Module, as_translation_model
from attention_plugins.recipe import Recipe
from attention_plugins.scorings.kernels import GAUSSIAN
from attention_plugins.text import RESERVED, Vocabulary
from attention_plugins.training import Progress, Trainer


class _Stop(Exception):
    """What a user's click on *Pause* becomes in the middle of a training."""


@rule("models", applies=lambda spec: spec.task == "translation")
def check_a_stopped_training_goes_on(spec: ModelSpec) -> None:
    """Stopped between two steps and restored elsewhere, it learns what it would have learned.

    The loop and its stop flag are the workbench's; a model breaks them by keeping something
    outside its ``state_dict``, or by drawing from a generator other than torch's.
    """
    whole = _trainer(spec, 5)
    for _ in whole.epochs():
        pass
    first = _trainer(spec, 5)

    def stop(now: Progress) -> None:
        if now.step == 2:
            raise _Stop

    try:
        for _ in first.epochs(stop):
            pass
    except _Stop:
        stopped = first.state()  # with the state of torch's generator
        second = _trainer(spec, 6)
        second.restore(*stopped)
    for _ in second.epochs():
        pass
    if not _alike(whole.model, second.model):
        raise Broken(
            "a training that was paused and restored ends with other weights than one that was "
            "not; keep all that training changes in the state_dict (register_buffer), and draw "
            "from torch's generator only"
        )


@rule("models", applies=lambda spec: spec.task == "regression")
def check_training_lowers_the_error(spec: ModelSpec) -> None:
    """Twenty steps on thirteen points of a sine bring the leave-one-out error down."""
    x = 3 * draw(13, bench(spec).sizes.source, seed=1)
    data = RegressionData(x, torch.sin(x[:, 0]), x)
    model = make(spec, scoring=GAUSSIAN)
    history = fit(model, data, epochs=20).history
    if not history or not min(step.loss for step in history) < history[0].loss:
        raise Broken(
            "learning the scoring's width does not lower the leave-one-out error; predict with "
            "what tap.attend returns, and detach nothing on the way"
        )


def _trainer(spec: ModelSpec, seed: int) -> Trainer:
    batch = translating().batch
    source, target = (
        [row[:n] for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True)]
        for tokens, lengths in ((batch.source, batch.source_lengths),
                                (batch.target, batch.target_lengths))
    )  # fmt: skip
    corpus = Encoded(source, target, _vocabulary(SOURCE_WORDS), _vocabulary(TARGET_WORDS))
    model = as_translation_model(make(spec, seed=seed, dtype=torch.float32))
    torch.manual_seed(5)  # of what training draws
    return Trainer(model, corpus, Recipe(epochs=2, batch_size=1))


def _vocabulary(size: int) -> Vocabulary:
    return Vocabulary((*RESERVED, *(f"w{i}" for i in range(size - len(RESERVED)))))


def _alike(one: Module, other: Module) -> bool:
    weights = other.state_dict()
    return all(tensor.equal(weights[name]) for name, tensor in one.state_dict().items())
