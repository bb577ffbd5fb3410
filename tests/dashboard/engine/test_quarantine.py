"""Plugins that take their worker down while they are loaded."""

import json
import os
import subprocess
import time

import pytest

from dashboard.engine import frames, launch
from dashboard.engine.quarantine import Quarantine, Suspect
from dashboard.runs.request import Request

PATIENCE = 120  # seconds; a busy machine may start a process slowly
HERE = os.path.dirname(__file__)


@pytest.fixture
def loading(make_pool):
    """A pool, and what its workers have loaded after a job that asks for plugins."""
    pools = []

    def make(workers=1, **settings):
        pool = make_pool(workers, tasks="plugin_tasks", **settings)
        pools.append(pool)

        def ask(plugins, **options):
            request = Request.make("load", options={"plugins": plugins, **options})
            event = pool.wait(pool.submit(request), PATIENCE)
            assert event.stage == "done", event.note
            return event.result.facts["loaded"]

        return pool, ask

    yield make
    for pool in pools:  # now, so that no worker starts that nobody asks
        pool.close()


def locked_away(pool):
    """The reasons by the culprit's name."""
    words = pool._crew._quarantine.arguments()
    entries = json.loads(words[1]) if words else []
    assert all(entry["distribution"] == f"dist-{entry['plugin']}" for entry in entries)
    return {entry["plugin"]: entry["reason"] for entry in entries}


def test_jobs_are_done_without_the_plugins_that_their_workers_did_not_survive(loading):
    pool, ask = loading(2, plugin_limit=1.5)
    plugins = "crash fine hang exit"
    jobs = [
        pool.submit(Request.make("load", options={"plugins": plugins, "n": n})) for n in range(3)
    ]
    events = [pool.wait(job, PATIENCE) for job in jobs]
    assert [event.result.facts["loaded"] for event in events] == [["fine"]] * 3
    reasons = locked_away(pool)
    assert set(reasons) == {"crash", "hang", "exit"}
    assert reasons["hang"].startswith("it was not loaded after 1.5 s (plugin_tasks.py, line ")
    assert reasons["crash"].startswith(
        "the process that loaded it was killed by SIGSEGV: plugin_tasks.py, line "
    )
    assert reasons["exit"].startswith("the process that loaded it ended with exit code 3")
    pool.reload()
    assert ask(plugins) == ["fine"]
    assert locked_away(pool) == reasons
    pool.reload(pardon=True)
    assert locked_away(pool) == {}


def test_a_job_cancelled_while_plugins_are_loaded_ends_in_time_and_blames_nobody(loading):
    pool, _ = loading(plugin_limit=PATIENCE)
    job = pool.submit(Request.make("load", options={"plugins": "slow " * 97}))
    while "started" not in [event.stage for event in pool.events(job)]:
        time.sleep(0.01)
    time.sleep(0.2)
    began = time.monotonic()
    pool.cancel(job)
    assert pool.wait(job, PATIENCE).stage == "cancelled"
    assert time.monotonic() - began < 20
    assert locked_away(pool) == {}


def test_a_suspect_is_locked_away_once():
    held = Quarantine()
    suspect = Suspect.of({"plugin": "p", "distribution": "d", "paths": ["/x.py"]})
    assert held.arguments() == []
    assert held.add(suspect, "first")
    assert not held.add(suspect, "second")
    assert json.loads(held.arguments()[1])[0]["reason"] == "first"
    held.clear()
    assert held.arguments() == []


def test_a_worker_announces_what_it_loads():
    child = subprocess.Popen(
        launch.command("plugin_tasks", 0, warm=False),
        env=launch.environment(1, {"PYTHONPATH": HERE}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        request = Request.make("load", options={"plugins": "fine"}).to_json()
        assert frames.read(child.stdout)[0] == {"say": "ready"}
        frames.write(child.stdin, {"say": "work", "work": 5, "request": request})
        said = [frames.read(child.stdout)[0] for _ in range(4)]
        assert [header["say"] for header in said] == ["accepted", "runs", "ran", "done"]
        assert said[1]["facts"]["distribution"] == "dist-fine"
        child.stdin.close()
        assert child.wait(PATIENCE) == 0
