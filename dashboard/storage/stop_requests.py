"""Requests to stop a training, left in its folder for the server whose queue it is in.

Several servers may share one data folder. Only the one that queued a training can stop its job;
the others write what they want of it into a file that this one looks at.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import cast, get_args

from dashboard.records.training import StopReason
from dashboard.storage.files import replace, writing
from dashboard.storage.reading import read_bounded

_FILE = "stop"
_LARGEST = 100  # bytes


def request_stop(folder: Path, reason: StopReason) -> None:
    """Ask the server that has a training in its queue to stop it; replaces an earlier request.

    Args:
        folder: of the training.

    Raises:
        StorageError: the folder cannot be written.
    """
    with writing(folder):
        replace(folder / _FILE, reason.encode())


def requested_stop(folder: Path) -> StopReason | None:
    """Return why a server asked to stop a training; None if none did."""
    with suppress(OSError, UnicodeError):
        reason = read_bounded(folder / _FILE, _LARGEST).decode()
        if reason in get_args(StopReason):
            return cast("StopReason", reason)
    return None


def forget_stop(folder: Path) -> None:
    """Delete the request, which was granted or is no longer wanted."""
    with suppress(OSError):
        (folder / _FILE).unlink()
