"""What a task is given besides its request: a way to report, and a flag to obey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Cancelled(Exception):
    """Raised by a task that was asked to stop."""


class Context(Protocol):
    """The worker's side of a job."""

    def report(
        self, fraction: float, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """Tell whoever watches how far the job is; raises :class:`Cancelled` if it must stop."""

    def stopped(self) -> bool:
        """Whether the job was cancelled."""
