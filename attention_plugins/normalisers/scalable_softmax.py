"""Scalable softmax: colder where there are more keys, so that the best one keeps its weight."""

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import NormaliserSpec


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
