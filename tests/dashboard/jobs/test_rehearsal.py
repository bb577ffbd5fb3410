"""One computation that each worker of a new crew makes."""

import json
from types import SimpleNamespace

import pytest

from dashboard.jobs.job import Computation
from dashboard.jobs.process import PluginSource
from dashboard.jobs.rehearsal import Ending, Quarantine, Rehearsal
from dashboard.records.request import Request

DONE = Ending(stage="done", size=7)
FAILED = Ending(stage="failed", fields={"note": "no"})


@pytest.fixture
def rehearsal():
    computation = Computation(Request.make("catalogue"))
    computation.time_limit = 13.0
    return Rehearsal(computation)


def test_one_worker_computes_for_the_job_and_the_others_the_like(rehearsal):
    first = SimpleNamespace(computation=None)
    first.computation = rehearsal.part([first])
    other = rehearsal.part([first])
    assert first.computation is rehearsal.computation
    assert other is not first.computation
    assert (other.request, other.time_limit) == (first.computation.request, 13.0)
    assert rehearsal.part([]) is rehearsal.computation  # its worker is gone


def test_the_first_result_counts_until_workers_are_replaced(rehearsal):
    rehearsal.note(rehearsal.part([]), DONE)
    rehearsal.note(Computation(rehearsal.computation.request), Ending(stage="done", size=9))
    assert rehearsal.ending is DONE
    assert rehearsal.part([]) is not rehearsal.computation
    rehearsal.start_again()
    assert rehearsal.ending is None
    assert not rehearsal.failed


def test_a_failure_counts_whoever_fails(rehearsal):
    other = Computation(rehearsal.computation.request)
    other.stopping, other.failure = "failed", ("why", {})
    rehearsal.note(rehearsal.computation, DONE)
    rehearsal.note(other, FAILED)
    assert rehearsal.failed
    assert rehearsal.computation.failure == ("why", {})
    assert rehearsal.computation.stopping == "failed"
    rehearsal.start_again()
    assert rehearsal.ending is FAILED


def test_a_plugin_is_kept_out_for_the_reason_of_the_first_time():
    quarantine, source = Quarantine(), PluginSource("a", "of-a", ("/site/a",))
    assert quarantine.arguments() == []
    assert quarantine.add(source, "it hung")
    assert not quarantine.add(source, "it crashed")
    assert quarantine.add(PluginSource("a", "of-b"), "it crashed")
    flag, text = quarantine.arguments()
    assert (flag, json.loads(text)) == ("--quarantined", [
        {"plugin": "a", "distribution": "of-a", "reason": "it hung"},
        {"plugin": "a", "distribution": "of-b", "reason": "it crashed"},
    ])  # fmt: skip


def test_what_was_cancelled_is_not_done(rehearsal):
    rehearsal.computation.stopping = "cancelled"
    rehearsal.note(rehearsal.computation, DONE)
    assert rehearsal.ending == Ending(stage="cancelled")
