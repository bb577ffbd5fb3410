"""The cosine of the angle between query and key, times a scale."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from attention_plugins.attention import Product, ProductScoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes

# Shorter vectors have no direction; a smaller bound would make their gradients explode.
_SHORTEST = 1e-6


class Cosine(ProductScoring):
    """``s cos(q, k)``; a vector of length 0 scores 0."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(values["scale"]))

    def project_queries(self, queries: Tensor) -> Tensor:
        """Queries of length 1."""
        return normalize(queries, dim=-1, eps=_SHORTEST)

    def project_keys(self, keys: Tensor) -> Tensor:
        """Keys of length 1."""
        return normalize(keys, dim=-1, eps=_SHORTEST)

    def factors(self, queries: Tensor, keys: Tensor) -> Product:
        """Both of length 1, the queries times ``s``."""
        return Product(self.scale * queries, keys)


COSINE = ScoringSpec(build=Cosine, **row(__file__, "cosine"))
