"""The limits of this machine or its container, and those that a worker sets itself."""

import ctypes
import math
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")
_MEMORY_SHARE = 0.7
_LEAST_MEMORY = 1024  # MB, in which torch starts and a shipped model translates
_PR_SET_PDEATHSIG = 1
_MOST_FILES = 65_536  # enough, and a table of descriptors that costs little


def cores() -> int:
    """Return how many processors this process may use, by its affinity and its container."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:
        found = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = (_CGROUP / "cpu.max").read_text().split()
        found = min(found, math.ceil(int(quota) / int(period)))
    return max(1, found)


def default_memory(processes: int) -> int:
    """Return the megabytes that each of so many workers and trainers may take; 0 if unknown.

    Together they take 70% of the machine's or container's memory, but each gets at least 1 GB,
    since torch does not start in less.
    """
    found = math.inf
    with suppress(AttributeError, ValueError, OSError):
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):
        found = min(found, int((_CGROUP / "memory.max").read_text()))
    if math.isinf(found):
        return 0
    return max(_LEAST_MEMORY, int(found * _MEMORY_SHARE / processes / 2**20))


def has_room_for(processes: int) -> bool:
    """Whether so many workers fit beside what runs; True where free memory is not known."""
    return free_memory() >= processes * _LEAST_MEMORY


def free_memory() -> float:
    """Return the megabytes that new processes may take; infinite if that is not known.

    What the machine has available counts, and what its container has left.
    """
    found = math.inf
    with suppress(OSError, IndexError):
        found = int(re.findall(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())[0]) / 2**10
    with suppress(OSError, ValueError):
        most, used = ((_CGROUP / f"memory.{name}").read_text() for name in ("max", "current"))
        statistics = (_CGROUP / "memory.stat").read_text()
        cached = sum(map(int, re.findall(r"^inactive_file (\d+)$", statistics, re.MULTILINE)))
        found = min(found, (int(most) - int(used) + cached) / 2**20)
    return found


def raise_open_files() -> int:
    """Let this process open as many files as the system lets it, at most 65,536.

    Returns:
        How many these are; 1,024 where the system does not say.
    """
    try:
        import resource
    except ImportError:  # Windows
        return 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return _MOST_FILES if soft == resource.RLIM_INFINITY else soft


def limit_memory(megabytes: int) -> None:
    """Limit the private memory of this process; 0 sets no limit.

    Uses ``RLIMIT_DATA``, which on Linux counts what is allocated. ``RLIMIT_AS`` would also count
    what is only mapped, such as the libraries of torch. Elsewhere it may have no effect.
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


@contextmanager
def extra_memory(megabytes: int) -> Iterator[None]:
    """Limit what this process may allocate inside the context, beyond what it has (Linux only).

    An allocation above that raises ``MemoryError``.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    used = int(re.findall(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = [used + megabytes * 2**20, *(each for each in (soft, hard) if each >= 0)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def die_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel end this process when the thread that started it ends (Linux only).

    The end of standard input is no substitute: nobody reads it while a plugin holds Python's
    global lock in native code.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, by)
        if os.getppid() != parent:  # the parent ended before the call above
            os._exit(0)
