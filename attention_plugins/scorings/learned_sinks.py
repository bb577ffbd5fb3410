"""Learned sinks: each head has one more score, for looking nowhere."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.position_biases import by_heads
from attention_plugins.scorings.scaled_dot import ScaledDot


class LearnedSinks(ScaledDot):
    """``e^s / (e^b + sum e^s)`` of scaled dot products ``s``, with a learned ``b`` for each head.

    With another normaliser than the softmax the sink is one more key, whose weight is lost.
    """

    sums_to_one = False

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.sinks = nn.Parameter(torch.zeros(sizes.heads))

    def normalise(self, scores: Tensor) -> Tensor:
        """Weights of the keys alone: a row sums to less than 1 by what its sink took."""
        sinks = by_heads(self.sinks).expand(*scores.shape[:-1], 1)
        return super().normalise(torch.cat([scores, sinks], dim=-1))[..., :-1]


LEARNED_SINKS = ScoringSpec(build=LearnedSinks, **row(__file__, "learned_sinks"))
