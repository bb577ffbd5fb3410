import json
import math
from dataclasses import replace

import pytest

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Budget, Contestant, Example, Outcome, Plan, Trial

WHO = Contestant(model="transformer", scoring="additive", normaliser="sparsemax")
TRIAL = Trial(task="copy", contestant=WHO, rate=0.01, seed=3)


def test_a_contestant_is_named_by_its_scoring_and_a_normaliser_of_its_own():
    assert WHO.name == "additive + sparsemax"
    assert Contestant(model="transformer", scoring="additive").name == "additive"


def test_every_part_of_a_trial_stands_in_its_id():
    assert TRIAL.id == "copy/transformer/additive/sparsemax/0.01/3"
    others = [
        Trial(task="sort", contestant=WHO, rate=0.01, seed=3),
        Trial(task="copy", contestant=WHO, rate=0.02, seed=3),
        Trial(task="copy", contestant=WHO, rate=0.01, seed=4),
        Trial(task="copy", contestant=WHO, rate=0.01, seed=3, tuning=True),
        Trial(
            task="copy", contestant=Contestant(model="transformer", scoring="additive"),
            rate=0.01, seed=3,
        ),
    ]  # fmt: skip
    assert len({TRIAL.id, *(other.id for other in others)}) == 6


def test_an_outcome_is_read_as_it_was_written_with_zeros_and_without_what_is_no_number():
    outcome = Outcome(
        trial=TRIAL, validation=0.0, quality=0.0, parts={"near": 0.0, "far": 1.5},
        curve=((4.0, 0.0), (6.0, 2.0)), losses=(2.0, 1.0), parameters=7, operations=9,
        seconds=1.5, example=Example(queries=("a",), keys=("b",), weights=(((1.0,),),)),
    )  # fmt: skip
    text = json.dumps(outcome.to_json(), allow_nan=False)
    assert "milliseconds" not in text
    assert "problem" not in text
    read = Outcome.from_json(json.loads(text))
    assert read.quality == read.validation == 0.0
    assert math.isnan(read.milliseconds)
    assert read.trial == TRIAL
    assert read.curve == ((4.0, 0.0), (6.0, 2.0))
    assert read.parts == {"near": 0.0, "far": 1.5}
    assert read.parameters == 7
    assert read.example
    assert read.example.weights == [[[1.0]]]


def test_a_number_that_is_none_costs_only_itself():
    outcome = Outcome(
        trial=TRIAL, quality=1.0, parts={"near": math.nan, "far": 2.0},
        curve=((4.0, math.inf), (6.0, 3.0)), losses=(1.0, math.nan),
    )  # fmt: skip
    read = Outcome.from_json(json.loads(json.dumps(outcome.to_json(), allow_nan=False)))
    assert (read.parts, read.curve, read.losses) == ({"far": 2.0}, ((6.0, 3.0),), [1.0])


def test_whole_numbers_of_json_are_read_as_real_ones():
    """A table of single precision refuses the integer 2 ** 24 + 1."""
    trial = {"task": "copy", "contestant": {"model": "m", "scoring": "s"}, "rate": 1, "seed": 3}
    example = {"queries": ["a"], "keys": ["b"], "weights": [[[2**24 + 1]]], "x": [2**53 + 1],
               "predicted": [1], "truth": [0]}  # fmt: skip
    read = Outcome.from_json(
        {"trial": trial, "quality": 1, "losses": [2], "parts": {"near": 3}, "example": example}
    )
    assert read.example
    seen = read.example
    real = [
        read.trial.rate, read.quality, *read.losses, *read.parts.values(),
        *seen.weights[0][0], *seen.x, *seen.predicted, *seen.truth,
    ]  # fmt: skip
    assert real == [1, 1, 2, 3, 2**24 + 1, 2**53, 1, 0]
    assert {type(each) for each in real} == {float}
    with pytest.raises(ContractError, match="no outcome of a race"):
        Outcome.from_json({"trial": trial, "quality": 10**400})


@pytest.mark.parametrize(
    "found", [{}, [], None, {"trial": 3}, {"trial": {"task": "copy"}}, {"trial": {}, "more": 1}]
)
def test_what_is_no_outcome_is_said_to_be_none(found):
    with pytest.raises(ContractError, match="no outcome of a race"):
        Outcome.from_json(found)


def test_a_plan_is_read_as_it_was_written_and_no_other_format():
    budget = Budget(examples=5, epochs=2, batch_size=3, rates=(0.1,))
    plan = Plan(tasks={"copy": budget}, contestants=(WHO,), seeds=2, tuning_seeds=3, halving=1)
    written = json.loads(json.dumps(plan.to_json()))
    assert Plan.from_json(written) == plan
    older = Plan.from_json({name: each for name, each in written.items() if name != "halving"})
    assert older == replace(plan, halving=0)
    with pytest.raises(ContractError, match="format 9; need 1"):
        Plan.from_json({**written, "format": 9})
    with pytest.raises(ContractError, match="no plan of a race"):
        Plan.from_json({**written, "tasks": {"copy": {"epochs": 1}}})


def test_an_epochs_last_batch_is_a_step_though_it_be_smaller():
    budget = Budget(examples=7, epochs=2, batch_size=3, rates=(0.1,))
    assert (budget.steps, replace(budget, examples=6).steps) == (6, 4)
    assert budget.longer(5) == replace(budget, epochs=10)
