"""What is written of a job, by the job itself."""

import logging

import pytest

from dashboard.jobs import job as journal
from dashboard.jobs.job import Computation, Job
from dashboard.records.request import Request
from dashboard.records.training import FOLDER

SESSION = "4fd3a1a2-a-session-that-can-be-taken-over"


@pytest.fixture
def entries(monkeypatch):
    found = []
    monkeypatch.setattr(journal, "listeners", [found.append])
    return found


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, "dashboard")
    logger = logging.getLogger("dashboard")
    before, logger.propagate = logger.propagate, True  # a server's does not
    yield caplog
    logger.propagate = before


def test_start_and_end_are_entered_and_progress_is_not(entries, log):
    computation = Computation(Request.make("echo"))
    job = computation.join(7.0, SESSION)
    for stage in ("started", "progress", "done"):
        computation.publish(stage)
    assert [entry.stage for entry in entries] == ["queued", "started", "done"]
    assert {(entry.job, entry.task, entry.training) for entry in entries} == {(job.id, "echo", "")}
    assert [record.message for record in log.records] == [
        "job queued: echo", "job started: echo", "job done: echo",
    ]  # fmt: skip
    assert log.records[0].fields["job"] == job.id


def test_whoever_asked_is_known_by_a_digest_alone(entries, log):
    for client in (SESSION, SESSION, "another", ""):
        Job(Request.make("echo"), [], client).add("done")
    first, same, other, server = (entry.client for entry in entries)
    assert first == same != other
    assert server == ""
    assert len(first) == 12
    assert SESSION not in log.text
    assert "client" not in log.records[-1].fields


def test_a_training_is_named(entries):
    Job(Request.make("training", options={FOLDER: "00aa"}), []).add("started")
    assert entries[0].training == "00aa"


def test_a_failure_is_a_warning_in_one_line(entries, log):
    note = "raised\n2026-01-01 INFO job done: everything"
    Job(Request.make("echo"), []).add("failed", note=note)
    Job(Request.make("echo"), []).add("failed", note="a typing error", facts={"refused": True})
    failed, refused = log.records
    assert (failed.levelname, refused.levelname) == ("WARNING", "INFO")
    assert failed.message == "job failed: echo: raised 2026-01-01 INFO job done: everything"
    assert entries[0].note == "raised 2026-01-01 INFO job done: everything"
