"""What a page has asked for: begun, held until it is approved, told of its wait, asked anew."""

import pytest

from dashboard.jobs.backend import Capacity, Event, Wait
from dashboard.records.request import Request, Result
from dashboard.ui import jobs as module
from dashboard.ui.jobs import Jobs
from dashboard.ui.turns import Turns


class Backend:
    """Keeps every job as it is until the test changes its events."""

    def __init__(self):
        self.asked, self.clients, self.cancelled = [], [], []
        self.known, self.ends, self.ahead, self.rate = set(), {}, None, None
        self.waited = []

    def submit(self, request, *, client="", work=0.0, time_limit=None):
        self.asked.append(request.seed)
        self.clients.append((client, work))
        return f"{request.seed} {len(self.asked)}"

    def has(self, request):
        return request.seed in self.known

    def estimate(self, asked):
        return None if self.rate is None else self.rate * sum(work for _, work in asked)

    def wait(self, job, timeout):
        self.waited.append(job)
        return self.ends.get(job)

    def events(self, job):
        return [Event(number=1, stage="queued")]

    def wait_ahead(self, job):
        return self.ahead

    def cancel(self, job):
        self.cancelled.append(job)


@pytest.fixture
def backend():
    return Backend()


@pytest.fixture
def jobs(backend):
    """A seed is the work; 10 are free."""
    return Jobs(
        backend, lambda: 0, client="tab", work=lambda request: float(request.seed), free=10.0
    )


def costing(*seeds):
    return [Request.make("regression", seed=seed) for seed in seeds]


def test_what_is_free_begins_at_once_for_this_session(jobs, backend):
    jobs.want(costing(2, 5))
    assert backend.asked == [2, 5]
    assert backend.clients == [("tab", 2.0), ("tab", 5.0)]
    assert jobs.held == []


def test_of_what_costs_too_much_together_the_cheapest_begin(jobs, backend):
    jobs.want(costing(7, 3, 5, 1))
    assert backend.asked == [3, 5, 1]
    assert jobs.held == costing(7)


def test_what_is_held_is_neither_asked_for_nor_waited_for(jobs, backend):
    (request,) = costing(11)
    jobs.want([request])
    assert jobs.holds(request)
    assert (jobs.final(request), jobs.progress(request), jobs.settled()) == (None, [], True)
    assert backend.asked == []


def test_what_was_approved_begins(jobs, backend):
    jobs.want(costing(2, 11, 13))
    jobs.approve()
    jobs.want(costing(2, 11, 13))
    assert backend.asked == [2, 11, 13]
    assert jobs.held == []


def test_approval_is_of_what_was_seen_and_ends_with_it(jobs, backend):
    jobs.want(costing(11))
    jobs.approve()
    jobs.want(costing(11, 13))
    assert jobs.held == costing(13)
    jobs.want([])
    jobs.want(costing(11))
    assert jobs.held == costing(11)


def test_results_that_came_make_nothing_else_free(jobs, backend):
    jobs.want(costing(7, 9))
    backend.known.add(7)
    backend.ends["7 1"] = Event(number=2, stage="done", result=Result())
    assert jobs.settled()
    jobs.want(costing(7, 9))
    assert jobs.held == costing(9)


def test_what_is_known_or_computed_for_others_costs_nothing(jobs, backend):
    backend.known |= {11, 13}
    jobs.want(costing(11, 13, 7))
    assert backend.asked == [11, 13, 7]


def test_the_time_of_what_is_held_is_said_where_it_is_known(jobs, backend):
    jobs.want(costing(11, 13))
    assert jobs.estimate_held() is None
    free = "Up to 10 s of work begins by itself; more waits for a press. "
    assert jobs.why_held() == f"{free}What waits is estimated at about 20 s on one core."
    backend.rate = 2.0
    assert jobs.estimate_held() == 48.0
    assert jobs.why_held() == f"{free}How long it takes is measured on this server."


def test_what_may_reach_the_limit_of_a_computation_says_so_before_it_begins(jobs):
    stopped = "No computation runs over 120 s; one of these may be stopped."
    jobs.want(costing(13, 120))
    assert stopped not in jobs.why_held()
    jobs.want(costing(13, 121))
    assert jobs.why_held().endswith(stopped)


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (Wait(before=3, seconds=11.0), "3 before you, about 10 s"),
        (Wait(before=1), "1 before you"),
        (Wait(before=0, seconds=2.2), "waiting for a free worker, about 2 s"),
        (Wait(before=0), "waiting for a free worker"),
        (None, ""),
    ],
)
def test_who_waits_is_told_for_what(jobs, backend, ahead, words):
    backend.ahead = ahead
    (request,) = costing(2)
    jobs.want([request])
    assert jobs.progress(request)[-1].note == words


def test_a_session_that_was_away_asks_once_more(jobs, backend):
    (request,) = costing(2)
    jobs.want([request])
    backend.ends["2 1"] = Event(number=2, stage="cancelled", facts={"abandoned": True})
    assert jobs.final(request) is None
    jobs.want([request])
    assert backend.asked == [2, 2]
    backend.ends["2 2"] = Event(number=2, stage="cancelled")
    assert jobs.final(request).stage == "cancelled"


def test_the_wait_for_a_result_is_counted_once_under_its_page(backend, monkeypatch):
    waits, clock = [], iter(range(100, 200))
    monkeypatch.setattr(module, "listeners", [waits.append])
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(clock)))
    jobs = Jobs(backend, lambda: 0, page="heads")
    good, bad, left = costing(1, 2, 3)
    jobs.want([good, bad, left])
    assert jobs.final(good) is None
    backend.ends["1 1"] = Event(number=2, stage="done")
    backend.ends["2 2"] = Event(number=2, stage="failed")
    for _ in range(2):
        assert jobs.final(good)
        assert jobs.final(bad)
    jobs.want([good])
    ((page, what, seconds),) = waits
    assert (page, what) == ("heads", "result")
    assert seconds == 3.0  # the clock was read for each request
    assert jobs._submitted == {}


@pytest.fixture
def generation():
    return [0]


@pytest.fixture
def reloaded(backend, generation):
    """Jobs of a page, and what was asked for before plugins were reloaded."""
    jobs = Jobs(backend, lambda: generation[0])
    jobs.want(costing(2, 5))
    backend.ends["2 1"] = ENDED
    jobs.wait(0.0)
    return jobs


ENDED = Event(number=2, stage="done", result=Result())


def test_after_a_reload_everything_is_asked_anew_and_what_nobody_waits_for_ends(
    reloaded, backend, generation
):
    generation[0] = 1
    reloaded.want(costing(2, 5))
    assert backend.asked == [2, 5, 2, 5]
    assert backend.cancelled == ["5 2"]


def test_what_a_page_waited_for_is_shown_though_plugins_were_reloaded(
    reloaded, backend, generation
):
    generation[0] = 1
    backend.ends["5 2"] = ENDED
    assert reloaded.settled()  # so the page is drawn again
    reloaded.want(costing(2, 5))
    assert reloaded.final(costing(5)[0]) is ENDED
    assert reloaded.wait(0.0)
    assert backend.asked == [2, 5]
    reloaded.want(costing(2, 5))
    assert backend.asked == [2, 5, 2, 5]


def test_a_page_that_asks_for_something_else_mixes_no_generations(reloaded, backend, generation):
    generation[0] = 1
    backend.ends["5 2"] = ENDED
    assert reloaded.settled()
    reloaded.want(costing(2, 7))
    assert backend.asked == [2, 5, 2, 7]


def test_whoever_reloads_plugins_waits_for_nothing_of_before(reloaded, backend, generation):
    generation[0] = 1
    backend.ends["5 2"] = ENDED
    assert reloaded.settled()
    reloaded.forget()
    reloaded.want(costing(2, 5))
    assert backend.asked == [2, 5, 2, 5]


def test_several_results_are_waited_for_in_one_wait_for_a_turn(backend, monkeypatch):
    begun, turns = [], Turns()
    monkeypatch.setattr(module, "TURNS", turns)
    monkeypatch.setattr(
        turns, "_begin", lambda turn: (begun.append(turn), Turns._begin(turns, turn))
    )
    jobs = Jobs(backend, lambda: 0)
    jobs.want(costing(1, 2, 3))
    with turns.drawing("visitor"):
        assert not jobs.wait(0.01)
        assert len(begun) == 2
        backend.ends = {job: Event(number=2, stage="done") for job in backend.waited}
        assert jobs.wait(0.01)
        assert len(begun) == 2


def test_many_who_wait_to_draw_make_looks_rarer_too(backend, monkeypatch):
    monkeypatch.setattr(Turns, "waiters", 8)
    backend.capacity = lambda: Capacity(workers=2, running=0, queued=0)
    jobs = Jobs(backend, lambda: 0)
    assert (jobs.pace(0.25), jobs.patience(0.25)) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("workers", "queued", "seconds", "pace", "patience"),
    [
        (2, 0, 0.25, 0.25, 0.25), (2, 2, 0.25, 0.25, 0.25), (2, 4, 0.25, 0.5, 0.5),
        (2, 900, 0.25, 1.0, 0.75), (4, 4, 0.25, 0.25, 0.25), (0, 3, 0.25, 0.75, 0.75),
        (2, 900, 3.0, 3.0, 9.0),
    ],
)  # fmt: skip
def test_looks_are_rarer_and_longer_where_many_wait(
    backend, workers, queued, seconds, pace, patience
):
    backend.capacity = lambda: Capacity(workers=workers, running=0, queued=queued)
    jobs = Jobs(backend, lambda: 0)
    assert (jobs.pace(seconds), jobs.patience(seconds)) == pytest.approx((pace, patience))
