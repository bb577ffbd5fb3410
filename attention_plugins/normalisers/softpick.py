"""Softpick: a rectified softmax, in which a query may look nowhere."""

import torch
from torch import Tensor

from attention_plugins.beside import row
from attention_plugins.contract import normaliser

_EPSILON = 1e-8  # as in the authors' code; it matters only where all scores are 0


@normaliser(**row(__file__, "softpick"))
def softpick(scores: Tensor) -> Tensor:
    """``relu(e^s - 1) / sum |e^s - 1|``, all divided by ``e^max`` on the way.

    A key that is ruled out has no part in the sum: ``|e^-inf - 1|`` would be 1.
    """
    best = scores.amax(dim=-1, keepdim=True).clamp_min(0.0).detach()
    risen = (scores - best).exp() - (-best).exp()
    counted = torch.where(scores > torch.finfo(scores.dtype).min, risen.abs(), 0.0)
    return risen.relu() / (counted.sum(dim=-1, keepdim=True) + _EPSILON * (-best).exp())
