"""Biaffine scoring: a bilinear form, and a preference for some keys whoever asks."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import ProductScoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes


class Biaffine(ProductScoring):
    """``q . W k + u . k``; queries and keys may differ in size.

    A term of the query alone and a constant would add the same to all keys: the softmax cancels
    them, so they are left out.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.from_key = nn.Linear(sizes.key, sizes.query + 1, bias=False)  # W, and u below it
        nn.init.normal_(self.from_key.weight, std=((sizes.query + 1) * sizes.key) ** -0.5)

    def project_queries(self, queries: Tensor) -> Tensor:
        """``q`` and a 1 behind it."""
        return torch.cat([queries, torch.ones_like(queries[..., :1])], dim=-1)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``W k`` and ``u . k`` behind it."""
        return self.from_key(keys)


BIAFFINE = ScoringSpec(
    name="biaffine",
    title="Biaffine",
    formula=r"q^\top W k + u^\top k",
    build=Biaffine,
    reference="Dozat & Manning 2017, Deep biaffine attention for neural dependency parsing, "
    "section 3.1",
    description="Like bilinear, and some keys are preferred whatever the query.",
)
