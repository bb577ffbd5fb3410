"""What a training may ask of the server, and how many an owner may have at work."""

from __future__ import annotations

from collections.abc import Collection

from dashboard.records.request import Request
from dashboard.records.training import MOST_PARAMETERS, MOST_SECONDS
from dashboard.settings import settings, variable

_EPOCHS = "recipe.epochs"


def check_request(request: Request) -> None:
    """See that a training asks for no more epochs than this server allows.

    Raises:
        ValueError: it does; the sentence names the limit and its variable.
    """
    most, asked = settings().training_epochs, dict(request.options).get(_EPOCHS, 0)
    if isinstance(asked, int) and asked > most:
        raise ValueError(
            f"need at most {most:,} epochs ({variable('training_epochs')}), got {asked:,}"
        )


def check_room(owners: Collection[str], owner: str) -> None:
    """See that one more training may wait or run.

    Args:
        owners: of the trainings that wait or run.
        owner: who asks for one more.

    Raises:
        ValueError: it may not; the sentence names the limit and its variable.
    """
    chosen, own = settings(), sum(each == owner for each in owners)
    if own >= chosen.trainings_per_owner:
        raise ValueError(
            f"{own:,} of your trainings wait or run already, which is the most that one may have "
            f"({variable('trainings_per_owner')}); wait for one to end, or cancel one"
        )
    if len(owners) >= chosen.trainings:
        raise ValueError(
            f"{len(owners):,} trainings wait or run already, which is the most that this server "
            f"takes ({variable('trainings')}); try again once one has ended"
        )


def options() -> dict[str, float]:
    """The limits that the worker enforces, as options of a request."""
    chosen = settings()
    return {
        MOST_SECONDS: 3600 * chosen.training_hours, MOST_PARAMETERS: chosen.training_parameters,
    }  # fmt: skip
