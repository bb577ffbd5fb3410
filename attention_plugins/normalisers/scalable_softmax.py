"""Scalable softmax: colder where there are more keys, so that the best one keeps its weight."""

import torch
from torch import Tensor, nn

from attention_plugins.contract import NormaliserSpec, Parameter


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
    name="scalable_softmax",
    title="Scalable softmax (SSMax)",
    formula=r"\frac{n^{s\,z_i}}{\sum_j n^{s\,z_j}}\ \text{of scores } z",
    build=lambda values: ScalableSoftmax(float(values["scale"])),
    parameters=(
        Parameter(
            name="scale", title="Scale s", default=0.43, low=0.01, high=10.0, step=0.01,
            learnable=True,
            help="A key that leads by 1/s keeps over half of the weight at any length.",
        ),
    ),
    reference="Nakanishi 2025, Scalable-Softmax is superior for attention, section 2",
    description="Like a softmax that gets colder with the number of keys: the best key's weight "
    "does not fade in long sequences.",
)  # fmt: skip
