"""What expires is deleted as time passes, and not because a clock was set wrong."""

import logging

import pytest
from support.runs import page

from dashboard.storage.runs import Limits
from dashboard.storage.sweep_clock import SweepClock

HOUR, DAY = 3600.0, 86_400.0
BEGAN = 1_700_000_000.0


class Machine:
    """A machine with a clock that may be set, and processes that come and go."""

    def __init__(self, path):
        self.path, self.wall, self.running, self.newest = path, BEGAN, 50.0, BEGAN

    def start(self):
        self.clock = SweepClock(
            self.path, lambda: self.newest, wall=lambda: self.wall, running=lambda: self.running
        )
        return self

    def passes(self, seconds):
        self.wall += seconds
        self.running += seconds
        return self.clock.now()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "clock.json").start()


def test_time_that_passes_is_believed(machine):
    for seconds in (0, 10, HOUR, 60 * DAY):
        assert machine.passes(seconds) == machine.wall


def test_a_leap_is_believed_after_a_day_and_said(machine, caplog):
    machine.passes(HOUR)
    before = machine.wall
    machine.wall += 60 * DAY
    with caplog.at_level(logging.WARNING):
        for _ in range(24):
            assert machine.passes(HOUR - 1) == before
    assert caplog.text.count("60 days after the last look at what expires; nothing") == 1
    assert machine.passes(2 * HOUR) == machine.wall
    assert machine.passes(HOUR) == machine.wall


def test_a_leap_after_weeks_without_a_look_is_no_better(machine):
    machine.passes(30 * DAY)
    before = machine.wall
    machine.wall += 60 * DAY
    machine.running += DAY
    assert machine.clock.now() == before


def test_starting_again_makes_it_no_truer(machine):
    machine.passes(HOUR)
    before = machine.wall
    machine.wall = machine.newest = machine.wall + 60 * DAY  # something is kept meanwhile
    for _ in range(3):
        machine.start()
        assert machine.clock.now() == before
        assert machine.passes(7 * HOUR) == before
    machine.start().clock.now()
    assert machine.passes(4 * HOUR) == machine.wall


def test_a_clock_that_is_set_right_again_is_believed(machine):
    machine.passes(HOUR)
    machine.wall += 60 * DAY
    machine.passes(HOUR)
    machine.wall -= 60 * DAY
    assert machine.passes(HOUR) == machine.wall
    machine.wall -= 5 * DAY  # it was fast until now
    assert machine.passes(HOUR) == machine.wall


def test_each_leap_waits_for_a_day_of_its_own(machine):
    machine.passes(HOUR)
    machine.wall += 60 * DAY
    machine.passes(HOUR)
    machine.passes(14 * HOUR)
    machine.wall -= 60 * DAY
    assert machine.passes(HOUR) == machine.wall
    before = machine.wall
    machine.wall += 60 * DAY
    assert machine.passes(HOUR) == machine.passes(14 * HOUR) == before
    assert machine.passes(10 * HOUR) == machine.wall


def test_what_was_made_by_a_clock_that_was_fast_is_no_time(machine):
    machine.newest = BEGAN + 40 * DAY
    assert machine.clock.now() == BEGAN


def test_a_weekend_without_a_server_is_believed(machine):
    machine.passes(HOUR)
    machine.wall += 2.6 * DAY
    assert machine.start().clock.now() == machine.wall


def test_of_what_an_older_version_kept_the_newest_is_believed(machine):
    machine.newest = BEGAN - 40 * DAY
    assert machine.clock.now() == BEGAN - 40 * DAY
    assert machine.passes(HOUR) == BEGAN - 40 * DAY
    assert machine.passes(DAY) == machine.wall


def test_an_empty_store_believes_its_clock(machine):
    machine.newest = None
    assert machine.clock.now() == BEGAN


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"believed": "x", "waited": 0}'])
def test_a_damaged_file_is_as_none(machine, text):
    machine.path.write_text(text, "utf-8")
    machine.newest = BEGAN - 40 * DAY
    assert machine.clock.now() == BEGAN - 40 * DAY


def test_a_clock_sixty_days_fast_deletes_no_run(opened_runs, monkeypatch):
    store = opened_runs(limits=Limits(days=30))
    older = store.keep(page())
    monkeypatch.setattr("time.time", lambda: older.created + 60 * DAY)
    newer = store.keep(page("newer", seed=5))
    store.sweep()
    assert store.all() == [newer]
    monkeypatch.undo()
    assert store.find(older.id) == older
    assert store.open(older.id) == page()
