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


def check_room(holders: Collection[tuple[str, str]], owner: str, address: str = "") -> None:
    """See that one more training may wait or run.

    Who has trainings already takes no more than half of the places that others have left, and so
    do all owners at one address. So new owners find a place, however many one visitor poses as.

    Args:
        holders: the owners of the trainings that wait or run, with their addresses.
        owner: who asks for one more; empty for the user of this machine.
        address: where they are; empty if that is not known.

    Raises:
        ValueError: it may not; the sentence names the limit and its variable.
    """
    chosen, own = settings(), sum(each == owner for each, _ in holders)
    near = sum(each == address for _, each in holders) if address else 0
    if own >= chosen.trainings_per_owner:
        raise ValueError(
            f"{own:,} of your trainings wait or run already, which is the most that one may have "
            f"({variable('trainings_per_owner')}); wait for one to end, or cancel one"
        )
    if near >= chosen.trainings_per_address:
        raise ValueError(
            f"{near:,} trainings from your network wait or run already, which is the most that it "
            f"may have ({variable('trainings_per_address')}); wait for one to end, or cancel one"
        )
    if len(holders) >= chosen.trainings:
        raise ValueError(
            f"{len(holders):,} trainings wait or run already, which is the most that this server "
            f"takes ({variable('trainings')}); try again once one has ended"
        )
    left = chosen.trainings - len(holders)
    if any(taken and taken + 1 > (left + taken) / 2 for taken in (own if owner else 0, near)):
        raise ValueError(
            f"this server takes {left:,} more trainings, and keeps them for others; wait for one "
            "of yours to end, or cancel one"
        )


def options() -> dict[str, float]:
    """The limits that the worker enforces, as options of a request."""
    chosen = settings()
    return {
        MOST_SECONDS: 3600 * chosen.training_hours, MOST_PARAMETERS: chosen.training_parameters,
    }  # fmt: skip
