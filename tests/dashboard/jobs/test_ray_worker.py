"""A worker behind a relay: what the pool sees of it, with a relay in this process."""

import importlib
import io
import threading
import time
from types import SimpleNamespace

import pytest
from support.ray_cluster import skip_without_ray

from dashboard.jobs import process

pytestmark = pytest.mark.ray
PATIENCE = 60


@pytest.fixture(scope="module")
def module():
    """Imported by these tests alone: threads of gRPC do not survive that other tests fork."""
    skip_without_ray()
    return importlib.import_module("dashboard.jobs.ray_engine")


class FakeRelay:
    """Answers with these replies, one after the other; raises those that are errors."""

    def __init__(self, *replies):
        self._replies = [*replies]
        self.calls = []
        self.killed = threading.Event()
        for name in ("poll", "send", "dump_stack", "kill"):
            method = SimpleNamespace(remote=lambda *given, name=name: (self, name, given))
            setattr(self, name, method)

    def answer(self, name, given):
        self.calls.append(name)
        if not self._replies:
            self.killed.wait(PATIENCE)
            raise ConnectionError("the relay is gone.")
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def reply(*headers):
    written = io.BytesIO()
    for header in headers:
        process.write(written, header)
    return written.getvalue()


@pytest.fixture
def start(monkeypatch, module):
    """A worker of a relay with these replies."""

    def get(reference, timeout):
        relay, name, given = reference
        return relay.answer(name, given)

    def kill(relay):
        relay.killed.set()

    monkeypatch.setattr(module, "ray", SimpleNamespace(get=get, kill=kill))

    def make(*replies, lease=0.2):
        relay = FakeRelay(*replies)
        ended = threading.Event()
        return module.RayWorker(lambda: relay, lease, ended.set), relay, ended

    return make


READY = {"type": "ready"}


def test_messages_arrive_in_order_and_its_last_words_with_the_end(start):
    worker, _, ended = start(
        reply(READY), b"",
        reply({"type": "accepted", "attempt": 3}, {"type": "stderr", "stderr": "said"}),
        reply({"type": "ended", "code": 5, "stderr": "last words"}),
    )  # fmt: skip
    assert worker.receive().type == "ready"
    found = worker.receive()
    assert (found.type, found.attempt) == ("accepted", 3)
    with pytest.raises(EOFError):
        worker.receive()
    assert ended.wait(PATIENCE)
    assert worker.reap() == (5, "last words")
    assert worker.lost == ""
    with pytest.raises(OSError, match="has ended"):
        worker.send({"type": "stop", "attempt": 3})


def test_one_that_cannot_be_reached_is_lost_and_its_lease_awaited(start):
    worker, _, ended = start(reply(READY), ConnectionError("first\nsocket closed."), lease=0.7)
    assert ended.wait(PATIENCE)
    assert worker.lost == "socket closed"
    began = time.monotonic()
    assert worker.reap() == (None, "")
    assert time.monotonic() - began >= 0.7


def test_one_that_does_not_answer_is_lost(start, module):
    worker, _, ended = start(reply(READY), module.GetTimeoutError("timed out"))
    assert ended.wait(PATIENCE)
    assert worker.lost == "its node did not answer for 0.2 s"


def test_one_that_never_answered_was_not_lost_but_not_started(start):
    worker, _, ended = start(ImportError("No module named 'dashboard'"))
    assert ended.wait(PATIENCE)
    assert worker.reap() == (None, "No module named 'dashboard'")
    assert worker.lost == ""


def test_one_that_waits_for_a_node_is_given_up_when_it_is_killed(start):
    worker, relay, _ = start()
    worker.kill()
    assert relay.killed.wait(PATIENCE)
    code, stderr = worker.reap()
    assert code == -9
    assert stderr.startswith(
        "no node of the cluster started one in time, perhaps as none has the CPUs"
    )
    assert worker.lost == ""


def test_a_cluster_that_cannot_be_asked_is_the_reason(module):
    def refuse():
        raise module.GetTimeoutError("nobody there")

    ended = threading.Event()
    worker = module.RayWorker(refuse, 1.0, ended.set)
    assert ended.wait(PATIENCE)
    assert worker.reap()[0] is None
