"""Synthesizers: scores that compare no query with any key."""

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring, together
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes


class _Synthesizer(Scoring):
    """Places beyond the longest share the last place's score."""

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.longest = int(values["longest"])
        self._heads = (sizes.heads,) if sizes.heads > 1 else ()  # one head has no axis

    def _drawn(self, rows: int, columns: int, scale: float = 1.0) -> nn.Parameter:
        return nn.Parameter(scale * torch.randn(*self._heads, rows, columns))

    def _at(self, places: Tensor) -> Tensor:
        return places.clamp(max=self.longest - 1)


class DenseSynthesizer(_Synthesizer):
    """``(W relu(V q + a) + b)_j``: from what the query says, a score for each place."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        size, scale = sizes.query, 1.0 / math.sqrt(sizes.query)
        self.rise, self.rise_bias = self._drawn(size, size, scale), self._drawn(1, size, 0.0)
        self.fall = self._drawn(size, self.longest, scale)
        self.fall_bias = self._drawn(1, self.longest, 0.0)

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """What the network makes of each query, read at the keys' places."""
        places = (queries @ self.rise + self.rise_bias).relu() @ self.fall + self.fall_bias
        return _for_all(places[..., self._at(positions.keys)], queries, keys)


def _for_all(scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    return scores.expand(*together(queries.shape[:-2], keys.shape[:-2]), *scores.shape[-2:])


SYNTHESIZER_DENSE = ScoringSpec(build=DenseSynthesizer, **row(__file__, "synthesizer_dense"))


class RandomSynthesizer(_Synthesizer):
    """``R_ij``: a table that is drawn and then learned, the same for every sentence."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.table = self._drawn(self.longest, self.longest)

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The table's rows of the queries' places and columns of the keys'."""
        rows, columns = self._at(positions.queries)[:, None], self._at(positions.keys)
        return _for_all(self.table[..., rows, columns], queries, keys)


SYNTHESIZER_RANDOM = replace(
    SYNTHESIZER_DENSE, build=RandomSynthesizer, **row(__file__, "synthesizer_random")
)
