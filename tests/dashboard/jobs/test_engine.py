"""Which engine a server uses, and what a pool makes of a worker that is lost."""

import os
import sys
from queue import SimpleQueue

import pytest

from dashboard.jobs import engine
from dashboard.jobs.engine import EngineError, LocalEngine
from dashboard.jobs.pool import LocalPool, PoolOptions, chosen_engine
from dashboard.jobs.process import Message
from dashboard.records.request import Request, Result

PATIENCE = 60
REQUEST = Request.make("regression", scoring="gaussian")


def test_a_server_uses_its_own_machine_if_nothing_is_said(monkeypatch):
    monkeypatch.delenv("ATTENTION_ENGINE", raising=False)
    assert isinstance(chosen_engine(), LocalEngine)


def test_a_cluster_without_ray_says_what_to_install(monkeypatch):
    monkeypatch.setenv("ATTENTION_ENGINE", "ray://head.example:10001")
    monkeypatch.delitem(sys.modules, "dashboard.jobs.ray_engine", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EngineError, match=r"needs Ray; add it with: .* 'ray\[client\]=="):
        chosen_engine()


def test_a_local_worker_gets_the_options_and_what_is_quarantined(monkeypatch):
    started = []
    monkeypatch.setattr(engine, "WorkerProcess", lambda *given: started.append(given))
    options = engine.WorkerOptions(
        tasks="my_tasks", memory=701, nice=3, workers=2, environment={"FLAVOUR": "plain"}
    )
    LocalEngine().start(options, ["--quarantined", "[]"], print)
    (command, variables, on_end) = started[0]
    assert command[command.index("--tasks") + 1] == "my_tasks"
    assert command[command.index("--memory") + 1] == "701"
    assert command[-2:] == ["--quarantined", "[]"]
    assert command[command.index("--nice") + 1] == "3"
    assert command[command.index("--parent") + 1] == str(os.getpid())
    assert "--cold" not in command
    assert (variables["FLAVOUR"], on_end) == ("plain", print)


def test_workers_share_the_cores_and_get_no_secret_of_their_server(monkeypatch):
    monkeypatch.setattr(engine.limits, "cores", lambda: 8)
    monkeypatch.setenv("PYTHONPATH", "/site")
    monkeypatch.setenv("WANDB_MODE", "offline")
    for name in ("ATTENTION_COOKIE_SECRET", "ATTENTION_DATABASE", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "a secret of the server")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("ATTENTION_TATOEBA", "/corpora")
    options = engine.WorkerOptions(
        tasks="my_tasks", memory=0, nice=0, workers=3, warm=False, passed_on=("WANDB_*",)
    )
    found = engine.environment(options)
    assert (found["OMP_NUM_THREADS"], found["OMP_WAIT_POLICY"]) == ("2", "passive")
    assert found["PYTHONPATH"].split(os.pathsep)[1:] == ["/site"]
    assert (found["WANDB_MODE"], found["ATTENTION_TATOEBA"]) == ("offline", "/corpora")
    assert "a secret of the server" not in found.values()
    command = engine.command(options)
    assert ("--nice" in command, command[-1]) == (False, "--cold")


class Scripted:
    """A worker that answers a job with messages of a script, and then is lost or waits."""

    pid = None

    def __init__(self, script):
        self._script = script
        self._messages = SimpleQueue()
        self._messages.put(("ready", {}, None))
        self.ended, self.lost = False, ""

    def send(self, header):
        if header["type"] == "run":
            for type, fields, offset in self._script:
                self._messages.put((type, fields, header["attempt"] + offset))

    def receive(self):
        type, fields, attempt = self._messages.get()
        if type == "lost":
            self.lost = "its node burnt down"
            raise EOFError
        return Message(type, fields, 0, attempt)

    def stderr(self):
        return ""

    def dump_stack(self):
        pass

    def kill(self):
        self.ended = True
        self._messages.put(("lost", {}, None))

    def reap(self):
        return None, ""


class ScriptedEngine:
    """Starts workers, each with its script."""

    def __init__(self, *scripts):
        self._scripts = [*scripts]
        self.quarantined = []

    def start(self, options, quarantined, on_end):
        self.quarantined.append(tuple(quarantined))
        return Scripted(self._scripts.pop(0) if self._scripts else [])

    def has_room_for(self, workers):
        return True


ACCEPTED, LOST = ("accepted", {}, 0), ("lost", {}, 0)


def done(n, offset=0):
    return ("done", {"result": Result(facts={"n": n})}, offset)


@pytest.fixture
def run():
    """The final event of a job and the stages before, with workers of these scripts."""
    pools = []

    def submit(*scripts):
        submit.engine = ScriptedEngine(*scripts)
        pools.append(LocalPool(PoolOptions(workers=1, head_start=0.0), submit.engine))
        job = pools[-1].submit(REQUEST)
        event = pools[-1].wait(job, PATIENCE)
        return event, [each.stage for each in pools[-1].events(job)]

    yield submit
    for pool in pools:
        pool.close()


def test_what_another_attempt_reports_is_ignored(run):
    orphan = [("progress", {"fraction": 0.9}, -1), done(5, offset=-1), ("failed", {}, 1)]
    event, stages = run([ACCEPTED, *orphan, done(7)])
    assert event.result.facts == {"n": 7}
    assert stages == ["queued", "started", "done"]


def test_a_job_whose_machine_was_lost_is_tried_again(run):
    event, stages = run([ACCEPTED, LOST], [ACCEPTED, done(11)])
    assert event.result.facts == {"n": 11}
    assert stages == ["queued", "started", "queued", "started", "done"]


def test_a_job_whose_machine_was_lost_twice_fails_and_says_so(run):
    event, stages = run([ACCEPTED, LOST], [ACCEPTED, LOST], [ACCEPTED, done(13)])
    assert stages == ["queued", "started", "queued", "started", "failed"]
    assert event.note == (
        "regression with gaussian: the machine that computed it was lost, twice in a row; see "
        "that the cluster is well, then ask again (its node burnt down)"
    )
    assert event.facts == {"reason": "its node burnt down"}


def test_a_plugin_is_not_blamed_for_the_loss_of_the_machine_that_loads_it(run):
    facts = {"plugin": "fine", "distribution": "dist-fine", "paths": []}
    loading = ("loading", {"facts": facts}, 0)
    event, _ = run([ACCEPTED, loading, LOST], [ACCEPTED, done(17)])
    assert event.result.facts == {"n": 17}
    assert run.engine.quarantined == [(), ()]


def test_workers_elsewhere_have_no_process_here():
    pool = LocalPool(PoolOptions(workers=1, head_start=0.0), ScriptedEngine())
    try:
        assert pool.capacity().processes == ()
    finally:
        pool.close()
