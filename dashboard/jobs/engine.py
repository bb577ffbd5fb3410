"""What starts the workers of a pool: processes of this machine, or those of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from dashboard import limits
from dashboard.jobs import launch
from dashboard.jobs.process import Message, WorkerProcess
from dashboard.settings import settings


class EngineError(Exception):
    """An engine that cannot be used, in one sentence for whoever runs the server."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """What the workers of a pool have in common.

    Args:
        tasks: the module whose ``perform`` they call.
        memory: megabytes that each may allocate, 0 for no limit.
        warm: import torch before the first job.
        nice: their niceness, 0 to 19.
        workers: how many share the cores of a machine.
        environment: variables besides those of :func:`.launch.environment`; they win.
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
        """Write a message.

        Raises:
            OSError: the worker is gone.
        """

    def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            EOFError: the worker is gone.
            WireError: it wrote something else than a message.
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


StartWorker = Callable[[Sequence[str], Callable[[], None]], Worker]


class Engine(Protocol):
    """Starts workers. Every method may be called from any thread."""

    def start(
        self, options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
    ) -> Worker:
        """Start a worker; does not wait until it is ready.

        Args:
            options: of the pool.
            quarantined: arguments that name the plugins which it must not load.
            on_end: called from another thread when the worker has ended.

        Raises:
            OSError: it could not be started.
        """
        ...

    def has_room_for(self, workers: int) -> bool:
        """Whether so many more workers can be started beside those that live."""
        ...


def start_process(
    options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
) -> WorkerProcess:
    """Start a worker as a process of this machine; see :meth:`Engine.start`."""
    command = launch.command(options.tasks, options.memory, options.warm, options.nice)
    variables = launch.environment(options.workers, options.environment, options.passed_on)
    return WorkerProcess([*command, *quarantined], variables, on_end)


def chosen_engine() -> Engine:
    """Make the engine that ``ATTENTION_ENGINE`` names.

    Raises:
        EngineError: it cannot be used.
    """
    chosen = settings()
    if chosen.engine == "local":
        return LocalEngine()
    try:
        from dashboard.jobs.ray_engine import RayEngine
    except ModuleNotFoundError as error:
        if error.name not in ("ray", "grpc"):
            raise
        raise EngineError(
            f"ATTENTION_ENGINE is {chosen.engine!r}, which needs Ray; add it with: python -m pip "
            "install 'ray[client]==2.60.0'"
        ) from error
    return RayEngine(chosen.engine, cpus=chosen.worker_cpus, gpus=chosen.worker_gpus)


class LocalEngine:
    """Starts the workers as processes of this machine."""

    def start(
        self, options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
    ) -> Worker:
        """See :meth:`Engine.start`."""
        return start_process(options, quarantined, on_end)

    def has_room_for(self, workers: int) -> bool:
        """Whether they fit into the free memory of this machine."""
        return limits.has_room_for(workers)
