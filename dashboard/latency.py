"""How long visitors wait for each page; every measurement is handed to whoever counts them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

What = Literal["drawn", "result"]


class Wait(NamedTuple):
    """What a visitor waited for.

    Args:
        page: its name, one of those in :mod:`dashboard.navigation`.
        what: that the page's script had run, or that a result it asked for was there.
        seconds: from the script's start, or from the request. A page that looks at its jobs
            every now and then sees a result a little after it was made, as its visitor does.
    """

    page: str
    what: What
    seconds: float


listeners: list[Callable[[Wait], None]] = []


def note(page: str, what: What, seconds: float) -> None:
    """Hand a measurement to all listeners."""
    for listener in listeners:
        listener(Wait(page, what, seconds))
