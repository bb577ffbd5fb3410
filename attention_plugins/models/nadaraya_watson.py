"""Regression by attention: all points, the nearest ones, or a few that summarise them.

The kernel is whatever scoring the model is given: ``softmax`` of a Gaussian scoring is the
estimator of Nadaraya (1964) and Watson (1964); a uniform scoring is average pooling.

Inducing points ``z`` ask the training points for summaries ``h = sum_i w(z, x_i) y_i``, and a
query asks the inducing points: ``f(x) = sum_j w(x, z_j) h_j``. With ``M`` of them that takes
``M (n + m)`` scores in place of ``n m``.
"""

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from attention_plugins import sums
from attention_plugins.attention import Inputs, Scoring
from attention_plugins.beside import row
from attention_plugins.blocks import runs_fused, with_and_without
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringFactory, Sizes
from attention_plugins.models.protocols import Values
from attention_plugins.record import Axes
from attention_plugins.tap import Site, Tap

_SITE = Site("pooling", 0)
_WORK_BY_SCORES = 4.0  # of a pair, where distances and products take 1
_USUAL_NUMBERS = 20  # of a formula that takes as long as an additive scoring


def _scoring(
    factory: ScoringFactory, sizes: ModelSizes, values: Values, value: int = 1
) -> Scoring:
    hidden = int(values["hidden"])
    return factory(Sizes(sizes.source, sizes.source, hidden, value=value, kind="pooling"))


class NadarayaWatson(nn.Module):
    """``f(x) = sum_i softmax_i(a(x, x_i)) y_i`` with one scoring ``a`` over all points."""

    def __init__(self, factory: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
        super().__init__()
        self.scoring = _scoring(factory, sizes, values)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at ``queries (m, d)``, from ``keys (n, d)`` and ``values (n,)``."""
        return tap.attend(_SITE, self.scoring, queries, keys, values[:, None], mask)[:, 0]

    def leave_one_out(self, x: Tensor, y: Tensor, rows: Tensor) -> Tensor | None:
        """Predictions without a mask over all pairs; see :class:`LeavesOneOut`."""
        queries, values = x[rows], y[:, None]
        if not sums.runs_without_weights(self.scoring, queries, x, values):
            return None
        return sums.pool_without_weights(self.scoring, queries, x, values, own=rows).values[:, 0]

    def work_of_a_pair(self, x: Tensor, y: Tensor) -> float:
        """See :class:`PredictsTwice`."""
        values = y[:, None]
        if sums.runs_without_weights(self.scoring, x, x, values):
            return 0.0 if sums.has_fast_sum(self.scoring, x, values) else 1.0
        if runs_fused(Inputs(self.scoring, x, x, values)):
            return 1.0
        numbers = getattr(self.scoring, "numbers_per_pair", 0)  # formulas alone know
        return _WORK_BY_SCORES * max(1.0, numbers / _USUAL_NUMBERS)

    def with_and_without(self, x: Tensor, y: Tensor, rows: Tensor) -> tuple[Tensor, Tensor] | None:
        """See :class:`PredictsTwice`."""
        scoring, values = self.scoring, y[:, None]
        if scoring.needs:
            return None
        if sums.runs_without_weights(scoring, x[rows], x, values):
            among, alone = sums.pool_with_and_without(scoring, x, values, rows)
        else:
            among, alone = with_and_without(scoring, x, values, rows)
        return among[:, 0], alone[:, 0]


NADARAYA_WATSON = ModelSpec(build=NadarayaWatson, **row(__file__, "nadaraya_watson"))


def nearest(queries: Tensor, keys: Tensor, count: int, mask: Tensor | None) -> Tensor:
    """Which keys are among the ``count`` nearest of those that each query may see, ``(m, n)``.

    By Euclidean distance; points as far away as the last of them belong to them too, so that
    the order of the points means nothing.

    Args:
        queries, keys: ``(m, d)`` and ``(n, d)``.
        mask: boolean, ``(m, n)``, True where a query may see a key; None: everywhere.
    """
    # Not by matrix products: their rounding would depend on how many points there are.
    away = torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist")
    seen = torch.ones_like(away, dtype=torch.bool) if mask is None else mask
    away = away.masked_fill(~seen, torch.inf)
    farthest = away.kthvalue(min(count, keys.shape[0]), dim=-1, keepdim=True).values  # (m, 1)
    return seen & (away <= farthest)


class NearestNeighbours(nn.Module):
    """``f(x) = sum_i softmax_i(a(x, x_i)) y_i`` over the ``k`` training points nearest to x."""

    def __init__(self, factory: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
        super().__init__()
        self.scoring, self.count = _scoring(factory, sizes, values), int(values["neighbours"])

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at ``queries (m, d)``, from ``keys (n, d)`` and ``values (n,)``."""
        near = nearest(queries, keys, self.count, mask)
        return tap.attend(_SITE, self.scoring, queries, keys, values[:, None], near)[:, 0]


NEAREST_NEIGHBOURS = ModelSpec(
    build=NearestNeighbours,
    **row(__file__, "nearest_neighbours", *NADARAYA_WATSON.parameters, own_first=True),
)

_SUMMARIES, _ANSWERS = Site("pooling", 0), Site("pooling", 1)
_HALF_WIDTH = 2.5  # half of the box that standardised inputs fill when they are uniform
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

    def __init__(self, factory: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
        super().__init__()
        count = int(values["inducing"])
        self.places = nn.Parameter(evenly(count, sizes.source))
        self.summarise = _scoring(factory, sizes, values, 2)
        self.answer = _scoring(factory, sizes, values, count)

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


INDUCING_POINTS = ModelSpec(
    build=InducingPoints,
    **row(__file__, "inducing_points", *NADARAYA_WATSON.parameters, own_first=True),
)
