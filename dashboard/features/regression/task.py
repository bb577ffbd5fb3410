"""Kernel regression: one problem, one scoring; the curve, the weights, and how good they are."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch

from attention_plugins import ModelSizes, RegressionData, contract, registry
from attention_plugins.attention import rows_sum_to_one, weights_are_signed
from attention_plugins.devices import resolve, widest
from attention_plugins.fitting import NotFiniteError, Step, fit, learned_values
from attention_plugins.randomness import seeded
from attention_plugins.regression import errors, evaluate, mean_squares, predict, standardise
from dashboard.features.regression import task_problem, task_result
from dashboard.features.regression.task_offer import OPTIONS, STANDARDISE
from dashboard.jobs.tasks import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.links.fits import VALIDATION
from dashboard.records.attending import SOFTMAX, normaliser_of, without_normaliser
from dashboard.records.beside import beside
from dashboard.records.request import COLUMNS, Request, Result, is_upload

_SAID = beside(__file__, "words.toml")["task"]

DEFAULT_MODEL = "nadaraya_watson"
_DEFAULT_SCORING = "gaussian"
_REPORTS = 50
_LONG = 0.25  # seconds; what takes longer is not done again
_REPEATED, _ENOUGH = 5, 0.02  # times, and seconds for all of them


class StepClock:
    """Times the steps of learning; the first is warm-up."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._ends: list[float] = []

    def __call__(self) -> None:
        """Note the end of a step; the first comes before any update."""
        self._ends.append(self._clock())

    def seconds(self) -> float:
        """Of all updates, the first taken to be as long as the others; 0 without any."""
        updates = len(self._ends) - 1
        if updates < 1:
            return 0.0
        if updates == 1:
            return self._ends[1] - self._ends[0]
        return (self._ends[-1] - self._ends[1]) * updates / (updates - 1)


def again(
    action: Callable[[], object], first: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest duration of an action that took ``first`` seconds just now.

    A short one is done again a few times: whatever else the machine does only makes it longer.
    """
    found = [first]
    if first > _LONG:
        return first
    while len(found) <= _REPEATED and sum(found[1:]) < _ENOUGH:
        began = clock()
        action()
        found.append(clock() - began)
    return min(found)


class Asked(NamedTuple):
    """The records that a request names, and the values of the normaliser's parameters."""

    scoring: contract.ScoringSpec
    normaliser: contract.NormaliserSpec
    values: Mapping[str, contract.Scalar]

    def not_finite(self) -> ValueError:
        """What is raised where the numbers are not."""
        names = {"scoring": self.scoring.name, "normaliser": self.normaliser.name}
        return ValueError(gettext_noop(_SAID["not_finite"], **names))

    def provenance(self, request: Request) -> dict[str, Any]:
        """Facts on who brought what the result was made with."""
        installed = registry.installed()
        used = [
            ("models", request.model or DEFAULT_MODEL), ("scorings", self.scoring.name),
            ("normalisers", self.normaliser.name),
        ]  # fmt: skip
        if not is_upload(request.data):
            used.append(("datasets", request.data or task_problem.DEFAULT_PROBLEM))
        plugins = [installed.provider(kind, name) for kind, name in used]
        return {
            "torch": str(torch.__version__),
            "plugins": {plugin.distribution: plugin.version for plugin in plugins},
        }


def read_asked(request: Request) -> Asked:
    """The scoring and the normaliser that a request names; ValueError if one is of no use."""
    installed = registry.installed()
    scoring = installed.scoring(request.scoring or _DEFAULT_SCORING)
    given = dict(request.parameters)
    parts = [
        installed.scoring(str(given.get(parameter.name, parameter.default)))
        for parameter in scoring.parameters
        if parameter.names == "scorings"
    ]
    for each in (scoring, *parts):
        if "regression" not in each.tasks:
            raise ValueError(
                f"scoring {each.name!r} is for {' and '.join(each.tasks)}; points of a "
                "regression have no order: choose another"
            )
    name, values = normaliser_of(dict(request.options))
    return Asked(scoring, installed.normaliser(name), values)


@dataclass(frozen=True, kw_only=True)
class Options:
    """See :data:`OPTIONS`."""

    learn: bool
    standardise: bool
    epochs: int
    lr: float
    loss: str
    optimiser: str

    def fitting(self, asked: Asked) -> dict[str, Any]:
        """What :func:`.fit` is given besides a model, its data and who watches."""
        own = {name: getattr(self, name) for name in ("epochs", "lr", "loss", "optimiser")}
        of = {"parameters": asked.scoring, "of_normaliser": asked.normaliser}
        return {**own, **{name: spec.parameters for name, spec in of.items()}}


def perform(request: Request, context: Context) -> Result:
    """Predict at the problem's queries, after learning if asked to.

    Options of the request: the problem's own parameters with ``data.`` before their names, the
    normaliser (see :meth:`~dashboard.records.attending.Normalised.options`), and :data:`OPTIONS`;
    ``standardise`` is on for an uploaded table unless set, and ``columns`` may say which of its
    columns are used, see :class:`~dashboard.storage.table_format.Columns`.

    Returns:
        Tables ``curve`` (``x0`` …, ``prediction``, ``truth`` or null, ``measured`` where queries
        are rows of a table), ``points`` (``x0`` …, ``y``), ``left_out`` and ``errors`` (see
        :func:`.evaluation_tables`), ``maps`` (unless too large), ``history`` (if learned); facts
        ``metrics``, ``leave_one_out`` (how many ``rows`` of how many ``points`` errors are of,
        and each one's standard error), ``parameters`` (how many weights the model has),
        ``learned``, ``notes``, ``remarks`` (on this result beside others), ``equal_weights``
        (whether all of the map are), ``skipped`` (rows of an uploaded table, by reason),
        ``validation`` (:func:`.scores` of rows left out of one), and where it all came from.

    Raises:
        ValueError: an unknown name or option, a value out of bounds, a faulty table, NaN scores.
        Cancelled: the job was stopped.
    """
    if any(name.startswith(VALIDATION) for name, _ in request.options):
        from dashboard.features.regression import task_validation  # which imports this module

        return task_validation.perform(request, context)
    started = time.perf_counter()
    device = resolve(request.device)
    options = options_of(request)
    problem = task_problem.read_problem(request)
    context.report(0.05, gettext_noop("data read"))
    asked = read_asked(request)
    scaled, scale = standardise(problem.data) if options.standardise else (problem.data, None)
    # float64 agrees with any reference to its last digits, and costs nothing at these sizes.
    dtype = widest(device)
    x, y, queries = (part.to(device, dtype) for part in scaled[:3])
    truth = None if scaled.truth is None else scaled.truth.to(device, dtype)
    data = RegressionData(x, y, queries, truth)
    model = model_of(request, asked, data.x.shape[1], dtype).to(device).eval()
    clock = StepClock()
    watch = watching(context, clock, options.epochs)
    learned = None
    if options.learn:
        try:
            learned = fit(model, data, watch=watch, **options.fitting(asked))
        except NotFiniteError as error:
            raise asked.not_finite() from error
    cells = len(data.queries) * len(data.x)
    predict(model, data._replace(queries=data.queries[:1]), keep_weights=True)  # warm-up
    began = time.perf_counter()
    prediction = predict(model, data, keep_weights=cells <= task_result.MOST_CELLS)
    first = time.perf_counter() - began
    context.report(0.92, gettext_noop("leaving out rows"))
    # A single input is sorted; whatever the inputs are, the same rows are drawn.
    order = None if problem.rows is None else problem.rows.argsort()
    evaluated = evaluate(model, data, request.seed, order)
    metrics = errors(model, data, prediction.values, evaluated)
    means = mean_squares(data, evaluated)
    if prediction.effective_neighbours is not None:
        metrics["effective_neighbours"] = prediction.effective_neighbours
    predicting = first
    if getattr(context, "timed", True):  # the sum waits for the device
        predicting = again(
            lambda: float(predict(model, data, keep_weights=False).values.sum()), first
        )
    figures = torch.tensor(list(metrics.values()))
    if not (torch.isfinite(prediction.values).all() and torch.isfinite(figures).all()):
        raise asked.not_finite()
    context.report(0.95, gettext_noop("predicted"))
    normalised = rows_sum_to_one(model)
    equal = task_result.equal_weights(prediction)
    own = "" if asked.normaliser.name == SOFTMAX else asked.normaliser.title
    loose = None if normalised else (asked.scoring.title, own, prediction.row_sums)
    return Result(
        tables={
            **task_result.tables(
                problem, prediction, learned, sums_to_one=normalised,
                signed=weights_are_signed(model),
            ),
            **task_result.evaluation_tables(problem, evaluated, means),
        },
        facts={
            "metrics": metrics,
            "leave_one_out": {
                "rows": len(evaluated.rows), "points": evaluated.points,
                "standard_errors": {name: mean.standard_error for name, mean in means.items()},
            },
            "parameters": sum(weights.numel() for weights in model.parameters()),
            "learned": learned_values(model, asked.scoring.parameters, asked.normaliser.parameters)
            if learned
            else {},
            "notes": [
                *task_result.estimate_note(
                    ", ".join(filter(None, (asked.scoring.title, own))), evaluated,
                    means["leave_one_out_mse"],
                ),
                *task_result.notes(cells, problem, scale, learned, loose),
            ],
            "remarks": task_result.remarks(equal, model, data),
            "equal_weights": equal is not None,
            "x_names": list(problem.titles[:-1]),
            "y_name": problem.titles[-1],
            "data_sha256": problem.sha256,
            "skipped": problem.skipped._asdict() if problem.skipped else {},
            **task_result.validation(problem, evaluated),
            "standardised": scale and {"mean": scale.mean.tolist(), "unit": scale.unit.tolist()},
            "device": str(device),
            **asked.provenance(request),
            "seconds": time.perf_counter() - started,
            "work_seconds": clock.seconds() + predicting,
        },
    )  # fmt: skip


def options_of(request: Request) -> Options:
    """What a request says besides its data and normaliser; ContractError of anything else."""
    uploaded = is_upload(request.data)
    of_data = (task_problem.DATA_OPTION, COLUMNS) if uploaded else task_problem.DATA_OPTION
    given = without_normaliser(
        {name: value for name, value in request.options if not name.startswith(of_data)}
    )
    known = [replace(p, default=uploaded) if p is STANDARDISE else p for p in OPTIONS]
    return contract.as_record(Options, contract.settle(known, given))


def model_of(request: Request, asked: Asked, size: int, dtype: torch.dtype) -> torch.nn.Module:
    """The model that a request names, with its scoring, of ``size`` inputs."""
    spec = registry.installed().model(request.model or DEFAULT_MODEL)
    if spec.task != "regression":
        raise contract.ContractError(
            f"model {spec.name!r} is for {spec.task}; need one for regression"
        )
    values = dict(request.parameters)
    own, scorings = ({p.name for p in part.parameters} for part in (spec, asked.scoring))
    of_scoring = {name: v for name, v in values.items() if name not in own or name in scorings}
    of_model = {name: v for name, v in values.items() if name in own}
    scoring = registry.installed().scoring_factory(
        asked.scoring.name, of_scoring, asked.normaliser.name, asked.values
    )
    before = torch.get_default_dtype()
    # Built in its dtype: a width of 0.3 must not pass through float32 on its way to float64.
    torch.set_default_dtype(dtype)
    try:
        with seeded(request.seed):
            return spec.create(scoring, ModelSizes(size, 1), of_model)
    finally:
        torch.set_default_dtype(before)


def watching(context: Context, clock: StepClock, epochs: int) -> Callable[[Step], None]:
    """What reports the steps of a fit, and ends it where the job is stopped."""
    every = max(1, epochs // _REPORTS)

    def watch(step: Step) -> None:
        clock()
        if context.stopped():
            raise Cancelled
        if step.number % every == 0:
            fraction = 0.1 + 0.8 * step.number / epochs
            facts = {"step": step.number, "loss": step.loss, **step.learned}
            note = gettext_noop(
                "learning, step {step} of {epochs}", step=step.number, epochs=epochs
            )
            context.report(fraction, note, facts)

    return watch
