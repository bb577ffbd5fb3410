"""Location-sensitive scoring: additive, with an eye on where the last query looked."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.additive import Additive


class LocationSensitive(Additive):
    """``v . tanh(W_q q + W_k k + U f)``; ``f`` are filters that slide over the last weights."""

    needs = ("memory",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        filters, reach = int(values["filters"]), int(values["reach"])
        self.slide = nn.Conv1d(1, filters, 2 * reach + 1, padding=reach, bias=False)
        self.from_location = nn.Linear(filters, sizes.hidden, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Additive scores of keys to which what the filters saw there was added."""
        last = memory[..., -1:, :].sum(dim=-2)  # (..., n_k): 0 at the first query
        seen = self.slide(last.reshape(-1, 1, last.shape[-1])).mT  # (rows, n_k, filters)
        seen = self.from_location(seen).reshape(*last.shape, keys.shape[-1])
        return super().forward(queries, keys + seen)


LOCATION_SENSITIVE = ScoringSpec(
    name="location_sensitive",
    title="Location-sensitive",
    formula=r"w_v^\top \tanh\left(W_q q_t + W_k k_i + U (F * \alpha_{t-1})_i\right)",
    build=LocationSensitive,
    parameters=(
        Parameter(
            name="filters", title="Filters", default=8, low=1, high=64,
            help="How many patterns of the last weights are told apart.",
        ),
        Parameter(
            name="reach", title="Reach", default=3, low=1, high=100, unit="keys",
            help="How far to either side a filter sees.",
        ),
    ),
    reference="Chorowski et al. 2015, Attention-based models for speech recognition, section 2.1",
    description="Like additive, but it sees where the last query looked, and may move on from "
    "there.",
    tasks=("translation", "encoding"),
)  # fmt: skip
