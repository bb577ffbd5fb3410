"""Transformer-XL's relative scores: content and distance, each with a query and without."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.places import sines_and_cosines


class TransformerXL(Scoring):
    """``((q + u) . k + (q + v) . W r) / sqrt(d)``, ``r`` the sinusoids of ``i - j``.

    ``u``, ``v`` and ``W`` belong to the head. An odd size has one sinusoid less.
    """

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        shape = (sizes.heads, 1) if sizes.heads > 1 else (1,)
        self.content_bias = nn.Parameter(torch.zeros(*shape, sizes.key))  # u
        self.place_bias = nn.Parameter(torch.zeros(*shape, sizes.key))  # v
        sinusoids = 2 * (sizes.key // 2)
        self.from_place = nn.Parameter(  # W, by heads
            torch.randn(*shape[:-1], sizes.key, sinusoids) / math.sqrt(sizes.key)
        )

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The four terms of section 3.3, two by two."""
        content = (queries + self.content_bias) @ keys.mT
        places = self._places((queries + self.place_bias) @ self.from_place, positions)
        return (content + places) / math.sqrt(queries.shape[-1])

    def _places(self, asked: Tensor, positions: Positions) -> Tensor:
        """``asked . r(i - j)``; sines first in ``asked (..., n_q, sinusoids)``.

        Sine and cosine of a difference are products of those of ``i`` and ``j``: no sinusoid is
        made per pair.
        """
        size = self.from_place.shape[-2]
        sines, cosines = sines_and_cosines(positions.queries, size, asked)
        key_sines, key_cosines = sines_and_cosines(positions.keys, size, asked)
        for_sine, for_cosine = asked.chunk(2, dim=-1) if size > 1 else (asked, asked)
        with_sine = for_cosine * sines - for_sine * cosines
        with_cosine = for_sine * sines + for_cosine * cosines
        return with_sine @ key_sines.mT + with_cosine @ key_cosines.mT


TRANSFORMER_XL = ScoringSpec(
    name="transformer_xl",
    title="Relative (Transformer-XL)",
    formula=r"\frac{(q_i+u)^\top k_j + (q_i+v)^\top W r_{i-j}}{\sqrt{d}}",
    build=TransformerXL,
    reference="Dai et al. 2019, Transformer-XL: attentive language models beyond a fixed-length "
    "context, section 3.3",
    description="Asks for words and for distances at once, and learns to prefer some of both "
    "whatever is asked.",
    same_size=True,
    tasks=("translation", "encoding"),
)
