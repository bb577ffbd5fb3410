"""The child's side: ``python -m dashboard.engine.worker``, started by a pool, works on requests.

Frames arrive on standard input and leave on standard output; both are taken away from plugins
first, so that a ``print`` goes to standard error and an ``input`` finds nothing.

In: ``{"say": "work", "work": number, "request": JSON}``, ``{"say": "stop", "work": number}``.
Out: ``ready`` once; per work ``accepted``, any number of ``progress``, then one of ``done`` (with
the result's bytes), ``failed``, ``cancelled``. Among them ``runs`` before the code of a plugin is
loaded, and ``ran`` after it.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from dashboard.engine import faults, frames, machine
from dashboard.engine.process import DUMP, NEW_JOB
from dashboard.engine.quarantine import Suspect
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks import warming
from dashboard.tasks.context import Cancelled

_SECONDS_BETWEEN_REPORTS = 1 / 30
_SECONDS_UNTIL_CHORES = 0.5


class Answers:
    """Frames to the pool; of a flood of reports only the newest goes out every 1/30 s."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._pending: dict[str, Any] | None = None
        self._due = 0.0
        threading.Thread(target=self._pace, name="reports", daemon=True).start()

    def send(self, header: Mapping[str, Any], payload: bytes = b"") -> None:
        """Write now, after a report that still waits."""
        with self._changed:
            self._flush()
            frames.write(self._stream, header, payload)

    def report(self, header: dict[str, Any]) -> None:
        """Write now or soon; a newer report takes the place of one that waits."""
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
            frames.write(self._stream, report)

    def _pace(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending is not None)
                delay = self._due - time.monotonic()
                if delay <= 0:
                    self._flush()
            time.sleep(max(0.0, delay))


class Orders:
    """Frames from the pool, read by a thread of their own, so that a stop is seen at once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._stopped: set[int] = set()
        self.work: SimpleQueue[tuple[int, Request]] = SimpleQueue()
        threading.Thread(target=self._read, name="orders", daemon=True).start()

    def stopped(self, work: int) -> bool:
        """Whether the pool asked this work to stop."""
        return work in self._stopped

    def _read(self) -> None:
        try:
            while True:
                header, _ = frames.read(self._stream)
                if header["say"] == "stop":
                    self._stopped.add(header["work"])
                else:
                    self.work.put((header["work"], Request.from_json(header["request"])))
        finally:  # the pool is gone or talks nonsense: nobody waits for an answer
            os._exit(0)


class Witness:
    """Tells the pool whose code is loaded, and remembers where it lies."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.origins: dict[str, tuple[str, ...]] = {}

    def tell(self, suspect: Mapping[str, Any] | None) -> None:
        """See ``attention_plugins.watching.watch``."""
        if suspect is None:
            self._answers.send({"say": "ran"})
            return
        known = Suspect.of(suspect)
        self.origins[known.distribution] = known.paths
        self._answers.send({"say": "runs", "facts": dict(suspect)})


class Job:
    """The :class:`~dashboard.tasks.context.Context` of one work."""

    def __init__(self, number: int, answers: Answers, orders: Orders) -> None:
        self._number = number
        self._answers = answers
        self._orders = orders

    def report(
        self, fraction: float, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """See :meth:`dashboard.tasks.context.Context.report`."""
        if self.stopped():
            raise Cancelled
        progress = {"fraction": float(fraction), "note": note, "facts": dict(facts or {})}
        self._answers.report({"say": "progress", "work": self._number, **progress})

    def stopped(self) -> bool:
        """See :meth:`dashboard.tasks.context.Context.stopped`."""
        return self._orders.stopped(self._number)


def main(argv: list[str] | None = None) -> None:
    """Work until the pool goes, or until memory ran out: what a plugin leaked goes with us."""
    parser = argparse.ArgumentParser(prog="python -m dashboard.engine.worker")
    parser.add_argument(
        "--tasks", default="dashboard.tasks", help="module with perform(), perhaps watch()"
    )
    parser.add_argument("--parent", type=int, required=True, help="process id of the pool")
    parser.add_argument("--memory", type=int, default=0, help="limit in MB, 0 for none")
    parser.add_argument("--nice", type=int, default=0, help="leave the processor to others")
    parser.add_argument("--cold", action="store_true", help="do not import torch in advance")
    parser.add_argument("--quarantined", type=json.loads, default=[], help="plugins, as JSON")
    arguments = parser.parse_args(argv)

    machine.die_with(arguments.parent)
    machine.limit_memory(arguments.memory)
    machine.yield_to_others(arguments.nice)
    stdin, stdout = _take_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pool's to answer
    faulthandler.enable(all_threads=False)
    if DUMP is not None:
        faulthandler.register(DUMP, all_threads=False)
    tasks = importlib.import_module(arguments.tasks)
    answers, orders = Answers(stdout), Orders(stdin)
    witness = Witness(answers)
    chores = [] if arguments.cold else [warming.first_optimiser]
    if not arguments.cold:
        warming.load()
    if hasattr(tasks, "watch"):
        tasks.watch(witness.tell, arguments.quarantined)
    answers.send({"say": "ready"})
    while True:
        number, request = next_work(orders.work, chores)
        os.write(2, NEW_JOB)
        answers.send({"say": "accepted", "work": number})
        job = Job(number, answers, orders)
        outcome = _attempt(tasks.perform, request, job, arguments.memory, witness.origins)
        header = {"say": outcome.say, "note": outcome.note, "facts": dict(outcome.facts)}
        answers.send({"work": number, **header}, outcome.payload)
        if outcome.exhausted:
            os._exit(0)


class Outcome(NamedTuple):
    """How a work ended, and whether it left the worker without memory."""

    say: str
    note: str = ""
    facts: Mapping[str, Any] = MappingProxyType({})
    payload: bytes = b""
    exhausted: bool = False


def _attempt(
    perform: Callable[[Request, Job], Result],
    request: Request,
    job: Job,
    memory: int,
    origins: faults.Origins,
) -> Outcome:
    try:
        try:
            result = perform(request, job)
        except ValueError as error:
            return Outcome("failed", *faults.refused(request, error))
        payload = result.to_bytes()
        frames.check_payload(len(payload))
        return Outcome("done", payload=payload)
    except Cancelled:
        return Outcome("cancelled")
    except BaseException as error:  # a plugin's sys.exit() must not end the worker
        note, facts = faults.raised(request, error, memory, origins)
        return Outcome("failed", note, facts, exhausted=faults.out_of_memory(error))


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)
    if hasattr(os, "register_at_fork"):
        # A child that a plugin forks would keep the pipe open after our end, or write into it.
        os.register_at_fork(after_in_child=lambda: os.close(stdout))
    return os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb")


def next_work(
    work: SimpleQueue[tuple[int, Request]], chores: list[Callable[[], None]]
) -> tuple[int, Request]:
    """The number and the request of the next work; with none for a moment, do a chore first."""
    while chores:
        with suppress(Empty):
            return work.get(timeout=_SECONDS_UNTIL_CHORES)
        chores.pop(0)()
    return work.get()


if __name__ == "__main__":
    main()
