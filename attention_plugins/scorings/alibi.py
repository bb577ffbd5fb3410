"""ALiBi: a fixed cost per word of distance, another for each head."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import Positions, Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import by_heads, scaled_dot


def alibi_slopes(heads: int) -> list[float]:
    """A geometric sequence from ``2 ** (-8 / heads)`` to ``2 ** -8``, where heads are 2 ** n.

    Other numbers of heads take those of the power of two below, and every second one of the
    power above, as the authors' code does.
    """
    below = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * head / below) for head in range(1, below + 1)]
    return slopes if below == heads else slopes + alibi_slopes(2 * below)[::2][: heads - below]


class Alibi(Scoring):
    """``q . k / sqrt(d) - m |i - j|`` with a slope ``m`` for each head; nothing is learned."""

    needs = ("positions",)
    elements_per_pair = 1
    slopes: Tensor

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(sizes.heads)))

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """``q . k / sqrt(d) - m |i - j|``; the paper's distances only look back."""
        away = positions.distances.abs().to(queries.dtype)
        return scaled_dot(queries, keys).addcmul_(by_heads(self.slopes), away, value=-1.0)


ALIBI = ScoringSpec(
    name="alibi",
    title="ALiBi",
    formula=r"\frac{q_i^\top k_j}{\sqrt{d}} - m_h\,\lvert i-j\rvert",
    build=Alibi,
    reference="Press, Smith & Lewis 2022, Train short, test long: attention with linear biases "
    "enables input length extrapolation, section 3",
    description="Every word of distance costs the same, in some heads much and in others little.",
    same_size=True,
    tasks=("translation", "encoding"),
)
