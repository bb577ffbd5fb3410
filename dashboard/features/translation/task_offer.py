"""What the catalogue says of this task: its options."""

from attention_plugins.contract import Parameter
from attention_plugins.translator import MAX_BEAM

BEAM = Parameter(
    name="beam", title="Beam width", default=1, low=1, high=MAX_BEAM,
    help="How many translations are followed at once; 1 takes the likeliest word at every step.",
)  # fmt: skip
OPTIONS = (BEAM,)
