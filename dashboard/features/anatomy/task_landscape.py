"""A scoring over all keys of two numbers, for one query."""

from __future__ import annotations

import torch

from attention_plugins import Sizes
from attention_plugins.attention import masked_weights
from dashboard.features.anatomy.parameters import AT_X, AT_Y, HIDDEN
from dashboard.features.anatomy.task_inputs import (
    number,
    options,
    scores_of,
    scoring_factory,
    whole,
)
from dashboard.jobs.context import Context
from dashboard.jobs.task_tables import columns_table
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.result import Result

SIDE = 41  # keys along each axis
_REACH = 3.0


def perform(request: Request, context: Context) -> Result:
    """The scores of the query ``(x, y)`` against keys on a grid from -3 to 3.

    Returns:
        A table ``landscape``: ``x``, ``y`` of a key, its ``score``, and its ``weight`` among all
        keys of the grid.
    """
    given = options(request, "x", "y", "hidden")
    query = torch.tensor(
        [[[number(given, AT_X), number(given, AT_Y)]]], dtype=torch.get_default_dtype()
    )
    axis = torch.linspace(-_REACH, _REACH, SIDE)
    keys = torch.cartesian_prod(axis, axis)[None]
    scoring = scoring_factory(request)(Sizes(2, 2, whole(given, HIDDEN)))
    scores = scores_of(scoring, scoring.project_queries(query), scoring.project_keys(keys))
    weights = masked_weights(scores, None, scoring.normalise)
    context.report(0.9, gettext_noop("scored"))
    x, y = keys[0].unbind(dim=1)
    columns = {"x": x, "y": y, "score": scores[0, 0], "weight": weights[0, 0]}
    return Result(tables={"landscape": columns_table(columns)})
