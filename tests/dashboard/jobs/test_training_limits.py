"""How many trainings there may be, and how large: refused where they would be queued."""

import itertools
import subprocess
import sys
from contextlib import suppress

import pytest

from dashboard.jobs.backend import Capacity
from dashboard.jobs.trainings import Trainings
from dashboard.records.request import Request
from dashboard.storage.training_folder import TrainingFolder
from dashboard.storage.training_history import request_stop, requested_stop


class Backend:
    """Keeps every job queued."""

    def __init__(self):
        self.clients, self.options, self._numbers = [], [], itertools.count()

    def submit(self, request, *, client="", work=0.0, time_limit=None):
        self.clients.append(client)
        self.options.append(dict(request.options))
        return str(next(self._numbers))

    def events(self, job, after=0):
        return []

    def wait(self, job, timeout):
        return None

    def wait_ahead(self, job):
        return None

    def capacity(self):
        return Capacity(workers=1, running=0, queued=len(self.clients))

    def close(self):
        pass


@pytest.fixture
def backend(monkeypatch):
    monkeypatch.setattr("dashboard.jobs.training_jobs.TrainingJobs._watch", lambda *_: None)
    return Backend()


@pytest.fixture
def trainings(backend, tmp_path):
    made = Trainings(tmp_path, make_backend=lambda: backend)
    yield made
    made.close()


def order(epochs=2, seed=0):
    return Request.make("training", options={"recipe.epochs": epochs}, seed=seed)


def test_an_owner_has_so_many_and_others_have_theirs(trainings, backend, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAININGS_PER_OWNER", "2")
    for seed in range(2):
        trainings.start(order(seed=seed), "ada")
    with pytest.raises(ValueError, match=r"^2 of your trainings .*_TRAININGS_PER_OWNER\); wait"):
        trainings.start(order(seed=2), "ada")
    trainings.start(order(seed=3), "bob")
    assert backend.clients == ["ada", "ada", "bob"]


def test_all_owners_together_have_so_many(trainings, backend, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAININGS", "3")
    for owner in ("ada", "bob", "eve"):
        trainings.start(order(), owner)
    with pytest.raises(ValueError, match=r"^3 trainings wait or run .*\(ATTENTION_TRAININGS\)"):
        trainings.start(order(), "kim")
    assert len(backend.clients) == 3


def started(trainings, visitors):
    """How many trainings each of the visitors starts, an owner and an address, one by one."""
    counts = []
    for owner, address in visitors:
        counts.append(0)
        with suppress(ValueError):
            while True:
                trainings.start(order(), owner, address)
                counts[-1] += 1
    return counts


def test_new_owners_at_one_address_leave_half_of_the_places_to_others(trainings):
    cookies = [(f"cookie {number}", "there") for number in range(8)]
    assert started(trainings, cookies) == [30, 20, 0, 0, 0, 0, 0, 0]
    assert started(trainings, [("ada", "here"), ("bob", "home"), ("", "")]) == [25, 12, 13]


def test_so_does_an_owner_whose_address_is_not_known(trainings, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAININGS_PER_OWNER", "100")
    assert started(trainings, [("ada", ""), ("bob", ""), ("eve", "")]) == [50, 25, 12]
    with pytest.raises(ValueError, match="takes 13 more trainings, and keeps them for others"):
        trainings.start(order(), "eve")


def test_a_class_behind_one_router_may_have_more(trainings, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAININGS_PER_ADDRESS", "3")
    assert started(trainings, [("ada", "school"), ("bob", "school")]) == [3, 0]
    with pytest.raises(ValueError, match=r"3 trainings from your network .*PER_ADDRESS\); wait"):
        trainings.start(order(), "bob", "school")
    trainings.start(order(), "bob", "home")
    monkeypatch.setenv("ATTENTION_TRAININGS_PER_ADDRESS", "200")
    monkeypatch.setenv("ATTENTION_TRAININGS", "200")
    class_of_30 = [(f"student {number}", "school") for number in range(30)]
    assert sum(started(trainings, class_of_30)) == 96  # of 199 that others left, half with 3


def test_too_many_epochs_are_refused_before_anything_is_written(trainings, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAINING_EPOCHS", "7")
    with pytest.raises(ValueError, match=r"at most 7 epochs \(ATTENTION_TRAINING_EPOCHS\), got 8"):
        trainings.start(order(epochs=8))
    assert trainings.list() == []
    trainings.start(order(epochs=7))


def test_a_paused_training_finds_no_room_either(trainings, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAININGS_PER_OWNER", "1")
    first = trainings.start(order(), "ada")
    trainings.jobs._jobs.clear()
    trainings.jobs._holders.clear()
    trainings._claims.release(first)
    TrainingFolder(first, trainings._root).note_state("paused")
    trainings.start(order(seed=1), "ada")
    with pytest.raises(ValueError, match="PER_OWNER"):
        trainings.resume(first)
    assert trainings.get(first).state == "paused"


@pytest.fixture
def paused(trainings):
    """A training of Ada's that may go on from a snapshot."""
    folder = TrainingFolder.create(order(), trainings._root, owner="ada")
    folder.note_state("paused")
    folder.write_snapshot(b"half of it")
    return folder


def test_what_goes_on_is_not_stopped_by_a_request_of_before(trainings, paused):
    request_stop(paused.path, "pause")
    trainings.resume(paused.id, "school")
    assert requested_stop(paused.path) is None
    assert trainings.get(paused.id).state == "queued"
    assert trainings.jobs.holders() == [("ada", "school")]
    assert paused.snapshot().read_bytes() == b"half of it"


def test_what_is_cancelled_keeps_no_snapshot(trainings, paused):
    trainings.cancel(paused.id)
    assert trainings.get(paused.id).state == "cancelled"
    assert paused.snapshot() is None
    with pytest.raises(ValueError, match="this training is cancelled; only a paused or failed"):
        trainings.resume(paused.id)


def test_trainings_are_listed_newest_first(trainings):
    ids = [trainings.start(order(seed=seed)) for seed in range(3)]
    assert [one.id for one in trainings.list()] == ids[::-1]


def test_the_worker_is_told_its_limits(trainings, backend, monkeypatch):
    monkeypatch.setenv("ATTENTION_TRAINING_HOURS", "0.5")
    monkeypatch.setenv("ATTENTION_TRAINING_PARAMETERS", "1234")
    trainings.start(order())
    (options,) = backend.options
    assert (options["limit.seconds"], options["limit.parameters"]) == (1800, 1234)


def test_what_waited_when_a_server_ended_is_queued_again_in_its_order(tmp_path, backend):
    first = Trainings(tmp_path, make_backend=lambda: backend)
    ids = [first.start(order(seed=seed), "ada") for seed in range(3)]
    TrainingFolder(ids[1], tmp_path).note_state("running")  # it was at work, and comes back paused
    first.close()
    again = Backend()
    other = Trainings(tmp_path, make_backend=lambda: again)
    other.adopt()
    assert [options["training"] for options in again.options] == [ids[0], ids[2]]
    assert again.clients == ["ada", "ada"]
    assert other.get(ids[1]).state == "paused"
    other.adopt()  # once
    assert len(again.options) == 2
    other.close()


def test_what_waits_at_a_server_that_lives_is_left_to_it(tmp_path, backend):
    first = Trainings(tmp_path, make_backend=lambda: backend)
    first.start(order())
    other = Trainings(tmp_path, make_backend=lambda: pytest.fail("nothing to run"))
    other.adopt()
    first.close()


CRASHING = """
import sys, time
from pathlib import Path
from dashboard.jobs.backend import Capacity
from dashboard.jobs.trainings import Trainings
from dashboard.records.request import Request

class Backend:
    def submit(self, request, **_): return "1"
    def events(self, job, after=0): return []
    def wait(self, job, timeout): time.sleep(timeout)
    def wait_ahead(self, job): return None

trainings = Trainings(Path(sys.argv[1]), make_backend=Backend)
print(trainings.start(Request.make("training"), "ada"), flush=True)
time.sleep(600)
"""


def test_what_waited_when_a_server_was_killed_is_queued_again(tmp_path, backend):
    server = subprocess.Popen(
        [sys.executable, "-c", CRASHING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with server:
        id = server.stdout.readline().strip()
        other = Trainings(tmp_path, make_backend=lambda: backend)
        other.adopt()
        assert backend.options == []  # it is in the queue of a server that lives
        server.kill()
    other.adopt()
    assert [options["training"] for options in backend.options] == [id]
    assert (other.get(id).state, backend.clients) == ("queued", ["ada"])
    other.close()
