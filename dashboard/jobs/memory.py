"""Freed memory, returned to the system."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable


def give_back() -> None:
    """Return what this process has freed; without effect where the C library is not GNU's.

    GNU's allocator keeps freed blocks that lie between used ones. Takes 2 ms for 300 MB.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # macOS, musl, Windows
        return None
