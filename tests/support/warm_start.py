"""Starts the product's own processes without waiting for their imports, on Linux.

Most of what a worker costs a test is the second in which it imports torch. Here a process that has
imported it, and has done nothing else, forks for each worker that a test starts. The child runs
the module that it was asked for, with arguments, environment and pipes of its own. The test's
process is its parent, which may kill it and wait for it as for any other.

Whatever else is started starts as ever: ``python -c``, servers with their workers, and workers
with settings that are read while Python or torch starts.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import inspect
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MODULES = ("dashboard.jobs.worker", "attention_plugins.checking.child", "support.saving")
_PYTHON = sys.executable
_ROOT = str(Path(__file__).parents[2])
# Variables that are read only while Python or a library starts.
_READ_AT_START = ("PYTHON", "OMP_", "GOMP_", "KMP_", "MKL_", "MALLOC_", "LD_", "TORCH_", "CUDA_")
_LEAST_MEMORY = 1024  # MB; a tighter limit would count what was imported as the child's own
# What these import before their first work, but no module of a task.
_IMPORTED = (
    "argparse", "faulthandler", "attention_plugins.checking", "attention_plugins.registry",
    "attention_plugins.watching", "dashboard.jobs.errors",
    "dashboard.jobs.process", "dashboard.jobs.tasks",
    "dashboard.records.catalogue", "dashboard.storage.runs",
)  # fmt: skip
_LONGEST = 2**20  # bytes of a request
_SET_CHILD_SUBREAPER = 36
_REAL = subprocess.Popen
_START = inspect.signature(_REAL._execute_child)


class WarmPopen(_REAL):
    """``subprocess.Popen`` whose child is forked where it runs one of :data:`MODULES`."""

    def _execute_child(self, *arguments: Any) -> None:
        given = _START.bind(self, *arguments).arguments
        asked = _asked(given)
        pid = _forker().fork(asked, given) if asked else None
        if pid is None:
            super()._execute_child(*arguments)
            return
        self.pid, self._child_created = pid, True
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[end] for end in ends))


def _asked(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the child is to be; None where it must start from nothing."""
    words = given["args"]
    if not isinstance(words, list) or words[:1] != [_PYTHON] or given["cwd"]:
        return None
    safe = words[1:2] == ["-P"]
    flag, module, *rest = [*words[1 + safe :], "", ""]
    rest = rest[:-2]
    environment = dict(os.environ if given["env"] is None else given["env"])
    memory = rest[rest.index("--memory") + 1] if "--memory" in rest else "0"
    if (
        flag != "-m" or module not in MODULES or 0 < int(memory) < _LEAST_MEMORY
        or "dashboard.ui.page_trial" in rest  # they are tried where torch is not loaded yet
        or _read_at_start(environment) != _read_at_start(os.environ)
    ):  # fmt: skip
        return None
    return {
        "module": module, "arguments": rest, "environment": environment, "safe": safe,
        "folder": os.getcwd(), "session": bool(given["start_new_session"]),
    }  # fmt: skip


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(_READ_AT_START) and name not in ("PYTHONPATH", "OMP_WAIT_POLICY")
    }


class _Forker:
    """The process that forks, as its parent sees it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        self._process = _REAL(
            [_PYTHON, "-P", __file__, str(theirs.fileno())], env=environment,
            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._become = ctypes.CDLL(None).prctl
        atexit.register(self.close)

    def fork(self, asked: Mapping[str, Any], given: Mapping[str, Any]) -> int | None:
        """Return the id of a new child of this process; None where it must start otherwise."""
        ends = [given[end] for end in ("p2cread", "c2pwrite", "errwrite")]
        streams = [number if end < 0 else end for number, end in enumerate(ends)]
        with self._lock:
            # An orphan becomes the child of the nearest process above it that says so.
            if self._become(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
                return None
            socket.send_fds(self._socket, [json.dumps(asked).encode()], streams)
            answer = self._socket.recv(_LONGEST)
            self._become(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        if not answer:
            raise OSError("the process that starts workers for tests is gone")
        return json.loads(answer)

    def close(self) -> None:
        """End it; its children live on."""
        self._socket.close()
        self._process.wait()


_forkers: dict[int, _Forker] = {}  # by the process that asks, which may itself have been forked
_first = threading.Lock()


def _forker() -> _Forker:
    with _first:
        if os.getpid() not in _forkers:
            _forkers[os.getpid()] = _Forker()
        return _forkers[os.getpid()]


def _serve(connection: socket.socket) -> dict[str, Any]:
    """Fork at every request. Returns in each child, with what it is to be."""
    while True:
        text, streams, _, _ = socket.recv_fds(connection, _LONGEST, 3)
        if not text:
            os._exit(0)
        read, write = os.pipe()
        middle = os.fork()
        if not middle:
            middle = os.getpid()
            child = os.fork()
            if child:
                os.write(write, str(child).encode())
                os._exit(0)
            while os.getppid() == middle:
                time.sleep(0.0002)
            break
        os.waitpid(middle, 0)
        connection.send(os.read(read, 32))
        for each in (read, write, *streams):
            os.close(each)
    connection.detach()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 1 + max(map(int, os.listdir("/proc/self/fd"))))
    return json.loads(text)


def _become(asked: Mapping[str, Any]) -> None:
    """Take on the arguments, the environment and the path of a child that has just started."""
    if asked["session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    places = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    first = [] if asked["safe"] else [asked["folder"]]
    sys.path[:] = [*first, *filter(None, places), *sys.path]
    sys.argv[:] = ["", *asked["arguments"]]
    importlib.invalidate_caches()


if __name__ == "__main__":
    sys.path.insert(0, _ROOT)  # another copy of the project may be installed
    for name in _IMPORTED:
        importlib.import_module(name)
    importlib.import_module("dashboard.jobs.task_process").import_torch()
    gc.freeze()  # what is never looked at is never copied
    wanted = _serve(socket.socket(fileno=int(sys.argv[1])))
    _become(wanted)
    runpy.run_module(wanted["module"], run_name="__main__", alter_sys=True)
