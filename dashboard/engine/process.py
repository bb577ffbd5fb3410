"""One worker as its pool sees it: a process behind three pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from dashboard.engine import frames
from dashboard.runs.result import Result

_FIELDS = ("fraction", "note", "facts")
_TAIL = 32768  # holds the deepest stack that faulthandler writes
NEW_JOB = b"\x1e"  # ASCII's record separator: a worker writes it to stderr before each job
DUMP = getattr(signal, "SIGUSR1", None)  # asks a worker to write to stderr where it is
_SECONDS_TO_END = 1.0


class Answer(NamedTuple):
    """What a worker says, the fields of the event it becomes, the bytes of its result."""

    say: str
    fields: dict[str, Any]
    size: int


class WorkerProcess:
    """A started process; one thread may receive, any thread may send or kill.

    Args:
        command: the program and its arguments.
        environment: its variables.
        on_end: called, from a thread of its own, when :attr:`ended` became true.

    Raises:
        OSError: the process could not be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        on_end: Callable[[], None],
    ) -> None:
        # A session of its own: Ctrl-C in the terminal is the pool's to answer, and what a plugin
        # starts can be killed with it.
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._sending = threading.Lock()
        self._ending = threading.Lock()
        self._tail = b""
        self.ended = False
        self._drain = threading.Thread(
            target=self._read_stderr, args=(on_end,), name=f"stderr of {self.pid}", daemon=True
        )
        self._drain.start()

    def send(self, header: Mapping[str, Any]) -> None:
        """Write one frame.

        Raises:
            OSError: the process is gone.
        """
        with self._sending:
            frames.write(self._process.stdin, header)

    def receive(self) -> Answer:
        """Wait for the next frame.

        Raises:
            EOFError: the process is gone.
            FrameError: it wrote something else than a frame, or than a result in one.
        """
        header, payload = frames.read(self._process.stdout)
        fields = {name: header[name] for name in _FIELDS if name in header}
        if header["say"] == "done":
            try:
                fields["result"] = Result.from_bytes(payload)
            except ValueError as error:
                raise frames.FrameError(str(error)) from error
        return Answer(header["say"], fields, len(payload))

    def dump(self) -> None:
        """Have the process write to stderr where it is; does not wait."""
        self._unless_buried(self._ask_to_dump)

    def words(self) -> str:
        """What its last job has written to stderr so far."""
        return self._tail.rpartition(NEW_JOB)[2].decode(errors="replace")

    def kill(self) -> None:
        """End the process and what it started; does not wait."""
        self._unless_buried(self._kill_group)

    def _unless_buried(self, act: Callable[[], None]) -> None:
        if not self._ending.acquire(blocking=False):
            return  # it is being buried, so it was killed
        try:
            if self._process.returncode is None:
                act()
        finally:
            self._ending.release()

    def bury(self) -> tuple[int, str]:
        """See the process to its end, close the pipes; its exit code, its last job's stderr.

        Call it after :meth:`kill`, or after :meth:`receive` failed: a process that is ending gets
        the time to print why.
        """
        self._drain.join(_SECONDS_TO_END)
        self.kill()
        with self._ending:
            code = self._process.wait()
        self._drain.join(_SECONDS_TO_END)
        with self._sending, suppress(OSError):  # unsent bytes in the buffer
            self._process.stdin.close()
        self._process.stdout.close()
        return code, self.words()

    def _ask_to_dump(self) -> None:
        if DUMP is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, DUMP)

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _read_stderr(self, on_end: Callable[[], None]) -> None:
        with self._process.stderr as stream:
            while chunk := stream.read1(_TAIL):
                self._tail = (self._tail + chunk)[-_TAIL:]
        self.ended = True
        on_end()
