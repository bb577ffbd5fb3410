"""Rows do not meet, padding changes nothing, points have no order."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attention_plugins.checking.findings import Broken, equal, rule
from attention_plugins.checking.models.benches import Bench, Predicting, bench, predicting
from attention_plugins.checking.models.common import make
from attention_plugins.contract import ModelSpec
from attention_plugins.tap import Tap


@rule("models")
def check_outputs_have_the_shape_of_the_protocol(spec: ModelSpec) -> None:
    """Log-probabilities of every target word, a prediction a query, or an item an item."""
    task = bench(spec)
    found = task.outputs(make(spec), Tap())
    wanted = {
        "translation": (3, 5, task.sizes.target),
        "regression": (7,),
        "encoding": (3, 7, task.sizes.target),
    }[spec.task]
    if tuple(found.shape) != wanted:
        raise Broken(
            f"outputs are {tuple(found.shape)}, need {wanted}; see the protocol of {spec.task} "
            "models in attention_plugins.models.protocols"
        )


@rule("models")
def check_rows_do_not_meet(spec: ModelSpec) -> None:
    """A sentence, a query or a sequence gives alone what it gives among others."""
    task, model = bench(spec), make(spec)
    together = task.outputs(model, Tap())
    for number in range(len(together)):
        alone = task.row(number).outputs(model, Tap())[0]
        if not equal(_cut(together[number], alone), alone):
            raise Broken(
                f"row {number} gives something else alone than among others; compute nothing "
                "over the batch's dimension, and nothing from another row's padding"
            )


@rule("models")
def check_padding_changes_nothing(spec: ModelSpec) -> None:
    """More padding changes no output, no loss and no gradient."""
    task, model = bench(spec), make(spec)
    wider = task.wider()
    narrow_outputs = task.outputs(model, Tap())
    if not equal(_cut(wider.outputs(model, Tap()), narrow_outputs), narrow_outputs):
        raise Broken(
            "more padding changed the outputs; mask by the lengths wherever positions meet, also "
            "in recurrent layers (pack_padded_sequence) and in means"
        )
    (loss, gradients), (wide_loss, wide) = _learning(task, model), _learning(wider, model)
    if not equal(loss, wide_loss):
        raise Broken(
            f"more padding changed the loss from {loss:.6f} to {wide_loss:.6f}; take the mean "
            "over the valid target tokens only"
        )
    if not all(equal(one, other, 1e-7) for one, other in zip(gradients, wide, strict=True)):
        raise Broken("more padding changed gradients; leave padding out of the loss")


@rule("models", applies=lambda spec: spec.task == "regression")
def check_points_have_no_order(spec: ModelSpec) -> None:
    """The training points in another order predict the same."""
    task, model = predicting(), make(spec)
    order = torch.arange(len(task.keys)).flip(0)
    moved = Predicting(task.queries, task.keys[order], task.values[order], task.mask[:, order])
    if not equal(moved.outputs(model, Tap()), task.outputs(model, Tap())):
        raise Broken("points in another order predict otherwise; use no position of a point")


def _cut(found: Tensor, like: Tensor) -> Tensor:
    """``found`` without the places that ``like`` does not have."""
    return found[tuple(slice(0, n) for n in like.shape)] if found.dim() == like.dim() else found


def _learning(task: Bench, model: nn.Module) -> tuple[Tensor, list[Tensor]]:
    loss = task.loss(model)
    weights = list(model.parameters())
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    return loss.detach(), [
        torch.zeros_like(weight) if gradient is None else gradient
        for weight, gradient in zip(weights, found, strict=True)
    ]
