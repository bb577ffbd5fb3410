"""What a worker does before its first job, so that the job need not wait for it."""

from __future__ import annotations

from contextlib import suppress

from dashboard.runs.result import Result


def load() -> None:
    """What every task needs: torch, and the first table, which imports a good deal too."""
    Result().to_bytes()
    with suppress(Exception):  # without torch a worker still says what is missing, job by job
        import torch  # noqa: F401


def first_optimiser() -> None:
    """The first optimiser of a process imports as much again as torch: not while work waits."""
    with suppress(Exception):
        import torch

        weight = torch.zeros(2, requires_grad=True)
        optimiser = torch.optim.Adam([weight])
        weight.square().sum().backward()
        optimiser.step()
