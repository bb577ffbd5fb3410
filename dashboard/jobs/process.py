"""A worker process and its three pipes, as the pool sees them."""

import json
import os
import signal
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from dashboard.language.message import packed, unpacked
from dashboard.records.request import Result

_PREFIX = struct.Struct("!4sIQ")
_MAGIC = b"AWF1"
MAX_HEADER = 16 * 2**20
MAX_PAYLOAD = 512 * 2**20


class WireError(Exception):
    """Bytes that are not a message, or a message beyond the limits."""


def write(stream: IO[bytes], header: Mapping[str, Any], payload: bytes = b"") -> None:
    """Write one message and flush: magic number, two lengths, header as UTF-8 JSON, payload.

    Raises:
        WireError: a header or a payload over the limits; nothing was written.
        TypeError: a header that does not fit in JSON; nothing was written.
        OSError: the reader is gone.
    """
    text = json.dumps(packed(header), ensure_ascii=False).encode("utf-8", "backslashreplace")
    _check_header(len(text))
    check_payload(len(payload))
    stream.write(_PREFIX.pack(_MAGIC, len(text), len(payload)) + text)
    stream.write(payload)
    stream.flush()


def read(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read the header and the payload of the next message.

    Raises:
        EOFError: the stream ended, between two messages or inside one.
        WireError: the bytes are not a message.
    """
    magic, header, payload = _PREFIX.unpack(_read_exactly(stream, _PREFIX.size))
    if magic != _MAGIC:
        raise WireError(f"need a message to start with {_MAGIC!r}, got {magic!r}")
    _check_header(header)
    check_payload(payload)
    try:
        fields = json.loads(_read_exactly(stream, header), object_hook=unpacked)
    except ValueError as error:
        raise WireError(f"a message's header is not JSON: {error}") from error
    return fields, _read_exactly(stream, payload)


def check_payload(size: int) -> None:
    """Check that a payload of ``size`` bytes may be sent."""
    if size > MAX_PAYLOAD:
        raise WireError(f"need a result of at most {MAX_PAYLOAD:,} bytes, got {size:,}")


def _check_header(size: int) -> None:
    if size > MAX_HEADER:
        raise WireError(f"need a header of at most {MAX_HEADER:,} bytes, got {size:,}")


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the stream ended")
    return data


_FIELDS = ("fraction", "note", "facts")
_STDERR_KEPT = 32768  # bytes, enough for the deepest stack that faulthandler writes
JOB_SEPARATOR = b"\x1e"  # ASCII's record separator: a worker writes it to stderr before each job
DUMP_SIGNAL = getattr(signal, "SIGUSR1", None)  # has a worker write its stack to stderr
_SECONDS_TO_END = 1.0


@dataclass(frozen=True)
class PluginSource:
    """A plugin by its names, and the folders or files of its modules."""

    plugin: str
    distribution: str
    paths: tuple[str, ...] = ()

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "PluginSource":
        """Read it from the facts that a worker announced."""
        return cls(facts["plugin"], facts["distribution"], tuple(facts["paths"]))


class Message(NamedTuple):
    """A worker's message; its types are those of :mod:`dashboard.jobs.worker`.

    ``fields`` are those of the event that it becomes, ``size`` the bytes of a result, and
    ``attempt`` the number of the computation's attempt that it is about; None if about none.
    """

    type: str
    fields: dict[str, Any]
    size: int
    attempt: int | None

    @classmethod
    def read(cls, header: Mapping[str, Any], payload: bytes) -> "Message":
        """Read what a worker wrote."""
        fields = {name: header[name] for name in _FIELDS if name in header}
        if header["type"] == "done":
            try:
                fields["result"] = Result.from_bytes(payload)
            except ValueError as error:
                raise WireError(str(error)) from error
        return cls(header["type"], fields, len(payload), header.get("attempt"))


class WorkerProcess:
    """A started process. One thread may receive; any thread may send or kill.

    Args:
        on_end: called from a thread of its own when :attr:`ended` has become true.

    Raises:
        OSError: the process could not be started.
    """

    lost = ""  # this machine is not lost without its server

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], on_end: Callable[[], None]
    ) -> None:
        # A session of its own: Ctrl-C in the terminal is the pool's to handle, and what a plugin
        # starts can be killed with its worker.
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, env=dict(environment), stdin=pipe, stdout=pipe, stderr=pipe,
            start_new_session=True,
        )  # fmt: skip
        self.pid: int | None = self._process.pid
        self._stdin, self._stdout = _pipe(self._process.stdin), _pipe(self._process.stdout)
        self._sending = threading.Lock()
        self._reaping = threading.Lock()
        self._stderr_tail = b""
        self.ended = False
        self._stderr_reader = threading.Thread(
            target=self._read_stderr, args=(_pipe(self._process.stderr), on_end),
            name=f"stderr of {self.pid}", daemon=True,
        )  # fmt: skip
        self._stderr_reader.start()

    def send(self, header: Mapping[str, Any]) -> None:
        """See :meth:`.Worker.send`."""
        with self._sending:
            write(self._stdin, header)

    def receive(self) -> Message:
        """See :meth:`.Worker.receive`; a result that is none is a ``WireError``, too."""
        return Message.read(*self.receive_raw())

    def receive_raw(self) -> tuple[dict[str, Any], bytes]:
        """Wait for the next message; return its header and its payload as they were written."""
        return read(self._stdout)

    def stderr(self) -> str:
        """See :meth:`.Worker.stderr`."""
        return self._stderr_tail.rpartition(JOB_SEPARATOR)[2].decode(errors="replace")

    def dump_stack(self) -> None:
        """See :meth:`.Worker.dump_stack`."""
        with self._unless_reaped() as process, suppress(ProcessLookupError):
            if process and DUMP_SIGNAL is not None:
                os.kill(process.pid, DUMP_SIGNAL)

    def kill(self) -> None:
        """See :meth:`.Worker.kill`."""
        with self._unless_reaped() as process, suppress(ProcessLookupError, PermissionError):
            if process and hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            elif process:
                process.kill()

    def reap(self) -> tuple[int, str]:
        """See :meth:`.Worker.reap`; closes its pipes.

        Call it after :meth:`kill`, or after :meth:`receive` failed: a process that is ending gets
        the time to write why.
        """
        self._stderr_reader.join(_SECONDS_TO_END)
        self.kill()
        with self._reaping:
            code = self._process.wait()
        self._stderr_reader.join(_SECONDS_TO_END)
        with self._sending, suppress(OSError):  # unsent bytes in the buffer
            self._stdin.close()
        self._stdout.close()
        return code, self.stderr()

    @contextmanager
    def _unless_reaped(self) -> Iterator[subprocess.Popen[bytes] | None]:
        # Once a process was waited for, its id may belong to another one.
        if not self._reaping.acquire(blocking=False):
            yield None
            return
        try:
            yield self._process if self._process.returncode is None else None
        finally:
            self._reaping.release()

    def _read_stderr(self, stream: IO[bytes], on_end: Callable[[], None]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), _STDERR_KEPT):
                self._stderr_tail = (self._stderr_tail + chunk)[-_STDERR_KEPT:]
        self.ended = True
        on_end()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "the process was started with this pipe"
    return stream
