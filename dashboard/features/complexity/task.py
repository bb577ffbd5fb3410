"""Convolution, recurrence and self-attention side by side: measured on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import torch

from attention_plugins.complexity import (
    Convolution,
    Recurrence,
    SelfAttention,
    Stopwatch,
    dependent_products,
    fit_power,
    hops,
    multiply_adds,
)
from attention_plugins.contract import Scalar, ScoringFactory, Sizes, settle
from attention_plugins.devices import resolve
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from dashboard.features.complexity.task_offer import OPTIONS
from dashboard.jobs.context import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.records.attending import normaliser_of, without_normaliser
from dashboard.records.request import Request
from dashboard.records.result import Result

LAYERS = ("cnn", "rnn", gettext_noop("attention"))
SCORING = "scaled_dot"
_HALVINGS = {"n": 4, "d": 3}
_REACH_SIZE = 3  # columns of the sequences whose reach is measured: dependence needs no more
_LONGEST_REACH = 512  # of these sequences: a walk takes as many hops as they are long
_TIMING = 0.8  # share of the job that is timing; the rest follows dependences
_BUDGET, _FEWEST = 6.0, 3  # seconds after which, with so many rounds, none more is begun
_POINT = pa.schema(
    [
        ("layer", pa.string()), ("axis", pa.string()), ("n", pa.int32()), ("d", pa.int32()),
        ("seconds", pa.float64()), ("multiply_adds", pa.int64()),
    ]
)  # fmt: skip


_Key = tuple[str, int, int]


class _Point(NamedTuple):
    """One layer at one length and size; ``axis`` is what varies in its series."""

    layer: str
    axis: str
    n: int
    d: int

    @property
    def key(self) -> _Key:
        """What is timed: the point where both axes are at their largest is one."""
        return self.layer, self.n, self.d


def perform(request: Request, context: Context) -> Result:
    """Time the three layers over n at the largest d, and over d at the largest n.

    Options of the request: :data:`OPTIONS` and self-attention's normaliser; ``seed`` draws weights
    and inputs. All points are timed in turn, round after round, so that what else the machine does
    falls on all of them alike; every timing is reported with the point's facts so far.

    Returns:
        Tables ``times`` (``layer``, ``axis``, ``n``, ``d``, ``seconds``: the shortest of one pass,
        ``multiply_adds``) and ``reach`` (``layer``, ``n``, ``products``, ``hops``); facts
        ``fits`` (see :func:`_fits`), ``rounds`` that were timed, ``kernel``, ``device``,
        ``threads``, ``torch``, ``seconds``.

    Raises:
        ValueError: an option out of bounds, a device that is not here.
        Cancelled: the job was stopped.
    """
    began = time.perf_counter()
    options = settle(OPTIONS, without_normaliser(dict(request.options)))
    attention = installed().scoring_factory(SCORING, None, *normaliser_of(dict(request.options)))
    device = resolve(request.device)
    kernel = int(options["kernel"])
    points = list(_points(options))
    with seeded(request.seed):
        times = _time(points, kernel, attention, device, int(options["repeats"]), context)
    rows = [_row(point, times, kernel) for point in points]
    lengths = sorted({point.n for point in points if point.n <= _LONGEST_REACH})
    return Result(
        tables={
            "times": pa.Table.from_pylist(rows, schema=_POINT),
            "reach": pa.Table.from_pylist(list(_reach(lengths, kernel, context))),
        },
        facts={
            "fits": _fits(rows),
            "rounds": min(map(len, times.values())),
            "kernel": kernel,
            "device": str(device),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "seconds": time.perf_counter() - began,
        },
    )


def _time(
    points: list[_Point],
    kernel: int,
    attention: ScoringFactory,
    device: torch.device,
    rounds: int,
    context: Context,
) -> dict[_Key, list[float]]:
    """The timings of every layer at every pair of sizes, at least one each."""
    began = time.perf_counter()
    watches: dict[_Key, Stopwatch] = {}
    times: dict[_Key, list[float]] = {}
    measured: dict[str, Any] | None = None
    for turn in range(rounds):
        if turn >= _FEWEST and time.perf_counter() - began > _BUDGET:
            break
        for index, point in enumerate(points):
            if len(times.get(point.key, ())) > turn:
                continue
            done = _TIMING * (turn + index / len(points)) / rounds
            note = gettext_noop(
                "round {turn} of {rounds}: {layer} at n = {n:,}, d = {d}",
                turn=turn + 1, rounds=rounds, layer=point.layer, n=point.n, d=point.d,
            )  # fmt: skip
            context.report(done, note, measured)
            if context.stopped():
                raise Cancelled
            if point.key not in watches:
                layer = _layer(point.layer, point.d, kernel, attention).to(device).eval()
                x = torch.randn(1, point.n, point.d).to(device)
                watches[point.key] = Stopwatch(layer, x)
            times.setdefault(point.key, []).append(watches[point.key].seconds())
            measured = _row(point, times, kernel)
    return times


def _row(point: _Point, times: dict[_Key, list[float]], kernel: int) -> dict[str, Any]:
    return {
        **point._asdict(),
        "seconds": min(times[point.key]),  # other work on the machine only adds to it
        "multiply_adds": multiply_adds(*point.key, kernel),
    }


def _points(options: dict[str, Scalar]) -> Iterator[_Point]:
    """Small ones first, so that there is something to see at once."""
    most = {"n": int(options["longest"]), "d": int(options["widest"])}
    for axis, halvings in _HALVINGS.items():
        for halving in range(halvings, -1, -1):
            sizes = most | {axis: most[axis] >> halving}
            for layer in LAYERS:
                yield _Point(layer, axis, **sizes)


def _layer(
    name: str, size: int, kernel: int, attention: ScoringFactory
) -> Convolution | Recurrence | SelfAttention:
    if name == "cnn":
        return Convolution(size, kernel)
    if name == "rnn":
        return Recurrence(size)
    return SelfAttention(attention(Sizes(size, size, size)))


def _reach(lengths: list[int], kernel: int, context: Context) -> Iterator[dict[str, Any]]:
    # By the softmax: a sparse normaliser lets no gradient through where it gives no weight, which
    # is what this input asks for and not how far the layer sees.
    attention = installed().scoring_factory(SCORING)
    for index, n in enumerate(lengths):
        note = gettext_noop("following dependences at n = {n:,}", n=n)
        context.report(_TIMING + (1 - _TIMING) * index / len(lengths), note)
        for name in LAYERS:
            layer = _layer(name, _REACH_SIZE, kernel, attention).double()
            x = torch.randn(1, n, _REACH_SIZE, dtype=torch.float64, requires_grad=True)
            yield {
                "layer": name,
                "n": n,
                "products": dependent_products(layer(x)),
                "hops": hops(layer, n, _REACH_SIZE),
            }


def _fits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per layer and axis the power law of the times: ``exponent`` and ``factor`` over all sizes,
    ``last`` over the two largest, ``counted`` of the multiply-adds."""
    fits = []
    for layer in LAYERS:
        for axis in _HALVINGS:
            own = [row for row in rows if (row["layer"], row["axis"]) == (layer, axis)]
            sizes, times = [row[axis] for row in own], [row["seconds"] for row in own]
            power = fit_power(sizes, times)
            fits.append(
                {
                    "layer": layer,
                    "axis": axis,
                    "exponent": power.exponent,
                    "factor": power.factor,
                    "last": fit_power(sizes[-2:], times[-2:]).exponent,
                    "counted": fit_power(sizes, [row["multiply_adds"] for row in own]).exponent,
                }
            )
    return fits
