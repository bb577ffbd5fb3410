import io
import subprocess
import time
from pathlib import Path

import pytest

from dashboard.jobs import engine, process, worker
from dashboard.jobs.engine import WorkerOptions
from dashboard.jobs.tasks import Cancelled


class Sink(io.BytesIO):
    """A stream that records when each message was complete."""

    def __init__(self):
        super().__init__()
        self.times = []

    def flush(self):
        self.times.append(time.monotonic())

    def headers(self):
        stream = io.BytesIO(self.getvalue())
        return [process.read(stream)[0] for _ in self.times]


class Inbox:
    """Asks some computations to stop."""

    def __init__(self, *stopped):
        self.stopped = stopped.__contains__


@pytest.fixture
def sink():
    return Sink()


@pytest.fixture
def outbox(sink):
    return worker.Outbox(sink)


def test_the_first_report_goes_out_at_once(outbox, sink):
    outbox.report({"step": 1})
    assert sink.headers() == [{"step": 1}]


def test_reports_in_quick_succession_wait_and_the_newest_is_sent(outbox, sink, monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_BETWEEN_REPORTS", 0.7)
    for step in range(7):
        outbox.report({"step": step})
    end = time.monotonic() + 60
    while len(sink.times) < 2 and time.monotonic() < end:
        time.sleep(0.005)
    assert sink.headers() == [{"step": 0}, {"step": 6}]
    assert sink.times[1] - sink.times[0] >= 0.7


def test_the_final_message_comes_after_the_pending_report(outbox, sink, monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_BETWEEN_REPORTS", 60)
    for step in range(3):
        outbox.report({"step": step})
    outbox.send({"type": "done"})
    assert sink.headers() == [{"step": 0}, {"step": 2}, {"type": "done"}]


def test_a_report_that_is_not_json_is_refused_where_it_is_made(outbox):
    with pytest.raises(TypeError):
        outbox.report({"facts": {"loss": object()}})


def test_a_job_reports_with_its_number(outbox, sink):
    job = worker.JobContext(7, outbox, Inbox())
    job.report(0.5, "half", {"loss": 0.25})
    fields = {"fraction": 0.5, "note": "half", "facts": {"loss": 0.25}}
    assert sink.headers() == [{"type": "progress", "attempt": 7, **fields}]
    assert not job.stopped()


def test_a_stopped_job_cannot_report(outbox, sink):
    job = worker.JobContext(7, outbox, Inbox(5, 7))
    assert job.stopped()
    with pytest.raises(Cancelled):
        job.report(0.5)
    assert sink.headers() == []


def test_a_worker_ends_when_nobody_can_send_it_anything():
    options = WorkerOptions(
        tasks="fake_tasks", warm=False, environment={"PYTHONPATH": str(Path(__file__).parent)}
    )
    child = subprocess.Popen(
        engine.command(options),
        env=engine.environment(options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        assert process.read(child.stdout)[0] == {"type": "ready"}
        child.stdin.close()
        assert child.wait(120) == 0
