"""Stick-breaking: each key takes its share of what the keys behind it left over."""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, pad

from attention_plugins.beside import row
from attention_plugins.contract import normaliser


@normaliser(**row(__file__, "stick_breaking"))
def stick_breaking(scores: Tensor) -> Tensor:
    """``sigmoid(s_i) prod_(j > i) (1 - sigmoid(s_j))``, by logarithms.

    The order of the keys is that of their columns; a key that is ruled out takes nothing. The
    paper's queries do not see their own key; here they do where the mask lets them.
    """
    left = logsigmoid(-scores)
    behind = pad(left[..., 1:], (0, 1)).flip(-1).cumsum(dim=-1).flip(-1)
    return torch.exp(logsigmoid(scores) + behind)
