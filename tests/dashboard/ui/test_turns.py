"""Whose page is drawn first, and who need not wait."""

import threading
import time

import pytest

from dashboard.ui.turns import LONGEST, SOON, Turns


class Hand:
    """A number that the test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Hand()


@pytest.fixture
def processor():
    return Hand()


@pytest.fixture
def turns(clock, processor):
    return Turns(clock, processor)


@pytest.fixture
def queue(turns):
    """``queue(session)``: a thread that draws in that session's turn; the list of whose came."""
    drawn, threads = [], []

    def draw(session):
        with turns.drawing(session):
            drawn.append(session)

    def new(session):
        threads.append(threading.Thread(target=draw, args=(session,)))
        threads[-1].start()
        until(lambda: len(turns._waiting) + len(drawn) == len(threads))

    new.drawn, new.end = drawn, lambda: [thread.join(10) for thread in threads]
    return new


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def draws(turns, processor, session, seconds):
    with turns.drawing(session):
        processor.now += seconds


def hurry(turns, clock, *sessions, seconds=0.05):
    """Let each ask and draw in a thread of its own, as for two keys that follow at once."""

    def draw(session):
        with turns.drawing(session):
            clock.now += seconds

    for session in (*sessions, *sessions):
        thread = threading.Thread(target=draw, args=(session,))
        thread.start()
        thread.join(10)
        assert not thread.is_alive()


def test_whoever_has_drawn_least_comes_first(turns, processor, queue):
    draws(turns, processor, "typist", 2.0)
    draws(turns, processor, "reader", 1.0)
    with turns.drawing("other"):
        queue("typist")
        queue("reader")
        queue("visitor")
        queue("second visitor")
        assert queue.drawn == []
    queue.end()
    assert queue.drawn == ["visitor", "second visitor", "reader", "typist"]


def test_after_a_page_or_two_all_come_in_the_order_in_which_they_asked(turns, processor, queue):
    for session, seconds in (("first", 0.3), ("second", 0.1), ("third", 0.0), ("typist", 0.5)):
        draws(turns, processor, session, seconds)
    with turns.drawing("other"):
        for session in ("typist", "first", "second", "third"):
            queue(session)
    queue.end()
    assert queue.drawn == ["first", "second", "third", "typist"]


def test_what_a_session_draws_adds_up_and_counts_half_after_five_seconds(
    turns, processor, clock, queue
):
    for _ in range(3):
        draws(turns, processor, "typist", 0.4)
    draws(turns, processor, "reader", 1.0)
    draws(turns, processor, "early", 1.4)
    clock.now += 5
    draws(turns, processor, "late", 0.8)
    with turns.drawing("other"):
        for session in ("late", "early", "typist", "reader"):
            queue(session)
    queue.end()
    assert queue.drawn == ["reader", "typist", "early", "late"]


def test_what_was_drawn_long_ago_no_longer_counts(turns, processor, clock, queue):
    draws(turns, processor, "typist", 2.0)
    clock.now += 60
    draws(turns, processor, "visitor", 0.1)
    with turns.drawing("other"):
        queue("visitor")
        queue("typist")
    queue.end()
    assert queue.drawn == ["typist", "visitor"]


def test_others_draw_while_one_waits_for_a_worker(turns, queue):
    with turns.drawing("waits"):
        with turns.waiting():
            queue("visitor")
            queue.end()
            assert queue.drawn == ["visitor"]
        queue("later")
        assert queue.drawn == ["visitor"]
    queue.end()
    assert queue.drawn == ["visitor", "later"]


def test_one_that_draws_for_long_keeps_nobody_waiting(turns, clock, queue):
    with turns.drawing("slow"):
        clock.now += LONGEST
        queue("visitor")
        queue.end()
        assert queue.drawn == ["visitor"]


def test_a_page_that_is_stopped_gives_its_turn_back(turns, queue):
    class Stop(BaseException):
        pass

    with pytest.raises(Stop), turns.drawing("stopped"):
        raise Stop
    queue("visitor")
    queue.end()
    assert queue.drawn == ["visitor"]


def test_of_several_keys_of_one_session_the_last_waits_and_the_others_do_not(turns, queue):
    with turns.drawing("other"):
        queue("typist")
        queue("typist")
        until(lambda: queue.drawn == ["typist"])  # it was told to stop, and only has to see it
        assert len(turns._waiting) == 1
    queue.end()
    assert not turns._newest


def test_whoever_is_in_no_hurry_comes_before_one_who_is(turns, processor, clock, queue):
    draws(turns, processor, "visitor", 2.0)
    clock.now += SOON
    with turns.drawing("other"):
        queue("typist")
        queue("typist")
        queue("visitor")
    queue.end()
    assert queue.drawn == ["typist", "visitor", "typist"]


def test_a_page_that_draws_itself_again_is_in_no_hurry(turns, processor, queue):
    draws(turns, processor, "visitor", 0.1)
    with turns.drawing("visitor"):
        assert not turns._newest["visitor"].hurries


def test_whoever_is_in_a_hurry_rests_while_others_ask(turns, clock, queue):
    hurry(turns, clock, "typist", "second typist")
    queue("typist")
    assert queue.drawn == []
    queue("visitor")
    until(lambda: queue.drawn == ["visitor"])
    clock.now += 0.1
    queue.end()
    assert queue.drawn == ["visitor", "typist"]


def test_whoever_is_alone_need_not_rest(turns, clock, queue):
    hurry(turns, clock, "typist")
    queue("typist")
    queue.end()
    assert queue.drawn == ["typist"]


def test_nobody_rests_for_long(turns, clock, queue):
    hurry(turns, clock, "typist", seconds=0.0)

    def draw():
        with turns.drawing("typist"):
            clock.now += 60
            queue("visitor")

    thread = threading.Thread(target=draw)
    thread.start()
    thread.join(10)
    queue("typist")
    queue("typist")
    clock.now += 2.0
    queue.end()
    assert queue.drawn == ["visitor", "typist", "typist"]


def test_who_has_no_turn_waits_without_one(turns):
    with turns.drawing("other"):
        thread = threading.Thread(target=lambda: turns.waiting().__enter__())
        thread.start()
        thread.join(10)
        assert not thread.is_alive()


def test_nobody_in_a_hurry_waits_for_ever_while_others_come(turns, clock, queue):
    hurry(turns, clock, "typist", "second typist")
    clock.now += SOON / 2
    with turns.drawing("other"):
        queue("typist")
        clock.now += 2.0
        queue("visitor")
    queue.end()
    assert queue.drawn == ["typist", "visitor"]
