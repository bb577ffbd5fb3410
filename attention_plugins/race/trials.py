"""A race from its plan to its outcomes: which trials it still needs, and doing them."""

import math
import multiprocessing
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from attention_plugins import ModelSizes, RegressionData
from attention_plugins.contract import ContractError
from attention_plugins.devices import widest
from attention_plugins.fitting import fit
from attention_plugins.models.protocols import RegressionModel
from attention_plugins.race.data import POINTS, problem_of
from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.field.training import learn
from attention_plugins.race.records import (
    SOLVED,
    Budget,
    Contestant,
    Example,
    Outcome,
    Plan,
    Trial,
    edge_of,
)
from attention_plugins.race.store import Race
from attention_plugins.race.translating import translate
from attention_plugins.randomness import seeded
from attention_plugins.registry import SOFTMAX, installed
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
        trial=trial,
        validation=validation,
        quality=_rounded(found["truth_mse"]),
        parts=_parts(data, predicted),
        curve=tuple(
            (float(n), _error(model, _ready(trial.task, n, trial.seed + 1, device)))
            for n in POINTS
        ),
        losses=[_rounded(step.loss) for step in learned.history[::every]],
        parameters=sum(w.numel() for w in model.parameters() if w.requires_grad),
        operations=_operations(model, data),
        milliseconds=_milliseconds(times),
        example=_example(data, predicted) if trial.seed == 0 and is_curve else None,
    )


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
    predicted = predict(model, data, keep_weights=False).values
    return _rounded(float(_squares(data, predicted).mean()))


def _squares(data: RegressionData, predicted: Tensor) -> Tensor:
    assert data.truth is not None  # see problem_of
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


def _example(data: RegressionData, predicted: Tensor) -> Example:
    assert data.truth is not None  # see problem_of
    parts = (data.queries[:, 0], predicted, data.truth)
    x, ours, truth = ([round(v, _DIGITS) for v in part.tolist()] for part in parts)
    return Example(x=x, predicted=ours, truth=truth)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


SYMBOLS = ("copy", "reverse", "sort", "recall", "tagging")
CORPUS = "phrasebook"
REGRESSION = ("sine", "step", "doppler", "growing_noise", "outliers", "plane")
TASKS = (*REGRESSION, *SYMBOLS, CORPUS)
MODELS = {
    "regression": "nadaraya_watson", "translation": "bahdanau", "zoology": "zoology_64",
    "mad": "mad_128",
}  # fmt: skip
REFERENCES = {
    "regression": "gaussian", "translation": "scaled_dot", "zoology": "scaled_dot", "mad": "rope",
}  # fmt: skip
SEEDS = 12  # with 11 or more, 46 comparisons can be told from chance
TUNING_SEEDS = 2

# Small enough for a few seconds each, and large enough that no scoring solves every task.
_BUDGETS = {
    "regression": Budget(
        examples=50, epochs=150, batch_size=50, rates=(0.01, 0.03, 0.1, 0.3), widen=2
    ),
    "symbols": Budget(
        examples=1000, epochs=12, batch_size=64, rates=(0.003, 0.01, 0.03, 0.1), widen=2
    ),
    "translation": Budget(
        examples=3000, epochs=12, batch_size=32, rates=(0.003, 0.01, 0.03, 0.1), widen=2
    ),
}


def plan(
    *,
    tasks: Sequence[str] = TASKS,
    models: Sequence[str] = (),
    scorings: Sequence[str] = (),
    normalisers: Sequence[str] | None = None,
    every_pair: bool = False,
) -> Plan:
    """A plan of :data:`SEEDS` trainings each, and :data:`TUNING_SEEDS` more at each rate.

    Of tasks of the field alone each rate is tried once, as their authors do.

    Args:
        models: at least one for each kind of task; empty for :data:`MODELS`.
        scorings: names, or formulas behind ``=``; empty for all that are installed.
        normalisers: None for all that are installed where ``scorings`` is empty, else none.
        every_pair: every scoring with every normaliser; else every scoring in its own way, and
            every normaliser with the reference of :data:`REFERENCES`.

    Raises:
        ContractError: an unknown name, or a task without a model.
    """
    registry = installed()
    kinds = {kind_of(task) for task in tasks}
    chosen = tuple(models) or tuple(MODELS[kind] for kind in MODELS if kind in kinds)
    for kind in kinds:
        if kind not in {kind_of_model(model) for model in chosen}:
            raise ContractError(f"no model for {kind} among {', '.join(chosen)}; add one")
    if normalisers is None:
        every = () if scorings else registry.normalisers
        normalisers = [name for name in every if name != SOFTMAX]
    names = [registry.scoring(name).name for name in scorings or registry.scorings]
    contestants = []
    for model in chosen:
        reference = REFERENCES[kind_of_model(model)]
        pairs = [(name, "") for name in names]
        pairs += [
            (name, way)
            for name in (names if every_pair else [reference])
            for way in normalisers
            if not registry.scoring(name).own_normaliser and registry.normaliser(way)
        ]
        contestants += [Contestant(model=model, scoring=a, normaliser=b) for a, b in pairs]
    seeds, tuning_seeds = (0, 1) if {*tasks} <= FIELD.keys() else (SEEDS, TUNING_SEEDS)
    return Plan(
        tasks={task: budget_of(task) for task in tasks},
        contestants=tuple(dict.fromkeys(contestants)), seeds=seeds, tuning_seeds=tuning_seeds,
    )  # fmt: skip


def kind_of(task: str) -> str:
    """The kind of models that learn a task: that of its data set, or a family of the field."""
    return FIELD[task].family if task in FIELD else installed().dataset(task).task


def kind_of_model(name: str) -> str:
    """The kind of tasks that a model learns."""
    return name.partition("_")[0] if name in SHAPES else installed().model(name).task


def budget_of(task: str) -> Budget:
    """What contestants are given in a new race."""
    if task in FIELD:
        return FIELD[task].budget
    kind = "symbols" if task in SYMBOLS else installed().dataset(task).task
    return _BUDGETS[kind]


_TUNING_SEEDS = 1_000_000  # and above; below are the race's


def pending(plan: Plan, outcomes: Iterable[Outcome]) -> Iterator[Trial]:
    """The trials that can be done now, in the order in which they are best done.

    Rates are chosen before anything is compared, and then all contestants run seed after seed,
    so that what is there can be compared. Who has a problem at every rate is not tried again. On
    a task of the field every contestant of a model learns at one rate before any at the next.
    """
    by_entry: dict[tuple[str, Contestant], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_entry[outcome.trial.task, outcome.trial.contestant].append(outcome)
    chosen: dict[tuple[str, Contestant], tuple[float, set[int]]] = {}
    waiting: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for task, who in entries(plan):
        found = by_entry[task, who]
        tuning = [one for one in found if one.trial.tuning]
        missing = _untried(plan, task, who, tuning)
        if task in FIELD:
            waiting[task, who.model] += missing
        else:
            yield from missing
        if not missing and (rate := best_rate(task, tuning)) is not None:
            chosen[task, who] = rate, {one.trial.seed for one in found if not one.trial.tuning}
    for (task, _), missing in waiting.items():
        yield from sorted(missing, key=lambda one: plan.tasks[task].rates.index(one.rate))
    for seed in range(plan.seeds):
        for (task, who), (rate, done_seeds) in chosen.items():
            if seed not in done_seeds:
                yield Trial(task=task, contestant=who, rate=rate, seed=seed)


def _untried(plan: Plan, task: str, who: Contestant, tuning: Sequence[Outcome]) -> list[Trial]:
    """Rates that are left to try: none of a task of the field that one of them solved."""
    if any(one.ended == SOLVED for one in tuning):
        return []
    done = {(one.trial.rate, one.trial.seed) for one in tuning}
    return [
        Trial(task=task, contestant=who, rate=rate, seed=seed, tuning=True)
        for seed in range(_TUNING_SEEDS, _TUNING_SEEDS + plan.tuning_seeds)
        for rate in rates_of(plan, task, tuning)
        if (rate, seed) not in done
    ]


def rates_of(plan: Plan, task: str, tuning: Sequence[Outcome]) -> list[float]:
    """The rates that a contestant tries, as far as its outcomes say.

    They are those of the task's budget, and while the best lies at their edge one beyond it, by
    the factor between the last two. Tasks of the field keep their authors' rates.
    """
    budget = plan.tasks[task]
    found = [*budget.rates]
    for _ in range(0 if task in FIELD or len(found) < 2 else budget.widen):
        tried = [one for one in tuning if one.trial.rate in found]
        if len(tried) < plan.tuning_seeds * len(found):
            break
        edge = edge_of(best_rate(task, tried), tried)
        if not edge:
            break
        inner, outer = sorted(found, reverse=edge == "lowest")[-2:]
        found.append(float(f"{outer * outer / inner:.3g}"))
    return found


def entries(plan: Plan) -> list[tuple[str, Contestant]]:
    """Every task with every contestant whose model is for it."""
    return [
        (task, who)
        for task in plan.tasks
        for who in plan.contestants
        if kind_of_model(who.model) == kind_of(task)
    ]


def count(plan: Plan, outcomes: Iterable[Outcome] = ()) -> int:
    """How many trials a race has, if nobody has a problem, and by these outcomes."""
    return sum(wanted(plan, outcomes).values())


def wanted(plan: Plan, outcomes: Iterable[Outcome]) -> dict[tuple[str, Contestant], int]:
    """How many trials each contestant has on each task; see :func:`rates_of`."""
    tuned: dict[tuple[str, Contestant], list[Outcome]] = defaultdict(list)
    for one in outcomes:
        if one.trial.tuning:
            tuned[one.trial.task, one.trial.contestant].append(one)
    return {
        (task, who): plan.seeds + plan.tuning_seeds * len(rates_of(plan, task, tuned[task, who]))
        for task, who in entries(plan)
    }


def best_rate(task: str, tuning: Iterable[Outcome]) -> float | None:
    """The rate whose validation is best on average; the lower of equals, None if none ran."""
    by_rate: dict[float, list[float]] = defaultdict(list)
    for outcome in tuning:
        by_rate[outcome.trial.rate].append(outcome.validation)
    sign = 1 if higher_is_better(task) else -1
    means = {rate: sign * fmean(values) for rate, values in by_rate.items()}
    known = [(-mean, rate) for rate, mean in means.items() if not math.isnan(mean)]
    return min(known)[1] if known else None


def higher_is_better(task: str) -> bool:
    """Whether a task's quality is a score rather than an error."""
    if task in FIELD:
        return True
    registry = installed()
    spec = registry.dataset(task)
    return spec.task != "regression" and registry.metric(spec.metric).higher_is_better


def perform(trial: Trial, plan: Plan, device: torch.device | str = "cpu") -> Outcome:
    """Do one trial; what goes wrong in a plugin is its outcome's problem."""
    work = _WORK.get(kind_of(trial.task), learn)
    # A core's own time: neither others' load nor a pause makes a training dearer.
    clock = time.process_time if torch.device(device).type == "cpu" else time.perf_counter
    began = clock()
    try:
        found = work(trial, plan.tasks[trial.task], device)
    except Exception as error:  # A plugin may raise anything; it costs its own trial.
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        found = Outcome(trial=trial, problem=told[:300])
    return replace(found, seconds=round(clock() - began, 3))


_WORK = {"regression": regress, "translation": translate}
Watch = Callable[[Outcome], object]


def run(
    race: Race, device: torch.device | str = "cpu", watch: Watch = lambda outcome: None
) -> None:
    """Do trials until none is left that no other process does.

    ``watch`` is told of every outcome of this process; it may raise to stop.
    """
    found = True
    while found:
        found = False
        for trial in pending(race.plan, race.outcomes()):
            with race.claimed(trial) as mine:
                if not mine or race.is_done(trial):
                    continue
                outcome = perform(trial, race.plan, device)
                race.add(outcome)
            watch(outcome)
            found = True


def run_beside(folder: Path, processes: int, device: str, watch: Callable[[], None]) -> None:
    """Do a race's trials in processes of their own, each on one core.

    ``watch`` is called twice a second; it may raise to stop, and then all processes end.
    """
    context = multiprocessing.get_context("spawn")
    working = [
        context.Process(target=_work, args=(folder, device), daemon=True) for _ in range(processes)
    ]
    for one in working:
        one.start()
    try:
        while any(one.is_alive() for one in working):
            working[0].join(0.5)
            watch()
    finally:
        for one in working:
            one.terminate()
            one.join()


def _work(folder: Path, device: str) -> None:
    torch.set_num_threads(1)
    parent = multiprocessing.parent_process()

    def see_parent(outcome: Outcome) -> None:
        if parent is not None and not parent.is_alive():
            sys.exit()  # whoever started this process is gone, however it ended

    run(Race.open(folder), device, see_parent)
