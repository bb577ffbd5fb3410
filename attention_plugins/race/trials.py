"""Which trials a race still needs, and one of them done."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import fmean

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from attention_plugins import ModelSizes, RegressionData
from attention_plugins.contract import ContractError
from attention_plugins.devices import widest
from attention_plugins.fitting import Step, fit
from attention_plugins.models.protocols import RegressionModel
from attention_plugins.race.data import POINTS, problem_of
from attention_plugins.race.records import Budget, Contestant, Example, Outcome, Plan, Trial
from attention_plugins.race.translating import translate
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from attention_plugins.regression import errors, predict, standardise

_LOSSES = 40  # that are kept of a history
_DIGITS = 5


def regress(trial: Trial, budget: Budget, device: torch.device | str = "cpu") -> Outcome:
    """Learn a contestant's weights on a regression problem by leaving points out, and measure.

    Quality is the mean squared error to the true values at the queries; what rates are chosen
    by is the leave-one-out error of the training points; of more than 5,000, a sample may stand
    for all, see :func:`attention_plugins.regression.evaluate`.

    Raises:
        ContractError: an unknown name, or a scoring that does not fit the model.
        NotFiniteError: the loss is not finite before the first step.
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
            model = spec.create(factory, ModelSizes(data.x.shape[1], 1), {}).to(device)
    finally:
        torch.set_default_dtype(before)
    clock = _Clock()
    learned = fit(model, data, watch=clock, epochs=budget.epochs, lr=trial.rate, optimiser="adam")
    predicted = predict(model, data, keep_weights=False).values
    found = errors(model, data, predicted)
    _see_finite(predicted)
    if trial.tuning:
        return Outcome(trial=trial, validation=_rounded(found["leave_one_out_mse"]))
    every = max(1, len(learned.history) // _LOSSES)
    return Outcome(
        trial=trial,
        validation=_rounded(found["leave_one_out_mse"]),
        quality=_rounded(found["truth_mse"]),
        parts=_parts(data, predicted),
        curve=tuple(
            (float(n), _error(model, _ready(trial.task, n, trial.seed + 1, device)))
            for n in POINTS
        ),
        losses=[_rounded(step.loss) for step in learned.history[::every]],
        parameters=sum(w.numel() for w in model.parameters() if w.requires_grad),
        operations=_operations(model, data),
        milliseconds=clock.milliseconds(),
        example=_example(data, predicted) if trial.seed == 0 else None,
    )


class _Clock:
    """Times the steps of learning; the first half is warm-up."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def __call__(self, step: Step) -> None:
        self._times.append(time.perf_counter())

    def milliseconds(self) -> float:
        """Of a step; NaN where too few were taken."""
        timed = self._times[len(self._times) // 2 :]
        if len(timed) < 2:
            return math.nan
        return round(1e3 * (timed[-1] - timed[0]) / (len(timed) - 1), _DIGITS)


def _ready(task: str, points: int, seed: int, device: torch.device) -> RegressionData:
    problem = problem_of(task, points, seed)
    scaled, _ = standardise(problem.data)
    dtype = widest(device)
    x, y, queries = (part.to(device, dtype) for part in scaled[:3])
    return RegressionData(x, y, queries, problem.truth.to(device, dtype))


def _error(model: RegressionModel, data: RegressionData) -> float:
    predicted = predict(model, data, keep_weights=False).values
    return _rounded(float(_squares(data, predicted).mean()))


def _squares(data: RegressionData, predicted: Tensor) -> Tensor:
    if data.truth is None:
        raise ContractError("a race needs a problem whose true values are known")
    return (predicted - data.truth).square()


def _parts(data: RegressionData, predicted: Tensor) -> dict[str, float]:
    """Errors at the half of the queries that is nearer to a training point, and the other half.

    ``copied``: of the value of the nearest training point.
    """
    distances = torch.cdist(data.queries, data.x)
    away, nearest = distances.min(dim=1)
    is_near = away <= away.median()
    squares = _squares(data, predicted)
    found = {
        "near": squares[is_near], "far": squares[~is_near],
        "copied": _squares(data, data.y[nearest]),
    }  # fmt: skip
    return {name: _rounded(float(part.mean())) for name, part in found.items() if len(part)}


def _operations(model: RegressionModel, data: RegressionData) -> int:
    """Multiplications and additions of matrix products for one query."""
    with FlopCounterMode(display=False) as counter:
        predict(model, data, keep_weights=True)
    return round(counter.get_total_flops() / len(data.queries))


def _example(data: RegressionData, predicted: Tensor) -> Example | None:
    """The curve, where there is one input."""
    if data.queries.shape[1] != 1 or data.truth is None:
        return None
    parts = (data.queries[:, 0], predicted, data.truth)
    x, ours, truth = ([round(v, _DIGITS) for v in part.tolist()] for part in parts)
    return Example(x=x, predicted=ours, truth=truth)


def _see_finite(predicted: Tensor) -> None:
    if not torch.isfinite(predicted).all():
        raise FloatingPointError("the predictions are not finite; check names what is wrong")


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


_TUNING_SEEDS = 1_000_000  # and above; below are the race's


def pending(plan: Plan, outcomes: Iterable[Outcome]) -> Iterator[Trial]:
    """The trials that can be done now, in the order in which they are best done.

    Rates are chosen before anything is compared, and then all contestants run seed after seed,
    so that what is there at any time can be compared. Who has a problem at every rate is not
    tried again.
    """
    by_entry: dict[tuple[str, Contestant], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_entry[outcome.trial.task, outcome.trial.contestant].append(outcome)
    chosen: dict[tuple[str, Contestant], tuple[float, set[int]]] = {}
    for entry in entries(plan):
        found = by_entry[entry]
        tuning = [one for one in found if one.trial.tuning]
        done = {(one.trial.rate, one.trial.seed) for one in tuning}
        missing = [one for one in _tuning_trials(plan, *entry) if (one.rate, one.seed) not in done]
        yield from missing
        if not missing and (rate := best_rate(entry[0], tuning)) is not None:
            chosen[entry] = rate, {one.trial.seed for one in found if not one.trial.tuning}
    for seed in range(plan.seeds):
        for (task, who), (rate, done_seeds) in chosen.items():
            if seed not in done_seeds:
                yield Trial(task=task, contestant=who, rate=rate, seed=seed)


def entries(plan: Plan) -> list[tuple[str, Contestant]]:
    """Every task with every contestant whose model is for it."""
    registry = installed()
    return [
        (task, who)
        for task in plan.tasks
        for who in plan.contestants
        if registry.model(who.model).task == registry.dataset(task).task
    ]


def count(plan: Plan) -> int:
    """How many trials a race has, if nobody has a problem."""
    return sum(
        plan.seeds + plan.tuning_seeds * len(plan.tasks[task].rates) for task, _ in entries(plan)
    )


def best_rate(task: str, tuning: Iterable[Outcome]) -> float | None:
    """The rate whose validation is best on average; the lower of equals, None if none ran."""
    by_rate: dict[float, list[float]] = defaultdict(list)
    for outcome in tuning:
        by_rate[outcome.trial.rate].append(outcome.validation)
    sign = 1 if higher_is_better(task) else -1
    means = {rate: sign * fmean(values) for rate, values in by_rate.items()}
    known = {rate: mean for rate, mean in means.items() if not math.isnan(mean)}
    return min(known, key=lambda rate: (-known[rate], rate)) if known else None


def higher_is_better(task: str) -> bool:
    """Whether a task's quality is a score rather than an error."""
    registry = installed()
    spec = registry.dataset(task)
    return spec.task != "regression" and registry.metric(spec.metric).higher_is_better


def perform(trial: Trial, plan: Plan, device: torch.device | str = "cpu") -> Outcome:
    """Do one trial; what goes wrong in a plugin is its outcome's problem."""
    work = regress if installed().dataset(trial.task).task == "regression" else translate
    began = time.perf_counter()
    try:
        found = work(trial, plan.tasks[trial.task], device)
    except Exception as error:  # A plugin may raise anything; it costs its own trial.
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        found = Outcome(trial=trial, problem=told[:300])
    return replace(found, seconds=round(time.perf_counter() - began, 3))


def _tuning_trials(plan: Plan, task: str, who: Contestant) -> Iterator[Trial]:
    for seed in range(plan.tuning_seeds):
        for rate in plan.tasks[task].rates:
            yield Trial(
                task=task, contestant=who, rate=rate, seed=_TUNING_SEEDS + seed, tuning=True
            )
