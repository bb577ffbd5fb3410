"""Two owners: each lists and changes what is theirs, and a link shows the rest."""

from dataclasses import replace

import pytest

from dashboard.jobs.own_trainings import OwnTrainings
from dashboard.records.request import Request
from dashboard.records.training import Training
from dashboard.visitors import NotAllowed, Visitor

CHANGES = ("pause", "resume", "cancel", "remove")


class Trainings:
    def __init__(self):
        self.known, self.calls, self.addresses = {}, [], []

    def list(self):
        return list(self.known.values())

    def get(self, id):
        return self.known[id]

    def start(self, request, owner, address):
        self.addresses.append(address)
        id = f"{len(self.known):08x}"
        self.known[id] = Training(
            id=id, request=request, created=0.0, state="queued", note="", owner=owner
        )
        return id

    def export(self, id, name):
        self.calls.append(("export", id))
        return name

    def __getattr__(self, name):
        if name not in CHANGES:
            raise AttributeError(name)

        def change(id, address=None):
            self.calls.append((name, id))
            self.addresses.append(address)

        return change


@pytest.fixture
def trainings():
    return Trainings()


@pytest.fixture
def seen_by(trainings):
    def make(owner, role="author", classroom=False, address=""):
        visitor = Visitor(owner=owner, role=role, classroom=classroom, address=address)
        return OwnTrainings(trainings, visitor)

    return make


REQUEST = Request.make("training")


def test_each_lists_their_own_and_an_administrator_all(seen_by):
    ada, eve = seen_by("ada"), seen_by("eve")
    first, second = ada.start(REQUEST), eve.start(REQUEST)
    assert [one.id for one in ada.list()] == [first]
    assert [one.id for one in eve.list()] == [second]
    assert [one.id for one in seen_by("", "administrator").list()] == [first, second]
    assert [one.id for one in eve.every()] == [first, second]


def test_a_link_shows_what_it_names(seen_by):
    ada, eve = seen_by("ada"), seen_by("eve")
    first, second = ada.start(REQUEST), ada.start(REQUEST)
    assert [one.id for one in eve.list((first[:8],))] == [first]
    assert [one.id for one in eve.list(("x", first[:7]))] == [first, second]
    assert eve.list((second[1:],)) == []
    assert not eve.owns(eve.list((first,))[0])


def test_where_a_visitor_is_counts_when_a_training_starts_and_goes_on(seen_by, trainings):
    ada = seen_by("ada", address="school")
    ada.resume(ada.start(REQUEST))
    assert trainings.addresses == ["school", "school"]


def test_trainings_take_as_long_as_those_that_are_alike_take_on_average(seen_by, trainings):
    requests = [Request.make("training", data=data, options={"recipe.epochs": 2})
                for data in ("pairs", "symbols", "new")]  # fmt: skip
    for request, seconds in zip(requests[:2], (3.0, 5.0), strict=True):
        id = seen_by("ada").start(request)
        live = {"seconds_whole": seconds, "epochs": 1}
        trainings.known[id] = replace(trainings.known[id], live=live)
    assert seen_by("eve").expected(requests[:2]) == 8.0
    assert seen_by("eve").expected(requests) is None


@pytest.mark.parametrize("change", CHANGES)
def test_only_the_owner_and_an_administrator_change_a_training(seen_by, trainings, change):
    id = seen_by("ada").start(REQUEST)
    with pytest.raises(NotAllowed, match="this training belongs to somebody else"):
        getattr(seen_by("eve"), change)(id)
    assert trainings.calls == []
    getattr(seen_by("ada"), change)(id)
    getattr(seen_by("", "administrator"), change)(id)
    assert trainings.calls == [(change, id)] * 2


def test_only_the_owner_keeps_the_model(seen_by, trainings):
    id = seen_by("ada").start(REQUEST)
    with pytest.raises(NotAllowed):
        seen_by("eve").export(id, "mine")
    assert seen_by("ada").export(id, "mine") == "mine"
    assert trainings.calls == [("export", id)]


def test_in_a_classroom_nothing_starts_and_nothing_changes(seen_by, trainings):
    id = seen_by("ada").start(REQUEST)
    student = seen_by("ada", classroom=True)
    with pytest.raises(NotAllowed, match="is switched off on this server"):
        student.start(REQUEST)
    with pytest.raises(NotAllowed, match="is switched off on this server"):
        student.cancel(id)
    assert not student.owns(trainings.known[id])
    assert seen_by("ada").owns(trainings.known[id])
    assert len(trainings.known) == 1
    assert trainings.calls == []


def test_who_has_not_logged_in_where_one_can_starts_nothing(seen_by, trainings):
    with pytest.raises(NotAllowed, match=r"^Training is for those who have logged in"):
        seen_by("x", "visitor").start(REQUEST)
    assert trainings.known == {}
