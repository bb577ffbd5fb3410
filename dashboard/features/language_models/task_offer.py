"""What the catalogue says of this task: its options."""

from attention_plugins.contract import Parameter

OPTIONS = (
    Parameter(
        name="words",
        title="Words to write",
        default=8,
        low=0,
        high=64,
        help="Tokens that a decoder writes after the prompt, the likeliest one each time. With 0 "
        "it only reads.",
    ),
)
