"""Talking heads: heads mix their scores before the softmax and their weights after it."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.scaled_dot import scaled_dot

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
