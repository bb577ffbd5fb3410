"""The most memory that a job held, as well as the system tells it."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import torch

from dashboard.language import gettext_noop

_MEGABYTE = 2**20
_RESET, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


class PeakMemory:
    """Counts from its creation on.

    A worker does one job after another, and the peak that ``getrusage`` tells is that of its whole
    life; Linux can begin a new one (proc(5), ``clear_refs``), and so can a GPU's allocator.

    Args:
        device: of the job's tensors.
        before: megabytes, the peak of what was done of the job elsewhere.
    """

    def __init__(self, device: torch.device, before: float = 0.0) -> None:
        self.device, self.before = device, before
        self._fresh = False
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            with suppress(OSError):
                _RESET.write_text("5")
                self._fresh = True

    @property
    def meaning(self) -> str:
        """What is counted."""
        if self.device.type == "cuda":
            return gettext_noop("tensors on the GPU")
        if self._fresh:
            return gettext_noop("worker process")
        return gettext_noop("worker process since its start")

    def megabytes(self) -> float | None:
        """The peak so far; None where the system does not tell it."""
        found = self._device() if self.device.type == "cuda" else self._process()
        return None if found is None else max(self.before, found)

    def _device(self) -> float:
        return torch.cuda.max_memory_allocated(self.device) / _MEGABYTE

    def _process(self) -> float | None:
        with suppress(OSError, ValueError, StopIteration):
            lines = _STATUS.read_text().splitlines()
            return int(next(x for x in lines if x.startswith("VmHWM:")).split()[1]) / 1024
        try:
            import resource
        except ImportError:  # Windows
            return None
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (_MEGABYTE if sys.platform == "darwin" else 1024)
