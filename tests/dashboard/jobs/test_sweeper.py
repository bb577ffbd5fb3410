"""Clients that are gone, on a clock that stands still until it is moved."""

import pytest

from dashboard.jobs.pool import Sweeper


class Backend:
    def __init__(self):
        self.known, self.left, self.rooms = ["a", "b"], [], 0

    def clients(self):
        return [client for client in self.known if client not in self.left]

    def leave(self, client):
        self.left.append(client)

    def make_room(self):
        self.rooms += 1


@pytest.fixture
def world():
    """A backend, who is there, and ``at(seconds)``, which looks then."""

    class World:
        backend, there, now = Backend(), {"a", "b"}, 0.0

        def at(self, seconds):
            self.now = seconds
            sweeper.sweep()
            return self.backend.left

    made = World()
    sweeper = Sweeper(made.backend, lambda client: client in made.there, 5.0, lambda: made.now)
    return made


def test_who_is_there_keeps_all_jobs(world):
    assert world.at(0.0) == world.at(100.0) == []


def test_who_is_gone_loses_them_after_the_grace_and_nobody_else_does(world):
    world.there.remove("a")
    assert world.at(1.0) == []
    assert world.at(5.9) == []
    assert world.at(6.0) == ["a"]
    assert world.at(60.0) == ["a"]


def test_who_comes_back_in_time_keeps_them(world):
    world.there.remove("a")
    world.at(1.0)
    world.there.add("a")
    world.at(4.0)
    world.there.remove("a")
    assert world.at(7.0) == []
    assert world.at(12.0) == ["a"]


def test_every_look_makes_room_for_short_jobs(world):
    world.at(1.0)
    world.at(2.0)
    assert world.backend.rooms == 2
