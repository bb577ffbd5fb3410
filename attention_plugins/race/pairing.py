"""Equal initial weights: what contestants of one model have in common starts the same."""

from __future__ import annotations

import torch

from attention_plugins.attention import Scoring
from attention_plugins.models.protocols import Module


@torch.no_grad()
def share_weights(model: Module, plain: Module) -> int:
    """Give a model the weights of another, wherever both have one of equal name and shape.

    A scoring with weights of its own draws them between those of the model's layers, and so
    shifts all later draws. Weights of scorings, and of their normalisers, stay as they are.

    Args:
        model: changed in place.
        plain: the same model around a scoring without weights, of the same seed.

    Returns:
        How many weights both have now in common.
    """
    own = _own(model) | _own(plain)
    given = dict(plain.named_parameters())
    shared = 0
    for name, weight in model.named_parameters():
        other = given.get(name)
        if name in own or other is None or other.shape != weight.shape:
            continue
        weight.copy_(other)
        shared += weight.numel()
    return shared


def _own(model: Module) -> set[str]:
    """The names of weights that belong to a scoring."""
    scorings = [module for module in model.modules() if isinstance(module, Scoring)]
    theirs = {id(weight) for scoring in scorings for weight in scoring.parameters()}
    return {name for name, weight in model.named_parameters() if id(weight) in theirs}
