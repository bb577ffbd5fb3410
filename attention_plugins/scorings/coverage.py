"""Coverage: additive scoring that knows how much each key was looked at before."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.additive import Additive


class Coverage(Additive):
    """``v . tanh(W_q q + W_k k + u c)``; a key's coverage ``c`` is the sum of its weights so far.

    The fertility that divides the coverage is 1.
    """

    needs = ("memory",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.from_coverage = nn.Linear(1, sizes.hidden, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Additive scores of keys to which their coverage was added."""
        coverage = memory.sum(dim=-2).unsqueeze(-1)  # (..., n_k, 1)
        return super().forward(queries, keys + self.from_coverage(coverage))


COVERAGE = ScoringSpec(
    name="coverage",
    title="Coverage",
    formula=r"w_v^\top \tanh\left(W_q q_t + W_k k_i + u \sum_{s<t} \alpha_{s,i}\right)",
    build=Coverage,
    reference="Tu et al. 2016, Modeling coverage for neural machine translation, section 3.1",
    description="Like additive, but it knows what was translated already, and may look elsewhere.",
    tasks=("translation", "encoding"),
)
