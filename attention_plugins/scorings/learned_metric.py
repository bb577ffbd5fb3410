"""A Gaussian kernel whose distance is learned."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.radial import elements_of_squares, squared_distances


class LearnedMetric(Scoring):
    """``-|L (q - k)|^2 / 2``; it starts as the Gaussian kernel of width 1, ``L`` the identity."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = elements_of_squares(sizes.query)
        self.metric = nn.Linear(sizes.key, sizes.query, bias=False)
        nn.init.eye_(self.metric.weight)

    def project_queries(self, queries: Tensor) -> Tensor:
        """``L q``."""
        return self.metric(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``L k``."""
        return self.metric(keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``-|L q - L k|^2 / 2``."""
        return squared_distances(queries, keys) * -0.5


LEARNED_METRIC = ScoringSpec(
    name="learned_metric",
    title="Learned metric (Mahalanobis)",
    formula=r"-\tfrac12 \lVert L(q-k)\rVert_2^2",
    build=LearnedMetric,
    reference="Weinberger & Tesauro 2007, Metric learning for kernel regression",
    description="Favours near keys, and learns which directions count for how much in being near.",
    same_size=True,
)
