"""A Transformer whose heads share keys and values, attending with any scoring function."""

from __future__ import annotations

from dataclasses import dataclass

from attention_plugins.contract import ModelSpec, Parameter, ScoringFactory
from attention_plugins.models.multi_head import MultiHead
from attention_plugins.models.transformer import TRANSFORMER, Transformer
from attention_plugins.models.transformer_layers import Hyperparameters


@dataclass(frozen=True, kw_only=True)
class Grouped(Hyperparameters):
    """Head ``h`` of ``H`` looks at keys and values of head ``floor(h G / H)`` of ``G``."""

    key_heads: int

    def attention(self, make_scoring: ScoringFactory) -> MultiHead:
        """One sublayer's attention."""
        return MultiHead(
            make_scoring, self.hidden, self.heads, key_heads=self.key_heads, dropout=self.dropout
        )


class GroupedQuery(Transformer):
    """The Transformer with ``G`` heads of keys and values for ``H`` of queries."""

    record = Grouped


GROUPED_QUERY = ModelSpec(
    name="grouped_query",
    title="Transformer, grouped queries",
    task="translation",
    build=GroupedQuery,
    parameters=(
        *TRANSFORMER.parameters,
        Parameter(
            name="key_heads", title="Key heads", default=1, low=1, high=32,
            help="Heads of keys and values; they divide the heads. 1 is multi-query attention.",
        ),
    ),
    reference="Shazeer 2019, Fast Transformer decoding: one write-head is all you need; Ainslie "
    "et al. 2023, GQA: training generalized multi-query Transformer models from multi-head "
    "checkpoints",
    description="A Transformer in which groups of heads ask their own questions of the same keys "
    "and values: less to keep for every word that is written.",
)  # fmt: skip
