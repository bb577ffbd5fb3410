"""A worker on a node of a Ray cluster, as the pool sees it."""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import ray
from ray.exceptions import GetTimeoutError

from dashboard.jobs import process
from dashboard.jobs.process import Message
from dashboard.jobs.ray_relay import ENDED, STDERR
from dashboard.language import gettext_noop

_SECONDS_TO_END = 5.0
_NO_ROOM = gettext_noop(
    "no node of the cluster started one in time, perhaps as none has the CPUs and GPUs free"
)


class RayWorker:
    """A :class:`~dashboard.jobs.engine.Worker` behind a relay, which may still be started.

    No method waits for the cluster but :meth:`receive` and :meth:`reap`.

    Args:
        create: asks Ray for the relay's actor, and returns a handle of it.
        lease: seconds without an answer after which it counts as lost. When they are over, the
            relay has killed its worker too.
        on_end: called from a thread of its own when :attr:`ended` has become true.
    """

    def __init__(
        self, create: Callable[[], Any], lease: float, on_end: Callable[[], None]
    ) -> None:
        self.pid: int | None = None
        self.ended, self.lost = False, ""
        self._lease, self._on_end = lease, on_end
        self._code: int | None = None
        self._stderr = ""
        self._answered = False
        self._killed = threading.Event()
        self._messages: SimpleQueue[tuple[dict[str, Any], bytes] | None] = SimpleQueue()
        self._calls: SimpleQueue[Callable[[Any], object] | None] = SimpleQueue()
        self._relay: Future[Any] = Future()
        self._reader = threading.Thread(target=self._read, name="Ray worker", daemon=True)
        self._reader.start()
        threading.Thread(
            target=self._make_calls, args=(create,), name="calls of a Ray worker", daemon=True
        ).start()

    def send(self, header: Mapping[str, Any]) -> None:
        """Have a message passed on to the worker.

        Raises:
            OSError: the worker is gone.
        """
        if self.ended:
            raise BrokenPipeError("the worker has ended")
        message = io.BytesIO()
        process.write(message, header)
        self._calls.put(lambda relay: relay.send.remote(message.getvalue()))

    def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            EOFError: the worker is gone.
            WireError: a result that is none.
        """
        found = self._messages.get()
        if found is None:
            raise EOFError("the worker has ended")
        return Message.read(*found)

    def stderr(self) -> str:
        """Return what the worker wrote to stderr during the job that has just ended."""
        return self._stderr

    def dump_stack(self) -> None:
        """Have the worker write its stack to stderr; does not wait."""
        self._calls.put(lambda relay: relay.dump_stack.remote())

    def kill(self) -> None:
        """Kill the worker, or do not start it; does not wait."""
        self._killed.set()
        self._calls.put(lambda relay: relay.kill.remote() if self._answered else ray.kill(relay))

    def reap(self) -> tuple[int | None, str]:
        """Wait for the worker's end and end its relay.

        A lost one may work on where it cannot be reached: then this waits until its lease is over,
        so that two never compute the same.

        Returns:
            The exit code, None if the worker was lost; and what its last job wrote to stderr.
        """
        if not self.ended:
            self.kill()
        self._reader.join(_SECONDS_TO_END)
        if self.lost:
            self._killed.wait(self._lease)
        self._calls.put(ray.kill)
        self._calls.put(None)
        return self._code, self._stderr

    def _make_calls(self, create: Callable[[], Any]) -> None:
        try:
            self._relay.set_result(create())
        except Exception as error:  # Ray's, its client's and gRPC's have no base in common
            self._relay.set_exception(error)
        while call := self._calls.get():
            with suppress(Exception):  # the reader meets it too, and says so
                call(self._relay.result())

    def _read(self) -> None:
        try:
            relay = self._relay.result()
            while not self.ended:
                patience = self._lease if self._answered else None
                reply: Any = ray.get(relay.poll.remote(), timeout=patience)
                self._answered = True
                self._take(io.BytesIO(reply))
        except Exception as error:  # as above
            self._fail(error)
        self.ended = True
        self._messages.put(None)
        self._on_end()

    def _take(self, reply: io.BytesIO) -> None:
        with suppress(EOFError):
            while True:
                header, payload = process.read(reply)
                if header["type"] in (STDERR, ENDED):
                    self._stderr = header["stderr"]
                    self._code = header.get("code", self._code)
                    self.ended = header["type"] == ENDED
                else:
                    self._messages.put((header, payload))

    def _fail(self, error: Exception) -> None:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = lines[-1].rstrip(".") if lines else type(error).__name__
        if isinstance(error, GetTimeoutError):
            reason = gettext_noop("its node did not answer for {seconds:g} s", seconds=self._lease)
        if self._killed.is_set():
            self._code = -int(signal.SIGKILL)
            self._stderr = self._stderr if self._answered else _NO_ROOM
        elif self._answered:
            self.lost = reason
        else:
            self._stderr = reason
