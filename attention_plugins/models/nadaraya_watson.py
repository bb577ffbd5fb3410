"""Nadaraya-Watson kernel regression: predictions are attention-weighted means of the values.

The kernel is whatever scoring the model is given: ``softmax`` of a Gaussian scoring is the
estimator of Nadaraya (1964) and Watson (1964); a uniform scoring is average pooling.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from attention_plugins.attention import Inputs, Scoring
from attention_plugins.blocks import runs_fused, with_and_without
from attention_plugins.contract import (
    ModelSizes,
    ModelSpec,
    Parameter,
    Scalar,
    ScoringFactory,
    Sizes,
)
from attention_plugins.sums import (
    has_fast_sum,
    pool_with_and_without,
    pool_without_weights,
    runs_without_weights,
)
from attention_plugins.tap import Site, Tap

_SITE = Site("pooling", 0)
_WORK_BY_SCORES = 4.0  # of a pair, where distances and products take 1
_USUAL_NUMBERS = 20  # of a formula that takes as long as an additive scoring


class NadarayaWatson(nn.Module):
    """``f(x) = sum_i softmax_i(a(x, x_i)) y_i`` with one scoring ``a`` over all points."""

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, tap: Tap
    ) -> Tensor:
        """Predictions ``(m,)`` at ``queries (m, d)``, from ``keys (n, d)`` and ``values (n,)``."""
        pooled = tap.attend(_SITE, self.scoring, queries, keys, values[:, None], mask)  # (m, 1)
        return pooled.squeeze(-1)

    def leave_one_out(self, x: Tensor, y: Tensor, rows: Tensor) -> Tensor | None:
        """Predictions without a mask over all pairs; see :class:`LeavesOneOut`."""
        queries, values = x[rows], y[:, None]
        if not runs_without_weights(self.scoring, queries, x, values):
            return None
        return pool_without_weights(self.scoring, queries, x, values, own=rows).values[:, 0]

    def work_of_a_pair(self, x: Tensor, y: Tensor) -> float:
        """See :class:`PredictsTwice`."""
        values = y[:, None]
        if runs_without_weights(self.scoring, x, x, values):
            return 0.0 if has_fast_sum(self.scoring, x, values) else 1.0
        if runs_fused(Inputs(self.scoring, x, x, values)):
            return 1.0
        numbers = getattr(self.scoring, "numbers_per_pair", 0)  # formulas alone know
        return _WORK_BY_SCORES * max(1.0, numbers / _USUAL_NUMBERS)

    def with_and_without(self, x: Tensor, y: Tensor, rows: Tensor) -> tuple[Tensor, Tensor] | None:
        """See :class:`PredictsTwice`."""
        scoring, values = self.scoring, y[:, None]
        if scoring.needs:
            return None
        if runs_without_weights(scoring, x[rows], x, values):
            among, alone = pool_with_and_without(scoring, x, values, rows)
        else:
            among, alone = with_and_without(scoring, x, values, rows)
        return among[:, 0], alone[:, 0]


def _build(
    factory: ScoringFactory, sizes: ModelSizes, parameters: Mapping[str, Scalar]
) -> NadarayaWatson:
    hidden = int(parameters["hidden"])
    return NadarayaWatson(factory(Sizes(sizes.source, sizes.source, hidden, value=1)))


NADARAYA_WATSON = ModelSpec(
    name="nadaraya_watson",
    title="Nadaraya–Watson regression",
    task="regression",
    build=_build,
    parameters=(
        Parameter(
            name="hidden",
            title="Hidden size",
            default=8,
            low=1,
            high=64,
            help="Of scorings with weight matrices, such as additive; others ignore it.",
        ),
    ),
    reference="Nadaraya 1964, On estimating regression; Watson 1964, Smooth regression analysis; "
    "Zhang, Lipton, Li & Smola 2021, Dive into Deep Learning, section 10.2",
    description="Every prediction is the mean of the training values, weighted by attention.",
)
