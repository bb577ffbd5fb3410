"""Softmaxes, plain, at a temperature and off by one; sigmoid and ReLU, where no key competes."""

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import NormaliserSpec, Parameter, normaliser

# What lies this far below the best has no weight at any temperature; the lowest finite number
# would make the temperature's gradient infinite.
_FARTHEST = -1e5
_COLDEST = 1e-3


class Temperature(nn.Module):
    """``softmax(s / T)``."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.learned_temperature = nn.Parameter(torch.tensor(temperature))

    @property
    def temperature(self) -> Tensor:
        """The temperature in use: descent may carry the weight itself below 0."""
        return self.learned_temperature.abs().clamp_min(_COLDEST)

    def forward(self, scores: Tensor) -> Tensor:
        """Scores ``(..., n_q, n_k)`` to weights."""
        below = scores - scores.amax(dim=-1, keepdim=True).detach()
        return (below.clamp_min(_FARTHEST) / self.temperature).softmax(dim=-1)


TEMPERATURE = NormaliserSpec(
    name="temperature",
    title="Softmax at a temperature",
    formula=r"\frac{e^{s_i/T}}{\sum_j e^{s_j/T}}",
    build=lambda values: Temperature(float(values["temperature"])),
    parameters=(
        Parameter(
            name="temperature", title="Temperature T", default=0.5, low=0.05, high=20.0, step=0.05,
            learnable=True, help="Below 1 weights sharpen, above 1 they flatten.",
        ),
    ),
    reference="Hinton, Vinyals & Dean 2015, Distilling the knowledge in a neural network, "
    "equation 1",
    description="Cold weights gather on the best key, hot ones spread over all.",
)  # fmt: skip


@normaliser(**row(__file__, "off_by_one"))
def off_by_one(scores: Tensor) -> Tensor:
    """``exp(s_i) / (1 + sum_j exp(s_j))``."""
    best = scores.amax(dim=-1, keepdim=True).clamp_min(0.0).detach()
    parts = (scores - best).exp()
    return parts / ((-best).exp() + parts.sum(dim=-1, keepdim=True))


@normaliser(
    "softmax",
    formula=r"\frac{e^{s_i}}{\sum_j e^{s_j}}",
    reference="Bahdanau, Cho & Bengio 2014, Neural machine translation by jointly learning to "
    "align and translate, section 3.1",
    description="Every key gets some weight; the larger the score, the more.",
)
def softmax(scores: Tensor) -> Tensor:
    """``exp(s_i) / sum_j exp(s_j)``."""
    return scores.softmax(dim=-1)


def _allowed_keys(scores: Tensor) -> Tensor:
    """How many keys of each row are not ruled out, at least 1, ``(..., n_q, 1)``."""
    allowed = scores > torch.finfo(scores.dtype).min
    return allowed.sum(dim=-1, keepdim=True).clamp_min(1).to(scores.dtype)


@normaliser(**row(__file__, "relu"))
def relu(scores: Tensor) -> Tensor:
    """``max(s_i, 0) / n`` with the number ``n`` of keys that are not ruled out."""
    return scores.clamp_min(0.0) / _allowed_keys(scores)


@normaliser(**row(__file__, "sigmoid"))
def sigmoid(scores: Tensor) -> Tensor:
    """``sigmoid(s_i - log n)`` with the number ``n`` of keys that are not ruled out."""
    return torch.sigmoid(scores - _allowed_keys(scores).log())
