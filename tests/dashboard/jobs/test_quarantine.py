"""Plugins that end their worker while they are loaded."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from unittest import mock

import pytest
import torch

from dashboard.jobs import engine, process
from dashboard.jobs.engine import WorkerOptions
from dashboard.jobs.process import PluginSource
from dashboard.jobs.rehearsal import Quarantine
from dashboard.jobs.task_process import Damage
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


def facts_of(pool, **options):
    event = pool.wait(pool.submit(Request.make("load", options=options)), PATIENCE)
    assert event.stage == "done", event.note
    return event.result.facts


def test_a_plugin_that_changes_torch_while_it_is_loaded_is_left_out(loading):
    pool, ask = loading()
    assert ask("fine patch") == ["fine"]
    reason = quarantined(pool)["patch"]
    assert "torch.ones was changed for everything that this process computes" in reason


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("patches", "torch.ones was changed"),
        ("default", "torch's default number type was changed"),
        ("spins", "threads of a plugin go on computing"),
    ],
)
def test_a_worker_that_a_plugins_job_has_damaged_is_replaced_and_said(loading, caplog, does, said):
    pool, _ = loading()
    first = facts_of(pool, plugins="fine", does=does)
    after = facts_of(pool, plugins="fine", n=2)
    assert first["pid"] != after["pid"]
    assert after["ones"] == 3.0
    assert said in caplog.text
    assert "it has loaded dist-fine" in caplog.text
    assert quarantined(pool) == {}


def test_a_worker_whose_threads_begin_to_compute_while_it_waits_ends_by_itself(loading):
    pool, _ = loading()
    first = facts_of(pool, plugins="fine", does="spins later")
    end = time.monotonic() + PATIENCE
    while first["pid"] in pool.capacity().processes:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert facts_of(pool, plugins="fine", n=2)["pid"] != first["pid"]


@pytest.mark.parametrize("does", ["nothing", "waits in a thread"])
def test_a_worker_that_a_plugin_leaves_as_it_was_stays(loading, caplog, does):
    pool, _ = loading()
    first = facts_of(pool, plugins="fine", does=does)
    time.sleep(1.2)
    assert facts_of(pool, plugins="fine", n=2)["pid"] == first["pid"]
    assert "replaced" not in caplog.text


def put(owner, name, value):
    """Another attribute, until the end of the context."""
    return lambda: mock.patch.object(owner, name, value)


def set_to(setter, value, usual):
    """A setting of torch, until the end of the context."""

    @contextmanager
    def change():
        setter(value)
        try:
            yield
        finally:
            setter(usual)

    return change


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (put(torch, "relu", torch.exp), "torch.relu"),
        (put(torch.nn.functional, "linear", abs), "torch.nn.functional.linear"),
        (put(torch.Tensor, "softmax", abs), "torch.Tensor.softmax"),
        (put(torch.nn.GRU, "forward", abs), "torch.nn.GRU.forward"),
        (set_to(torch.set_default_dtype, torch.float64, torch.float32), "default number type"),
        (set_to(torch.set_default_device, "meta", None), "default device"),
        (set_to(torch.set_grad_enabled, False, True), "gradient mode"),
    ],
)  # fmt: skip
def test_what_a_job_has_changed_stays_known_when_another_plugin_is_loaded(change, name):
    damage = Damage()
    said = f"{name} was changed for everything that this process computes"
    with change():
        assert damage.of_job() == "", "no plugin was there that could have changed it"
        damage.begin()
        assert damage.of_job().endswith(said), "it was so before, but not when this began"
        assert damage.of_loading() == ""
    assert damage.of_loading().endswith(said)
    assert damage.of_job() == ""


@pytest.mark.slow
def test_what_torch_puts_around_its_own_functions_is_no_damage():
    program = """
from functools import wraps
import torch
from dashboard.jobs.task_process import Damage
damage = Damage()
damage.begin()
import torch._dynamo
print(repr(damage.of_loading()))
plain = torch.manual_seed
torch.manual_seed = wraps(plain)(lambda seed: plain(1))
print(damage.of_loading())
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "''", "torch.manual_seed was changed for everything that this process computes",
    ]  # fmt: skip


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
    options = WorkerOptions(tasks="plugin_tasks", warm=False, environment={"PYTHONPATH": FOLDER})
    child = subprocess.Popen(
        engine.command(options),
        env=engine.environment(options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        request = Request.make("load", options={"plugins": "fine"}).to_json()
        assert process.read(child.stdout)[0] == {"type": "ready"}
        process.write(child.stdin, {"type": "run", "attempt": 5, "request": request})
        messages = [process.read(child.stdout)[0] for _ in range(4)]
        assert [header["type"] for header in messages] == ["accepted", "loading", "loaded", "done"]
        assert messages[1]["facts"]["distribution"] == "dist-fine"
        child.stdin.close()
        assert child.wait(PATIENCE) == 0
