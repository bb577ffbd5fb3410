"""LSH attention: a query looks at the keys that fall into one bucket with it."""

from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.kernels import rule_out
from attention_plugins.scorings.scaled_dot import scaled_dot


class Lsh(Scoring):
    """``q . k / sqrt(d)`` where some round puts query and key into one bucket; others ruled out.

    ``bucket(x) = argmax([x R, -x R])`` with a random matrix ``R`` for each round. This is the
    pattern, which takes all pairs; the paper sorts by bucket and cuts into chunks, to save time.
    Nor are queries and keys one projection here, as the model decides that: a query whose buckets
    hold no key reads 0.
    """

    rotations: Tensor

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = rounds = int(values["rounds"])
        drawn = torch.randn(rounds, sizes.key, int(values["buckets"]) // 2)
        # Numbers that bfloat16 holds too: rounded ones would put some keys into other buckets.
        self.register_buffer("rotations", drawn.bfloat16().to(drawn.dtype))

    def buckets(self, points: Tensor) -> Tensor:
        """Points ``(..., n, d)`` to the number of their bucket in each round, ``(..., r, n)``."""
        wide = torch.promote_types(points.dtype, torch.float32)
        turned = points.to(wide).unsqueeze(-3) @ self.rotations.to(wide)
        return torch.cat([turned, -turned], dim=-1).argmax(dim=-1)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The scaled dot product, with minus infinity where no round has them together."""
        asked, answers = self.buckets(queries)[..., None], self.buckets(keys)[..., None, :]
        return rule_out(scaled_dot(queries, keys), (asked == answers).any(dim=-3))


LSH = ScoringSpec(build=Lsh, **row(__file__, "lsh"))
