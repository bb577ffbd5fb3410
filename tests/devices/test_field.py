"""Tasks of the field on a device: they learn what the CPU learns, and steps are recorded."""

from dataclasses import replace

import pytest
import torch

from attention_plugins.attention import Scoring
from attention_plugins.race.field.model import FieldModel, Shape
from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.field.training import (
    _USUAL,
    Repeated,
    epochs,
    learn,
    optimiser_of,
    stepping,
)
from attention_plugins.race.records import Budget, Contestant, Trial
from attention_plugins.registry import load

REGISTRY = load(allow=[])
BUDGET = Budget(examples=200, epochs=4, batch_size=48, rates=(0.01,))  # the last batch is of 8
TASK = replace(TASKS["mqar_64_4"], vocabulary=30, length=16, budget=BUDGET, reported=60)
SHAPE = Shape(hidden=16, heads=2, positions=True, tied=True)
ON_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
OTHERS = ["rope", "alibi", "cosine", "gaussian", "performer", "uniform", "scaled_dot + sparsemax",
          "scaled_dot + stick_breaking", "scaled_dot + softpick"]  # fmt: skip
SCORINGS = pytest.mark.parametrize(
    ("scoring", "normaliser"),
    [
        *((name, "") for name in ("scaled_dot", "linear_attention", "additive")),
        *(pytest.param(*f"{name} + ".split(" + ")[:2], marks=pytest.mark.slow, id=name)
          for name in OTHERS),
    ],
)  # fmt: skip


def model(device, factory, shape=SHAPE, task=TASK):
    torch.manual_seed(0)
    return FieldModel(factory, shape, task).to(device).train()


class Waiting(Scoring):
    """It asks the device for a number, which cannot be recorded."""

    def forward(self, queries, keys):
        return (queries @ keys.mT) / max(1.0, queries.square().mean().item())


@SCORINGS
def test_it_learns_what_the_cpu_learns(device, scoring, normaliser):
    factory = REGISTRY.scoring_factory(scoring, normaliser=normaliser)
    drawn, losses = TASK.drawn(BUDGET.examples, 0, learned=True), []
    order = torch.randperm(BUDGET.examples, generator=torch.Generator().manual_seed(0))
    for place in ("cpu", device):
        learning = model(place, factory)
        step, found = stepping(learning, optimiser_of(learning, TASK, 0.01)), []
        for _ in range(2):
            parts = order.split(BUDGET.batch_size)
            found += [step(drawn.rows(rows).to(place), 0.01).item() for rows in parts]
        losses.append(found)
    assert losses[1] == pytest.approx(losses[0], rel=2e-3)
    assert losses[0][-2] < losses[0][0]


@pytest.mark.gpu
@ON_CUDA
@SCORINGS
def test_recorded_steps_are_the_usual_ones(scoring, normaliser):
    factory = REGISTRY.scoring_factory(scoring, normaliser=normaliser)
    drawn = TASK.drawn(BUDGET.examples, 0, learned=True).to("cuda")
    made, losses = [], {}
    for usual in (False, True):
        made.append(model("cuda", factory, replace(SHAPE, dropout=0.1)))
        step = stepping(made[-1], optimiser_of(made[-1], TASK, 0.01))
        repeated = next(
            cell.cell_contents
            for cell in step.__closure__
            if isinstance(cell.cell_contents, Repeated)
        )
        if usual:
            repeated.problem = "a step as usual, please"
        torch.manual_seed(1)
        losses[usual] = [
            step(drawn.rows(slice(48 * (i % 4), 48 * (i % 4 + 1))), 0.01 / (1 + i)).item()
            for i in range(_USUAL + 6)
        ]
        assert len(repeated._graphs) == (0 if usual else 1), repeated.problem
    assert losses[False] == pytest.approx(losses[True], rel=1e-3)
    ours, theirs = (torch.cat([w.flatten() for w in one.parameters()]) for one in made)
    torch.testing.assert_close(ours, theirs, rtol=1e-2, atol=1e-3)


@pytest.mark.gpu
@ON_CUDA
def test_a_scoring_that_waits_for_the_device_goes_on_as_usual(caplog):
    drawn = TASK.drawn(BUDGET.examples, 0, learned=True).to("cuda")
    waiting = model("cuda", lambda sizes: Waiting())
    found = [*epochs(waiting, optimiser_of(waiting, TASK, 0.01), drawn, TASK, BUDGET)]
    assert found[-1] < found[0]
    assert "not recorded" in caplog.text


def test_a_whole_training(device, monkeypatch):
    monkeypatch.setitem(TASKS, "mqar_tiny", replace(TASK, name="mqar_tiny"))
    who = Contestant(model="zoology_64", scoring="scaled_dot")
    trial = Trial(task="mqar_tiny", contestant=who, rate=0.01, seed=3, tuning=True)
    found = learn(trial, BUDGET, device)
    assert [step for step, *_ in found.course] == [5, 10, 15, 20]
    assert found.milliseconds > 0
    assert found.course[0][2] > found.course[-1][2]
