"""What the catalogue says of this task: its options."""

from attention_plugins.contract import Parameter

PAIRS = Parameter(
    name="pairs", title="Pairs scored", default=200, low=1, high=10_000, step=100,
    help="How many pairs are scored, from the first. None of these models was trained on them.",
)  # fmt: skip
OPTIONS = (PAIRS,)
