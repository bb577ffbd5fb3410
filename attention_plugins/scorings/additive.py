"""Bahdanau's additive scoring, and the same function under its other name."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes


class Additive(Scoring):
    """``v . tanh(W_q q + W_k k)`` without biases; queries and keys may differ in size."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.from_query = nn.Linear(sizes.query, sizes.hidden, bias=False)
        self.from_key = nn.Linear(sizes.key, sizes.hidden, bias=False)
        self.weight = nn.Linear(sizes.hidden, 1, bias=False)

    def project_queries(self, queries: Tensor) -> Tensor:
        """``W_q q``."""
        return self.from_query(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``W_k k``."""
        return self.from_key(keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``v . tanh`` of every sum of a projected query and a projected key."""
        # tanh(x) is 2 sigmoid(2 x) - 1, and torch's sigmoid takes a sixth of the time of its tanh.
        # In place, since nobody else holds the sums: the largest tensor exists once, not twice.
        sums = (queries.unsqueeze(-2) + keys.unsqueeze(-3)).mul_(2.0)  # (..., n_q, n_k, h)
        weight = self.weight.weight
        return linear(torch.sigmoid_(sums), 2.0 * weight, -weight.sum(-1)).squeeze(-1)


ADDITIVE = ScoringSpec(
    name="additive",
    title="Additive (Bahdanau)",
    formula=r"w_v^\top \tanh(W_q q + W_k k)",
    build=Additive,
    reference="Bahdanau, Cho & Bengio 2014, Neural machine translation by jointly learning to "
    "align and translate, appendix A.1.2",
    description="A small network with one hidden layer learns which queries and keys belong "
    "together.",
)

MLP = replace(ADDITIVE, **row(__file__, "mlp"))
