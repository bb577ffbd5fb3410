"""What a race costs, and which share of it only chooses learning rates."""

from collections.abc import Iterable
from typing import NamedTuple

from attention_plugins.beside import beside
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.records import Outcome

SAID = beside(__file__, "words.toml")["spending"]


class Cost(NamedTuple):
    """``hours`` of one core or device, and which ``share`` of them, in %, only chose rates.

    On a task of the field what chooses a rate is reported, so nothing only chooses one.
    """

    hours: float
    share: float


def cost(outcomes: Iterable[Outcome]) -> Cost:
    """What all that was done took; zeros before anything was."""
    total = tuning = 0.0
    for one in outcomes:
        total += one.seconds
        tuning += one.seconds * (one.trial.tuning and one.trial.task not in FIELD)
    return Cost(total / 3600, 100 * tuning / total if total else 0.0)
