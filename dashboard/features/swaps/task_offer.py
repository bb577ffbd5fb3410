"""What the catalogue says of this task: its options, and the results that are shipped."""

from attention_plugins.contract import Parameter
from attention_plugins.price.store import shipped

OPTIONS = (
    Parameter(
        name="steps",
        title="Steps of tuning",
        default=20,
        low=5,
        high=200,
        step=5,
        help="Of every swap and of the original, at each rate, with each seed.",
    ),
    Parameter(
        name="seeds",
        title="Seeds",
        default=3,
        low=1,
        high=12,
        help="Each cuts the texts, orders the batches and draws new weights, alike for all.",
    ),
    *(
        (Parameter(name="shipped", title="Shipped results", default=names[0], choices=names),)
        if (names := tuple(shipped()))
        else ()
    ),
)
