"""Linear attention: a kernel of features that are never negative."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from attention_plugins.attention import KernelScoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes

# A product of two of e^-40 is still above the smallest normal number of float32.
_LOWEST = -40.0


class LinearAttention(KernelScoring):
    """``log(phi(q) . phi(k))`` with ``phi(x) = elu(x) + 1``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()

    def query_features(self, queries: Tensor) -> Tensor:
        """``elu(q) + 1``: ``q + 1`` above 0, ``e^q`` below."""
        # Not elu(q) + 1, which rounds to 0 where e^q is far from it.
        return queries.clamp(_LOWEST, 0.0).exp() + queries.relu()

    def key_features(self, keys: Tensor) -> Tensor:
        """``elu(k) + 1``."""
        return self.query_features(keys)


LINEAR_ATTENTION = ScoringSpec(
    name="linear_attention",
    title="Linear attention (elu + 1)",
    formula=r"\ln\left(\phi(q)^\top \phi(k)\right),\ \phi(x)=\operatorname{elu}(x)+1",
    build=LinearAttention,
    reference="Katharopoulos et al. 2020, Transformers are RNNs: fast autoregressive transformers "
    "with linear attention, section 3.2.1",
    description="A kernel that can be computed without comparing every query with every key; its "
    "weights are flatter than a softmax's.",
    same_size=True,
)
