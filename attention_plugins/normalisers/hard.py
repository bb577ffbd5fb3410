"""All weight on one key, or on a few, with gradients as if it were a softmax."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from attention_plugins.contract import NormaliserSpec, Parameter, Scalar, normaliser


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


GUMBEL = NormaliserSpec(
    name="gumbel",
    title="Hard, drawn in training (Gumbel)",
    formula=r"\mathbb{1}\left[i=\arg\max_j (s_j+g_j)\right],\ g_j\sim\text{Gumbel}",
    build=Gumbel,
    parameters=(
        Parameter(
            name="temperature", title="Temperature of the gradient", default=1.0, low=0.1,
            high=10.0, step=0.1, help="Of the softmax that gradients flow through.",
        ),
    ),
    reference="Jang, Gu & Poole 2017, Categorical reparameterization with Gumbel-softmax, "
    "section 2.2",
    description="Trains on keys drawn by their weight, and takes the best one afterwards.",
)  # fmt: skip

GUMBEL_SOFTMAX = replace(
    GUMBEL,
    name="gumbel_softmax",
    title="Soft, with noise in training (Gumbel)",
    formula=r"\frac{e^{(s_i+g_i)/T}}{\sum_j e^{(s_j+g_j)/T}},\ g_j\sim\text{Gumbel}",
    build=partial(Gumbel, soft=True),
    parameters=(
        replace(
            GUMBEL.parameters[0],
            title="Temperature T",
            help="Towards 0 nearly all weight lies on the key that is drawn.",
        ),
    ),
    reference="Jang, Gu & Poole 2017, Categorical reparameterization with Gumbel-softmax, "
    "equation 2",
    description="In training noise moves the weights, the more so where scores are close; "
    "afterwards it is a softmax at a temperature.",
)


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


def one_hot(weights: Tensor) -> Tensor:
    """1 on the first of the largest of each row, 0 elsewhere; the gradient is that of weights."""
    best = weights.argmax(dim=-1, keepdim=True)
    hard = torch.zeros_like(weights).scatter_(-1, best, 1.0)
    return hard + (weights - weights.detach())


@normaliser(
    "hard",
    title="Hard (straight-through)",
    formula=r"\mathbb{1}\left[i=\arg\max_j s_j\right]",
    reference="Xu et al. 2015, Show, attend and tell, section 4.1; Bengio, Léonard & Courville "
    "2013, Estimating or propagating gradients through stochastic neurons, section 4",
    description="All weight lies on the best key; gradients flow as through a softmax.",
)
def hard(scores: Tensor) -> Tensor:
    """One-hot at the largest score; the gradient of a softmax."""
    return one_hot(scores.softmax(dim=-1))
