"""What the catalogue says of this task: its options."""

from attention_plugins.contract import Parameter

OPTIONS = (
    Parameter(
        name="longest",
        title="Longest sequence n",
        default="1024",
        choices=("256", "512", "1024", "2048"),
        help="Measured down to a sixteenth of it, halving each time.",
    ),
    Parameter(
        name="widest",
        title="Largest size d",
        default="256",
        choices=("64", "128", "256", "512"),
        help="Measured down to an eighth of it, halving each time.",
    ),
    Parameter(
        name="kernel",
        title="Kernel k",
        default="3",
        choices=("3", "5", "7", "9"),
        help="How many neighbours an output of the convolution sees.",
    ),
    Parameter(name="repeats", title="Repeats", default=7, low=1, high=31, step=2),
)
