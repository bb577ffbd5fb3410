"""What the catalogue says of this task: its options."""

from attention_plugins.contract import Parameter

OPTIONS = (
    Parameter(
        name="momentum",
        title="Momentum",
        default=0.1,
        low=0.01,
        high=1.0,
        step=0.01,
        help="Share of each new batch in the running statistics.",
    ),
    Parameter(
        name="batches",
        title="Batches seen",
        default=1,
        low=0,
        high=100,
        help="How many times X went through the batch norm in training before it is evaluated.",
    ),
    Parameter(
        name="padding",
        title="More padding",
        default=4,
        low=1,
        high=16,
        unit="positions",
        help="Padded positions added behind both sentences.",
    ),
    Parameter(name="dropout", title="Dropout", default=0.5, low=0.0, high=0.9, step=0.05),
)
