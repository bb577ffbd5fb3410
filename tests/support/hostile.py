"""Files that are none, and calls that must not wait for them."""

from __future__ import annotations

import os
import sys
import threading

import pytest

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of Unix")
KINDS = ("pipe", "device", "gigabytes")
_PATIENCE = 120  # seconds; a busy machine may take its time


def lay(path, kind):
    """Put a pipe, an endless device, or 10 GB that take no room, in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(10 * 2**30)


def at_once(function, *arguments):
    """What the function returns or raises, in a thread: one that waits fails the test."""
    found = []

    def call():
        try:
            found.append((function(*arguments), None))
        except Exception as error:
            found.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    assert found, "it waits for a file that is none"
    value, error = found[0]
    if error is not None:
        raise error
    return value
