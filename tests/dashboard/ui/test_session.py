"""The catalogue that all sessions share: read, read again, replaced."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from dashboard.jobs.backend import Event
from dashboard.records.request import Result
from dashboard.ui import session as sessions
from dashboard.ui import workbench as benches
from dashboard.ui.session import Session
from dashboard.ui.workbench import Workbench


class Backend:
    """Answers what was submitted once it is told to."""

    def __init__(self, facts):
        self.facts, self.submitted, self.answered, self.reloads = facts, [], 0, 0
        self.retried, self.failing, self.waited = [], set(), 0.0

    def submit(self, request):
        self.submitted.append(request)
        return str(len(self.submitted))

    def wait(self, job, timeout):
        self.waited += timeout
        if int(job) > self.answered:
            return None
        if job in self.failing:
            return Event(number=2, stage="failed", note="the plugins cannot be listed")
        corpora = [
            {**entry, "name": f"{entry['name']}_{job}"} for entry in self.facts["checkpoints"]
        ]
        result = Result(facts={**self.facts, "checkpoints": corpora})
        return Event(number=2, stage="done", result=result)

    def renew(self, request, *, retry_quarantined=False):
        self.reloads += 1
        self.retried.append(retry_quarantined)
        return self.submit(request)

    def events(self, job, after=0):
        return [Event(number=1, stage="progress", note=f"of job {job}")]


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


def test_while_it_is_read_again_what_is_missing_may_still_come(bench, backend):
    assert not bench.rereading()  # nothing is known: that is waited for elsewhere
    backend.answered = 1
    assert not bench.rereading()
    bench.refresh()
    assert bench.rereading()
    backend.answered = 2
    assert not bench.rereading()
    backend.failing.add("3")
    bench.refresh()
    assert bench.rereading()
    backend.answered = 3
    assert not bench.rereading()


@pytest.fixture
def known(bench, backend):
    """A catalogue that was read."""
    bench.catalogue()
    backend.answered = 1
    return bench.catalogue()


def test_what_is_known_serves_until_new_workers_have_read_it(bench, backend, known):
    bench.reload()
    assert backend.retried == [True]
    assert bench.catalogue() is known
    assert bench.generation == 0
    assert [event.note for event in bench.reloading()] == ["of job 2"]
    backend.answered = 2
    assert bench.reloading() is None
    assert number(bench.catalogue()) == "2"
    assert bench.generation == 1
    assert bench.failure is None


def test_a_second_reload_joins_the_first(bench, backend, known):
    bench.reload()
    bench.reload()
    assert backend.reloads == 1
    backend.answered = 2
    bench.reload()
    assert backend.reloads == 2
    assert bench.generation == 1


def test_a_reload_that_fails_leaves_everything_and_says_why(bench, backend, known):
    backend.failing.add("2")
    bench.reload()
    backend.answered = 2
    assert bench.reloading() is None
    assert bench.failure.note == "the plugins cannot be listed"
    assert bench.catalogue() is known
    assert bench.generation == 0
    bench.reload()
    assert bench.failure is None
    backend.answered = 3
    assert number(bench.catalogue()) == "3"


def test_where_nothing_was_read_yet_a_reload_may_be_asked_for_again(bench, backend):
    backend.failing |= {"1", "2"}
    bench.catalogue()
    backend.answered = 2
    assert bench.catalogue().stage == "failed"
    bench.reload()
    assert bench.catalogue().stage == "failed"
    assert bench.reloading() is None
    bench.reload()
    backend.answered = 3
    assert number(bench.catalogue()) == "3"


def test_what_was_kept_during_a_reload_is_read_after_it(bench, backend, known):
    bench.reload()
    bench.refresh()
    assert backend.retried == [True]
    backend.answered = 2
    assert number(bench.catalogue()) == "2"
    assert backend.retried == [True, False]
    backend.answered = 3
    assert number(bench.catalogue()) == "3"
    assert bench.generation == 1


def test_plugins_are_reloaded_after_what_was_kept_is_read(bench, backend, known):
    bench.refresh()
    bench.reload()
    assert bench.reloading() == []
    assert backend.retried == [False]
    backend.answered = 2
    assert number(bench.catalogue()) == "2"
    assert bench.generation == 0
    assert [event.note for event in bench.reloading()] == ["of job 3"]
    backend.answered = 3
    assert number(bench.catalogue()) == "3"
    assert bench.generation == 1


def test_trainers_are_replaced_when_plugins_were_and_not_before(
    bench, backend, known, monkeypatch
):
    reloads = []
    monkeypatch.setattr(bench.trainings.jobs, "reload", lambda: reloads.append(bench.generation))
    bench.refresh()
    backend.answered = 2
    bench.catalogue()
    bench.reload()
    bench.catalogue()
    assert reloads == []
    backend.answered = 3
    bench.catalogue()
    assert reloads == [1]


def test_keeping_a_training_reads_the_catalogue_again(bench, backend):
    backend.answered = 1
    bench.catalogue()
    assert number(bench.catalogue()) == "1"
    assert set(bench.trainings._taken_names()) == set(bench.catalogue().checkpoints)
    bench.trainings._on_export()
    assert backend.waited == 0, "that it was kept is said at once"
    backend.answered = 2
    assert number(bench.catalogue()) == "2"


def test_who_closes_it_ends_trainers_too(bench, backend, monkeypatch):
    closed = []
    monkeypatch.setattr(backend, "close", lambda: closed.append("workers"), raising=False)
    monkeypatch.setattr(bench.trainings, "close", lambda: closed.append("trainers"))
    bench.close()
    assert closed == ["workers", "trainers"]


def test_the_setting_says_how_long_a_session_may_be_away(monkeypatch):
    monkeypatch.setenv("ATTENTION_SESSION_GRACE", "17")
    begun = []
    swept = SimpleNamespace(start=lambda: begun.append("starts"))
    monkeypatch.setattr(benches, "chosen_engine", lambda: "engine")
    monkeypatch.setattr(benches, "LocalPool", lambda engine: f"pool of {engine}")
    monkeypatch.setattr(benches, "Sweeper", lambda *given: begun.append(given) or swept)
    monkeypatch.setattr(benches, "Workbench", lambda *given: given)
    assert benches._shared.__wrapped__() == ("pool of engine", "engine")
    assert begun == [("pool of engine", benches.connected, 17.0), "starts"]


@dataclass(frozen=True)
class View:
    width: float = 1.0


class Address(dict):
    """The parameters of the address bar, each once."""

    def get_all(self, key):
        return [self[key]]

    def from_dict(self, given):
        self.clear()
        self.update(given)


@pytest.fixture
def shown(monkeypatch):
    """A page of a session, in Chinese and in an exercise."""
    bar = Address()
    context = SimpleNamespace(url="http://lab.example/regression?old=1#here")
    monkeypatch.setattr(sessions, "st", SimpleNamespace(query_params=bar, context=context))
    monkeypatch.setattr(sessions.speaking, "in_link", lambda: {"lang": "zh"})
    monkeypatch.setattr(sessions.exercise, "in_link", lambda: {"exercise": "7"})
    monkeypatch.setattr(sessions, "new_jobs", lambda **_: None)
    made = Session("regression", View(), None)
    made.bar = bar
    return made


def test_what_was_refused_is_said_until_something_changes(shown):
    shown.problems, shown.fresh = ("refused",), False
    shown.update(width=1.0)
    assert shown.problems == ("refused",)
    shown.update(width=2.0)
    assert (shown.problems, shown.fresh, shown.view) == ((), False, View(2.0))
    shown.problems = ("refused",)
    shown.change(View(3.0))
    assert (shown.problems, shown.fresh, shown.view) == ((), True, View(3.0))


def test_a_page_writes_its_address_and_is_asked_for_it_without_what_is_not_its_own(shown):
    sessions.write_address(shown, {"a": "gaussian"})
    assert dict(shown.bar) == {"a": "gaussian", "lang": "zh", "exercise": "7"}
    assert sessions.asked_for() == {"a": ["gaussian"]}
    assert sessions.address({"a": "x"}) == "http://lab.example/regression?a=x&lang=zh"


def test_a_page_remembers_two_hundred_addresses_of_its_own(shown):
    for number in range(500):
        sessions.write_address(shown, {"w": f"{number // 2}"})
    assert len(shown.links) == 201
    assert (shown.links[0], shown.links[-1]) == ("w=49", "w=249")


def test_what_a_page_asks_for_is_its_sessions(monkeypatch):
    bench = SimpleNamespace(backend="workers", generation=5)
    monkeypatch.setattr(sessions, "workbench", lambda: bench)
    context = SimpleNamespace(session_id="tab")
    monkeypatch.setattr(sessions, "get_script_run_ctx", lambda: context)
    jobs = sessions.new_jobs(page="heads")
    assert (jobs.backend, jobs.client, jobs.page, jobs.plugins()) == ("workers", "tab", "heads", 5)
