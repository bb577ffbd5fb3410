"""Any two scorings at once, in a proportion that is learned."""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import ContractError, Scalar, ScoringSpec, Sizes
from attention_plugins.registry import get_scoring


class Combination(Scoring):
    """``g a(q, k) + (1 - g) b(q, k)``: their kernels ``exp(a)`` and ``exp(b)`` as a product.

    Its parts project keys themselves, at every word while decoding. A way of pooling is lost.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        specs = [get_scoring(str(values[side])) for side in ("first", "second")]
        if own := next((spec.name for spec in specs if spec.own_normaliser), ""):
            raise ContractError(f"scoring {own!r} makes its weights in its own way; take others")
        self.first, self.second = (spec.create(sizes) for spec in specs)
        self.needs = tuple(dict.fromkeys((*self.first.needs, *self.second.needs)))
        if "scores" in self.needs:
            raise ContractError(
                "a scoring that reads its own earlier scores has none of its own in a "
                "combination; take others"
            )
        one, other = self.first.elements_per_pair, self.second.elements_per_pair
        self.elements_per_pair = None if one is None or other is None else max(one, other)
        gate = float(values["gate"])
        self.logit = nn.Parameter(torch.tensor(math.log(gate / (1.0 - gate))))

    @property
    def gate(self) -> Tensor:
        """The share of the first scoring, of one element between 0 and 1."""
        return self.logit.sigmoid()

    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        """The weighted mean of both scores ``(..., n_q, n_k)``."""
        one, other = (
            part(
                part.project_queries(queries), part.project_keys(keys),
                **{need: needs[need] for need in part.needs if need in needs},
            )
            for part in (self.first, self.second)
        )  # fmt: skip
        return self.gate * one + (1.0 - self.gate) * other


COMBINATION = ScoringSpec(build=Combination, **row(__file__, "combination"))
