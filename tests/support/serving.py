"""A server of an app in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_SECONDS_TO_START, _SECONDS_TO_END = 60.0, 20.0


class Served(NamedTuple):
    """A running server: its address, its process number, and the folder of its data."""

    url: str
    pid: int
    home: Path


@contextmanager
def served(app: Path, home: Path | None = None, **variables: str) -> Iterator[Served]:
    """Run a Streamlit server of this app on a free port of this machine.

    Args:
        home: of its data; else a folder of its own, which is deleted at the end.
        variables: of its environment, besides this process's own.

    Raises:
        RuntimeError: it did not answer in time.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as own:
        folder = home or Path(own)
        environment = {
            "PYTHONPATH": str(ROOT), "HOME": str(folder),
            "ATTENTION_WORKBENCH_HOME": str(folder), **variables,
        }  # fmt: skip
        running = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **environment},
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_for_health(url)
            yield Served(url, running.pid, folder)
        finally:
            _end(running)


def _wait_for_health(url: str) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"{url} did not answer within {_SECONDS_TO_START:.0f} s")


def _end(running: subprocess.Popen[bytes]) -> None:
    running.terminate()
    try:
        running.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
