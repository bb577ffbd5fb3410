"""Stick-breaking: each key takes its share of what the keys behind it left over."""

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, pad

from attention_plugins.contract import normaliser


@normaliser(
    "stick_breaking",
    title="Stick-breaking",
    formula=r"\sigma(s_i)\prod_{j>i}\bigl(1-\sigma(s_j)\bigr)",
    reference="Tan et al. 2025, Scaling stick-breaking attention: an efficient implementation and "
    "in-depth study",
    description="From the last key to the first, each takes its share of the weight that is left: "
    "of keys that fit alike, the nearest before the query gets most.",
    sums_to_one=False,
)
def stick_breaking(scores: Tensor) -> Tensor:
    """``sigmoid(s_i) prod_(j > i) (1 - sigmoid(s_j))``, by logarithms.

    The order of the keys is that of their columns; a key that is ruled out takes nothing. The
    paper's queries do not see their own key; here they do where the mask lets them.
    """
    left = logsigmoid(-scores)
    behind = pad(left[..., 1:], (0, 1)).flip(-1).cumsum(dim=-1).flip(-1)
    return torch.exp(logsigmoid(scores) + behind)
