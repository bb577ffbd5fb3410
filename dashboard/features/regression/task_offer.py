"""What the catalogue says of this task: its options, and what is measured."""

from attention_plugins.contract import Parameter
from attention_plugins.fitting import FITTING
from dashboard.records.parameter import Metric

LEARN = Parameter(
    name="learn",
    title="Learn from the data",
    default=False,
    help="By gradient descent on the leave-one-out error. Of more than 2,048 points, some, evenly "
    "picked, are left out in turn. A scoring without weights stays as it is.",
)
STANDARDISE = Parameter(
    name="standardise",
    title="Scale x",
    default=False,
    help="Shifts every input to mean 0 and scales it to a standard deviation of 5 / √12 = 1.44, "
    "that of the built-in problems, whose x is uniform from 0 to 5. A width of 1 is then 0.69 "
    "standard deviations of the input.",
)
OPTIONS = (LEARN, STANDARDISE, *FITTING)
METRICS = (
    Metric(
        name="truth_mse", title="Error against the truth", better="lower",
        help="Mean squared error against the noise-free function.",
    ),
    Metric(
        name="leave_one_out_mse", title="Leave-one-out error", better="lower",
        help="Mean squared error at training points, each predicted from all others: of all "
        "points, or of a random sample, with its standard error, where that would take too long.",
    ),
    Metric(
        name="effective_neighbours", title="Effective neighbours",
        help="How many training points a query rests on: the exponential of the entropy of its "
        "weights' shares of their sum. Neither many nor few is good in itself.",
    ),
    Metric(
        name="seconds", title="Time", unit="s", better="lower", digits=2,
        help="Of learning and predicting, without warm-up: neither the first step nor the first "
        "prediction counts. Wall-clock time on this machine, which other work on it makes longer.",
    ),
)  # fmt: skip
