"""Why divide by the root of d: how scores spread at each d, and what the softmax makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pyarrow as pa
import torch
from torch import Tensor

from attention_plugins import Sizes
from attention_plugins.attention import masked_softmax
from dashboard.features.anatomy.parameters import COUNT, HIDDEN
from dashboard.features.anatomy.task_inputs import options, scores_of, scoring_factory, whole
from dashboard.jobs.context import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.result import Result

DIMENSIONS = tuple(2**power for power in range(10))  # 1 to 512
_NUMBERS = 4_000_000  # drawn at once
_FEWEST, _MOST = 50, 2_000  # queries

Scores = Callable[[Tensor, Tensor], Tensor]


def perform(request: Request, context: Context) -> Result:
    """Scores of queries and keys drawn from a standard normal, at each of :data:`DIMENSIONS`.

    Measured without the root (``dot``), with it (``scaled_dot``), and of the request's scoring
    where it is neither, with ``count`` keys per query.

    Returns:
        A table ``spread``: ``scoring``, ``d``, ``variance`` of all scores, and the mean over
        queries of the ``largest`` weight and of the ``entropy`` of the weights in nats.
    """
    given = options(request, "count", "hidden")
    count, hidden = whole(given, COUNT), whole(given, HIDDEN)
    rows = []
    for step, d in enumerate(DIMENSIONS):
        if context.stopped():
            raise Cancelled
        n_queries = min(max(_NUMBERS // (count * d), _FEWEST), _MOST)
        queries, keys = torch.randn(n_queries, 1, d), torch.randn(n_queries, count, d)
        for name, score in _compared(request, d, hidden).items():
            rows.append({"scoring": name, "d": d, **_spread(score(queries, keys))})
        context.report((step + 1) / len(DIMENSIONS), gettext_noop("measured at d = {d}", d=d))
    return Result(tables={"spread": pa.Table.from_pylist(rows)})


def _compared(request: Request, d: int, hidden: int) -> dict[str, Scores]:
    compared: dict[str, Scores] = {
        "dot": lambda queries, keys: queries @ keys.mT,
        "scaled_dot": lambda queries, keys: queries @ keys.mT / math.sqrt(d),
    }
    if request.scoring and request.scoring not in compared:
        scoring = scoring_factory(request)(Sizes(d, d, hidden))
        compared[request.scoring] = lambda queries, keys: scores_of(
            scoring, scoring.project_queries(queries), scoring.project_keys(keys)
        )
    return compared


def _spread(scores: Tensor) -> dict[str, float]:
    weights = masked_softmax(scores)
    return {
        "variance": float(scores[~scores.isneginf()].var()),  # of keys that are not ruled out
        "largest": float(weights.amax(dim=-1).mean()),
        "entropy": float(torch.special.entr(weights).sum(dim=-1).mean()),
    }
