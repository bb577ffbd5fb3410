import pytest

from dashboard.jobs.scheduler import ResultCache
from dashboard.records.request import Request, Result


@pytest.fixture
def cache():
    return ResultCache(101)


def numbered(n):
    return Request.make("echo", options={"n": n})


def test_a_result_is_kept_by_its_request(cache):
    result = Result(facts={"n": 2})
    cache.put(numbered(2), result, 7)
    assert cache.get(numbered(2)).result is result
    assert cache.get(numbered(2)).size == 7
    assert cache.get(numbered(3)) is None


@pytest.mark.parametrize("other", [1.0, True])
def test_numbers_that_python_calls_equal_are_different_requests(cache, other):
    cache.put(numbered(1), Result(), 7)
    assert numbered(1) == numbered(other)
    assert cache.get(numbered(other)) is None


def test_the_least_recently_used_goes_first(cache):
    for n in (2, 3):
        cache.put(numbered(n), Result(), 43)
    cache.get(numbered(2))
    cache.put(numbered(5), Result(), 43)
    assert [cache.get(numbered(n)) is not None for n in (2, 3, 5)] == [True, False, True]


def test_a_result_put_twice_counts_once(cache):
    for _ in range(5):
        cache.put(numbered(2), Result(), 43)
    cache.put(numbered(3), Result(), 53)
    assert cache.get(numbered(2)) is not None


def test_a_result_larger_than_everything_does_not_empty_the_cache(cache):
    cache.put(numbered(2), Result(), 7)
    cache.put(numbered(3), Result(), 103)
    assert cache.get(numbered(2)) is not None
    assert cache.get(numbered(3)) is None


def test_a_result_may_forbid_to_be_kept(cache):
    cache.put(numbered(2), Result(facts={"cacheable": False}), 7)
    assert cache.get(numbered(2)) is None


def test_a_cleared_cache_has_room_again(cache):
    cache.put(numbered(2), Result(), 97)
    cache.clear()
    assert cache.get(numbered(2)) is None
    for n in (3, 5):
        cache.put(numbered(n), Result(), 47)
    assert cache.get(numbered(3)) is not None
