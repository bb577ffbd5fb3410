"""The part of the Ray engine that runs on the nodes: it starts a worker and relays its messages.

Messages stay in the wire format of :mod:`dashboard.jobs.process` until the server has read them,
so that Ray passes bytes. The process of the relay imports no plugin: its worker does.
"""

import io
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from dashboard.jobs import process as wire
from dashboard.jobs.engine import LocalEngine, WorkerOptions
from dashboard.jobs.process import WorkerProcess
from dashboard.storage import files

STDERR, ENDED = "stderr", "ended"  # types of messages of the relay itself
_ENDS = frozenset({"done", "failed", "cancelled"})
_SECONDS_TO_WAIT = 1.0  # for a message, before a server is answered without one
_SECONDS_BETWEEN_LOOKS = 0.5


class Relay:
    """A worker on this node. Ray calls its methods from several threads.

    Args:
        folder: the id of the server's data folder, which must be this node's too.
        lease: seconds after which the worker is killed whose server asks for nothing.
    """

    def __init__(
        self, options: Mapping[str, Any], quarantined: Sequence[str], folder: str, lease: float
    ) -> None:
        self._options, self._quarantined = WorkerOptions(**options), tuple(quarantined)
        self._folder, self._lease = folder, lease
        self._messages: SimpleQueue[tuple[Mapping[str, Any], bytes]] = SimpleQueue()
        self._process: WorkerProcess | None = None
        self._asked = time.monotonic()
        # The kernel kills the worker with the thread that started it, which must stay.
        threading.Thread(target=self._serve, name="worker", daemon=True).start()
        threading.Thread(target=self._watch, name="lease", daemon=True).start()

    def poll(self) -> bytes:
        """Return the messages since the last call, as :func:`.wire.write` writes them.

        Waits a second for one. The last is of the type ``ended``, with the worker's exit code
        and what it wrote to stderr.
        """
        self._asked = time.monotonic()
        reply = io.BytesIO()
        with suppress(Empty):
            wire.write(reply, *self._messages.get(timeout=_SECONDS_TO_WAIT))
            while True:
                wire.write(reply, *self._messages.get_nowait())
        return reply.getvalue()

    def send(self, message: bytes) -> None:
        """Pass a message on to the worker."""
        if self._process:
            with suppress(OSError):
                self._process.send(wire.read(io.BytesIO(message))[0])

    def dump_stack(self) -> None:
        """Have the worker write its stack to stderr."""
        if self._process:
            self._process.dump_stack()

    def kill(self) -> None:
        """Kill the worker and the processes that it started."""
        if self._process:
            self._process.kill()

    def _serve(self) -> None:
        try:
            self._check_folder()
            process = LocalEngine().start(self._options, self._quarantined, lambda: None)
            self._process = process
        except OSError as error:
            self._messages.put(({"type": ENDED, "code": None, "stderr": str(error)}, b""))
            return
        with suppress(EOFError, wire.WireError, OSError):
            while True:
                header, payload = process.receive_raw()
                if header["type"] in _ENDS:
                    self._messages.put(({"type": STDERR, "stderr": process.stderr()}, b""))
                self._messages.put((header, payload))
        code, stderr = process.reap()
        self._messages.put(({"type": ENDED, "code": code, "stderr": stderr}, b""))

    def _check_folder(self) -> None:
        place = Path(self._options.environment[files.VARIABLE])
        if files.folder_id(place) != self._folder:
            raise OSError(
                f"the node {os.uname().nodename} does not have the server's data folder at "
                f"{place}; mount it there, or set {files.VARIABLE} to a folder that all share"
            )

    def _watch(self) -> None:
        while time.monotonic() - self._asked < self._lease:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        self.kill()
        os._exit(0)  # nobody would read an answer
