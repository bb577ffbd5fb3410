"""Reads an uploaded race in a worker, checks every line, and writes it anew."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Plan
from dashboard.features.race.task_checked import checked_outcome, checked_plan
from dashboard.jobs import limits
from dashboard.jobs.context import Context
from dashboard.language import gettext_noop
from dashboard.records.request import UPLOAD, Request
from dashboard.records.result import Result
from dashboard.storage.archive import unpack
from dashboard.storage.blobs import Blobs
from dashboard.storage.races import LARGEST_PLAN, OUTCOMES, PLAN
from dashboard.storage.strict_json import parse_object

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
    columns = {
        name: pa.array([file], pa.large_binary())
        for name, file in (("plan", plan), ("outcomes", outcomes))
    }
    return Result(
        tables={"files": pa.table(columns)},
        facts={
            "kept": outcomes.count(b"\n"), "left_out": len(problems),
            "problems": problems[:_NAMED], "cacheable": False,
        },
    )  # fmt: skip


def read_race(data: bytes) -> tuple[bytes, bytes, list[str]]:
    """The files of an uploaded race, written anew, and a sentence on each line left out.

    Raises:
        ValueError: what is wrong with the whole.
    """
    entries = unpack(data, lambda name: name in (PLAN, OUTCOMES))
    plan, facts = read_plan(entries.get(PLAN, b""))
    kept, problems = _read(entries.get(OUTCOMES, b"").split(b"\n"), plan)
    written = json.dumps({"plan": plan.to_json(), "facts": facts}, indent=1).encode()
    return written, b"".join(kept), problems


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
    try:
        plan = checked_plan(held.get("plan"))
    except ContractError as error:
        raise ContractError(f"{PLAN} is no plan of a race: {error}") from error
    facts = held.get("facts")
    texts = [*facts.items()][:_MOST_FACTS] if isinstance(facts, dict) else ()
    return plan, {name[:_LONGEST_NAME]: str(text)[:_LONGEST_FACT] for name, text in texts}


def _read(lines: Sequence[bytes], plan: Plan) -> tuple[list[bytes], list[str]]:
    """The lines that are outcomes, written anew, and what is wrong with the others."""
    if len(lines) > _MOST_LINES:
        raise ContractError(
            f"need {OUTCOMES} of at most {_MOST_LINES:,} lines, got {len(lines):,}"
        )
    kept: dict[str, bytes] = {}
    known = frozenset(plan.contestants)
    problems = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            outcome = checked_outcome(parse_object(line, f"line {number}"), plan, known)
        except ValueError as error:
            problems.append(
                gettext_noop("line {number} is left out: {error}", number=number, error=error)
            )
            continue
        if outcome.trial.id in kept:
            problems.append(
                gettext_noop(
                    "line {number} is left out: the same training as an earlier line",
                    number=number,
                )
            )
            continue
        # Only ASCII: nothing in a name ends the line.
        kept[outcome.trial.id] = json.dumps(outcome.to_json(), allow_nan=False).encode() + b"\n"
    return [*kept.values()], problems
