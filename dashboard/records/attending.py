"""How attention is computed: a scoring and a normaliser, each with its parameters.

Every page that lets its reader choose these holds one of the records below, and says it in a
request's options by :meth:`Normalised.options`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from dashboard.records.request import Pairs, Scalar

SOFTMAX = "softmax"  # the normaliser of every scoring unless another is chosen
NORMALISER = "normaliser"  # the option of a request that names another
OF_NORMALISER = f"{NORMALISER}."  # before the names of its parameters

Chosen = TypeVar("Chosen", bound="Normalised")


@dataclass(frozen=True, kw_only=True)
class Normalised:
    """What makes weights of scores.

    Args:
        normaliser: by name.
        normaliser_parameters: a value for each of its parameters.
    """

    normaliser: str = SOFTMAX
    normaliser_parameters: Pairs = ()

    def options(self) -> dict[str, Scalar]:
        """What a request says of it; nothing of the softmax.

        Requests from before there were other normalisers are therefore equal to those of now.
        """
        if self.normaliser == SOFTMAX:
            return {}
        values = {f"{OF_NORMALISER}{name}": value for name, value in self.normaliser_parameters}
        return {NORMALISER: self.normaliser, **values}


@dataclass(frozen=True, kw_only=True)
class Attending(Normalised):
    """A scoring and a normaliser.

    Args:
        scoring: by name.
        parameters: a value for each of the scoring's parameters.
    """

    scoring: str
    parameters: Pairs = ()


def with_softmax(chosen: Chosen) -> Chosen:
    """The same with the usual normaliser."""
    return replace(chosen, normaliser=SOFTMAX, normaliser_parameters=())


def normaliser_of(options: Mapping[str, Scalar]) -> tuple[str, dict[str, Scalar]]:
    """The normaliser that a request's options name, and its parameters' values."""
    values = {
        name.removeprefix(OF_NORMALISER): value
        for name, value in options.items()
        if name.startswith(OF_NORMALISER)
    }
    return str(options.get(NORMALISER, SOFTMAX)), values


def without_normaliser(options: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """A request's options but those that :func:`normaliser_of` reads."""
    return {
        name: value
        for name, value in options.items()
        if name != NORMALISER and not name.startswith(OF_NORMALISER)
    }
