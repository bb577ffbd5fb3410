"""The figures at ``/metrics``."""

import os
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dashboard import metrics, serving
from dashboard.jobs import job as journal
from dashboard.jobs.backend import Capacity
from dashboard.jobs.job import Job
from dashboard.records.request import Request
from dashboard.ui import jobs


@pytest.fixture
def bench(monkeypatch):
    class Pool:
        def __init__(self, **load):
            self.load = Capacity(**load)

        def capacity(self):
            return self.load

    class Bench:
        backend = Pool(workers=3, running=2, queued=7, processes=(os.getpid(), os.getpid()))
        trainings = SimpleNamespace(jobs=Pool(workers=0, running=0, queued=0))

    monkeypatch.setattr(metrics, "workbench", Bench)
    monkeypatch.setattr(journal, "listeners", [])
    monkeypatch.setattr(jobs, "listeners", [])


@pytest.fixture
def figures(bench):
    """``figures()``: by name and sorted labels, what a scrape finds."""
    client = TestClient(Starlette(routes=metrics.routes()))

    def read():
        answer = client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        families = text_string_to_metric_families(answer.text)
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in families
            for sample in family.samples
        }

    return read


def test_jobs_are_counted_by_task_and_end(figures):
    for stage in ("queued", "started", "done"):
        Job(Request.make("echo"), []).add(stage)
    Job(Request.make("echo"), []).add("failed")
    Job(Request.make("other"), []).add("done")
    found = figures()
    counted = {key[1:]: value for key, value in found.items() if key[0] == "attention_jobs_total"}
    assert counted == {("done", "echo"): 1, ("echo", "failed"): 1, ("done", "other"): 1}


def test_seconds_to_a_result_are_those_since_it_was_asked_for(figures):
    job = Job(Request.make("echo"), [])
    job.submitted -= 2.0
    job.add("done")
    found = figures()
    assert 2.0 <= found["attention_result_seconds_sum", "echo"] < 2.5
    assert found["attention_result_seconds_bucket", "1.0", "echo"] == 0
    assert found["attention_result_seconds_bucket", "3.0", "echo"] == 1
    Job(Request.make("echo"), []).add("failed")  # which is no result
    assert figures()["attention_result_seconds_count", "echo"] == 1


def test_waits_are_counted_by_page_and_by_what_was_waited_for(figures):
    jobs.note_wait("heads", "drawn", 0.02)
    jobs.note_wait("heads", "result", 2.0)
    jobs.note_wait("norms", "result", 0.02)
    found = figures()
    name = "attention_page_seconds"
    assert found[f"{name}_sum", "drawn", "heads"] == 0.02
    assert found[f"{name}_sum", "heads", "result"] == 2.0
    assert found[f"{name}_bucket", "1.0", "heads", "result"] == 0
    counts = {key[1:] for key in found if key[0] == f"{name}_count"}
    assert counts == {("drawn", "heads"), ("heads", "result"), ("norms", "result")}


def test_queues_workers_and_memory_are_those_of_now(figures):
    found = figures()
    for name, value in (("queued", 7), ("running", 2), ("workers", 3)):
        assert found[f"attention_{name}", "jobs"] == value
        assert found[f"attention_{name}", "trainings"] == 0
    own = found["attention_memory_bytes", "server"]
    assert own > 50 * 2**20
    assert found["attention_memory_bytes", "jobs"] == pytest.approx(2 * own, rel=0.1)
    assert found["attention_memory_bytes", "trainings"] == 0
    assert found["attention_sessions",] == 0


def test_a_process_that_is_gone_has_no_memory():
    assert metrics.resident(2**22 + 1) == 0


def test_there_are_no_figures_unless_a_setting_asks_for_them(bench, monkeypatch):
    monkeypatch.delenv("ATTENTION_METRICS", raising=False)
    assert "/metrics" not in [route.path for route in serving.options()["routes"]]
    monkeypatch.setenv("ATTENTION_METRICS", "true")
    assert "/metrics" in [route.path for route in serving.options()["routes"]]
