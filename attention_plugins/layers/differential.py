"""Differential attention: one softmax minus a share of another."""

import math

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.errors import ContractError
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import split_heads


class Differential(Extended):
    """``softmax(a(q, k)) - s softmax(a(q', k'))``, each head's output normalised.

    ``s`` is learned and shared by the heads; both halves of a head share the scoring.

    ContractError: heads of an odd size.
    """

    signed, sums_to_one = True, False

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        size = sizes.hidden // sizes.heads
        half = size // 2
        if size % 2:
            raise ContractError(f"Differential needs heads of an even size, got {size}")
        super().__init__(
            lambda site: make_scoring(site._replace(query=half, key=half)), sizes, values
        )
        self.vectors = nn.Parameter(torch.randn(4, half) / 10)  # as in the authors' code
        self.norm = nn.RMSNorm(size, eps=1e-5)

    def _keep(self, keys: Tensor, values: Tensor) -> Kept:
        halves = split_heads(keys, self.heads).chunk(2, dim=-1)
        ready = torch.cat([self.scoring.project_keys(half) for half in halves], dim=-1)
        return {"keys": ready, "values": split_heads(values, self.heads)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """Equations 1 to 3: at first the share is the larger, the deeper the layer."""
        start = 0.8 - 0.6 * math.exp(-0.3 * at.site.layer)
        plus, minus = (self.vectors[::2] * self.vectors[1::2]).sum(dim=-1).exp()
        halves = self.queries(inputs).chunk(2, dim=-1), at.kept["keys"].chunk(2, dim=-1)
        first, second = (
            self.weights(self.scores(at, *half), at.allowed())
            for half in zip(*halves, strict=True)
        )
        found = self.pooled(at, first - (plus - minus + start) * second)
        return (1 - start) * self.norm(found)


DIFFERENTIAL = LayerSpec(build=Differential, **row(__file__, "differential"))
