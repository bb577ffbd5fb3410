"""Softmax over the k best keys."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.contract import Parameter, normaliser


@normaliser(
    "top_k",
    title="Softmax of the k best",
    formula=r"\operatorname{softmax}(s)\ \text{over the } k \text{ largest}",
    parameters=(
        Parameter(
            name="k",
            title="Keys k",
            default=4,
            low=1,
            high=1000,
            help="Keys with the same score as the last of them count too.",
        ),
    ),
    reference="Gupta et al. 2021, Memory-efficient transformers via top-k attention, section 2",
    description="Only the k keys with the largest scores share the weight.",
)
def top_k(scores: Tensor, k: int) -> Tensor:
    """Softmax over the scores that are no smaller than the k-th largest."""
    last = scores.detach().topk(min(k, scores.shape[-1]), dim=-1).values[..., -1:]
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(scores < last, lowest).softmax(dim=-1) * (scores >= last)
