"""All weight on one key, or on a few, with gradients as if it were a softmax."""

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import NormaliserSpec, Scalar, normaliser


class Gumbel(nn.Module):
    """Noise joins the scores in training; weights are one-hot, or, where soft, a softmax."""

    def __init__(self, values: Mapping[str, Scalar], *, soft: bool = False) -> None:
        super().__init__()
        self.temperature, self.soft = float(values["temperature"]), soft

    def forward(self, scores: Tensor) -> Tensor:
        """Scores to weights, with the gradient of a softmax at the temperature."""
        if self.training:
            tiny = torch.finfo(scores.dtype).tiny
            drawn = -torch.empty_like(scores).exponential_().clamp_min_(tiny).log()
            scores = torch.where(scores > torch.finfo(scores.dtype).min, scores + drawn, scores)
        best = scores.amax(dim=-1, keepdim=True).detach()
        weights = ((scores - best) / self.temperature).softmax(dim=-1)
        return weights if self.soft else one_hot(weights)


GUMBEL = NormaliserSpec(build=Gumbel, **row(__file__, "gumbel"))

GUMBEL_SOFTMAX = NormaliserSpec(
    build=partial(Gumbel, soft=True), **row(__file__, "gumbel_softmax")
)


@normaliser(**row(__file__, "top_k"))
def top_k(scores: Tensor, k: int) -> Tensor:
    """Softmax over the scores that are no smaller than the k-th largest."""
    last = scores.detach().topk(min(k, scores.shape[-1]), dim=-1).values[..., -1:]
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(scores < last, lowest).softmax(dim=-1) * (scores >= last)


def one_hot(weights: Tensor) -> Tensor:
    """1 on the first of the largest of each row, 0 elsewhere; the gradient is that of weights."""
    hard = torch.zeros_like(weights).scatter_(-1, weights.argmax(dim=-1, keepdim=True), 1.0)
    return hard + (weights - weights.detach())


@normaliser(**row(__file__, "hard"))
def hard(scores: Tensor) -> Tensor:
    """One-hot at the largest score; the gradient of a softmax."""
    return one_hot(scores.softmax(dim=-1))
