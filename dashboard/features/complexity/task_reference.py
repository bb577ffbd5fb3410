"""The reference measurement that ships with the product: ``reference.json`` beside this file.

:mod:`.task_record` writes it. Its numbers are those of another machine, and it says of which.

Records the reference measurement anew: ``python -m dashboard.features.complexity.task_reference``.

Run it on a machine that does nothing else. It takes two to four minutes and less than 2 GB.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from tqdm import tqdm

from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from dashboard.features.complexity.task_timing import (
    LAYERS,
    SCORING,
    Point,
    Timed,
    points,
    reach,
    tables,
    timed,
)
from dashboard.jobs.limits import cores
from dashboard.jobs.task_environment import environment
from dashboard.records.request import Result

COMMAND = "python -m dashboard.features.complexity.task_reference"
# The series cross the page's own: the other size is the largest of a bare measurement.
_LENGTHS = [2**power for power in range(6, 15)]  # 64 to 16,384
_SIZES = [2**power for power in range(6, 13)]  # 64 to 4,096
_N, _D, _KERNEL = 1024, 256, 3
_ROUNDS, _BUDGET = 15, 150.0  # seconds


class _Bar:
    """Shows on a terminal how far the recording is; nobody stops it but the keyboard."""

    def __init__(self) -> None:
        self._bar = tqdm(total=100, unit="%")

    def report(
        self, fraction: float, note: str = "", facts: Mapping[str, Any] | None = None
    ) -> None:
        """See :class:`dashboard.jobs.tasks.Context`."""
        self._bar.update(round(100 * fraction) - self._bar.n)
        self._bar.set_postfix_str(str(note))

    def stopped(self) -> bool:
        """See :class:`dashboard.jobs.tasks.Context`."""
        return False


def record(of: Sequence[Point], output: Path, threads: int, budget: float = _BUDGET) -> None:
    """Time the points and write the reference.

    Args:
        threads: of torch; one is what a worker has where there are as many workers as cores.
        budget: seconds, see :func:`.task_timing.timed`.
    """
    torch.set_num_threads(threads)
    context, began = _Bar(), time.perf_counter()
    attention = installed().scoring_factory(SCORING)
    with seeded(0):
        found = timed(of, _KERNEL, attention, torch.device("cpu"), _ROUNDS, budget, context)
        seen = reach(of, _KERNEL, context)
    recorded = Recorded(
        date=datetime.now(UTC).date().isoformat(),
        processor=f"{platform.machine()} with {torch.backends.cpu.get_cpu_capability()}",
        cores=cores(),
        command=COMMAND if threads == 1 else f"{COMMAND} --threads {threads}",
    )
    write(
        output, of, found, seen, recorded=recorded, environment=environment(), kernel=_KERNEL,
        seconds=time.perf_counter() - began,
    )  # fmt: skip


def main() -> None:
    """Record the reference, and print its exponents."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="of torch (default: %(default)s)")
    parser.add_argument("--output", type=Path, default=FILE, help="default: the shipped file")
    given = parser.parse_args()
    record(points(_LENGTHS, _D, _N, _SIZES), given.output, given.threads)
    for fit in read(given.output).facts["fits"]:
        print(
            f"{fit['layer']:9} over {fit['axis']}: {fit['exponent']:.2f}, last doubling "
            f"{fit['last']:.2f}, counted {fit['counted']:.2f}"
        )


if __name__ == "__main__":
    main()


FILE = Path(__file__).with_name("reference.json")
_MOST = 1_000_000  # bytes
_FORMAT = 1

Layer = Literal["cnn", "rnn", "attention"]
Size = Annotated[int, Field(ge=1, le=1_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Seconds = Annotated[float, Field(gt=0, lt=1e6)]
Words = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[ -~]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Time(_Strict):
    layer: Layer
    axis: Literal["n", "d"]
    n: Size
    d: Size
    seconds: Seconds


class _Reach(_Strict):
    layer: Layer
    n: Size
    products: Count
    hops: Count


class Recorded(_Strict):
    """On what a reference was recorded.

    Attributes:
        date: such as ``2026-11-23``.
        processor: its general kind, such as ``x86_64 with AVX2``.
        cores: that the process could use.
        command: what repeats the recording.
    """

    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    processor: Words
    cores: Size
    command: Words


class _Environment(_Strict):
    contract: Words
    torch: Words
    threads: Size
    commit: Annotated[str, Field(max_length=60, pattern=r"^[0-9A-Za-z._-]*$")]


class _Reference(_Strict):
    format: Literal[1]
    recorded: Recorded
    environment: _Environment
    kernel: Size
    rounds: Size
    seconds: Seconds
    times: Annotated[list[_Time], Field(max_length=1_000)]
    reach: Annotated[list[_Reach], Field(min_length=1, max_length=1_000)]

    @model_validator(mode="after")
    def _complete(self) -> _Reference:
        for axis, fixed in (("n", "d"), ("d", "n")):
            own = [one for one in self.times if one.axis == axis]
            sizes = {layer: [getattr(one, axis) for one in own if one.layer == layer]
                     for layer in LAYERS}  # fmt: skip
            first = sizes[LAYERS[0]]
            if len(first) < 2 or first != sorted(set(first)):
                raise ValueError(f"need two or more sizes {axis}, in order")
            if any(each != first for each in sizes.values()):
                raise ValueError(f"need the same sizes {axis} of every layer")
            if len({getattr(one, fixed) for one in own}) != 1:
                raise ValueError(f"need one {fixed} of all times over {axis}")
        return self


def read(file: Path = FILE) -> Result:
    """The reference as a result of the task, with the fact ``recorded``: see
    :class:`Recorded`.

    Fits and multiplications are computed from the recorded times and sizes.

    Raises:
        ValueError: there is no such file, or it holds anything else than a reference.
    """
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST + 1)
    except OSError as error:
        raise ValueError(f"it cannot be opened: {error.strerror}") from error
    if len(text) > _MOST:
        raise ValueError(f"need at most {_MOST:,} bytes")
    try:
        held = _Reference.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from error
    of = [Point(one.layer, one.axis, one.n, one.d) for one in held.times]
    seconds = {point.key: one.seconds for point, one in zip(of, held.times, strict=True)}
    made, fits = tables(of, seconds, held.kernel, [one.model_dump() for one in held.reach])
    return Result(
        tables=made,
        facts={
            "fits": fits,
            "rounds": held.rounds,
            "kernel": held.kernel,
            "device": "cpu",
            "threads": held.environment.threads,
            "torch": held.environment.torch,
            "seconds": held.seconds,
            "recorded": held.recorded.model_dump(),
            "environment": held.environment.model_dump(),
        },
    )


def write(
    file: Path,
    of: Sequence[Point],
    found: Timed,
    reach: Sequence[dict[str, Any]],
    *,
    recorded: Recorded,
    environment: dict[str, Any],
    kernel: int,
    seconds: float,
) -> None:
    """Write a reference, a line per time, so that a later one can be compared with it.

    Args:
        environment: see :mod:`dashboard.jobs.task_environment`.
        seconds: that the recording took.

    Raises:
        ValueError: :func:`read` would refuse it.
    """
    times = [{**point._asdict(), "seconds": found.seconds[point.key]} for point in of]
    held = {
        "format": _FORMAT, "recorded": recorded.model_dump(), "environment": environment,
        "kernel": kernel, "rounds": found.rounds, "seconds": round(seconds, 3),
    }  # fmt: skip
    _Reference.model_validate({**held, "times": times, "reach": [*reach]})
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in held.items()]
    lines += [_listed("times", times), _listed("reach", reach)]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _listed(name: str, rows: Sequence[dict[str, Any]]) -> str:
    return f'"{name}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n]"
