import pytest

from dashboard.jobs import scheduler
from dashboard.jobs.scheduler import Durations
from dashboard.records.request import Request

FIT = Request.make("regression", scoring="cosine")


@pytest.fixture
def known():
    """``known((2.0, 3.0), ...)``: work and seconds of computations that have ended."""

    def noted(*pairs, request=FIT):
        made = Durations()
        for work, seconds in pairs:
            made.note(request, work, seconds)
        return made

    return noted


def test_seconds_are_in_proportion_to_work(known):
    assert known((1, 3), (2, 6), (5, 15)).estimate(FIT, 7) == pytest.approx(21)


def test_without_a_known_work_the_median_counts(known):
    assert known((0, 2), (0, 3), (0, 5)).estimate(FIT, 0) == pytest.approx(3)


@pytest.mark.parametrize(
    ("pairs", "work"),
    [
        ([], 1),
        ([(1, 3)], 1),  # one may be chance
        ([(0, 5), (0, 1)], 0),  # a worker's first loads what it needs
        ([(1, 1), (1, 1), (1, 50), (1, 50)], 1),  # who knows
        ([(1, 3), (1, 3)], 61),  # far more than was ever seen
        ([(0, 3), (0, 3)], 1),  # of other sizes, perhaps
    ],
)
def test_nothing_is_said_without_good_reason(known, pairs, work):
    assert known(*pairs).estimate(FIT, work) is None


def test_no_more_is_foretold_than_sixty_times_the_largest_that_was_seen(known):
    durations = known((1, 3), (2, 6))
    assert durations.estimate(FIT, 120) == pytest.approx(360)
    assert durations.estimate(FIT, 121) is None


def test_of_five_the_middle_half_decides_and_of_four_all(known):
    alike, odd = [(1, 3)] * 4, (1, 50)
    assert known(*alike, odd).estimate(FIT, 1) == pytest.approx(3)
    assert known(*alike[:3], odd).estimate(FIT, 1) is None


@pytest.mark.parametrize(
    "other", [{"task": "alignment"}, {"scoring": "dot"}, {"model": "m"}, {"data": "step"}]
)
def test_only_what_is_alike_counts(known, other):
    fields = {"task": "regression", "scoring": "cosine", **other}
    assert known((1, 3), (1, 3)).estimate(Request.make(**fields), 1) is None


def test_the_newest_count(known):
    assert known(*[(1, 3)] * 30, *[(1, 5)] * 20).estimate(FIT, 1) == pytest.approx(5)


def test_for_an_order_the_median_is_good_enough(known):
    noted = known((1, 1), (1, 2), (1, 50))
    assert noted.estimate(FIT, 1) is None
    assert noted.typical(FIT, 2) == pytest.approx(4)
    assert noted.typical(FIT, 0) == 0, "what had no work known is of another kind"
    assert noted.typical(Request.make("regression", scoring="dot"), 1) == 0


def test_requests_together_take_their_share_of_the_workers_and_the_longest_at_least(known):
    durations = known((1, 3), (2, 6), (5, 15))
    assert durations.together([(FIT, 2)], 2) == pytest.approx(6)
    assert durations.together([(FIT, 2)] * 5, 2) == pytest.approx(15)
    assert durations.together([(FIT, 2), (FIT, 5)], 7) == pytest.approx(15)
    unknown = Request.make("regression", scoring="dot")
    assert durations.together([(FIT, 2), (unknown, 2)], 2) is None
    assert durations.together([], 2) is None


def test_of_many_kinds_those_are_forgotten_that_were_not_noted_for_longest(monkeypatch):
    monkeypatch.setattr(scheduler, "_KINDS", 3)
    kinds = [Request.make("regression", scoring=name) for name in "abcd"]
    noted = Durations()
    for request in (*kinds[:3], kinds[0], kinds[3]):
        noted.note(request, 1.0, 3.0)
    assert [noted.typical(request, 1.0) for request in kinds] == [3.0, 0.0, 3.0, 3.0]
