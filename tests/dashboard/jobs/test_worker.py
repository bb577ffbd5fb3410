import io
import subprocess
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

from dashboard.jobs import engine, process, worker
from dashboard.jobs.engine import WorkerOptions
from dashboard.jobs.task_process import Damage
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


def started(*, environment=None, **options):
    environment = {"PYTHONPATH": str(Path(__file__).parent), **(environment or {})}
    options = WorkerOptions(tasks="fake_tasks", environment=environment, **options)
    return subprocess.Popen(
        engine.command(options),
        env=engine.environment(options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_a_request_waits_for_one_step_of_what_a_worker_prepares(monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_BETWEEN_LOOKS", 0.01)
    inbox, done = Inbox(), []
    inbox.requests = SimpleQueue()

    def prepare():
        for step in range(4):
            done.append(step)
            if step % 2:
                inbox.requests.put((step, "asked for"))
            yield

    steps, damage = prepare(), Damage()
    assert worker._next(inbox, damage, steps) == (1, "asked for")
    assert done == [0, 1]
    assert worker._next(inbox, damage, steps) == (3, "asked for")
    assert done == [0, 1, 2, 3]


def test_what_a_worker_prepares_is_not_taken_for_a_plugins_thread(monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_BETWEEN_LOOKS", 0.01)
    inbox, done = Inbox(), []
    inbox.requests = SimpleQueue()

    class Watched:
        watches = True

        def rest(self):
            done.append("rest")

        def spins(self):
            done.append("look")
            inbox.requests.put((1, "asked for"))
            return False

    steps = (done.append("step") for _ in range(2))
    assert worker._next(inbox, Watched(), steps) == (1, "asked for")
    assert done == ["step", "step", "rest", "look"]


@pytest.mark.parametrize("warm", [True, False])
def test_a_warm_worker_prepares_while_nobody_asks(warm, tmp_path):
    path = tmp_path / "prepared"
    with started(warm=warm, environment={"PREPARED": str(path)}) as child:
        assert process.read(child.stdout)[0] == {"type": "ready"}
        end = time.monotonic() + (120 if warm else 3 * worker._SECONDS_BETWEEN_LOOKS)
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert path.exists() == warm
        child.stdin.close()
        assert child.wait(120) == 0


def test_a_worker_ends_when_nobody_can_send_it_anything():
    with started(warm=False) as child:
        assert process.read(child.stdout)[0] == {"type": "ready"}
        child.stdin.close()
        assert child.wait(120) == 0
