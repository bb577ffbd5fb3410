"""FIRE: a small network reads how far back a key stands, as a share of how far back there is."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.scaled_dot import scaled_dot

_HIDDEN, _PACE, _EPSILON = 32, 0.1, 1e-6  # as in the authors' code


class Fire(Scoring):
    """``q . k / sqrt(d) + f(log(c |i - j| + 1) / log(c max(L, i) + 1))``, ``f`` for each head.

    The paper's distances only look back. Its network adds a constant at the end, which the
    softmax cancels: it is left out.
    """

    needs = ("positions",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.start = float(values["threshold"])
        self.pace = nn.Parameter(torch.tensor(_PACE))
        self.share = nn.Parameter(torch.tensor(1.0))
        self.rise = nn.Linear(1, _HIDDEN)
        self.fall = nn.Linear(_HIDDEN, sizes.heads, bias=False)

    @property
    def threshold(self) -> Tensor:
        """The threshold ``L`` in use: descent may carry the weight itself below 0."""
        return (self.share * self.start).abs()

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The scaled dot product, and what the network makes of the share of the way back."""
        distances = self._spaced(positions.distances.to(queries.dtype))
        reach = torch.maximum(positions.queries.to(queries.dtype), self.threshold)
        shares = distances / (self._spaced(reach)[:, None] + _EPSILON)  # (n_q, n_k)
        bias = self.fall(self.rise(shares[..., None]).relu()).movedim(-1, 0)
        return scaled_dot(queries, keys) + (bias if len(bias) > 1 else bias[0])

    def _spaced(self, places: Tensor) -> Tensor:
        return (self.pace * places).abs().log1p()


FIRE = ScoringSpec(build=Fire, **row(__file__, "fire"))
