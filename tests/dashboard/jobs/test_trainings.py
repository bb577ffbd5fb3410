"""Trainings with real workers on a tiny corpus: queued, paused, killed, found again, exported."""

import hashlib
import math
import os
import signal
import time

import pytest

from attention_plugins.checkpoints import read
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.jobs.trainings import Trainings
from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs
from dashboard.storage.training_folder import TrainingFolder
from dashboard.storage.training_history import request_stop

pytestmark = pytest.mark.timeout(900)  # three processes may start, each of them slowly
PATIENCE = 200  # seconds
ROWS = [
    (f"I see {a} {n}{sign}", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
    for sign in ".?"
]
MODEL = {"model.embed": 6, "model.hidden": 10, "model.layers": 1}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder that page and workers share, with an uploaded corpus in it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def corpus(home):
    return Blobs(home).put("\n".join("\t".join(row) for row in ROWS).encode())


@pytest.fixture(scope="module")
def serve(home):
    """Services over the same folder, one after the other, as servers come and go."""
    made = []

    def training_pool():
        return LocalPool(PoolOptions(
            workers=1, time_limit=math.inf, grace=60.0, cache=0, nice=1,
            environment={"ATTENTION_WORKBENCH_HOME": str(home)},
        ))  # fmt: skip

    def make(**settings):
        made.append(Trainings(home, make_backend=training_pool, **settings))
        return made[-1]

    yield make
    for service in made:
        service.close()


@pytest.fixture(scope="module")
def trainings(serve):
    return serve(taken_names=lambda: ["shipped_one"])


@pytest.fixture
def order(corpus):
    """``order(epochs=3)``: a request; other options by keyword ``options``."""

    def make(epochs=2, options=None, seed=0, **fields):
        chosen = {
            "recipe.epochs": epochs, "recipe.batch_size": 4, "recipe.min_frequency": 1,
            "pairs": 0, "held_out": 3, "probe": "I see my dog.", **MODEL, **(options or {}),
        }  # fmt: skip
        asked = {"model": "bahdanau", "scoring": "additive", "data": f"upload:{corpus}", **fields}
        return Request.make("training", **asked, options=chosen, seed=seed, device="cpu")

    return make


def until(service, id, wanted):
    """The training once it is in one of the states, or ``wanted(training)`` holds."""
    test = wanted if callable(wanted) else lambda training: training.state in wanted.split()
    end = time.monotonic() + PATIENCE
    while not test(training := service.get(id)):
        assert time.monotonic() < end, training
        assert training.state != "failed", training
        time.sleep(0.01)
    return training


def digest(service, id, epoch):
    folder = TrainingFolder(id, service._root).model()
    assert folder.name == f"{epoch:05}"
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def worker(trainings):
    """The process id of the one trainer."""
    return lambda: trainings.jobs._backend._supervisor._setup.workers[0].process.pid


def test_one_runs_while_the_next_waits_and_both_are_finished(trainings, order):
    first, second = trainings.start(order(4)), trainings.start(order(2, seed=1))
    assert trainings.get(second).state == "queued"
    live = until(trainings, first, lambda training: "step" in training.live or training.epochs)
    assert live.state in ("running", "done")
    assert trainings.get(second).state == "queued"
    assert [training.id for training in trainings.list()][:2] == [second, first]
    done = until(trainings, second, "done")
    assert trainings.get(first).state == "done"
    assert done.note.startswith("Trained to the end of epoch 2; loss ")
    assert done.live == {}
    assert [epoch.epoch for epoch in done.epochs] == [1, 2]
    assert all(0 < epoch.loss < 5 and 0 <= epoch.bleu <= 100 for epoch in done.epochs)
    assert all(epoch.seconds > 0 and epoch.tokens_per_second > 0 for epoch in done.epochs)
    facts = done.facts
    assert facts["title"].startswith("Bahdanau (recurrent encoder–decoder) with Additive")
    assert (facts["model"], facts["scoring"]) == ("bahdanau", "additive")
    assert facts["held_out_sources"] == 3
    (row,) = trainings.probe(second, 2).to_pylist()
    assert row["keys"] == ["i", "see", "my", "dog", ".", "<eos>"]
    with pytest.raises(KeyError):
        trainings.probe(second, 3)


def test_live_figures_say_how_far_it_is(trainings, order):
    id = trainings.start(order(400))
    live = until(trainings, id, lambda training: "step" in training.live).live
    assert set(live) == {
        "epoch", "epochs", "step", "steps", "loss", "tokens_per_second", "fraction",
        "seconds_left", "seconds_whole",
    }  # fmt: skip
    assert (live["epochs"], live["steps"]) == (400, 3)
    assert live["fraction"] == pytest.approx(((live["epoch"] - 1) + live["step"] / 3) / 400)
    trainings.remove(id)
    with pytest.raises(KeyError):
        trainings.get(id)
    end = time.monotonic() + PATIENCE
    while TrainingFolder(id, trainings._root).path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.slow
def test_a_paused_training_goes_on_to_the_very_same_model(trainings, order):
    whole = trainings.start(order(30))
    until(trainings, whole, "done")
    id = trainings.start(order(30))
    until(trainings, id, lambda training: len(training.epochs) >= 2)
    trainings.pause(id)
    assert trainings.get(id).state in ("pausing", "paused")
    paused = until(trainings, id, "paused")
    assert 2 <= len(paused.epochs) < 30
    assert paused.note == f"Paused after {len(paused.epochs)} epochs; resume to go on."
    trainings.pause(id)  # a second click
    trainings.resume(id)
    done = until(trainings, id, "done")
    expected = [(epoch.loss, epoch.bleu, epoch.probe) for epoch in trainings.get(whole).epochs]
    assert [(epoch.loss, epoch.bleu, epoch.probe) for epoch in done.epochs] == expected
    assert digest(trainings, id, 30) == digest(trainings, whole, 30)
    with pytest.raises(ValueError, match="this training is done; only a paused or failed one"):
        trainings.resume(id)


def test_what_waits_can_be_paused_and_cancelled(trainings, order):
    busy, waits, goes = (trainings.start(order(400, seed=seed)) for seed in range(3))
    trainings.pause(waits)
    until(trainings, waits, "paused")
    trainings.cancel(goes)
    assert trainings.get(goes).state == "cancelled"
    with pytest.raises(ValueError, match="this training is cancelled; only"):
        trainings.resume(goes)
    until(trainings, busy, lambda training: training.epochs)
    with pytest.raises(ValueError, match="this training is running; pause it, then keep it"):
        trainings.export(busy, "early")
    trainings.cancel(busy)
    cancelled = trainings.get(busy)
    assert (cancelled.state, cancelled.note) == ("cancelled", "Cancelled.")
    assert cancelled.epochs
    with pytest.raises(ValueError, match="has not finished an epoch"):
        trainings.export(waits, "early")
    trainings.cancel(waits)
    # The worker is free again once the cancelled step has ended.
    last = trainings.start(order(1, seed=7))
    assert until(trainings, last, "done").checkpoint == ""
    assert trainings.export(busy, "cut-short") == "cut_short"


@pytest.mark.slow
def test_a_crash_fails_the_training_and_it_can_go_on(trainings, order, worker):
    id = trainings.start(order(300))
    until(trainings, id, lambda training: len(training.epochs) >= 2)
    os.kill(worker(), signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while (failed := trainings.get(id)).state != "failed":
        assert time.monotonic() < end, failed
        time.sleep(0.01)
    assert "was killed by SIGKILL" in failed.note
    assert failed.facts["culprit"] == "additive"
    before = len(failed.epochs)
    assert 2 <= before < 300
    trainings.resume(id)
    until(trainings, id, lambda training: len(training.epochs) > before)
    numbers = [epoch.epoch for epoch in trainings.get(id).epochs]
    assert numbers == list(range(1, len(numbers) + 1))
    trainings.cancel(id)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"options": {"recipe.epochs": 0}}, "need 1 <= epochs <= 10000, got 0"),
        ({"options": {"epochs": 3}}, "no option 'epochs'; offered: pairs, held_out, probe, "),
        ({"data": "nowhere"}, 'no data set "nowhere"'),
    ],
)
def test_what_is_refused_says_why(trainings, order, fields, message):
    id = trainings.start(order(**fields))
    end = time.monotonic() + PATIENCE
    while (training := trainings.get(id)).state != "failed":
        assert time.monotonic() < end, training
        time.sleep(0.01)
    assert message in training.note
    assert training.epochs == ()


def test_an_exported_training_is_a_checkpoint(trainings, order, home, monkeypatch):
    refreshed = []
    monkeypatch.setattr(trainings, "_on_export", lambda: refreshed.append(True))
    id = trainings.start(order(2))
    until(trainings, id, "done")
    for name, reason in [
        ("", "need a name of 1 to 40"), ("../x", "need a name"), ("1st", "need a name"),
        ("shipped-one", "there is a checkpoint 'shipped_one' already"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=reason):
            trainings.export(id, name)
    assert not refreshed
    assert trainings.export(id, "Mine-1") == "mine_1"
    assert refreshed == [True]
    assert trainings.get(id).checkpoint == "mine_1"
    card = read(home / "checkpoints" / "mine_1").card
    assert card["scores"]["held out, greedy"]["bleu"] == trainings.get(id).epochs[-1].bleu
    assert card["training"]["epochs_done"] == 2
    with pytest.raises(ValueError, match="there is a checkpoint 'mine_1' already"):
        trainings.export(id, "mine_1")
    trainings.remove(id)
    kept = {path.name for path in (home / "checkpoints" / "mine_1").iterdir()}
    assert kept == {"card.json", "model.safetensors"}, "the maps of the probe stay behind"


@pytest.mark.slow
def test_another_server_finds_what_ran_as_paused_and_goes_on(trainings, serve, order):
    first = trainings  # after it was closed it would start a worker anew: so this comes late
    id = first.start(order(200))
    waits = first.start(order(2, seed=1))
    until(first, id, lambda training: len(training.epochs) >= 2)
    other = serve()  # while the first still runs
    assert other.get(id).state == "running"
    assert other.get(id).note == "Another server works on it."
    first.close()
    end = time.monotonic() + PATIENCE
    while other.get(id).state != "paused":
        assert time.monotonic() < end, other.get(id)
        time.sleep(0.01)
    found = other.get(id)
    assert found.note == "The server stopped in the meantime; resume to go on."
    assert other.get(waits).state == "queued"
    before = len(found.epochs)
    other.resume(id)
    until(other, id, lambda training: len(training.epochs) > before)
    other.cancel(id)
    assert other.get(waits).state == "queued"
    other.adopt()
    until(other, waits, "done")
    third = serve()
    states = {training.id: training.state for training in third.list()}
    assert (states[id], states[waits]) == ("cancelled", "done")
    third.close()
    other.close()


def test_how_another_server_ended_it_is_read_once_that_has_let_it_go(serve, order, monkeypatch):
    here = serve()
    folder = TrainingFolder.create(order(3), here._root)

    def let_go(self):
        here._files.record(self, "paused", "Paused after 1 epoch; resume to go on.")
        return False

    assert here.get(folder.id).state == "queued"
    monkeypatch.setattr(TrainingFolder, "held", let_go)
    assert here.get(folder.id).note == "Paused after 1 epoch; resume to go on."


@pytest.mark.slow
def test_what_another_server_trains_stops_there_before_a_page_says_that_it_has(serve, order):
    here, there = serve(), serve()
    id, waits = there.start(order(1000)), there.start(order(2, seed=1))
    until(here, id, lambda training: training.epochs)
    here.pause(waits)
    here.pause(id)
    assert here.get(id).state in ("pausing", "paused")
    for paused in (id, waits):
        note = until(here, paused, "paused").note
        assert note.startswith("Paused after ")
        assert not TrainingFolder(paused, here._root).busy()
        assert there.get(paused).state == "paused"
    here.resume(id)
    until(here, id, lambda training: training.live)
    there.cancel(id)
    assert there.get(id).state in ("pausing", "cancelled")
    until(there, id, "cancelled")
    ended(here, id)
    assert here.get(id).state == there.get(id).state == "cancelled"
    there.resume(waits)
    here.remove(waits)
    for service in (here, there):
        with pytest.raises(KeyError):
            service.get(waits)
    end = time.monotonic() + PATIENCE
    while TrainingFolder(waits, here._root).path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
    here.close()
    there.close()


def ended(service, id):
    """Wait until no worker has the training, and it may be resumed if it can be."""
    folder, end = TrainingFolder(id, service._root), time.monotonic() + PATIENCE
    while folder.busy() or folder.held():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_a_server_that_ended_was_to_remove_is_removed_by_the_next(home, order):
    service = Trainings(home, make_backend=lambda: pytest.fail("nothing to run"))
    folder = TrainingFolder.create(order(), home)
    request_stop(folder.path, "remove")
    with pytest.raises(KeyError, match="was removed"):
        service.get(folder.id)
    assert not folder.path.exists()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, order):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    service = Trainings(blocked, make_backend=lambda: pytest.fail("nothing to run"))
    with pytest.raises(ValueError, match=r"^cannot write .*; free some space there, or set"):
        service.start(order())
    assert service.list() == []


@pytest.mark.parametrize("id", ["", "../../etc", "f" * 32])
def test_an_unknown_training_is_a_key_error(trainings, id):
    for ask in (trainings.get, trainings.pause, trainings.resume, trainings.cancel):
        with pytest.raises(KeyError):
            ask(id)
    with pytest.raises(KeyError):
        trainings.probe(id, 1)
