"""What starts the workers of a pool: processes of this machine, or those of a cluster.

A worker of this machine gets a command line and, of the server's environment, only what is listed.
"""

import fnmatch
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from dashboard import limits
from dashboard.jobs.process import Message, WorkerProcess
from dashboard.records.beside import beside


class EngineError(Exception):
    """An engine that cannot be used, in one sentence for whoever runs the server."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """What the workers of a pool have in common; as :class:`~dashboard.jobs.pool.PoolOptions`.

    Args:
        workers: how many share the cores of a machine.
        environment: variables besides those of :func:`environment`; they win.
        passed_on: names of further variables of this process, with ``*`` for any text.
    """

    tasks: str
    memory: int = 0
    warm: bool = True
    nice: int = 0
    workers: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    passed_on: tuple[str, ...] = ()


class Worker(Protocol):
    """A started worker, see :class:`~dashboard.jobs.process.WorkerProcess`.

    Attributes:
        pid: its process id, if it runs on this machine.
        ended: whether it is gone.
        lost: why it cannot be reached although nothing says that its job ended it, such as a
            machine that was switched off; empty if that did not happen.
    """

    pid: int | None
    ended: bool
    lost: str

    def send(self, header: Mapping[str, Any]) -> None:
        """Write a message. OSError: the worker is gone."""

    def receive(self) -> Message:
        """Wait for the next message.

        EOFError: the worker is gone. WireError: it wrote something else than a message.
        """
        ...

    def stderr(self) -> str:
        """Return what it has written to stderr since its last job began."""
        ...

    def dump_stack(self) -> None:
        """Have it write its stack to stderr; does not wait."""

    def kill(self) -> None:
        """Kill it and the processes that it started; does not wait."""

    def reap(self) -> tuple[int | None, str]:
        """Wait for its end; return its exit code, and what its last job wrote to stderr.

        The code is None if the worker was lost.
        """
        ...


class Engine(Protocol):
    """Starts workers. Every method may be called from any thread."""

    def start(
        self, options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
    ) -> Worker:
        """Start a worker; does not wait until it is ready.

        Args:
            quarantined: arguments that name the plugins which it must not load.
            on_end: called from another thread when the worker has ended.

        Raises:
            OSError: it could not be started.
        """
        ...

    def has_room_for(self, workers: int) -> bool:
        """Whether so many more workers can be started beside those that live."""
        ...


class LocalEngine:
    """Starts the workers as processes of this machine."""

    def start(
        self, options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
    ) -> WorkerProcess:
        """See :meth:`Engine.start`."""
        return WorkerProcess([*command(options), *quarantined], environment(options), on_end)

    def has_room_for(self, workers: int) -> bool:
        """Whether they fit into the free memory of this machine."""
        return limits.has_room_for(workers)


_ROOT = Path(__file__).resolve().parents[2]

# What attention_plugins itself and tasks read.
OWN = (
    "ATTENTION_PLUGINS", "ATTENTION_CHECKPOINTS", "ATTENTION_TATOEBA", "ATTENTION_WORKBENCH_HOME",
    "ATTENTION_LOGS",
)  # fmt: skip

# Besides what the file lists; the server's own settings are none of these.
PASSED_ON = (*chain.from_iterable(beside(__file__, "passed_on.toml").values()), *OWN)


def command(options: WorkerOptions) -> list[str]:
    """Return the command line that starts a worker."""
    # -P: the folder that the server was started in may hold any modules.
    words = [sys.executable, "-P", "-m", "dashboard.jobs.worker", "--tasks", options.tasks]
    words += ["--parent", str(os.getpid()), "--memory", str(options.memory)]
    if options.nice:
        words += ["--nice", str(options.nice)]
    return words if options.warm else [*words, "--cold"]


def environment(options: WorkerOptions) -> dict[str, str]:
    """Return the variables of a worker: of this process's those that are listed.

    The workers share the cores, and their waiting threads sleep. The project comes first on the
    path, since a page may run without the project being installed.
    """
    found = {
        "OMP_NUM_THREADS": str(max(1, limits.cores() // options.workers)),
        "OMP_WAIT_POLICY": "passive",
        **_passed_on((*PASSED_ON, *options.passed_on)),
        **options.environment,
    }
    path = [str(_ROOT), *filter(None, [found.get("PYTHONPATH")])]
    return {**found, "PYTHONPATH": os.pathsep.join(path)}


def variables_for_elsewhere(passed_on: Iterable[str]) -> dict[str, str]:
    """Return the variables of this process that its workers on other machines get.

    Where programs and files lie is for those machines to say. They are :data:`OWN`, and the
    patterns in ``passed_on``.
    """
    return _passed_on((*OWN, *passed_on))


def _passed_on(patterns: Sequence[str]) -> dict[str, str]:
    return {name: value for name, value in os.environ.items()
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}  # fmt: skip
