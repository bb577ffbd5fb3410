"""Plugins that end their worker while they are loaded."""

import json
import os
import subprocess
import time

import pytest

from dashboard.jobs import launch, wire
from dashboard.jobs.quarantine import PluginSource, Quarantine
from dashboard.records.request import Request

PATIENCE = 120  # seconds; a busy machine may start a process slowly
FOLDER = os.path.dirname(__file__)


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
    for pool in pools:  # now, so that no further worker starts
        pool.close()


def quarantined(pool):
    """The reasons by the plugin's name."""
    arguments = pool._supervisor._crew.quarantine.arguments()
    entries = json.loads(arguments[1]) if arguments else []
    assert all(entry["distribution"] == f"dist-{entry['plugin']}" for entry in entries)
    return {entry["plugin"]: entry["reason"] for entry in entries}


def test_jobs_are_done_without_the_plugins_that_ended_their_workers(loading):
    pool, ask = loading(2, plugin_limit=1.5)
    plugins = "crash fine hang exit"
    jobs = [
        pool.submit(Request.make("load", options={"plugins": plugins, "n": n})) for n in range(3)
    ]
    events = [pool.wait(job, PATIENCE) for job in jobs]
    assert [event.result.facts["loaded"] for event in events] == [["fine"]] * 3
    reasons = quarantined(pool)
    assert set(reasons) == {"crash", "hang", "exit"}
    assert reasons["hang"].startswith("it was not loaded after 1.5 s (plugin_tasks.py, line ")
    assert reasons["crash"].startswith(
        "the process that loaded it was killed by SIGSEGV: plugin_tasks.py, line "
    )
    assert reasons["exit"].startswith("the process that loaded it ended with exit code 3")
    pool.reload()
    assert ask(plugins) == ["fine"]
    assert quarantined(pool) == reasons
    pool.reload(retry_quarantined=True)
    assert quarantined(pool) == {}


def test_a_job_cancelled_while_plugins_are_loaded_ends_in_time_and_quarantines_nothing(loading):
    pool, _ = loading(plugin_limit=PATIENCE)
    job = pool.submit(Request.make("load", options={"plugins": "slow " * 97}))
    while "started" not in [event.stage for event in pool.events(job)]:
        time.sleep(0.01)
    time.sleep(0.2)
    began = time.monotonic()
    pool.cancel(job)
    assert pool.wait(job, PATIENCE).stage == "cancelled"
    assert time.monotonic() - began < 20
    assert quarantined(pool) == {}


def test_a_plugin_is_quarantined_once():
    quarantine = Quarantine()
    source = PluginSource.from_facts({"plugin": "p", "distribution": "d", "paths": ["/x.py"]})
    assert quarantine.arguments() == []
    assert quarantine.add(source, "first")
    assert not quarantine.add(source, "second")
    assert json.loads(quarantine.arguments()[1])[0]["reason"] == "first"
    quarantine.clear()
    assert quarantine.arguments() == []


def test_a_worker_reports_what_it_loads():
    child = subprocess.Popen(
        launch.command("plugin_tasks", 0, warm=False),
        env=launch.environment(1, {"PYTHONPATH": FOLDER}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        request = Request.make("load", options={"plugins": "fine"}).to_json()
        assert wire.read(child.stdout)[0] == {"type": "ready"}
        wire.write(child.stdin, {"type": "run", "attempt": 5, "request": request})
        messages = [wire.read(child.stdout)[0] for _ in range(4)]
        assert [header["type"] for header in messages] == ["accepted", "loading", "loaded", "done"]
        assert messages[1]["facts"]["distribution"] == "dist-fine"
        child.stdin.close()
        assert child.wait(PATIENCE) == 0
