"""Reads an uploaded race in a worker, checks every line, and writes it anew."""

import json
import math
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, NamedTuple

import pyarrow as pa
from pydantic import BaseModel, Field, ValidationError, model_validator

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Contestant, Outcome, Plan
from attention_plugins.race.store import Race
from attention_plugins.registry import installed
from dashboard import limits
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.invalid import STRICT, reason
from dashboard.records.request import UPLOAD, Request, Result
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import unpack
from dashboard.storage.entries import parse_object
from dashboard.storage.races import LARGEST_PLAN, OUTCOMES, PLAN, Entrant, folder_of


class Measured(NamedTuple):
    """How a task is measured: its metric, what a rate is chosen by, what is learned by."""

    metric: str
    unit: str
    higher_is_better: bool
    validation: str
    loss: str
    size: str  # what grows in the extrapolation curve
    trained: tuple[float, float] | None  # the ends of the sizes learned; None where all were


def race_of(request: Request) -> Race:
    """The race that a request names; ValueError where there is none of that name."""
    folder = folder_of(request.data)
    if not folder.is_dir():
        raise ValueError(f"there is no race {request.data!r} on this server")
    return Race.open(folder)


def measured(task: str, examples: int) -> Measured:
    """How a task is measured whose contestants learn so many examples."""
    registry = installed()
    spec = registry.dataset(task)
    if spec.task == "regression":
        return Measured(
            gettext_noop("Mean squared error to the truth"), "", False,
            gettext_noop("The leave-one-out error of the training points."),
            gettext_noop("leave-one-out error"), gettext_noop("training points"),
            (examples, examples),
        )  # fmt: skip
    metric = registry.metric(spec.metric)
    usual = {parameter.name: parameter.default for parameter in spec.parameters}
    ranged = {"shortest", "longest"} <= usual.keys()
    return Measured(
        metric.title, metric.unit, metric.higher_is_better,
        gettext_noop(
            "{metric} on a part of the data that is never reported.", metric=metric.title
        ),
        gettext_noop("loss, nats per token"), gettext_noop("words in a sequence"),
        (float(usual["shortest"]), float(usual["longest"])) if ranged else None,
    )  # fmt: skip


def entrant(contestant: Contestant) -> Entrant:
    """A contestant as the page knows it."""
    return Entrant(contestant.model, contestant.scoring, contestant.normaliser)


def reference_of(request: Request, model: str) -> Contestant:
    """Whom the contestants of a model are compared with."""
    normaliser = str(dict(request.options).get("normaliser", ""))
    return Contestant(model=model, scoring=request.scoring, normaliser=normaliser)


def known(value: float | None) -> float | None:
    """The number, None where it is none."""
    return None if value is None or not math.isfinite(value) else float(value)


MOST_CONTESTANTS, MOST_TASKS, MOST_SEEDS = 500, 100, 1_000
_MOST_WEIGHTS = 40_000  # of a map

Name = Annotated[str, Field(max_length=400)]
Number = Annotated[float, Field(ge=-1e30, le=1e30)]
Count = Annotated[int, Field(ge=0, le=2**62)]
Amount = Annotated[int, Field(ge=1, le=10**9)]
Labels = Annotated[list[Name], Field(max_length=200)]
Values = Annotated[list[Number], Field(max_length=2_000)]
Point = Annotated[list[Number], Field(min_length=2, max_length=2)]


class _Contestant(BaseModel, **STRICT):
    model: Name
    scoring: Name
    normaliser: Name = ""


class _Trial(BaseModel, **STRICT):
    task: Name
    contestant: _Contestant
    rate: Number
    seed: Count
    tuning: bool = False


class _Example(BaseModel, **STRICT):
    queries: Labels = []
    keys: Labels = []
    weights: Annotated[list[list[Values]], Field(max_length=64)] = []
    x: Values = []
    predicted: Values = []
    truth: Values = []

    @model_validator(mode="after")
    def _fits(self) -> "_Example":
        rows = [row for head in self.weights for row in head]
        if not len(self.x) == len(self.predicted) == len(self.truth):
            raise ValueError("need as many predictions and true values as inputs")
        shapes = {len(head) for head in self.weights} - {len(self.queries)}
        if shapes or {*map(len, rows)} - {len(self.keys)}:
            raise ValueError("need a weight for every head, query and key")
        if sum(map(len, rows)) > _MOST_WEIGHTS:
            raise ValueError(f"need at most {_MOST_WEIGHTS:,} weights")
        return self


class _Outcome(BaseModel, **STRICT):
    trial: _Trial
    validation: Number = 0.0
    quality: Number = 0.0
    parts: dict[Literal["near", "far", "copied"], Number] = {}
    curve: Annotated[list[Point], Field(max_length=100)] = []
    losses: Values = []
    course: Annotated[
        list[Annotated[list[Number], Field(min_length=3, max_length=3)]], Field(max_length=2_000)
    ] = []
    ended: Name = ""
    parameters: Count = 0
    operations: Count = 0
    milliseconds: Number = 0.0
    seconds: Number = 0.0
    example: _Example | None = None
    problem: Annotated[str, Field(max_length=2_000)] = ""


class _Budget(BaseModel, **STRICT):
    examples: Amount
    epochs: Amount
    batch_size: Amount
    rates: Annotated[list[Number], Field(max_length=100)]
    widen: Annotated[int, Field(ge=0, le=10)] = 0


class _Plan(BaseModel, **STRICT):
    format: int
    tasks: Annotated[dict[Name, _Budget], Field(min_length=1, max_length=MOST_TASKS)]
    contestants: Annotated[list[_Contestant], Field(min_length=1, max_length=MOST_CONTESTANTS)]
    seeds: Annotated[int, Field(ge=0, le=MOST_SEEDS)]
    tuning_seeds: Annotated[int, Field(ge=0, le=MOST_SEEDS)] = 1
    halving: Annotated[int, Field(ge=0, le=10)] = 0


def checked_outcome(
    held: Mapping[str, Any], plan: Plan, contestants: Collection[Contestant]
) -> Outcome:
    """One line of a stranger's race; ContractError for what is no outcome of the plan."""
    _see(_Outcome, held)
    found = Outcome.from_json(held)
    trial = found.trial
    if trial.task not in plan.tasks or trial.contestant not in contestants:
        raise ContractError("need a task and a contestant of the plan")
    if not trial.tuning and trial.seed >= plan.seeds:
        raise ContractError(f"need a seed below {plan.seeds}, got {trial.seed}")
    return found


def _see(model: type[BaseModel], held: Any) -> None:
    try:
        model.model_validate(held)
    except ValidationError as error:
        raise ContractError(reason(error)) from error


_EXTRA_MEMORY = 1024  # MB: 64 MB of lines as Python's objects
_MOST_LINES = 500_000
_MOST_FACTS, _LONGEST_FACT, _LONGEST_NAME = 50, 2_000, 60
_NAMED = 100  # lines that were left out


def taken_in(request: Request, context: Context) -> Result:
    """Read the race ``upload:<sha256>`` that ``request.data`` names: a zip of its folder.

    A line that is no outcome of the race is left out, and named.

    Returns:
        Table ``files``: ``plan`` and ``outcomes``, written anew; facts ``kept``, ``left_out``
        (how many lines) and ``problems``, the first of them in words.

    Raises:
        ValueError: what is wrong with the file, or it needs too much memory.
    """
    data = Blobs().path(request.data.removeprefix(UPLOAD)).read_bytes()
    context.report(0.3, gettext_noop("Reading the lines"))
    try:
        with limits.extra_memory(_EXTRA_MEMORY):
            plan, outcomes, problems = read_race(data)
    except MemoryError as error:
        raise ValueError(f"the file needs more than {_EXTRA_MEMORY:,} MB to be read") from error
    schema = pa.schema([("plan", pa.large_binary()), ("outcomes", pa.large_binary())])
    return Result(
        tables={"files": pa.table([[plan], [outcomes]], schema=schema)},
        facts={
            "kept": outcomes.count(b"\n"), "left_out": len(problems),
            "problems": problems[:_NAMED], "cacheable": False,
        },
    )  # fmt: skip


def read_race(data: bytes) -> tuple[bytes, bytes, list[str]]:
    """The files of an uploaded race, written anew, and a sentence on each line left out.

    ValueError says what is wrong with the whole.
    """
    entries = unpack(data, lambda name: name in (PLAN, OUTCOMES))
    plan, facts = read_plan(entries.get(PLAN, b""))
    lines = entries.get(OUTCOMES, b"").split(b"\n")
    if len(lines) > _MOST_LINES:
        raise ContractError(
            f"need {OUTCOMES} of at most {_MOST_LINES:,} lines, got {len(lines):,}"
        )
    contestants, kept, problems = frozenset(plan.contestants), dict[str, bytes](), list[str]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            outcome = checked_outcome(parse_object(line, f"line {number}"), plan, contestants)
        except ValueError as error:
            words = gettext_noop("line {number} is left out: {error}", number=number, error=error)
            problems.append(words)
            continue
        # Only ASCII: nothing in a name ends the line.
        written = json.dumps(outcome.to_json(), allow_nan=False).encode() + b"\n"
        if kept.setdefault(outcome.trial.id, written) is not written:
            words = gettext_noop(
                "line {number} is left out: the same training as an earlier line", number=number
            )
            problems.append(words)
    whole = json.dumps({"plan": plan.to_json(), "facts": facts}, indent=1).encode()
    return whole, b"".join(kept.values()), problems


def read_plan(data: bytes) -> tuple[Plan, dict[str, str]]:
    """The plan of a stranger's race, and the facts of its making; ContractError for no plan."""
    if not data:
        raise ContractError(f"a race is a zip of {PLAN} and {OUTCOMES}; there is no {PLAN} in it")
    if len(data) > LARGEST_PLAN:
        raise ContractError(f"need a {PLAN} of at most {LARGEST_PLAN:,} bytes, got {len(data):,}")
    held = parse_object(data, PLAN)
    try:
        _see(_Plan, held.get("plan"))
        plan = Plan.from_json(held["plan"])
    except ContractError as error:
        raise ContractError(f"{PLAN} is no plan of a race: {error}") from error
    facts = held.get("facts")
    texts = [*facts.items()][:_MOST_FACTS] if isinstance(facts, dict) else ()
    return plan, {name[:_LONGEST_NAME]: str(text)[:_LONGEST_FACT] for name, text in texts}
