"""What a stranger's race may hold: types, numbers, lengths, and names of its own plan alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Contestant, Outcome, Plan
from dashboard.records.invalid import reason

MOST_CONTESTANTS, MOST_TASKS, MOST_SEEDS = 500, 100, 1_000
_MOST_WEIGHTS = 40_000  # of a map

Name = Annotated[str, Field(max_length=400)]
Number = Annotated[float, Field(ge=-1e30, le=1e30)]
Count = Annotated[int, Field(ge=0, le=2**62)]
Labels = Annotated[list[Name], Field(max_length=200)]
Values = Annotated[list[Number], Field(max_length=2_000)]
Point = Annotated[list[Number], Field(min_length=2, max_length=2)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Contestant(_Strict):
    model: Name
    scoring: Name
    normaliser: Name = ""


class _Trial(_Strict):
    task: Name
    contestant: _Contestant
    rate: Number
    seed: Count
    tuning: bool = False


class _Example(_Strict):
    queries: Labels = []
    keys: Labels = []
    weights: Annotated[list[list[Values]], Field(max_length=64)] = []
    x: Values = []
    predicted: Values = []
    truth: Values = []

    @model_validator(mode="after")
    def _fits(self) -> _Example:
        rows = [row for head in self.weights for row in head]
        if not len(self.x) == len(self.predicted) == len(self.truth):
            raise ValueError("need as many predictions and true values as inputs")
        if any(len(head) != len(self.queries) for head in self.weights) or any(
            len(row) != len(self.keys) for row in rows
        ):
            raise ValueError("need a weight for every head, query and key")
        if sum(map(len, rows)) > _MOST_WEIGHTS:
            raise ValueError(f"need at most {_MOST_WEIGHTS:,} weights")
        return self


class _Outcome(_Strict):
    trial: _Trial
    validation: Number = 0.0
    quality: Number = 0.0
    parts: dict[Literal["near", "far", "copied"], Number] = {}
    curve: Annotated[list[Point], Field(max_length=100)] = []
    losses: Values = []
    parameters: Count = 0
    operations: Count = 0
    milliseconds: Number = 0.0
    seconds: Number = 0.0
    example: _Example | None = None
    problem: Annotated[str, Field(max_length=2_000)] = ""


class _Budget(_Strict):
    examples: Count
    epochs: Count
    batch_size: Count
    rates: Annotated[list[Number], Field(max_length=100)]


class _Plan(_Strict):
    format: int
    tasks: Annotated[dict[Name, _Budget], Field(min_length=1, max_length=MOST_TASKS)]
    contestants: Annotated[list[_Contestant], Field(min_length=1, max_length=MOST_CONTESTANTS)]
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)]
    tuning_seeds: Annotated[int, Field(ge=0, le=MOST_SEEDS)] = 1


def checked_plan(held: Any) -> Plan:
    """The plan of a stranger's race.

    Raises:
        ContractError: it is none, or larger than a race is.
    """
    _see(_Plan, held)
    return Plan.from_json(held)


def checked_outcome(
    held: Mapping[str, Any], plan: Plan, contestants: Collection[Contestant]
) -> Outcome:
    """One line of a stranger's race.

    Args:
        contestants: the plan's, as a set.

    Raises:
        ContractError: it is no outcome of the plan, or larger than an outcome is.
    """
    _see(_Outcome, held)
    found = Outcome.from_json(held)
    trial = found.trial
    if trial.task not in plan.tasks or trial.contestant not in contestants:
        raise ContractError("need a task and a contestant of the plan")
    if not trial.tuning and trial.seed >= plan.seeds:
        raise ContractError(f"need a seed below {plan.seeds}, got {trial.seed}")
    return found


def _see(model: type[_Strict], held: Any) -> None:
    try:
        model.model_validate(held)
    except ValidationError as error:
        raise ContractError(reason(error)) from error
