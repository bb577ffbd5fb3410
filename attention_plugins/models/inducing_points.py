"""Regression through a few inducing points, attending with any scoring function.

The inducing points ``z`` ask the training points for summaries ``h = sum_i w(z, x_i) y_i``, and a
query asks the inducing points: ``f(x) = sum_j w(x, z_j) h_j``. With ``M`` of them that takes
``M (n + m)`` scores in place of ``n m``.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from attention_plugins.contract import (
    ModelSizes,
    ModelSpec,
    Parameter,
    Scalar,
    ScoringFactory,
    Sizes,
)
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.record import Axes
from attention_plugins.tap import Site, Tap

_SUMMARIES, _ANSWERS = Site("pooling", 0), Site("pooling", 1)
# Half of the box that standardised inputs fill when they are uniform.
_HALF_WIDTH = 2.5
# Scores of inducing points that exist at once: those of 2,000 points left out in turn, 16 times
# over, would take a gigabyte.
_MOST_SCORES = 1 << 22


def evenly(count: int, size: int) -> Tensor:
    """Points ``(count, size)`` that fill the box in which standardised inputs lie.

    At even distances in the first dimension; in the others by the additive recurrence with
    powers of the generalised golden ratio, which leaves no large gap for any number of points.

    Roberts 2018, The unreasonable effectiveness of quasirandom sequences.
    """
    golden = 2.0
    for _ in range(64):  # the root of g ** size = 1 + g, at size 2 the golden ratio
        golden = (1.0 + golden) ** (1.0 / size)
    numbers = torch.arange(count) + 0.5
    steps = [1.0 / count, *(golden**-power for power in range(1, size))]
    shares = torch.stack([(numbers * step) % 1.0 for step in steps], dim=-1)
    return _HALF_WIDTH * (2.0 * shares - 1.0)


class InducingPoints(nn.Module):
    """Two attentions in a row: inducing points on training points, queries on inducing points.

    Where the inducing points lie is learned, from even places over the inputs: if they were drawn
    from the training points, leaving one out would move them.
    """

    def __init__(self, factory: ScoringFactory, size: int, hidden: int, count: int) -> None:
        super().__init__()
        self.places = nn.Parameter(evenly(count, size))
        self.summarise = factory(Sizes(size, size, hidden, value=2))
        self.answer = factory(Sizes(size, size, hidden, value=count))

    def axes(self, site: Site) -> Axes:
        """What a site's rows and columns stand for."""
        inducing = tuple(f"inducing {number}" for number in range(1, len(self.places) + 1))
        return Axes(inducing, ("points",)) if site == _SUMMARIES else Axes(("queries",), inducing)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at ``queries (m, d)``, from ``keys (n, d)`` and ``values (n,)``.

        With a mask every query has summaries of its own, of the points that it may see.
        """
        # Ones beside the values: their sum says whether an inducing point saw anything at all.
        beside = torch.stack([values, torch.ones_like(values)], dim=-1)  # (n, 2)
        summaries, seen = self._summaries(keys, beside, mask, tap).unbind(dim=-1)  # ([m,] M)
        # Identity for values, so that each query weighs its own summaries.
        each = torch.eye(len(self.places), dtype=values.dtype, device=values.device)
        shares = tap.attend(_ANSWERS, self.answer, queries, self.places, each, seen > 0)  # (m, M)
        return (shares * summaries).sum(dim=-1)

    def _summaries(self, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap) -> Tensor:
        """What the inducing points make of ``values (n, v)``: ``(M, v)``, or each query's own."""

        def summarise(seen: Tensor | None) -> Tensor:
            return tap.attend(_SUMMARIES, self.summarise, self.places, keys, values, seen)

        if mask is None:
            return summarise(None)
        count = len(self.places)
        seen = mask[:, None].expand(-1, count, -1)  # (m, M, n)
        if tap.recorder is not None:  # of all queries in one tensor
            return summarise(seen)
        parts = seen.split(max(1, _MOST_SCORES // (count * len(keys))))
        return torch.cat([checkpoint(summarise, part, use_reentrant=False) for part in parts])


def _build(
    factory: ScoringFactory, sizes: ModelSizes, parameters: Mapping[str, Scalar]
) -> InducingPoints:
    hidden, count = int(parameters["hidden"]), int(parameters["inducing"])
    return InducingPoints(factory, sizes.source, hidden, count)


INDUCING_POINTS = ModelSpec(
    name="inducing_points",
    title="Inducing points",
    task="regression",
    build=_build,
    parameters=(
        Parameter(
            name="inducing", title="Inducing points", default=16, low=1, high=64,
            help="How many places the training points are summarised at.",
        ),
        *NADARAYA_WATSON.parameters,
    ),
    reference="Lee et al. 2019, Set Transformer: a framework for attention-based "
    "permutation-invariant neural networks, section 3.1",
    description="Queries look at a few learned places, and these at the training points.",
)  # fmt: skip
