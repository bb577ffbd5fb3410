"""A real server in a process of its own, and visitors who speak Streamlit's protocol."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from websockets.sync.client import connect

START_SECONDS = 90
WORK_SECONDS = 120


class Server(NamedTuple):
    """A running server: its address, its process, and the file with what it printed."""

    url: str
    process: subprocess.Popen
    log: Path

    def text(self, path: str) -> str:
        """What it answers to a GET."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=20) as answer:
            return answer.read().decode()


@contextmanager
def serving(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]
) -> Iterator[Server]:
    """The server that a command starts, once it is healthy; ``{port}`` stands for a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [str(word).format(port=port) for word in command]
    log = folder / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            words, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    server = Server(f"http://127.0.0.1:{port}", process, log)
    try:
        _wait_for_health(server)
        yield server
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
        process.kill()
        process.wait()


def _wait_for_health(server: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.process.poll() is None, f"it ended at its start:\n{server.log.read_text()}"
        with suppress(OSError):
            if server.text("/_stcore/health") == "ok":
                return
        time.sleep(0.1)
    raise AssertionError(f"not healthy after {START_SECONDS} s:\n{server.log.read_text()}")


class Visit:
    """One browser tab on one page, without the browser.

    Attributes:
        session: what the server says of itself and its theme when a page begins.
    """

    def __init__(self, server: Server, page: str = "", query: str = "") -> None:
        address = server.url.replace("http", "ws", 1) + "/_stcore/stream"
        self._connection = connect(address, subprotocols=["streamlit"], max_size=None)
        self._page, self._query = page, query
        self.session = NewSession()
        self._shown: dict[tuple[int, ...], Element] = {}

    @property
    def charts(self) -> int:
        """How many charts stand on the page."""
        return sum(one.WhichOneof("type") == "vega_lite_chart" for one in self._shown.values())

    @property
    def exceptions(self) -> list[str]:
        """The messages of what the page raised."""
        return [one.exception.message for one in self._shown.values()
                if one.WhichOneof("type") == "exception"]  # fmt: skip

    def __enter__(self) -> Visit:
        self._socket = self._connection.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._connection.__exit__(*raised)

    def run(self) -> None:
        """Run the page's script once, to its end."""
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.page_name = self._page
        self._socket.send(message.SerializeToString())
        while not self._finished(ForwardMsg.FromString(self._socket.recv(WORK_SECONDS))):
            pass

    def until(self, charts: int) -> None:
        """Run the page again and again until it has so many charts."""
        end = time.monotonic() + WORK_SECONDS
        self.run()
        while self.charts < charts:
            assert not self.exceptions, self.exceptions
            assert time.monotonic() < end, f"{self.charts} charts after {WORK_SECONDS} s"
            time.sleep(0.3)
            self.run()

    def _finished(self, answer: ForwardMsg) -> bool:
        kind = answer.WhichOneof("type")
        if kind == "new_session":
            self.session = answer.new_session
            if not answer.metadata.run.fragment_ids:
                self._shown = {}
        elif kind == "delta" and answer.delta.WhichOneof("type") == "new_element":
            self._shown[tuple(answer.metadata.delta_path)] = answer.delta.new_element
        return kind == "script_finished" and (
            answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        )
