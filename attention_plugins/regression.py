"""What surrounds a regression model: checked and scaled data, predictions, errors."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from attention_plugins.attention import Inputs, Scoring
from attention_plugins.contract import RegressionData
from attention_plugins.models.protocols import LeavesOneOut, PredictsTwice, RegressionModel
from attention_plugins.record import Axes, Site, axes_of
from attention_plugins.sums import Pooled, pool_without_weights, runs_without_weights
from attention_plugins.tap import Recorder, Tap

_BLOCK_SCORES = 1 << 22  # that a pass may hold at once
_PASSING_SCORES = 1 << 19  # the same where the weights are let go at once
# What an evaluation may cost, in pairs of a row and a point of the cheapest kind, and the fewest
# rows that it scores at any cost. Timed on the machine of *How fast* in architecture.md.
MOST_WORK = 400_000_000
FEWEST_ROWS = 500
_WORK_BY_MASK = 16.0  # of a pair, where a model knows no way but a mask
# The standard deviation of the built-in problems' inputs, uniform on [0, 5].
_SPREAD = 5 / math.sqrt(12)
_ON_POINTS = Axes(("queries",), ("points",))


class Scale(NamedTuple):
    """How inputs were scaled: one unit of the scoring is ``unit`` of x. Both ``(d,)``."""

    mean: Tensor
    unit: Tensor


class Prediction(NamedTuple):
    """What a model says at the queries, ``(m,)``, and the weights that made it, where kept.

    Each site's are ``(heads, rows, columns)``; ``axes`` says what these are.
    ``effective_neighbours``: how many training points an average query rests on, the mean over
    rows of ``exp(entropy)`` of each row's shares; None where queries reach no points.
    ``row_sums``: the smallest and the largest.

    Where queries look at something that looks at the points in turn, such as inducing points, the
    site of the queries holds the product of both, which is what the values are weighted by.
    """

    values: Tensor
    weights: dict[Site, Tensor]
    axes: dict[Site, Axes]
    effective_neighbours: float | None
    row_sums: tuple[float, float]


def check_data(data: RegressionData, name: str) -> None:
    """ValueError unless a data set has the right shapes, two points, and finite numbers alone."""
    x, y, queries, truth = data
    if x.dim() != 2 or queries.dim() != 2 or x.shape[1] != queries.shape[1] or not x.shape[1]:
        raise ValueError(
            f"data {name!r}: need x (n, d) and queries (m, d), "
            f"got {tuple(x.shape)} and {tuple(queries.shape)}"
        )
    if y.shape != x.shape[:1] or (truth is not None and truth.shape != queries.shape[:1]):
        raise ValueError(f"data {name!r}: need one y per row of x and one truth per query")
    if len(x) < 2 or len(queries) < 1:
        raise ValueError(
            f'data {name!r}: need 2 <= n, got n={len(x)} (field "training points"), '
            f"and at least one query, got {len(queries)}"
        )
    if not all(torch.isfinite(part).all() for part in data if part is not None):
        raise ValueError(f"data {name!r}: holds NaN or infinity; need finite numbers")


def standardise(data: RegressionData) -> tuple[RegressionData, Scale]:
    """Inputs with mean 0 and standard deviation 5 / sqrt(12) = 1.44 each; y stays as it is.

    It is that of the built-in problems, so that one width means the same on both.
    """
    mean = data.x.mean(dim=0)
    centred = data.x - mean
    peak = centred.abs().amax(dim=0)
    peak = torch.where(peak > 0, peak, torch.ones_like(peak))
    deviation = peak * (centred / peak).std(dim=0, correction=0)  # squares must not underflow
    unit = torch.where(deviation > 0, deviation, torch.ones_like(deviation)) / _SPREAD
    return data._replace(x=centred / unit, queries=(data.queries - mean) / unit), Scale(mean, unit)


def leave_one_out(model: RegressionModel, x: Tensor, y: Tensor, rows: Tensor) -> Tensor:
    """Predictions ``(r,)`` of the points numbered ``rows (r,)``, each from all points but itself.

    Many are predicted in blocks; a backward pass makes each block's weights again.
    """
    rows = rows.to(x.device)
    if isinstance(model, LeavesOneOut):
        found = model.leave_one_out(x, y, rows)
        if found is not None:
            return found
    numbers = torch.arange(len(x), device=x.device)

    def one(part: Tensor) -> Tensor:
        return model(x[part], x, y, part[:, None] != numbers, Tap())

    if len(rows) * len(x) <= _BLOCK_SCORES:
        return one(rows)
    blocks = _passes(rows, len(x))
    return torch.cat([checkpoint(one, part, use_reentrant=False) for part in blocks])


@torch.no_grad()
def predict(model: RegressionModel, data: RegressionData, *, keep_weights: bool) -> Prediction:
    """Predictions at the queries, in blocks, with the weights that made them if they are kept.

    Where they are not, memory is linear in queries and points, and many of them may be summed
    without ever making the weights.
    """
    if not keep_weights and (found := _without_weights(model, data)) is not None:
        return found
    most = _BLOCK_SCORES if keep_weights else min(_BLOCK_SCORES, _PASSING_SCORES)
    values: list[Tensor] = []
    weights: dict[Site, list[Tensor]] = {}
    axes: dict[Site, Axes] = {}
    neighbours: dict[Site, float] = {}
    ends: list[Tensor] = []
    for part in data.queries.split(max(1, most // len(data.x))):
        recorder = Recorder()
        values.append(model(part, data.x, data.y, None, Tap(recorder)))
        found = {  # (heads, rows, columns)
            site: recorded.reshape(-1, *recorded.shape[-2:])
            for site, recorded in recorder.weights().items()
        }
        axes = {site: axes_of(model, site) for site in found}
        _reach_points(found, axes)
        for site, block in found.items():
            asked = "queries" in axes[site].queries
            if axes[site] == _ON_POINTS:
                mean = float(_neighbours(block).mean())
                neighbours[site] = neighbours.get(site, 0.0) + mean * len(part)
                ends += block.sum(dim=-1).aminmax()
            if keep_weights and (asked or site not in weights):  # others are the same each time
                weights.setdefault(site, []).append(block)
    joined = {site: torch.cat(blocks, dim=-2) for site, blocks in weights.items()}
    means = [total / len(data.queries) for total in neighbours.values()]
    return Prediction(
        torch.cat(values), joined, axes, sum(means) / len(means) if means else None,
        (float(min(ends)), float(max(ends))) if ends else (1.0, 1.0),
    )  # fmt: skip


class _WeightsNeededError(Exception):
    """A site attends in a way that makes weights."""


class _SummingTap(Tap):
    """Attends without weights everywhere, or not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.pooled: dict[Site, Pooled] = {}

    def attend(self, site: Site, scoring: Scoring, *given: Any, **options: Any) -> Tensor:
        known = Inputs(scoring, *given, **options)
        asked = known.queries, known.keys, known.values
        new = site not in self.pooled and not options.keys() & {"keys_projected", "key_positions"}
        if not (new and runs_without_weights(scoring, *asked, known.mask, known.dropout)):
            raise _WeightsNeededError
        self.pooled[site] = pool_without_weights(scoring, *asked, entropy=True)
        return self.pooled[site].values

    def attend_with_weights(self, *given: Any, **others: Any) -> tuple[Tensor, Tensor]:
        raise _WeightsNeededError


def _without_weights(model: RegressionModel, data: RegressionData) -> Prediction | None:
    tap = _SummingTap()
    try:
        values = model(data.queries, data.x, data.y, None, tap)
    except _WeightsNeededError:
        return None
    axes = {site: axes_of(model, site) for site in tap.pooled}
    if list(axes.values()) != [_ON_POINTS]:
        return None
    (pooled,) = tap.pooled.values()
    assert pooled.entropies is not None  # the tap asks for them
    neighbours = (pooled.entropies.exp() * pooled.reached).mean()
    ends = pooled.reached.double().aminmax()
    return Prediction(values, {}, axes, float(neighbours), (float(ends.min), float(ends.max)))


def _neighbours(weights: Tensor) -> Tensor:
    """``exp(entropy)`` of every row's shares ``|w| / sum |w|``; 0 of no weight."""
    size = weights.abs()
    total = size.sum(dim=-1, keepdim=True)
    shares = size / torch.where(total > 0, total, torch.ones_like(total))
    return torch.special.entr(shares).sum(dim=-1).exp() * (total[..., 0] > 0)


def _reach_points(found: dict[Site, Tensor], axes: dict[Site, Axes]) -> None:
    """Where no site of the queries looks at points, put the product of two sites in its place."""
    if _ON_POINTS in axes.values():
        return
    for site, (rows, between) in list(axes.items()):
        for other, (middle, columns) in list(axes.items()):
            if rows == ("queries",) and middle == between and columns == ("points",):
                found[site], axes[site] = found[site] @ found[other], _ON_POINTS


class LeaveOneOut(NamedTuple):
    """Points that were predicted twice: from all others (``alone``), and from all (``among``).

    ``rows`` are their numbers, increasing: all, or a random sample of them; all are ``(r,)``.
    """

    rows: Tensor
    alone: Tensor
    among: Tensor
    points: int

    @property
    def is_sample(self) -> bool:
        """Whether some points were not predicted."""
        return len(self.rows) < self.points


class MeanSquare(NamedTuple):
    """A mean of squared errors, in squares of y's unit, and its standard error.

    That is of the mean over a random sample drawn without replacement, with the correction for
    finite populations; 0 where the mean is over all points.
    """

    value: float
    standard_error: float


def rows_of(points: int, most: int, seed: int) -> Tensor:
    """Numbers of ``most`` of the points, increasing, drawn at random without replacement.

    Of two samples of one seed the larger holds the smaller, so that errors compare row by row.
    """
    if points <= most:
        return torch.arange(points)
    drawn = torch.randperm(points, generator=torch.Generator().manual_seed(seed))
    return drawn[:most].sort().values


@torch.no_grad()
def evaluate(
    model: RegressionModel, data: RegressionData, seed: int = 0, order: Tensor | None = None
) -> LeaveOneOut:
    """Predict every training point from all others, and from all.

    Where that would take more than :data:`MOST_WORK`, a random sample of the points is predicted,
    :data:`FEWEST_ROWS` of them at least; see :func:`rows_of`. ``order (n,)`` has the points as
    they are drawn from, so that points that were sorted have the sample that they had before.
    """
    x, y = data.x, data.y
    points, work = len(x), _WORK_BY_MASK
    if isinstance(model, PredictsTwice):
        work = model.work_of_a_pair(x, y)
    most = points if work == 0 else max(FEWEST_ROWS, int(MOST_WORK / work) // points)
    rows = rows_of(points, most, seed)
    rows = (rows if order is None else order[rows].sort().values).to(x.device)
    twice = model.with_and_without(x, y, rows) if isinstance(model, PredictsTwice) else None
    if twice is None:
        among = [model(x[part], x, y, None, Tap()) for part in _passes(rows, points)]
        twice = torch.cat(among), leave_one_out(model, x, y, rows)
    among, alone = twice
    return LeaveOneOut(rows, alone, among, points)


def _passes(rows: Tensor, points: int) -> tuple[Tensor, ...]:
    return rows.split(max(1, min(_BLOCK_SCORES, _PASSING_SCORES) // points))


def mean_squares(data: RegressionData, found: LeaveOneOut) -> dict[str, MeanSquare]:
    """``leave_one_out_mse`` and ``training_mse`` of :func:`evaluate`'s predictions."""
    measured = data.y[found.rows]
    return {
        "leave_one_out_mse": _mean((found.alone - measured).square(), found),
        "training_mse": _mean((found.among - measured).square(), found),
    }


def _mean(squares: Tensor, found: LeaveOneOut) -> MeanSquare:
    if not found.is_sample:
        return MeanSquare(float(squares.mean()), 0.0)
    unseen = 1.0 - len(squares) / found.points
    return MeanSquare(float(squares.mean()), float((squares.var() / len(squares) * unseen).sqrt()))


def errors(
    model: RegressionModel, data: RegressionData, predicted: Tensor,
    found: LeaveOneOut | None = None,
) -> dict[str, float]:  # fmt: skip
    """Mean squared errors: ``truth_mse`` (where known), ``leave_one_out_mse``, ``training_mse``.

    ``predicted (m,)`` is at the queries; ``found`` is of :func:`evaluate`, called where None.
    """
    means = mean_squares(data, evaluate(model, data) if found is None else found)
    every = {name: mean.value for name, mean in means.items()}
    if data.truth is not None:
        every["truth_mse"] = float((predicted - data.truth).square().mean())
    return every
