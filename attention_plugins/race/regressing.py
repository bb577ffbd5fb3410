"""One trial on a regression problem: learn a scoring's weights, then measure its predictions."""

import math
import time
from collections.abc import Sequence

import torch
from torch import Tensor

from attention_plugins import ModelSizes, RegressionData
from attention_plugins.devices import widest
from attention_plugins.fitting import fit
from attention_plugins.models.protocols import RegressionModel
from attention_plugins.race.data import POINTS, problem_of
from attention_plugins.race.records import Budget, Example, Outcome, Trial
from attention_plugins.race.translating import operations
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from attention_plugins.regression import errors, predict, standardise

_LOSSES = 40  # that are kept of a history
_DIGITS = 5


def regress(trial: Trial, budget: Budget, device: torch.device | str = "cpu") -> Outcome:
    """Learn a contestant's weights on a regression problem by leaving points out, and measure.

    Quality is the mean squared error to the true values at the queries; what rates are chosen by
    is the leave-one-out error of the training points, see
    :func:`attention_plugins.regression.evaluate`. ContractError: an unknown name, or a scoring
    that does not fit the model. NotFiniteError: the loss is not finite before the first step.
    """
    device = torch.device(device)
    registry, who = installed(), trial.contestant
    data = _ready(trial.task, budget.examples, trial.seed, device)
    spec = registry.model(who.model)
    factory = registry.scoring_factory(who.scoring, normaliser=who.normaliser)
    before = torch.get_default_dtype()
    torch.set_default_dtype(data.x.dtype)
    try:
        with seeded(trial.seed):
            model = spec.create(factory, ModelSizes(data.x.shape[1], 1), {}).to(device).eval()
    finally:
        torch.set_default_dtype(before)
    times: list[float] = []
    learned = fit(
        model, data, watch=lambda step: times.append(time.perf_counter()),
        epochs=budget.epochs, lr=trial.rate, optimiser="adam",
    )  # fmt: skip
    predicted = predict(model, data, keep_weights=False).values
    found = errors(model, data, predicted)
    if not torch.isfinite(predicted).all():
        raise FloatingPointError("the predictions are not finite; check names what is wrong")
    validation = _rounded(found["leave_one_out_mse"])
    if trial.tuning:
        return Outcome(trial=trial, validation=validation)
    every, is_curve = max(1, len(learned.history) // _LOSSES), data.queries.shape[1] == 1
    return Outcome(
        trial=trial, validation=validation, quality=_rounded(found["truth_mse"]),
        parts=_parts(data, predicted),
        curve=tuple(
            (float(n), _error(model, _ready(trial.task, n, trial.seed + 1, device)))
            for n in POINTS
        ),
        losses=[_rounded(step.loss) for step in learned.history[::every]],
        parameters=sum(w.numel() for w in model.parameters() if w.requires_grad),
        operations=operations(lambda: predict(model, data, keep_weights=True), len(data.queries)),
        milliseconds=_milliseconds(times),
        example=_example(data, predicted) if trial.seed == 0 and is_curve else None,
    )  # fmt: skip


def _milliseconds(times: Sequence[float]) -> float:
    """Of a step that ends at each of these times, the first half warm-up; NaN of too few."""
    timed = times[len(times) // 2 :]
    if len(timed) < 2:
        return math.nan
    return round(1e3 * (timed[-1] - timed[0]) / (len(timed) - 1), _DIGITS)


def _ready(task: str, points: int, seed: int, device: torch.device) -> RegressionData:
    problem = problem_of(task, points, seed)
    scaled, _ = standardise(problem.data)
    parts = (*scaled[:3], problem.truth)
    return RegressionData(*(part.to(device, widest(device)) for part in parts))


def _error(model: RegressionModel, data: RegressionData) -> float:
    return _rounded(float(_squares(data, predict(model, data, keep_weights=False).values).mean()))


def _squares(data: RegressionData, predicted: Tensor) -> Tensor:
    assert data.truth is not None  # see problem_of
    return (predicted - data.truth).square()


def _parts(data: RegressionData, predicted: Tensor) -> dict[str, float]:
    """Errors at the half of the queries that is nearer to a training point, and the other half.

    ``copied``: of the value of the nearest training point.
    """
    away, nearest = torch.cdist(data.queries, data.x).min(dim=1)
    is_near = away <= away.median()
    squares = _squares(data, predicted)
    found = {
        "near": squares[is_near], "far": squares[~is_near],
        "copied": _squares(data, data.y[nearest]),
    }  # fmt: skip
    return {name: _rounded(float(part.mean())) for name, part in found.items() if len(part)}


def _example(data: RegressionData, predicted: Tensor) -> Example:
    assert data.truth is not None  # see problem_of
    parts = (data.queries[:, 0], predicted, data.truth)
    x, ours, truth = ([round(v, _DIGITS) for v in part.tolist()] for part in parts)
    return Example(x=x, predicted=ours, truth=truth)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
