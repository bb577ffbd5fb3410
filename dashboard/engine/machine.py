"""What this machine, or the container on it, gives a worker: cores, memory, an end."""

from __future__ import annotations

import ctypes
import math
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_SHARE = 0.7
_PR_SET_PDEATHSIG = 1


def cores() -> int:
    """Processors that this process may use, at least 1: its affinity and its container's quota."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:
        found = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = (_CGROUP / "cpu.max").read_text().split()
        found = min(found, math.ceil(int(quota) / int(period)))
    return max(1, found)


def default_memory() -> int:
    """Megabytes a worker may use: 70 % of the machine's or the container's; 0 if unknown."""
    found = math.inf
    with suppress(AttributeError, ValueError, OSError):
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        found = min(found, int((_CGROUP / "memory.max").read_text()))
    return 0 if math.isinf(found) else int(found * _SHARE / 2**20)


def limit_memory(megabytes: int) -> None:
    """Refuse this process further private memory above the limit; 0 sets none.

    Uses ``RLIMIT_DATA``, which on Linux counts what is allocated and not, as ``RLIMIT_AS``,
    what is merely mapped, such as the libraries of torch. Elsewhere it may have no effect.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    if megabytes > 0:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        wanted = megabytes * 2**20
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def yield_to_others(nice: int) -> None:
    """Be served after others by so many steps of niceness, 0 to 19, where there are any."""
    if nice and hasattr(os, "nice"):
        os.nice(nice)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread that started it ends (Linux only).

    The end of standard input says the same, but nobody reads it while a plugin holds Python's
    lock in native code.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(0)
