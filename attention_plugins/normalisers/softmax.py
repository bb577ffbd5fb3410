"""Softmaxes and their kin: at a temperature, scaled by the number of keys, off by one, rectified.

In sigmoid and ReLU no key competes; in stick-breaking those behind a key come first.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, pad

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


class ScalableSoftmax(nn.Module):
    """``softmax(s log(n) z)`` of scores ``z`` of the ``n`` keys that are not ruled out.

    The paper learns one ``s`` for each head; here it is one for each site.
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.learned_scale = nn.Parameter(torch.tensor(scale))

    @property
    def scale(self) -> Tensor:
        """The scale in use: descent may carry the weight itself below 0."""
        return self.learned_scale.abs()

    def forward(self, scores: Tensor) -> Tensor:
        """Scores ``(..., n_q, n_k)`` to weights."""
        lowest = torch.finfo(scores.dtype).min
        allowed = scores > lowest
        counts = allowed.sum(dim=-1, keepdim=True).clamp_min(1).to(scores.dtype)
        # What is ruled out must not meet the scale: its gradient would not be a number.
        below = torch.where(allowed, scores - scores.amax(dim=-1, keepdim=True).detach(), 0.0)
        return torch.where(allowed, below * (self.scale * counts.log()), lowest).softmax(dim=-1)


SCALABLE_SOFTMAX = NormaliserSpec(
    build=lambda values: ScalableSoftmax(float(values["scale"])),
    **row(__file__, "scalable_softmax"),
)

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


@normaliser(**row(__file__, "stick_breaking"))
def stick_breaking(scores: Tensor) -> Tensor:
    """``sigmoid(s_i) prod_(j > i) (1 - sigmoid(s_j))``, by logarithms.

    The order of the keys is that of their columns; a key that is ruled out takes nothing. The
    paper's queries do not see their own key; here they do where the mask lets them.
    """
    behind = pad(logsigmoid(-scores)[..., 1:], (0, 1)).flip(-1).cumsum(dim=-1).flip(-1)
    return torch.exp(logsigmoid(scores) + behind)
