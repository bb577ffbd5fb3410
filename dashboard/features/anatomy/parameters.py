"""What may be set about one attention step besides the scoring's own parameters."""

from __future__ import annotations

from dashboard.records.parameter import Parameter

SIZES = (
    Parameter(name="batch", title="Batch", default=2, low=1, high=3, step=1),
    Parameter(name="queries", title="Queries", default=3, low=1, high=6, step=1),
    Parameter(name="keys", title="Keys", default=5, low=1, high=8, step=1),
    Parameter(name="d_q", title="Numbers per query", default=4, low=1, high=8, step=1),
    Parameter(name="d_k", title="Numbers per key", default=4, low=1, high=8, step=1),
    Parameter(name="d_v", title="Numbers per value", default=3, low=1, high=8, step=1),
)
HEAD_COUNT = Parameter(name="heads", title="Heads", default=3, low=1, high=12, step=1)
HIDDEN = Parameter(
    name="hidden",
    title="Hidden size",
    default=8,
    low=1,
    high=100,
    step=1,
    help="Of scorings with weight matrices, and of the projections where there are any.",
)
DROPOUT = Parameter(
    name="dropout",
    title="Dropout",
    default=0.0,
    low=0.0,
    high=0.9,
    step=0.05,
    help="The share of weights that training sets to 0; the rest is scaled up to make up for it.",
)
COUNT = Parameter(
    name="count",
    title="Keys per query",
    default=16,
    low=2,
    high=128,
    step=1,
    help="Over how many keys the softmax is taken.",
)
AT_X = Parameter(name="x", title="Query, first number", default=1.0, low=-3.0, high=3.0, step=0.1)
AT_Y = Parameter(name="y", title="Query, second number", default=0.5, low=-3.0, high=3.0, step=0.1)
