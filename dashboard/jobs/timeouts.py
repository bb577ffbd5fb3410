"""How long a pool waits for a worker before it stops or kills it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Timeouts of a worker, in seconds.

    Args:
        start: until a worker has started, and until it accepts a job that it was sent.
        grace: between the request to stop a job and the end of its worker.
        silence: between two messages of a worker that runs a job.
        plugin: until a plugin is loaded.
    """

    start: float
    grace: float
    silence: float
    plugin: float
