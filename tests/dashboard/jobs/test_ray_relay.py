"""The relay of a worker on a node, without Ray."""

import io
import math
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from support.processes import alive

from dashboard.jobs import process
from dashboard.jobs.engine import WorkerOptions
from dashboard.jobs.ray_relay import ENDED, STDERR, Relay
from dashboard.records.request import Request, Result
from dashboard.storage import files

PATIENCE = 120  # seconds
FOREVER = math.inf  # a lease in this process: at its end the relay ends the process that it is in
FOLDER = str(Path(__file__).parent)


@pytest.fixture
def options(tmp_path):
    return WorkerOptions(
        tasks="fake_tasks",
        warm=False,
        environment={"PYTHONPATH": FOLDER, files.VARIABLE: str(tmp_path)},
    )


@pytest.fixture
def relay(options, tmp_path):
    made = Relay(asdict(options), [], files.folder_id(tmp_path, make=True), lease=FOREVER)
    yield made
    made.kill()


def messages(relay, last):
    """The messages up to one of that type."""
    found = []
    end = time.monotonic() + PATIENCE
    while not found or found[-1][0]["type"] != last:
        assert time.monotonic() < end, found
        reply = io.BytesIO(relay.poll())
        while reply.tell() < len(reply.getvalue()):
            found.append(process.read(reply))
    return found


def send(relay, task, attempt=1, **options):
    message = io.BytesIO()
    request = Request.make(task, options=options).to_json()
    process.write(message, {"type": "run", "attempt": attempt, "request": request})
    relay.send(message.getvalue())


def test_messages_pass_as_they_were_written_in_both_directions(relay):
    messages(relay, "ready")
    send(relay, "table", attempt=7, rows=11)
    headers, payloads = zip(*messages(relay, "done"), strict=True)
    assert [each["type"] for each in headers] == ["accepted", STDERR, "done"]
    assert (headers[0]["attempt"], headers[-1]["attempt"]) == (7, 7)
    assert len(Result.from_bytes(payloads[-1]).tables["numbers"]) == 11


def test_the_end_of_the_worker_is_reported_with_its_last_words(relay):
    messages(relay, "ready")
    send(relay, "exit_now", words="double free", code=5)
    header, _ = messages(relay, ENDED)[-1]
    assert (header["code"], header["stderr"].strip()) == (5, "double free")


def test_a_worker_that_is_killed_has_ended(relay):
    messages(relay, "ready")
    send(relay, "hang")
    messages(relay, "progress")
    relay.dump_stack()
    end = time.monotonic() + PATIENCE
    while "in hang" not in relay._process.stderr() and time.monotonic() < end:
        time.sleep(0.01)
    relay.kill()
    header, _ = messages(relay, ENDED)[-1]
    assert header["code"] == -9
    assert "in hang" in header["stderr"]


def test_another_data_folder_than_the_servers_is_refused(options, tmp_path):
    files.folder_id(tmp_path, make=True)
    relay = Relay(asdict(options), [], "the server's", lease=FOREVER)
    ((header, _),) = messages(relay, ENDED)
    assert header["stderr"] == (
        f"the node {os.uname().nodename} does not have the server's data folder at {tmp_path}; "
        "mount it there, or set ATTENTION_WORKBENCH_HOME to a folder that all share"
    )


def test_a_server_that_asks_for_nothing_loses_its_worker(options, tmp_path):
    code = f"""
import sys, time
from dashboard.jobs import process, ray_relay
from dashboard.jobs.engine import WorkerOptions
relay = ray_relay.Relay(
    {asdict(options)!r}, [], {files.folder_id(tmp_path, make=True)!r}, lease=2.0
)
while not relay.poll():
    pass
print(relay._process.pid, flush=True)
time.sleep({PATIENCE})
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    end = time.monotonic() + PATIENCE
    while alive(int(done.stdout)):
        assert time.monotonic() < end, "it lives on"
        time.sleep(0.01)
