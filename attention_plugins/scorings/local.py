"""Scorings that rule out most keys: those far from a place, and those in other buckets."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes, scoring
from attention_plugins.scorings.kernels import rule_out
from attention_plugins.scorings.scaled_dot import scaled_dot


class LocalPredicted(Scoring):
    """``q . k / sqrt(d) - (j - p)^2 / (2 s^2)`` with ``p = S sigmoid(v . tanh(W q))``.

    In the paper ``S`` is the sentence's length. Here it is a setting: the keys number padding too,
    and grow word by word while decoding, so a sentence would score otherwise in another batch or
    in training. The bell, ``s = D / 2``, is inside the softmax, and nothing is cut at ``D``.
    """

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.length, self.window = float(values["length"]), float(values["window"])
        self.from_query = nn.Linear(sizes.query, sizes.hidden, bias=False)
        self.centre = nn.Linear(sizes.hidden, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The dot product, less what the way from the predicted place costs."""
        share = torch.sigmoid(self.centre(torch.tanh(self.from_query(queries))))  # (..., n_q, 1)
        away = positions.keys.to(queries.dtype) - self.length * share
        return scaled_dot(queries, keys) - 0.5 * (away / (self.window / 2)).square()


LOCAL_PREDICTED = ScoringSpec(build=LocalPredicted, **row(__file__, "local_predicted"))

# What a word outside the window costs, per word to the window: its weight is exactly 0 beside
# any word inside. It is finite, because a window may hold nothing but padding.
_STEEP = 1e6


@scoring(**row(__file__, "local_monotonic"))
def local_monotonic(queries: Tensor, keys: Tensor, *, positions: Positions, window: int) -> Tensor:
    """``q . k / sqrt(d)`` inside ``[i - D, i + D]``; no weight elsewhere.

    A translation may be longer than its source, whose end the scoring cannot see behind padding:
    a query whose window holds no word at all gives its weight to the nearest word.
    """
    beyond = (positions.distances.abs() - window).clamp_min(0)
    return scaled_dot(queries, keys) - _STEEP * beyond.to(queries.dtype)


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
