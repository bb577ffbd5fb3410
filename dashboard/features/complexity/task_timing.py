"""Times convolution, recurrence and self-attention, and follows what depends on what."""

import time
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import pyarrow as pa
import torch

from attention_plugins import complexity
from attention_plugins.complexity import Convolution, Recurrence, SelfAttention, Stopwatch
from attention_plugins.contract import ScoringFactory, Sizes
from attention_plugins.registry import installed
from dashboard.jobs.tasks import Cancelled, Context
from dashboard.language import gettext_noop

LAYERS = ("cnn", "rnn", gettext_noop("attention"))
SCORING = "scaled_dot"
_AXES = ("n", "d")
_REACH_SIZE = 3  # columns of the sequences whose reach is measured: dependence needs no more
_LONGEST_REACH = 512  # of these sequences: a walk takes as many hops as they are long
_TIMING = 0.8  # share of the job that is timing; the rest follows dependences
_FEWEST = 3  # rounds that are timed however long they take
_POINT = pa.schema([
    ("layer", pa.string()), ("axis", pa.string()), ("n", pa.int32()), ("d", pa.int32()),
    ("seconds", pa.float64()), ("multiply_adds", pa.int64()),
])  # fmt: skip

_Key = tuple[str, int, int]


class Point(NamedTuple):
    """One layer at one length and size; ``axis`` is what varies in its series."""

    layer: str
    axis: str
    n: int
    d: int

    @property
    def key(self) -> _Key:
        """What is timed: a point of both series is timed once."""
        return self.layer, self.n, self.d


class Timed(NamedTuple):
    """The times of points, and how often each was timed."""

    seconds: dict[_Key, float]
    rounds: int


class Layers(NamedTuple):
    """How the three layers are made, and where they are timed."""

    kernel: int
    attention: ScoringFactory
    device: torch.device = torch.device("cpu")

    def make(self, name: str, size: int) -> Convolution | Recurrence | SelfAttention:
        """The layer of that name for vectors of that size."""
        if name == "cnn":
            return Convolution(size, self.kernel)
        if name == "rnn":
            return Recurrence(size)
        return SelfAttention(self.attention(Sizes(size, size, size)))


def points(lengths: Iterable[int], d: int, n: int, sizes: Iterable[int]) -> list[Point]:
    """Every layer at every length with size ``d``, then with length ``n`` at every size."""
    pairs = [("n", length, d) for length in lengths] + [("d", n, size) for size in sizes]
    return [Point(layer, *pair) for pair in pairs for layer in LAYERS]


def timed(
    of: Sequence[Point], layers: Layers, rounds: int, budget: float, context: Context
) -> Timed:
    """The shortest time of one pass of every point, in so many rounds at most.

    All points are timed in turn, so that what else the machine does falls on all of them alike.
    Every timing is reported with the point's facts so far. After ``budget`` seconds and three
    rounds no further one is begun. Raises :class:`Cancelled`.
    """
    began = time.perf_counter()
    watches: dict[_Key, Stopwatch] = {}
    times: dict[_Key, list[float]] = {}
    measured: dict[str, Any] | None = None
    for turn in range(rounds):
        if turn >= _FEWEST and time.perf_counter() - began > budget:
            break
        for index, point in enumerate(of):
            if len(times.get(point.key, ())) > turn:
                continue
            done = _TIMING * (turn + index / len(of)) / rounds
            note = gettext_noop(
                "round {turn} of {rounds}: {layer} at n = {n:,}, d = {d}",
                turn=turn + 1, rounds=rounds, layer=point.layer, n=point.n, d=point.d,
            )  # fmt: skip
            context.report(done, note, measured)
            if context.stopped():
                raise Cancelled
            if point.key not in watches:
                layer = layers.make(point.layer, point.d).to(layers.device).eval()
                x = torch.randn(1, point.n, point.d).to(layers.device)
                watches[point.key] = Stopwatch(layer, x)
            times.setdefault(point.key, []).append(watches[point.key].seconds())
            measured = _row(point, min(times[point.key]), layers.kernel)
    # The shortest, since other work on the machine only adds to it.
    return Timed({key: min(own) for key, own in times.items()}, min(map(len, times.values())))


def tables(
    of: Sequence[Point], seconds: dict[_Key, float], kernel: int, reach: list[dict[str, Any]]
) -> tuple[dict[str, pa.Table], list[dict[str, Any]]]:
    """The tables ``times`` and ``reach`` of a result, and its ``fits``; see :func:`_fits`."""
    rows = [_row(point, seconds[point.key], kernel) for point in of]
    times = pa.Table.from_pylist(rows, schema=_POINT)
    return {"times": times, "reach": pa.Table.from_pylist(reach)}, _fits(rows)


def reach(of: Iterable[Point], kernel: int, context: Context) -> list[dict[str, Any]]:
    """Per length of the points, up to 512, and layer: ``products`` in sequence, and ``hops``."""
    lengths = sorted({point.n for point in of if point.n <= _LONGEST_REACH})
    # By the softmax: a sparse normaliser lets no gradient through where it gives no weight, which
    # is what this input asks for and not how far the layer sees.
    layers = Layers(kernel, installed().scoring_factory(SCORING))
    rows = []
    for index, n in enumerate(lengths):
        note = gettext_noop("following dependences at n = {n:,}", n=n)
        context.report(_TIMING + (1 - _TIMING) * index / len(lengths), note)
        for name in LAYERS:
            layer = layers.make(name, _REACH_SIZE).double()
            x = torch.randn(1, n, _REACH_SIZE, dtype=torch.float64, requires_grad=True)
            found = {
                "products": complexity.dependent_products(layer(x)),
                "hops": complexity.hops(layer, n, _REACH_SIZE),
            }
            rows.append({"layer": name, "n": n, **found})
    return rows


def _row(point: Point, seconds: float, kernel: int) -> dict[str, Any]:
    counted = complexity.multiply_adds(*point.key, kernel)
    return {**point._asdict(), "seconds": seconds, "multiply_adds": counted}


def _fits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per layer and axis the power law of the times: ``exponent`` and ``factor`` over all sizes,
    ``last`` over the two largest, ``counted`` of the multiply-adds."""
    fits = []
    for layer, axis in product(LAYERS, _AXES):
        own = [row for row in rows if (row["layer"], row["axis"]) == (layer, axis)]
        sizes, times = [row[axis] for row in own], [row["seconds"] for row in own]
        power = complexity.fit_power(sizes, times)
        fits.append({
            "layer": layer, "axis": axis, "exponent": power.exponent, "factor": power.factor,
            "last": complexity.fit_power(sizes[-2:], times[-2:]).exponent,
            "counted": complexity.fit_power(sizes, [row["multiply_adds"] for row in own]).exponent,
        })  # fmt: skip
    return fits
