"""Imports that a worker does in advance, so that no job waits for them."""

from __future__ import annotations

from contextlib import suppress

from dashboard.records.result import Result


def import_torch() -> None:
    """Import what every task needs: torch, and what the first Arrow table imports."""
    Result().to_bytes()
    with suppress(Exception):  # without torch each job still fails with a sentence of its own
        import torch  # noqa: F401
