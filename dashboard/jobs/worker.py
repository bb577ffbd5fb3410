"""A worker process, started by an engine: ``python -m dashboard.jobs.worker``.

Messages arrive on standard input and leave on standard output. Plugins see neither: their
``print`` goes to standard error, and their ``input`` reads an empty file.

To the worker: ``{"type": "run", "attempt": number, "request": JSON}`` and
``{"type": "stop", "attempt": number}``.

A computation that is queued again has another number at each attempt, and what is reported of an
earlier one is ignored.

From the worker: ``ready`` once; for each computation ``accepted``, any number of ``progress``, and
one of ``done`` (with the result's bytes), ``failed`` and ``cancelled``; ``loading`` before the
code of a plugin is loaded and ``loaded`` after it. ``damaged`` comes before ``done`` where a
plugin has changed torch for others or left threads that compute; the worker then ends.
"""

import argparse
import ctypes
import faulthandler
import importlib
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import IO, Any, BinaryIO, NamedTuple

from dashboard import limits
from dashboard.jobs import errors, process
from dashboard.jobs.process import DUMP_SIGNAL, JOB_SEPARATOR, PluginSource
from dashboard.jobs.task_process import Damage, import_torch, threads
from dashboard.jobs.tasks import Cancelled, Context, Facts
from dashboard.records.request import Request, Result

_SECONDS_BETWEEN_REPORTS = 1 / 30


class Outbox:
    """Messages to the pool; at most one progress report every 1/30 s, and then the newest."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._changed = stream, threading.Condition()
        self._pending: dict[str, Any] | None = None
        self._due = 0.0
        threading.Thread(target=self._send_pending, name="reports", daemon=True).start()

    def send(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Write a message now, after the pending report."""
        with self._changed:
            self._flush()
            process.write(self._stream, header, payload)

    def report(self, header: dict[str, Any]) -> None:
        """Write a report now or soon; it replaces the pending one."""
        with self._changed:
            self._pending = header
            if time.monotonic() >= self._due:
                self._flush()
            else:
                self._changed.notify()

    def _flush(self) -> None:
        report, self._pending = self._pending, None
        if report is not None:
            self._due = time.monotonic() + _SECONDS_BETWEEN_REPORTS
            process.write(self._stream, report)

    def _send_pending(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending is not None)
                delay = self._due - time.monotonic()
                if delay <= 0:
                    self._flush()
            time.sleep(max(0.0, delay))


class Inbox:
    """Messages from the pool, read in a thread of its own so that a stop is noticed at once.

    The process exits when the stream ends or carries something that is not a message.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._stopped: set[int] = set()
        self.requests: SimpleQueue[tuple[int, Request]] = SimpleQueue()
        threading.Thread(target=self._read, name="inbox", daemon=True).start()

    def stopped(self, attempt: int) -> bool:
        """Whether the pool asked for the attempt with that number to stop."""
        return attempt in self._stopped

    def _read(self) -> None:
        try:
            while True:
                header, _ = process.read(self._stream)
                if header["type"] == "stop":
                    self._stopped.add(header["attempt"])
                else:
                    self.requests.put((header["attempt"], Request.from_json(header["request"])))
        finally:  # nobody would read an answer
            os._exit(0)


def give_back() -> None:
    """Return what this process has freed; without effect where the C library is not GNU's.

    GNU's allocator keeps freed blocks that lie between used ones. Takes 2 ms for 300 MB.
    """
    with suppress(OSError, AttributeError, TypeError):  # macOS, musl, Windows
        ctypes.CDLL(None).malloc_trim(0)


_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_TO_REST = 0.1


class PluginReporter:
    """Reports to the pool which plugin is being loaded, and remembers where its modules lie."""

    def __init__(self, outbox: Outbox, damage: Damage) -> None:
        self._outbox, self._damage = outbox, damage
        self.origins: dict[str, tuple[str, ...]] = {}

    def report(self, facts: Mapping[str, Any] | None) -> None:
        """Report a plugin before it is loaded, and None after it; see ``watching.watch``.

        One that changed torch for others ends the process, so that the next one is without it.
        """
        if facts is None:
            if found := self._damage.of_loading():
                print(found, file=sys.stderr, flush=True)
                os._exit(1)
            self._outbox.send({"type": "loaded"})
            return
        self._damage.begin()
        source = PluginSource.from_facts(facts)
        self.origins[source.distribution] = source.paths
        self._outbox.send({"type": "loading", "facts": dict(facts)})


class JobContext:
    """The :class:`~dashboard.jobs.tasks.Context` of one computation."""

    def __init__(self, attempt: int, outbox: Outbox, inbox: Inbox) -> None:
        self._attempt, self._outbox, self._inbox = attempt, outbox, inbox

    def report(self, fraction: float, note: str = "", facts: Facts | None = None) -> None:
        """See :meth:`dashboard.jobs.tasks.Context.report`."""
        if self.stopped():
            raise Cancelled
        progress = {"fraction": float(fraction), "note": note, "facts": dict(facts or {})}
        self._outbox.report({"type": "progress", "attempt": self._attempt, **progress})

    def stopped(self) -> bool:
        """See :meth:`dashboard.jobs.tasks.Context.stopped`."""
        return self._inbox.stopped(self._attempt)


def main(argv: list[str] | None = None) -> None:
    """Run computations until the pool is gone or memory runs out."""
    parser = argparse.ArgumentParser(prog="python -m dashboard.jobs.worker")
    parser.add_argument(
        "--tasks", default="dashboard.jobs.tasks", help="module with perform(), perhaps watch()"
    )
    parser.add_argument("--parent", type=int, required=True, help="process id of the pool")
    parser.add_argument("--memory", type=int, default=0, help="limit in MB, 0 for none")
    parser.add_argument("--nice", type=int, default=0, help="niceness, 0 to 19")
    parser.add_argument("--cold", action="store_true", help="import nothing in advance")
    parser.add_argument("--quarantined", type=json.loads, default=[], help="plugins, as JSON")
    arguments = parser.parse_args(argv)

    limits.die_with(arguments.parent)
    limits.limit_memory(arguments.memory)
    if arguments.nice and hasattr(os, "nice"):
        os.nice(arguments.nice)
    stdin, stdout = _take_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is the pool's to handle
    faulthandler.enable(all_threads=False)
    if DUMP_SIGNAL is not None:
        faulthandler.register(DUMP_SIGNAL, all_threads=False)
    tasks = importlib.import_module(arguments.tasks)
    outbox, inbox = Outbox(stdout), Inbox(stdin)
    if not arguments.cold:
        import_torch()
    damage = Damage()
    reporter = PluginReporter(outbox, damage)
    if hasattr(tasks, "watch"):
        tasks.watch(reporter.report, arguments.quarantined)
    steps = iter(() if arguments.cold or not hasattr(tasks, "prepare") else tasks.prepare())
    outbox.send({"type": "ready"})
    while True:
        number, request = _next(inbox, damage, steps)
        os.write(2, JOB_SEPARATOR)
        outbox.send({"type": "accepted", "attempt": number})
        context, before = JobContext(number, outbox, inbox), threads()
        outcome = _run(tasks.perform, request, context, arguments.memory, reporter.origins)
        header = {"type": outcome.stage, "note": outcome.note, "facts": dict(outcome.facts)}
        if left := _left_behind(damage, before):
            facts = {"plugins": sorted(reporter.origins)}
            outbox.send({"attempt": number, "type": "damaged", "note": left, "facts": facts})
        outbox.send({"attempt": number, **header}, outcome.payload)
        if outcome.out_of_memory or left:
            os._exit(0)
        del request, outcome


def _next(inbox: Inbox, damage: Damage, steps: Iterator[None]) -> tuple[int, Request]:
    """Wait for a request, and prepare; the process ends if threads of a plugin compute."""
    with suppress(Empty):
        return inbox.requests.get(timeout=_SECONDS_BETWEEN_LOOKS)
    for _ in steps:
        with suppress(Empty):
            return inbox.requests.get_nowait()
    damage.rest()
    give_back()
    while damage.watches:
        with suppress(Empty):
            return inbox.requests.get(timeout=_SECONDS_BETWEEN_LOOKS)
        if damage.spins():
            os._exit(0)
    return inbox.requests.get()


def _left_behind(damage: Damage, before: int) -> str:
    """What a job has left that would disturb the next, of so many threads before; or empty."""
    if not damage.watches:
        return ""
    if threads() > before:
        damage.rest()
        time.sleep(_SECONDS_TO_REST)
        if damage.spins():
            return "threads of a plugin go on computing after its job"
    return damage.of_job()


class Outcome(NamedTuple):
    """How a computation ended, and whether it left the worker without memory."""

    stage: str
    note: str = ""
    facts: Mapping[str, Any] = MappingProxyType({})
    payload: bytes = b""
    out_of_memory: bool = False


def _run(
    perform: Callable[[Request, Context], Result], request: Request, context: Context,
    memory: int, origins: errors.Origins,
) -> Outcome:  # fmt: skip
    try:
        try:
            result = perform(request, context)
        except ValueError as error:
            return Outcome("failed", *errors.refused(request, error))
        payload = result.to_bytes()
        process.check_payload(len(payload))
        return Outcome("done", payload=payload)
    except Cancelled:
        return Outcome("cancelled")
    except BaseException as error:  # a plugin's sys.exit() must not end the worker
        note, facts = errors.raised(request, error, memory, origins)
        return Outcome("failed", note, facts, out_of_memory=errors.out_of_memory(error))


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    stdin, stdout = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    if hasattr(os, "register_at_fork"):
        # A child that a plugin forks would keep the pipe open after our end, or write into it.
        os.register_at_fork(after_in_child=lambda: os.close(stdout))
    return os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb")


if __name__ == "__main__":
    main()
