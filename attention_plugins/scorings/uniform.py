"""No preference at all: average pooling, the baseline for every other scoring."""

import torch
from torch import Tensor

from attention_plugins.contract import scoring


@scoring(
    "uniform",
    title="Average pooling",
    formula=r"0 \;\Rightarrow\; \alpha(q, k_i) = \tfrac{1}{n}",
    reference="Zhang, Lipton, Li & Smola 2021, Dive into Deep Learning, section 10.2",
    description="Equal scores, whatever the query: each of n keys has the weight 1/n, and the "
    "output is the mean value.",
    elements_per_pair=1,
)
def average_pooling(queries: Tensor, keys: Tensor) -> Tensor:
    """Zeros, which the softmax turns into equal weights."""
    return torch.zeros_like(queries[..., :1]) + torch.zeros_like(keys[..., :1]).mT
