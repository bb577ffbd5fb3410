"""Starts the workers of a pool on the nodes of a Ray cluster, and talks to them.

With Ray's client this process is outside the cluster: one that fails costs jobs, not the server.
"""

import io
import logging
import signal
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import ray
from ray._private import auto_init_hook
from ray._private.authentication.authentication_utils import is_token_auth_enabled
from ray.exceptions import GetTimeoutError
from ray.util.client import ray as client

from dashboard.jobs import process as wire
from dashboard.jobs.engine import EngineError, Worker, WorkerOptions, variables_for_elsewhere
from dashboard.jobs.process import Message
from dashboard.jobs.ray_relay import ENDED, STDERR, Relay
from dashboard.language import gettext_noop
from dashboard.storage import files

_LEASE = 15.0  # seconds
_SECONDS_TO_CONNECT = 5.0
_TRIES = 3  # Ray's client sometimes fails to begin where the next try succeeds
_CALLS_AT_ONCE = 4  # of an actor: one of them waits for messages
_SECONDS_TO_END = 5.0
_NO_ROOM = gettext_noop(
    "no node of the cluster started one in time, perhaps as none has the CPUs and GPUs free"
)


class RayEngine:
    """An :class:`~dashboard.jobs.engine.Engine` on a Ray cluster, connected when it is made.

    Each worker belongs to an actor, which ends with this server's connection. All nodes have the
    server's data folder at the same place, and the same versions of the workbench, Ray and Python.

    Args:
        gpus: GPUs of a node that each worker takes; four share one of which each takes 0.25.
        lease: seconds without a word from the other side after which a worker counts as lost
            here, and is killed there.

    Raises:
        EngineError: authentication is off here, or no cluster there lets this server in.
    """

    def __init__(
        self, address: str, *, cpus: float = 1.0, gpus: float = 0.0, lease: float = _LEASE
    ) -> None:
        self._address, self._lease = address, lease
        self._lock = threading.Lock()
        if not is_token_auth_enabled():
            raise self._error(
                "needs RAY_AUTH_MODE=token and the cluster's token in RAY_AUTH_TOKEN, since a "
                "cluster without authentication runs what anybody sends"
            )
        self._cpus, self._gpus = cpus, gpus
        # Any call after a lost connection would start, or join, a cluster on this machine.
        auto_init_hook.enable_auto_connect = False
        # What it warns of is of no use to a reader of the server's log.
        logging.getLogger("ray").setLevel(logging.ERROR)
        # In the main thread Ray would take the signal that asks the server to end.
        with ThreadPoolExecutor(1) as other_thread:
            other_thread.submit(self._connect).result()

    def start(
        self, options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
    ) -> Worker:
        """See :meth:`dashboard.jobs.engine.Engine.start`."""
        variables = {
            **variables_for_elsewhere(options.passed_on),
            files.VARIABLE: str(files.home().resolve()), **options.environment,
        }  # fmt: skip
        chosen = replace(options, environment=variables, passed_on=())
        return RayWorker(lambda: self._relay(chosen, quarantined), self._lease, on_end)

    def has_room_for(self, workers: int) -> bool:
        """No: what a cluster has free may be taken by another server at any time."""
        return False

    def _relay(self, options: WorkerOptions, quarantined: Sequence[str]) -> Any:
        self._connect()
        relay = ray.remote(Relay).options(
            num_cpus=self._cpus, num_gpus=self._gpus, max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy="SPREAD",
        )  # fmt: skip
        folder = files.folder_id(Path(options.environment[files.VARIABLE]), make=True)
        return relay.remote(asdict(options), list(quarantined), folder, self._lease)

    def _connect(self) -> None:
        with self._lock:
            if client.is_connected():
                return
            ray.shutdown()  # what a lost connection has left
            self._knock()
            for left in reversed(range(_TRIES)):
                try:
                    ray.init(self._address, logging_level=logging.ERROR, log_to_driver=False)
                except Exception as error:  # Ray's, its client's and gRPC's have no common base
                    if not left or "timeout" in str(error):
                        raise self._error(
                            "was reached, but did not let this server in; is its token the one "
                            "in RAY_AUTH_TOKEN, and has it the same Ray and Python? It said: "
                            f"{str(error).strip().splitlines()[-1]}"
                        ) from None
                else:
                    return

    def _knock(self) -> None:
        """Find out soon whether anybody listens there: Ray's client waits half a minute."""
        host, _, port = self._address.removeprefix("ray://").rpartition(":")
        try:
            socket.create_connection((host, int(port)), _SECONDS_TO_CONNECT).close()
        except OSError as error:
            raise self._error(f"does not answer: {error.strerror or error}") from None

    def _error(self, what: str) -> EngineError:
        return EngineError(f"the engine {self._address} (ATTENTION_ENGINE) {what}")


class RayWorker:
    """A :class:`~dashboard.jobs.engine.Worker` behind a relay, which may still be started.

    No method waits for the cluster but :meth:`receive` and :meth:`reap`.

    Args:
        create: asks Ray for the relay's actor, and returns a handle of it.
        lease: seconds without an answer after which it counts as lost. When they are over, the
            relay has killed its worker too.
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
        """See :meth:`.Worker.send`."""
        if self.ended:
            raise BrokenPipeError("the worker has ended")
        message = io.BytesIO()
        wire.write(message, header)
        self._calls.put(lambda relay: relay.send.remote(message.getvalue()))

    def receive(self) -> Message:
        """See :meth:`.Worker.receive`."""
        found = self._messages.get()
        if found is None:
            raise EOFError("the worker has ended")
        return Message.read(*found)

    def stderr(self) -> str:
        """Return what the worker wrote to stderr during the job that has just ended."""
        return self._stderr

    def dump_stack(self) -> None:
        """See :meth:`.Worker.dump_stack`."""
        self._calls.put(lambda relay: relay.dump_stack.remote())

    def kill(self) -> None:
        """Kill the worker, or do not start it; does not wait."""
        self._killed.set()
        self._calls.put(lambda relay: relay.kill.remote() if self._answered else ray.kill(relay))

    def reap(self) -> tuple[int | None, str]:
        """See :meth:`.Worker.reap`; ends its relay.

        A lost one may work on where it cannot be reached: then this waits until its lease is over,
        so that two never compute the same.
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
                header, payload = wire.read(reply)
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
