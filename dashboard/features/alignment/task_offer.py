"""What the catalogue says of this task: its options."""

from __future__ import annotations

from attention_plugins.contract import Parameter

PAIRS = Parameter(
    name="pairs", title="Pairs scored", default=200, low=1, high=10_000, step=100,
    help="The first so many of the pairs that none of these models has learned.",
)  # fmt: skip
OPTIONS = (PAIRS,)
