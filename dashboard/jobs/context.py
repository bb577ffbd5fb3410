"""What a task may ask of the worker that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Cancelled(Exception):
    """Raised inside a task whose job was cancelled."""


class Context(Protocol):
    """The worker's side of a job."""

    def report(
        self, fraction: float, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """Publish the job's progress.

        Args:
            fraction: of the work done, 0 to 1.
            note: one sentence for the reader.
            facts: live figures that fit in JSON.

        Raises:
            Cancelled: the job was cancelled.
        """

    def stopped(self) -> bool:
        """Whether the job was cancelled."""
        ...
