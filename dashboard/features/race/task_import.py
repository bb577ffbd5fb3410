"""Reads an uploaded race in a worker, checks every line, and writes it anew."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Example, Outcome, Plan
from dashboard.jobs import limits
from dashboard.jobs.context import Context
from dashboard.records.request import UPLOAD, Request
from dashboard.records.result import Result
from dashboard.storage.archive import unpack
from dashboard.storage.blobs import Blobs
from dashboard.storage.races import LARGEST_PLAN, OUTCOMES, PLAN
from dashboard.storage.strict_json import parse_object

_EXTRA_MEMORY = 1024  # MB: 64 MB of lines as Python's objects
MOST_CONTESTANTS, MOST_TASKS, MOST_SEEDS, MOST_LINES = 500, 100, 1_000, 500_000
_LONGEST_NAME, _LONGEST_TEXT = 400, 2_000
_MOST_NUMBERS = {"losses": 2_000, "curve": 100, "weights": 40_000, "x": 2_000}
_PARTS = ("near", "far", "copied")
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
    try:
        with limits.extra_memory(_EXTRA_MEMORY):
            entries = unpack(data, lambda name: name in (PLAN, OUTCOMES))
            plan, facts = read_plan(entries.get(PLAN, b""))
            lines = entries.get(OUTCOMES, b"").split(b"\n")
            context.report(0.3, f"Reading {len(lines):,} lines")
            kept, problems = _read(lines, plan)
    except MemoryError as error:
        raise ValueError(f"the file needs more than {_EXTRA_MEMORY:,} MB to be read") from error
    written = json.dumps({"plan": plan.to_json(), "facts": facts}, indent=1).encode()
    columns = {
        name: pa.array([file], pa.large_binary())
        for name, file in (("plan", written), ("outcomes", b"".join(kept)))
    }
    return Result(
        tables={"files": pa.table(columns)},
        facts={
            "kept": len(kept), "left_out": len(problems), "problems": problems[:_NAMED],
            "cacheable": False,
        },
    )  # fmt: skip


def read_plan(data: bytes) -> tuple[Plan, dict[str, str]]:
    """The plan of an uploaded race, and the facts of its making.

    Raises:
        ValueError: it is none, or too large.
    """
    if not data:
        raise ContractError(f"a race is a zip of {PLAN} and {OUTCOMES}; there is no {PLAN} in it")
    if len(data) > LARGEST_PLAN:
        raise ContractError(f"need a {PLAN} of at most {LARGEST_PLAN:,} bytes, got {len(data):,}")
    held = parse_object(data, PLAN)
    plan = Plan.from_json(held.get("plan") if isinstance(held.get("plan"), dict) else {})
    found = len(plan.contestants), len(plan.tasks), plan.seeds
    most = MOST_CONTESTANTS, MOST_TASKS, MOST_SEEDS
    if not all(1 <= given <= limit for given, limit in zip(found, most, strict=True)):
        raise ContractError(
            "need a race of 1 to {} contestants, {} tasks and {} seeds, got {}, {} and {}".format(
                *most, *found
            )
        )
    for name in (
        *(part for one in plan.contestants for part in asdict(one).values()),
        *plan.tasks,
    ):
        _see_text(name, "a name", _LONGEST_NAME)
    for budget in plan.tasks.values():
        _see_numbers((budget.examples, budget.epochs, budget.batch_size, *budget.rates), 100)
    facts = held.get("facts") if isinstance(held.get("facts"), dict) else {}
    texts = {str(name)[:60]: str(text)[:_LONGEST_TEXT] for name, text in [*facts.items()][:50]}
    return plan, texts


def _read(lines: Sequence[bytes], plan: Plan) -> tuple[list[bytes], list[str]]:
    """The lines that are outcomes, written anew, and what is wrong with the others."""
    if len(lines) > MOST_LINES:
        raise ContractError(f"need {OUTCOMES} of at most {MOST_LINES:,} lines, got {len(lines):,}")
    kept: dict[str, bytes] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            outcome = checked(parse_object(line, f"line {number}"), plan)
        except ValueError as error:
            problems.append(f"line {number} is left out: {error}")
            continue
        if outcome.trial.id in kept:
            problems.append(f"line {number} is left out: the same training as an earlier line")
            continue
        # Only ASCII: nothing in a name ends the line.
        kept[outcome.trial.id] = json.dumps(outcome.to_json(), allow_nan=False).encode() + b"\n"
    return [*kept.values()], problems


def checked(held: Mapping[str, Any], plan: Plan) -> Outcome:
    """One line of a stranger's race.

    Raises:
        ValueError: it is no outcome of the plan, or of other types or larger than an outcome is.
    """
    found = Outcome.from_json(held)
    trial = found.trial
    if trial.task not in plan.tasks or trial.contestant not in set(plan.contestants):
        raise ContractError("need a task and a contestant of the plan")
    if type(trial.seed) is not int or type(trial.tuning) is not bool or trial.seed < 0:
        raise ContractError("need a seed that is a whole number, and whether it tunes")
    if not trial.tuning and trial.seed >= plan.seeds:
        raise ContractError(f"need a seed below {plan.seeds}, got {trial.seed}")
    _see_text(found.problem, "a problem", _LONGEST_TEXT)
    if not set(found.parts) <= set(_PARTS):
        raise ContractError(f"need parts among {', '.join(_PARTS)}")
    plain = (trial.rate, found.validation, found.quality, found.milliseconds, found.seconds,
             found.parameters, found.operations, *found.parts.values())  # fmt: skip
    _see_numbers(plain, len(plain))
    _see_numbers(found.losses, _MOST_NUMBERS["losses"])
    _see_numbers([n for point in found.curve for n in point], 2 * _MOST_NUMBERS["curve"])
    if found.example:
        _see_example(found.example)
    return found


def _see_example(example: Example) -> None:
    lengths = {len(example.x), len(example.predicted), len(example.truth)}
    if len(lengths) > 1:
        raise ContractError("need as many predictions and true values as inputs")
    for values in (example.x, example.predicted, example.truth):
        _see_numbers(values, _MOST_NUMBERS["x"])
    for label in (*example.queries, *example.keys):
        _see_text(label, "a label", _LONGEST_NAME)
    rows = [row for head in example.weights for row in head]
    fits = all(len(head) == len(example.queries) for head in example.weights)
    if not fits or not all(len(row) == len(example.keys) for row in rows):
        raise ContractError("need a weight for every head, query and key")
    _see_numbers([*_flat(rows)], _MOST_NUMBERS["weights"])


def _flat(rows: Sequence[Sequence[float]]) -> Iterator[float]:
    for row in rows:
        yield from row


def _see_numbers(values: Sequence[Any], most: int) -> None:
    """See that these are so many numbers at most; NaN stands for one that is not there.

    Raises:
        ContractError: they are not.
    """
    if len(values) > most:
        raise ContractError(f"need at most {most:,} numbers in a list, got {len(values):,}")
    wrong = [v for v in values if type(v) not in (int, float) or math.isinf(v) or abs(v) > 1e30]
    if wrong:
        raise ContractError(f"need numbers, got {str(wrong[0])[:60]!a}")


def _see_text(text: Any, what: str, most: int) -> None:
    if not isinstance(text, str) or len(text) > most:
        raise ContractError(f"need {what} to be a text of at most {most} characters")
