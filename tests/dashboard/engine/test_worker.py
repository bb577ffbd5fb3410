import io
import subprocess
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

from dashboard.engine import frames, launch, worker
from dashboard.tasks.context import Cancelled


class Sink(io.BytesIO):
    """A stream that remembers when each frame was complete."""

    def __init__(self):
        super().__init__()
        self.times = []

    def flush(self):
        self.times.append(time.monotonic())

    def headers(self):
        stream = io.BytesIO(self.getvalue())
        return [frames.read(stream)[0] for _ in self.times]


class Orders:
    """Orders to stop some works."""

    def __init__(self, *stopped):
        self.stopped = stopped.__contains__


@pytest.fixture
def sink():
    return Sink()


@pytest.fixture
def answers(sink):
    return worker.Answers(sink)


def test_the_first_report_goes_out_at_once(answers, sink):
    answers.report({"step": 1})
    assert sink.headers() == [{"step": 1}]


def test_a_report_in_a_hurry_waits_its_turn_and_the_newest_wins(answers, sink, monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_BETWEEN_REPORTS", 0.7)
    for step in range(7):
        answers.report({"step": step})
    end = time.monotonic() + 60
    while len(sink.times) < 2 and time.monotonic() < end:
        time.sleep(0.005)
    assert sink.headers() == [{"step": 0}, {"step": 6}]
    assert sink.times[1] - sink.times[0] >= 0.7


def test_the_final_answer_comes_after_the_report_that_waited(answers, sink, monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_BETWEEN_REPORTS", 60)
    for step in range(3):
        answers.report({"step": step})
    answers.send({"say": "done"})
    assert sink.headers() == [{"step": 0}, {"step": 2}, {"say": "done"}]


def test_a_report_that_is_no_json_is_refused_where_it_is_made(answers):
    with pytest.raises(TypeError):
        answers.report({"facts": {"loss": object()}})


def test_a_job_reports_with_its_number(answers, sink):
    job = worker.Job(7, answers, Orders())
    job.report(0.5, "half", {"loss": 0.25})
    fields = {"fraction": 0.5, "note": "half", "facts": {"loss": 0.25}}
    assert sink.headers() == [{"say": "progress", "work": 7, **fields}]
    assert not job.stopped()


def test_a_stopped_job_cannot_report(answers, sink):
    job = worker.Job(7, answers, Orders(5, 7))
    assert job.stopped()
    with pytest.raises(Cancelled):
        job.report(0.5)
    assert sink.headers() == []


def test_a_worker_ends_when_nobody_can_send_it_anything():
    here = str(Path(__file__).parent)
    child = subprocess.Popen(
        launch.command("fake_tasks", 0, warm=False),
        env=launch.environment(1, {"PYTHONPATH": here}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        assert frames.read(child.stdout)[0] == {"say": "ready"}
        child.stdin.close()
        assert child.wait(120) == 0


def test_work_that_waits_comes_before_chores():
    queue, done = SimpleQueue(), []
    queue.put((2, "request"))
    chores = [lambda: done.append("chore")]
    assert worker.next_work(queue, chores) == (2, "request")
    assert done == []
    assert len(chores) == 1


def test_an_idle_worker_does_its_chores_once(monkeypatch):
    monkeypatch.setattr(worker, "_SECONDS_UNTIL_CHORES", 0.01)
    queue, done = SimpleQueue(), []
    chores = [lambda: done.append("first"), lambda: queue.put((3, "request"))]
    assert worker.next_work(queue, chores) == (3, "request")
    assert done == ["first"]
    assert chores == []
