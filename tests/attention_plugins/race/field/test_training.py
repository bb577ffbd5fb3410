"""A training on a task of the field: how it goes, and why it ends."""

import math
import time
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from attention_plugins.contract import ContractError
from attention_plugins.race import trials
from attention_plugins.race.field import training
from attention_plugins.race.field.tasks import IGNORED, TASKS, Labelled
from attention_plugins.race.records import (
    FLAT,
    SOLVED,
    SPENT,
    Budget,
    Contestant,
    Outcome,
    Plan,
    Trial,
)  # fmt: skip
from attention_plugins.race.store import Race

SMALL = Budget(examples=96, epochs=2, batch_size=40, rates=(0.01, 0.001))
TINY = replace(
    TASKS["mqar_64_4"], name="mqar_tiny", vocabulary=12, length=8, budget=SMALL, reported=30,
    settings={"pairs": 1, "power": 0.01, "random_non_queries": False},
)  # fmt: skip
DOT, LINEAR = (
    Contestant(model="zoology_64", scoring=n) for n in ("scaled_dot", "linear_attention")
)
PLAN = Plan(tasks={"mqar_tiny": SMALL}, contestants=(DOT, LINEAR), seeds=1)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setitem(TASKS, "mqar_tiny", TINY)


def trial(**changes):
    return replace(
        Trial(task="mqar_tiny", contestant=DOT, rate=0.01, seed=3, tuning=True), **changes
    )


def test_a_training_keeps_its_course_and_says_why_it_ended():
    found = trials.perform(trial(), PLAN)
    assert not found.problem
    assert [step for step, *_ in found.course] == [3, 6]  # three batches each
    assert found.validation == pytest.approx(found.course[-1][1], rel=1e-4)
    assert (found.ended, math.isnan(found.quality)) == (SPENT, True)
    assert found.milliseconds > 0 < found.operations
    assert Outcome.from_json(found.to_json()) == replace(found, course=tuple(found.course))
    assert trials.perform(trial(), PLAN).course == found.course
    assert trials.perform(trial(tuning=False), PLAN).quality == found.validation


def test_it_learns_and_stops_once_it_is_solved(monkeypatch):
    budget = Budget(examples=200, epochs=60, batch_size=40, rates=(0.01,))
    task = replace(TINY, budget=budget)
    monkeypatch.setitem(TASKS, "mqar_easy", replace(task, name="mqar_easy"))
    found = training.learn(trial(task="mqar_easy"), budget)
    assert found.ended == SOLVED
    assert found.validation > 0.99
    assert found.course[0][2] > found.course[-1][2]
    assert 1 < len(found.course) < 60


def test_a_model_that_is_no_model_of_the_field_is_refused():
    with pytest.raises(ContractError, match="zoology_65"):
        trials.plan(tasks=["mqar_tiny"], models=["zoology_65"], scorings=["dot"])
    assert (
        "zoology_65"
        in trials.perform(trial(contestant=replace(DOT, model="zoology_65")), PLAN).problem
    )


def flat(values, losses):
    course = [(float(i), v, x) for i, (v, x) in enumerate(zip(values, losses, strict=True))]
    return training._ended(course, replace(TINY, flat=3))


def test_flat_is_where_neither_accuracy_rose_nor_the_loss_fell():
    assert flat([0.5] * 3, [1.0] * 3) == ""  # too early to say
    assert flat([0.5] * 4, [1.0] * 4) == FLAT
    assert flat([0.5] * 4, [1.0, 1.0, 0.98, 1.0]) == ""
    assert flat([0.5, 0.5, 0.52, 0.5], [1.0] * 4) == ""
    assert flat([0.5, 0.5, 0.505, 0.5], [1.0, 0.995, 0.995, 0.995]) == FLAT
    assert flat([0.5, 0.991], [1.0, 1.0]) == SOLVED


class Answers:
    """A model that answers what it is told."""

    def __init__(self, ids):
        self.ids = ids

    def eval(self):
        pass

    def __call__(self, batch):
        return torch.nn.functional.one_hot(self.ids[batch.inputs[:, 0].long()], 12).double()


@pytest.mark.parametrize(("macro", "wanted"), [(False, 3 / 5), (True, (2 / 3 + 0 + 1) / 3)])
def test_accuracy_counts_what_is_asked_for(macro, wanted):
    labels = torch.tensor([[4, 4], [4, 6], [7, IGNORED]])
    answers = Answers(torch.tensor([[4, 4], [5, 7], [7, 0]]))
    tested = Labelled(torch.tensor([[0], [1], [2]]), torch.zeros(3, 2).long(), labels)
    small = replace(TINY, macro=macro, budget=replace(SMALL, batch_size=2))
    assert training.accuracy(answers, tested, small) == pytest.approx(wanted)


def test_everybody_learns_at_one_rate_before_the_next_and_what_is_solved_rests():
    order = list(trials.pending(PLAN, []))
    assert [(one.rate, one.contestant) for one in order] == [
        (0.01, DOT), (0.01, LINEAR), (0.001, DOT), (0.001, LINEAR),
    ]  # fmt: skip
    assert all(one.tuning for one in order)
    solved = Outcome(trial=order[0], validation=0.995, ended=SOLVED)
    left = list(trials.pending(PLAN, [solved]))
    assert [(one.rate, one.tuning) for one in left if one.contestant == DOT] == [(0.01, False)]
    assert [one.rate for one in left if one.contestant == LINEAR] == [0.01, 0.001]


def test_a_plan_of_the_fields_tasks_only_chooses_rates():
    plan = trials.plan(tasks=["mqar_tiny"], scorings=["scaled_dot"], normalisers=["sparsemax"])
    assert plan.seeds == 0
    assert [one.name for one in plan.contestants] == ["scaled_dot", "scaled_dot + sparsemax"]
    assert trials.count(plan) == 4
    assert trials.higher_is_better("mqar_tiny")
    assert {trials.kind_of("mqar_tiny"), trials.kind_of_model("mad_128")} == {"zoology", "mad"}


def test_the_rate_falls_by_a_cosine_to_the_tasks_last(monkeypatch):
    rates = []
    monkeypatch.setattr(
        training, "stepping",
        lambda *given: lambda batch, rate: rates.append(rate) or torch.zeros(()),
    )  # fmt: skip
    budget = replace(SMALL, epochs=4)
    learned = TINY.drawn(40, 0, learned=True)
    optimiser = torch.optim.AdamW([torch.zeros(1)], lr=1.0)
    task = replace(TINY, last_rate=0.2)
    list(training.epochs(torch.nn.Identity(), optimiser, learned, task, budget))
    wanted = [0.2 + 0.8 * (1 + math.cos(math.pi * n / 4)) / 2 for n in range(4)]
    assert rates == pytest.approx(wanted)


def test_a_pause_makes_no_training_dearer(monkeypatch):
    def pausing(one, budget, device, **others):
        time.sleep(0.2)
        return Outcome(trial=one, seconds=7.0)  # before it was stopped

    monkeypatch.setattr(trials, "learn", pausing)
    found = trials.perform(trial(), PLAN)
    assert not found.problem
    assert 7.0 <= found.seconds < 7.1


class Card:
    """A CUDA device that is none: what is recorded is called again by a graph's replay."""

    def __init__(self, monkeypatch):
        self.recording, self.modes, self.replays = None, [], 0
        cuda = torch.cuda
        monkeypatch.setattr(cuda, "Stream", lambda device: self)
        monkeypatch.setattr(cuda, "current_stream", lambda: self)
        monkeypatch.setattr(cuda, "stream", lambda stream: nullcontext())
        monkeypatch.setattr(cuda, "set_sync_debug_mode", self.modes.append)
        monkeypatch.setattr(cuda, "CUDAGraph", lambda: SimpleNamespace(work=None))
        monkeypatch.setattr(cuda, "graph", self.graph)

    def wait_stream(self, stream):
        assert stream is self

    @contextmanager
    def graph(self, graph, stream):
        self.recording = graph
        yield
        self.recording = None

    def step(self, batch):
        """A step as a device takes it: while recording nothing is computed."""
        loss = torch.zeros(())

        def work():
            loss.copy_(batch.inputs.sum())

        if self.recording is None:
            work()
            return loss

        def replay():
            self.replays += 1
            work()

        self.recording.replay = replay
        return loss

    def waiting(self, batch):
        if self.modes[-1:] == ["error"]:
            raise RuntimeError("called a synchronizing CUDA operation\nand so on")
        return self.step(batch)


def labelled(rows, value):
    one = torch.full((rows, 3), value)
    return Labelled(one, one, one)


def test_steps_of_a_shape_are_recorded_once_and_replayed_with_each_batch(monkeypatch):
    card = Card(monkeypatch)
    repeated = training.Repeated(card.step, torch.device("cpu"))
    for number in range(1, 8):  # batches of four rows, and then the rest of an epoch
        assert repeated(labelled(4, number)) == 12 * number
        assert repeated(labelled(2, number)) == 6 * number
    usual = training._USUAL
    assert card.replays == 2 * (7 - usual)
    assert card.modes == ["error", "default"] * 2
    assert repeated.problem == ""


def test_a_step_that_waits_for_the_device_is_never_recorded(monkeypatch, caplog):
    card = Card(monkeypatch)
    repeated = training.Repeated(card.waiting, torch.device("cpu"))
    assert [repeated(labelled(4, number)).item() for number in range(6)] == [
        12.0 * number for number in range(6)
    ]
    assert (card.replays, card.modes) == (0, ["error", "default"])
    assert repeated.problem == "called a synchronizing CUDA operation"
    assert "not recorded" in caplog.text


class Killed(Exception):
    """What stops a training in the middle."""


def stopped(rest, epochs):
    """A training that is stopped after so many epochs of it."""
    left = [None] * epochs

    def beat():
        if not left:
            raise Killed
        left.pop()

    with pytest.raises(Killed):
        training.learn(SLOW, LONG, beat=beat, rest=rest)


LONG = replace(SMALL, epochs=6)
SLOW = trial(rate=1e-3)


def test_a_training_that_was_stopped_goes_on_with_the_same_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_KEPT_EVERY", 0.0)
    rest = tmp_path / "one.safetensors"
    whole = training.learn(SLOW, LONG)
    beats = []
    for epochs in (2, 1):
        stopped(rest, epochs)
    found = training.learn(SLOW, LONG, beat=lambda: beats.append(1), rest=rest)
    assert (len(beats), len(whole.course)) == (3, 6)
    assert found.course == whole.course
    assert found.validation == whole.validation
    assert found.seconds > 0 == whole.seconds
    assert found.milliseconds > 1e3 * found.seconds / found.course[-1][0]


def test_only_its_own_training_goes_on_from_a_file(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(training, "_KEPT_EVERY", 0.0)
    rest = tmp_path / "one.safetensors"
    stopped(rest, 2)
    for given, budget in ((trial(rate=0.02), LONG), (SLOW, replace(LONG, epochs=5))):
        course = training.learn(given, budget, rest=tmp_path / "none").course
        assert training.learn(given, budget, rest=rest).course == course
        stopped(rest, 2)
    rest.write_bytes(rest.read_bytes()[:-9])
    assert training.learn(SLOW, LONG, rest=rest).seconds == 0
    assert "it starts anew" in caplog.text


def test_a_file_is_written_once_a_minute(tmp_path, monkeypatch):
    now, written = [0.0], []
    monkeypatch.setattr(training.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        training, "save_file", lambda tensors, path, facts: (written.append(now[0]), path.touch())
    )

    def later():
        now[0] += 25.0

    training.learn(SLOW, LONG, beat=later, rest=tmp_path / "one.safetensors")
    assert written == [75.0, 150.0]


def test_the_file_goes_with_the_outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_KEPT_EVERY", 0.0)
    race = Race.create(tmp_path / "race", replace(PLAN, contestants=(DOT,)), {})
    first = next(trials.pending(race.plan, []))
    kept = []
    learn = training.learn
    monkeypatch.setattr(
        trials, "learn", lambda *a, rest, **k: kept.append(rest) or learn(*a, rest=rest, **k)
    )
    with race.claimed(first):
        training.learn(first, race.plan.tasks[first.task], rest=race.rest(first))
    assert race.rest(first).exists()
    trials.run(race)
    assert kept == [race.rest(one.trial) for one in race.outcomes()]
    assert len(kept) == trials.count(race.plan)
    race.tidy()
    assert not [*(tmp_path / "race").glob("claims")]
