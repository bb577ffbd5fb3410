"""A race from its plan to its outcomes: which trials it still needs, and doing them."""

import math
import multiprocessing
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean

import torch

from attention_plugins.contract import ContractError
from attention_plugins.devices import clock_of
from attention_plugins.errors import in_a_line
from attention_plugins.race.field.model import SHAPES
from attention_plugins.race.field.tasks import TASKS as FIELD
from attention_plugins.race.field.training import learn
from attention_plugins.race.records import (
    SOLVED,
    Budget,
    Contestant,
    Outcome,
    Plan,
    Trial,
    edge_of,
)
from attention_plugins.race.regressing import regress
from attention_plugins.race.store import Race
from attention_plugins.race.translating import translate
from attention_plugins.registry import SOFTMAX, installed

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
    *, tasks: Sequence[str] = TASKS, models: Sequence[str] = (), scorings: Sequence[str] = (),
    normalisers: Sequence[str] | None = None, every_pair: bool = False,
) -> Plan:  # fmt: skip
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
    return _BUDGETS["symbols" if task in SYMBOLS else installed().dataset(task).task]


_TUNING_SEEDS = 1_000_000  # and above; below are the race's


def pending(plan: Plan, outcomes: Iterable[Outcome]) -> Iterator[Trial]:
    """The trials that can be done now, in the order in which they are best done.

    Rates are chosen before anything is compared, and then all contestants run seed after seed,
    so that what is there can be compared. Who has a problem at every rate is not tried again. On
    a task of the field every contestant of a model learns at one rate before any at the next.
    """
    outcomes = [*outcomes]
    tuned, done = _by_entry(outcomes, tuning=True), _by_entry(outcomes, tuning=False)
    chosen: dict[tuple[str, Contestant], tuple[float, set[int]]] = {}
    waiting: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for (task, who), (seeds, goes_on) in halved(plan, tuned).items():
        rates = rates_of(plan, task, tuned[task, who]) if goes_on else plan.tasks[task].rates
        missing = [
            Trial(task=task, contestant=who, rate=rate, seed=seed, tuning=True)
            for rate, seed in _untried(tuned[task, who], rates, seeds)
        ]
        if task in FIELD:
            waiting[task, who.model] += missing
        else:
            yield from missing
        if goes_on and not missing and (rate := best_rate(task, tuned[task, who])) is not None:
            chosen[task, who] = rate, {one.trial.seed for one in done[task, who]}
    for (task, _), missing in waiting.items():
        yield from sorted(missing, key=lambda one: plan.tasks[task].rates.index(one.rate))
    for seed in range(plan.seeds):
        for (task, who), (rate, done_seeds) in chosen.items():
            if seed not in done_seeds:
                yield Trial(task=task, contestant=who, rate=rate, seed=seed)


def _by_entry(
    outcomes: Iterable[Outcome], *, tuning: bool
) -> dict[tuple[str, Contestant], list[Outcome]]:
    found: dict[tuple[str, Contestant], list[Outcome]] = defaultdict(list)
    for one in outcomes:
        if one.trial.tuning == tuning:
            found[one.trial.task, one.trial.contestant].append(one)
    return found


def halved(
    plan: Plan, tuned: Mapping[tuple[str, Contestant], Sequence[Outcome]]
) -> dict[tuple[str, Contestant], tuple[int, bool | None]]:
    """How many tuning seeds each contestant is given, and whether it goes on to be compared.

    Successive halving (Jamieson and Talwalkar 2016): in each of ``plan.halving`` rounds those that
    are left try every rate with one more seed; then the half with the best validation goes on, and
    the reference. What they are chosen by is never reported, so tests of who goes on stay valid.
    None where that is not known yet. On a task of the field all go on.
    """
    found: dict[tuple[str, Contestant], tuple[int, bool | None]] = {}
    left: dict[tuple[str, str], list[Contestant]] = defaultdict(list)
    for task, who in entries(plan):
        left[task, who.model].append(who)
        found[task, who] = plan.tuning_seeds, True
    for (task, _), everybody in left.items():
        going = everybody
        rates, usual = plan.tasks[task].rates, REFERENCES[kind_of(task)]
        for number in range(1, 1 + (0 if task in FIELD else plan.halving)):
            of_round = {
                who: [one for one in tuned.get((task, who), ()) if one.trial.rate in rates
                      and one.trial.seed < _TUNING_SEEDS + number]
                for who in going
            }  # fmt: skip
            if any(len(tried) < number * len(rates) for tried in of_round.values()):
                found |= {(task, who): (number, None) for who in going}
                break
            best = {who: max(_means(task, tried).values(), default=-math.inf)
                    for who, tried in of_round.items()}  # fmt: skip
            bar = sorted(best.values())[len(going) // 2]
            out = {who for who in going if best[who] < bar and (who.scoring, who.normaliser)
                   != (usual, "")}  # fmt: skip
            found |= {(task, who): (number, False) for who in out}
            going = [who for who in going if who not in out]
    return found


def _untried(
    tuning: Sequence[Outcome], rates: Sequence[float], seeds: int
) -> Iterator[tuple[float, int]]:
    """Rates and seeds left to try: none of a task of the field that one of them solved."""
    if any(one.ended == SOLVED for one in tuning):
        return
    done = {(one.trial.rate, one.trial.seed) for one in tuning}
    for seed in range(_TUNING_SEEDS, _TUNING_SEEDS + seeds):
        yield from ((rate, seed) for rate in rates if (rate, seed) not in done)


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
    return [(task, who) for task in plan.tasks for who in plan.contestants
            if kind_of_model(who.model) == kind_of(task)]  # fmt: skip


def count(plan: Plan, outcomes: Iterable[Outcome] = ()) -> int:
    """How many trials a race has, if nobody has a problem, and by these outcomes."""
    return sum(wanted(plan, outcomes).values())


def wanted(plan: Plan, outcomes: Iterable[Outcome]) -> dict[tuple[str, Contestant], int]:
    """How many trials each contestant has on each task, by what is known of who goes on."""
    tuned = _by_entry(outcomes, tuning=True)
    return {
        (task, who): seeds * len(plan.tasks[task].rates)
        if goes_on is False
        else plan.seeds + plan.tuning_seeds * len(rates_of(plan, task, tuned[task, who]))
        for (task, who), (seeds, goes_on) in halved(plan, tuned).items()
    }


def best_rate(task: str, tuning: Iterable[Outcome]) -> float | None:
    """The rate whose validation is best on average; the lower of equals, None if none ran."""
    means = _means(task, tuning)
    return min(means, key=lambda rate: (-means[rate], rate), default=None)


def _means(task: str, tuning: Iterable[Outcome]) -> dict[float, float]:
    """The mean validation by rate, the larger the better; without rates that failed."""
    by_rate: dict[float, list[float]] = defaultdict(list)
    for outcome in tuning:
        by_rate[outcome.trial.rate].append(outcome.validation)
    sign = 1 if higher_is_better(task) else -1
    means = {rate: sign * fmean(values) for rate, values in by_rate.items()}
    return {rate: mean for rate, mean in means.items() if not math.isnan(mean)}


def higher_is_better(task: str) -> bool:
    """Whether a task's quality is a score rather than an error."""
    if task in FIELD:
        return True
    registry = installed()
    spec = registry.dataset(task)
    return spec.task != "regression" and registry.metric(spec.metric).higher_is_better


Watch = Callable[[Outcome], object]
Beat = Callable[[], object]


def perform(
    trial: Trial, plan: Plan, device: torch.device | str = "cpu", beat: Beat = lambda: None,
    rest: Path | None = None,
) -> Outcome:  # fmt: skip
    """Do one trial; what goes wrong in a plugin is its outcome's problem.

    ``beat`` is called after every epoch of a long one; it may raise to stop. It goes on from
    ``rest``, see :func:`.field.training.learn`.
    """
    stopped = []

    def alive() -> None:
        try:
            beat()
        except Exception as error:
            stopped.append(error)
            raise

    work = _WORK.get(kind_of(trial.task), partial(learn, beat=alive, rest=rest))
    clock = clock_of(device)
    began = clock()
    try:
        found = work(trial, plan.tasks[trial.task], device)
    except Exception as error:  # A plugin may raise anything; it costs its own trial.
        if stopped:
            raise
        found = Outcome(trial=trial, problem=in_a_line(error)[:300])
    return replace(found, seconds=round(found.seconds + clock() - began, 3))


_WORK = {"regression": regress, "translation": translate}


def run(
    race: Race, device: torch.device | str = "cpu", watch: Watch = lambda outcome: None,
    beat: Beat = lambda: None,
) -> None:  # fmt: skip
    """Do trials until none is left that no other process does.

    ``watch`` is told of every outcome of this process; it may raise to stop, and so may ``beat``,
    see :func:`perform`.
    """
    found = True
    while found:
        found = False
        for trial in pending(race.plan, race.outcomes()):
            with race.claimed(trial) as mine:
                if not mine or race.is_done(trial):
                    continue
                rest = race.rest(trial)
                outcome = perform(trial, race.plan, device, beat, rest)
                race.add(outcome)
                rest.unlink(missing_ok=True)
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
