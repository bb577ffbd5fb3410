"""Convolution, recurrence and self-attention side by side: measured here, or as recorded.

The reference, of another machine, is ``reference.json``; :mod:`.task_record` writes it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, Field, ValidationError, model_validator

from attention_plugins.contract import settle
from attention_plugins.devices import resolve
from attention_plugins.home import read_bounded
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from dashboard.features.complexity import task_timing
from dashboard.features.complexity.task_timing import Layers, Point, reach
from dashboard.features.complexity.view import REFERENCE, SHARED
from dashboard.jobs.task_offers import offered
from dashboard.jobs.tasks import Context
from dashboard.records.attending import normaliser_of, without_normaliser
from dashboard.records.invalid import STRICT, reason
from dashboard.records.parameter import pairs
from dashboard.records.request import Request, Result

OPTIONS = offered(__file__).OPTIONS
FILE = Path(__file__).with_name("reference.json")
_HALVINGS = {"n": 4, "d": 3}
_BUDGET = 6.0  # seconds
_MOST = 1_000_000  # bytes
_FORMAT = 1
_MOST_SHARED = 50  # measurements
_recent: dict[Request, Result] = {}  # by what determines it but the seed

Layer = Literal["cnn", "rnn", "attention"]
Size = Annotated[int, Field(ge=1, le=1_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Seconds = Annotated[float, Field(gt=0, lt=1e6)]
Words = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[ -~]+$")]


class _Time(BaseModel, **STRICT):
    layer: Layer
    axis: Literal["n", "d"]
    n: Size
    d: Size
    seconds: Seconds


class _Reach(BaseModel, **STRICT):
    layer: Layer
    n: Size
    products: Count
    hops: Count


class Recorded(BaseModel, **STRICT):
    """On what a reference was recorded: a general kind of processor, the cores it could use."""

    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    processor: Words
    cores: Size
    command: Words


class _Environment(BaseModel, **STRICT):
    contract: Words
    torch: Words
    threads: Size
    commit: Annotated[str, Field(max_length=60, pattern=r"^[0-9A-Za-z._-]*$")]


class _Reference(BaseModel, **STRICT):
    format: Literal[1]
    recorded: Recorded
    environment: _Environment
    kernel: Size
    rounds: Size
    seconds: Seconds
    times: Annotated[list[_Time], Field(max_length=1_000)]
    reach: Annotated[list[_Reach], Field(min_length=1, max_length=1_000)]

    @model_validator(mode="after")
    def _complete(self) -> "_Reference":
        for axis, fixed in (("n", "d"), ("d", "n")):
            own = [one for one in self.times if one.axis == axis]
            sizes = {layer: [getattr(one, axis) for one in own if one.layer == layer]
                     for layer in task_timing.LAYERS}  # fmt: skip
            first = sizes[task_timing.LAYERS[0]]
            if len(first) < 2 or first != sorted(set(first)):
                raise ValueError(f"need two or more sizes {axis}, in order")
            if any(each != first for each in sizes.values()):
                raise ValueError(f"need the same sizes {axis} of every layer")
            if len({getattr(one, fixed) for one in own}) != 1:
                raise ValueError(f"need one {fixed} of all times over {axis}")
        return self


def read_reference(file: Path = FILE) -> Result:
    """The reference as a result of the task; its fits follow from the recorded times.

    ValueError: there is no such file, or it holds anything else than a reference.
    """
    try:
        held = _Reference.model_validate_json(read_bounded(file, _MOST).decode(errors="replace"))
    except OSError as error:
        raise ValueError(f"it cannot be opened: {error.strerror or error}") from error
    except ValidationError as error:
        raise ValueError(reason(error)) from error
    of = [Point(one.layer, one.axis, one.n, one.d) for one in held.times]
    seconds = {point.key: one.seconds for point, one in zip(of, held.times, strict=True)}
    made, fits = task_timing.tables(of, seconds, held.kernel, [r.model_dump() for r in held.reach])
    return Result(
        tables=made,
        facts={
            "fits": fits, "rounds": held.rounds, "kernel": held.kernel, "device": "cpu",
            "threads": held.environment.threads, "torch": held.environment.torch,
            "seconds": held.seconds, "recorded": held.recorded.model_dump(),
            "environment": held.environment.model_dump(),
        },
    )  # fmt: skip


def write_reference(
    file: Path, of: Sequence[Point], seconds: Mapping[tuple[str, int, int], float],
    reach: Sequence[dict[str, Any]], facts: Mapping[str, Any],
) -> None:  # fmt: skip
    """Write a reference, a line per time; ValueError if :func:`read_reference` would refuse it."""
    times = [{**point._asdict(), "seconds": seconds[point.key]} for point in of]
    held = {"format": _FORMAT, **facts}
    _Reference.model_validate({**held, "times": times, "reach": [*reach]})
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in held.items()]
    for name, rows in (("times", times), ("reach", reach)):
        text = ",\n".join(f"  {json.dumps(row)}" for row in rows)
        lines.append(f"{json.dumps(name)}: [\n{text}\n]")
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def perform(request: Request, context: Context) -> Result:
    """Time the three layers over n at the largest d, and over d at the largest n.

    Options of the request: :data:`OPTIONS`, self-attention's normaliser, and ``since``; ``seed``
    draws weights and inputs. As times do not follow from these, whoever asks this process for the
    same within :data:`SHARED` seconds gets the same times, unless they were measured before
    ``since``, in seconds of the epoch. With ``data`` of :data:`REFERENCE` the result is the
    recorded measurement that ships with the product. Where it cannot be read, the layers are timed
    here, and the fact ``unreadable`` says why.

    Returns:
        Tables ``times`` (``layer``, ``axis``, ``n``, ``d``, ``seconds``: the shortest of one pass,
        ``multiply_adds``) and ``reach`` (``layer``, ``n``, ``products``, ``hops``); facts
        ``fits`` (per layer and axis ``exponent``, ``factor``, ``last``, ``counted``), ``rounds``
        that were timed, ``kernel``, ``device``, ``threads``, ``torch``, ``seconds``, and
        ``measured``, when that ended, in seconds of the epoch; of a recorded one also
        ``recorded``, see :class:`Recorded`.

    Raises:
        ValueError: an option out of bounds, a device that is not here.
        Cancelled: the job was stopped.
    """
    unreadable = {}
    if request.data == REFERENCE:
        try:
            return read_reference()
        except ValueError as error:
            unreadable = {"unreadable": str(error)}
    began, asked = time.perf_counter(), dict(request.options)
    least = max(int(asked.pop("since", 0)), time.time() - SHARED)
    same = replace(request, options=pairs(asked), seed=0)
    if (known := _recent.get(same)) and known.facts["measured"] >= least:
        return known
    options = settle(OPTIONS, without_normaliser(asked))
    attention = installed().scoring_factory(task_timing.SCORING, None, *normaliser_of(asked))
    device = resolve(request.device)
    n, d, kernel = (int(options[name]) for name in ("longest", "widest", "kernel"))
    # Small sizes first, so that there is something to see at once.
    lengths, sizes = (
        [most >> halving for halving in range(_HALVINGS[axis], -1, -1)]
        for axis, most in (("n", n), ("d", d))
    )
    of = task_timing.points(lengths, d, n, sizes)
    with seeded(request.seed):
        layers = Layers(kernel, attention, device)
        found = task_timing.timed(of, layers, int(options["repeats"]), _BUDGET, context)
    made, fits = task_timing.tables(of, found.seconds, kernel, reach(of, kernel, context))
    if len(_recent) >= _MOST_SHARED:
        _recent.clear()
    _recent[same] = Result(
        tables=made,
        facts={
            "fits": fits, "rounds": found.rounds, "kernel": kernel, "device": str(device),
            "threads": torch.get_num_threads(), "torch": torch.__version__,
            "seconds": time.perf_counter() - began, "measured": time.time(), **unreadable,
        },
    )  # fmt: skip
    return _recent[same]
