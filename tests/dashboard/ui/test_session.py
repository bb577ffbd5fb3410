"""The catalogue that all sessions share: read, read again, replaced."""

import pytest

from dashboard.jobs.backend import Event
from dashboard.records.result import Result
from dashboard.ui.workbench import Workbench


class Backend:
    """Answers what was submitted once it is told to."""

    def __init__(self, facts):
        self.facts, self.submitted, self.answered, self.reloads = facts, [], 0, 0

    def submit(self, request):
        self.submitted.append(request)
        return str(len(self.submitted))

    def wait(self, job, timeout):
        if int(job) > self.answered:
            return None
        corpora = [
            {**entry, "name": f"{entry['name']}_{job}"} for entry in self.facts["checkpoints"]
        ]
        result = Result(facts={**self.facts, "checkpoints": corpora})
        return Event(number=2, stage="done", result=result)

    def reload(self, *, retry_quarantined=False):
        self.reloads += 1


@pytest.fixture
def backend(facts):
    return Backend(facts)


@pytest.fixture
def bench(backend):
    return Workbench(backend)


def number(catalogue):
    """Which of the readings it is."""
    return next(iter(catalogue.checkpoints)).rpartition("_")[2]


def test_the_catalogue_is_read_once(bench, backend):
    assert bench.catalogue() is None
    assert bench.catalogue() is None
    backend.answered = 1
    found = bench.catalogue()
    assert bench.catalogue() is found
    assert len(backend.submitted) == 1


def test_the_known_catalogue_serves_until_it_was_read_again(bench, backend):
    backend.answered = 1
    first = bench.catalogue()
    bench.refresh()
    assert backend.reloads == 1
    assert bench.catalogue() is first
    assert bench.generation == 0  # no page asks anew for what it has
    backend.answered = 2
    second = bench.catalogue()
    assert (number(first), number(second)) == ("1", "2")
    assert bench.catalogue() is second


def test_a_reload_forgets_the_catalogue_and_what_was_computed(bench, backend):
    backend.answered = 1
    bench.catalogue()
    bench.reload()
    assert bench.generation == 1
    assert bench.catalogue() is None
    backend.answered = 2
    assert number(bench.catalogue()) == "2"


def test_keeping_a_training_reads_the_catalogue_again(bench, backend):
    backend.answered = 1
    bench.catalogue()
    assert number(bench.catalogue()) == "1"
    assert set(bench.trainings._taken_names()) == set(bench.catalogue().checkpoints)
    bench.trainings._on_export()
    backend.answered = 2
    assert number(bench.catalogue()) == "2"
