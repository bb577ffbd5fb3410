"""Scorings of which each head has a part: talking heads, and sinks that are learned."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.position_biases import by_heads
from attention_plugins.scorings.scaled_dot import ScaledDot, scaled_dot

_MOSTLY_OWN = 4.0


class TalkingHeads(Scoring):
    """``softmax(A) softmax(P q . k / sqrt(d))``: ``P`` and ``A`` mix heads.

    The paper's second matrix may be anything. Here its rows are passed through a softmax, so that
    weights stay shares of attention: none is negative, and they sum to what they summed to. One
    head alone has nobody to talk to; its scores are scaled.
    """

    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.mix_scores = nn.Parameter(torch.eye(sizes.heads))
        self.mix_weights: nn.Parameter | None = None
        if sizes.heads > 1:
            self.mix_weights = nn.Parameter(_MOSTLY_OWN * torch.eye(sizes.heads))

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``P q . k / sqrt(d)``."""
        return _mixed(self.mix_scores, scaled_dot(queries, keys))

    def normalise(self, scores: Tensor) -> Tensor:
        """``softmax(A)`` times the weights that the chosen normaliser makes."""
        weights = super().normalise(scores)
        if self.mix_weights is None:
            return weights
        return _mixed(self.mix_weights.softmax(dim=-1), weights)


def _mixed(matrix: Tensor, heads: Tensor) -> Tensor:
    """``matrix (heads, heads)`` times the third axis from last; one head may have none."""
    if len(matrix) == 1:
        return matrix * heads
    return torch.einsum("gh,...hqk->...gqk", matrix, heads)


TALKING_HEADS = ScoringSpec(build=TalkingHeads, **row(__file__, "talking_heads"))


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
