"""What the catalogue says of this task: its options."""

from attention_plugins.contract import Parameter

OPTIONS = (
    Parameter(
        name="size",
        title="Size d",
        default=32,
        low=4,
        high=64,
        help="Columns of the encoding: as many as a token's embedding has.",
    ),
    Parameter(name="positions", title="Positions n", default=60, low=2, high=75),
    Parameter(
        name="position",
        title="Position i",
        default=4,
        low=0,
        high=74,
        help="Where the rotation starts.",
    ),
    Parameter(
        name="offset",
        title="Offset δ",
        default=10,
        low=-100,
        high=100,
        help="How far to go from there; the rotation depends on this alone.",
    ),
    Parameter(
        name="pair",
        title="Pair j",
        default=3,
        low=0,
        high=31,
        help="Columns 2j and 2j + 1, which share a frequency.",
    ),
    Parameter(name="flow_rows", title="Rows made", default=8, low=2, high=8),
    Parameter(name="flow_size", title="Columns made", default=6, low=2, high=8),
    Parameter(name="flow_tokens", title="Tokens in X", default=4, low=1, high=8),
)
