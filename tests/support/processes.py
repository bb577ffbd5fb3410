"""The processes below one, their memory and their open files. Needs Linux."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that its threads have started; none of one that has ended."""
    found = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):  # the thread has ended meanwhile
                found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """The process's children, each with its own ones."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def megabytes(pid: int) -> float:
    """The process's proportional set size: a page that several hold is divided among them."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "Pss":
            return int(value.split()[0]) / 1024
    raise RuntimeError(f"no proportional set size of process {pid}")


def open_files(pid: int) -> int:
    """How many file descriptors the process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def command(pid: int) -> list[str]:
    """The command line of the process."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and was not waited for does not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[0] != "Z"
