"""What the rules of models share: a model to look at, and scorings that watch."""

from __future__ import annotations

import random
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.checking.models.benches import bench
from attention_plugins.contract import ModelSpec, ScoringFactory, ScoringSpec, Sizes
from attention_plugins.scorings.additive import ADDITIVE
from attention_plugins.training import stored


def make(
    spec: ModelSpec,
    *,
    scoring: ScoringSpec = ADDITIVE,
    factory: ScoringFactory | None = None,
    seed: int = 5,
    dtype: torch.dtype = torch.float64,
    values: Mapping[str, object] | None = None,
) -> nn.Module:
    """A model in evaluation mode, the same at every call with equal arguments.

    Its scoring has weights of its own and projects, unless another one is given.
    """
    torch.manual_seed(seed)
    random.seed(seed)
    model = spec.create(factory or scoring.factory(), bench(spec).sizes, values)
    return model.to(dtype).eval()


def hollow(spec: ModelSpec, values: Mapping[str, object] | None = None) -> dict[str, torch.Size]:
    """Names and shapes of a model's weights, without making any."""
    sizes = bench(spec).sizes
    with torch.device("meta"):
        model = spec.create(ADDITIVE.factory(), sizes, values)
    return {name: tensor.shape for name, tensor in stored(model).items()}


class Counted(Scoring):
    """A scoring that counts in a list of its maker's how often it was asked."""

    def __init__(self, sizes: Sizes, calls: dict[int, int]) -> None:
        super().__init__()
        self.inner = ADDITIVE.create(sizes)
        self._count = lambda: calls.update({id(self): calls[id(self)] + 1})
        calls[id(self)] = 0

    def project_queries(self, queries: Tensor) -> Tensor:
        """As the scoring inside."""
        return self.inner.project_queries(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """As the scoring inside."""
        return self.inner.project_keys(keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """As the scoring inside."""
        self._count()
        return self.inner(queries, keys)
