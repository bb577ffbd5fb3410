"""How well scorings and scikit-learn's models predict rows that they were not fitted to.

Folds and held-out rows are those of scikit-learn's ``KFold`` and ``train_test_split`` over the
rows in the order of the table. Everything is fitted to training rows alone: the scale of x, what a
scoring learns, and what tuning chooses, by folds of the training rows.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch

from attention_plugins import RegressionData
from attention_plugins.devices import resolve, widest
from attention_plugins.fitting import grid
from attention_plugins.regression import FEWEST_ROWS, MOST_WORK, predict, rows_of, standardise
from dashboard.features.regression import task
from dashboard.features.regression.task_problem import ROW_LIMIT, Problem, read_problem
from dashboard.features.regression.task_result import numbered, scores
from dashboard.jobs.tasks import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.links.fits import LEAVE_ONE_OUT, VALIDATION
from dashboard.records.beside import beside
from dashboard.records.parameter import pairs
from dashboard.records.request import Request, Result

_SAID = beside(__file__, "words.toml")["task_validation"]
_MOST_TUNED = 2_000  # training rows by whose folds values are chosen
_MOST_FITS = 500  # that leaving out one row after the other may take

Values = Mapping[str, Any]
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How rows are left out, as the options of a request say that begin with ``validation.``."""

    method: str = LEAVE_ONE_OUT
    folds: int = 5
    seed: int = 0
    tune: bool = False
    baseline: str = ""


class Method(NamedTuple):
    """What predicts rows: ``predict(values, data)`` gives float64 ``(m,)`` at the data's queries.

    Args:
        grid: what tuning chooses from, what is set first; nothing where there is no choice.
        most: training rows that it takes; of more a random sample.
        words: how it is written down in scikit-learn; empty for a scoring.
    """

    predict: Callable[[Values, RegressionData], np.ndarray]
    grid: Sequence[Values]
    most: int = ROW_LIMIT
    words: str = ""


def folds(points: int, count: int, seed: int | None) -> list[Split]:
    """As ``KFold(count, shuffle=True, random_state=seed)``; unshuffled where the seed is None."""
    order = np.arange(points)
    if seed is not None:
        np.random.RandomState(seed).shuffle(order)
    return [(np.setdiff1d(order, part), np.sort(part)) for part in np.array_split(order, count)]


def splits(plan: Plan, points: int) -> list[Split]:
    """Training rows and test rows; those of ``train_test_split`` where rows are held out."""
    if points < 2 * plan.folds:
        raise ValueError(gettext_noop(_SAID["few"], rows=points, need=2 * plan.folds))
    if plan.method == LEAVE_ONE_OUT:
        if points > _MOST_FITS:
            raise ValueError(gettext_noop(_SAID["many_fits"], rows=points, most=_MOST_FITS))
        return folds(points, points, None)
    if plan.method == "folds":
        return folds(points, plan.folds, plan.seed)
    order = np.random.RandomState(plan.seed).permutation(points)
    tested = int(np.ceil(1 / plan.folds * points))
    return [(order[tested:], order[:tested])]


def perform(request: Request, context: Context) -> Result:
    """Predict rows that were left out.

    Returns:
        A table ``validation``: ``row``, the inputs by their names, ``measured``, ``fold`` from 1,
        ``prediction``. Facts ``validation``: ``r2``, ``mae`` and ``rmse``, see :func:`.scores`, of
        ``rows`` among ``points``; how many rows were ``trained`` on at most in one fit; what was
        ``chosen`` in each split; the ``edges``, names of values that were chosen at an end of
        what was tried; ``words``, see :class:`Method`.

    Raises:
        ValueError: as the page's own task; too few rows or too many fits; no scikit-learn.
        Cancelled: the job was stopped.
    """
    own, asked = {}, {}
    for name, value in request.options:
        held = asked if name.startswith(VALIDATION) else own
        held[name.removeprefix(VALIDATION)] = value
    plan, request = Plan(**asked), replace(request, options=pairs(own))
    problem = _in_order(read_problem(request))
    data, points = problem.data, len(problem.data.x)
    method = (_baseline if plan.baseline else _scoring)(request, plan, data)
    scored = rows_of(points, max(FEWEST_ROWS, MOST_WORK // points), plan.seed).numpy()
    predicted, fold = np.zeros(points), np.zeros(points, np.int64)
    parts, chosen, trained = splits(plan, points), [], 0
    for number, (others, left_out) in enumerate(parts, 1):
        note = gettext_noop("fold {fold} of {folds}", fold=number, folds=len(parts))
        context.report((number - 1) / len(parts), note)
        if context.stopped():
            raise Cancelled
        values = _chosen(method, plan, data, others) if plan.tune else {}
        chosen.append(values)
        train, test = _sample(others, method.most, plan.seed), np.intersect1d(left_out, scored)
        fold[test], trained = number, max(trained, len(train))
        if len(test):
            predicted[test] = method.predict(values, _part(data, train, test))
    rows = np.flatnonzero(fold)
    measured = data.y[rows].double().numpy()
    table = {
        **numbered(problem, torch.from_numpy(rows)), "measured": pa.array(measured),
        "fold": pa.array(fold[rows]), "prediction": pa.array(predicted[rows]),
    }  # fmt: skip
    facts = {
        **scores(measured, predicted[rows], plan.seed),
        "rows": len(rows), "points": points, "trained": trained, "words": method.words,
        "chosen": [dict(values) for values in chosen if values],
        "edges": _edges(method.grid, chosen),
    }  # fmt: skip
    return Result(tables={"validation": pa.table(table)}, facts={"validation": facts})


def _in_order(problem: Problem) -> Problem:
    """The rows as they come in the table."""
    if problem.rows is None:
        return problem
    order = problem.rows.argsort()
    data = problem.data._replace(x=problem.data.x[order], y=problem.data.y[order])
    return problem._replace(data=data, rows=problem.rows[order])


def _sample(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    return rows[rows_of(len(rows), most, seed).numpy()]


def _part(data: RegressionData, train: np.ndarray, test: np.ndarray) -> RegressionData:
    return RegressionData(data.x[train], data.y[train], data.x[test])


def _chosen(method: Method, plan: Plan, data: RegressionData, train: np.ndarray) -> Values:
    """Of the grid, what has the smallest mean of the mean squared errors of inner folds.

    That is what ``GridSearchCV`` chooses.
    """
    train = _sample(train, _MOST_TUNED, plan.seed)
    inner = [(train[fit], train[test]) for fit, test in folds(len(train), plan.folds, plan.seed)]

    def error(values: Values) -> float:
        try:
            misses = [method.predict(values, _part(data, *both)) - data.y[both[1]].numpy()
                      for both in inner]  # fmt: skip
        except ValueError:  # of values that give no finite scores
            return math.inf
        return float(np.mean([np.mean(each**2) for each in misses]))

    return min(method.grid, key=error) if len(method.grid) > 1 else {}


def _edges(offered: Sequence[Values], chosen: Iterable[Values]) -> list[str]:
    tried = {name: [one[name] for one in offered] for name in (offered[0] if offered else ())}
    return [
        name for name, values in tried.items()
        if any(one.get(name) in (min(values), max(values)) for one in chosen)
    ]  # fmt: skip


def _scoring(request: Request, plan: Plan, data: RegressionData) -> Method:
    asked, options = task.read_asked(request), task.options_of(request)
    device = resolve(request.device)
    dtype = widest(device)

    def predicted(values: Values, part: RegressionData) -> np.ndarray:
        scaled = standardise(part)[0] if options.standardise else part
        scaled = RegressionData(*(each.to(device, dtype) for each in scaled[:3]))
        own = replace(request, parameters=pairs({**dict(request.parameters), **values}))
        model = task.model_of(own, asked, scaled.x.shape[1], dtype).to(device).eval()
        if options.learn:
            task.learn(model, scaled, asked, options)
        found = predict(model, scaled, keep_weights=False).values.double().cpu().numpy()
        if not np.isfinite(found).all():
            raise asked.not_finite()
        return found

    own = dict(request.parameters)
    first, *others = grid(asked.scoring.parameters)
    offered = [first | {name: float(own.get(name, value)) for name, value in first.items()}]
    return Method(predicted, [] if options.learn else [*offered, *others])


def _baseline(request: Request, plan: Plan, data: RegressionData) -> Method:
    if not find_spec("sklearn"):
        raise ValueError(gettext_noop(_SAID["extra"]))
    import sklearn
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    make, most, tried = _estimators(plan.seed, *data.x.shape)[plan.baseline]
    scaled = task.options_of(request).standardise

    def pipeline(values: Values) -> Any:
        return make_pipeline(*[StandardScaler()] * scaled, make(**values))

    def predicted(values: Values, part: RegressionData) -> np.ndarray:
        x, y, queries = (each.double().numpy() for each in part[:3])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pipeline(values).fit(x, y).predict(queries)

    offered = [dict(zip(tried, values, strict=True)) for values in product(*tried.values())]
    words = " ".join(repr(pipeline({}).steps[-1][1]).split())
    return Method(predicted, offered, most, f"scikit-learn {sklearn.__version__}, {words}")


def _estimators(
    seed: int, points: int, inputs: int
) -> dict[str, tuple[Callable[..., Any], int, dict[str, list[Any]]]]:
    """By name: what makes an estimator, its most training rows, what is tried, the usual first."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler

    def ridge(**values: Any) -> Any:  # it has no intercept
        kernel = KernelRidge(kernel="rbf", **values)
        return TransformedTargetRegressor(kernel, transformer=StandardScaler())

    process = partial(
        GaussianProcessRegressor, normalize_y=True, random_state=seed,
        kernel=kernels.ConstantKernel() * kernels.RBF() + kernels.WhiteKernel(),
    )  # fmt: skip
    near = [count for count in (5, 1, 2, 3, 8, 13, 21, 34, 55) if count <= max(5, points // 4)]
    gamma = [factor / inputs for factor in (1.0, 0.01, 0.1, 10.0)]
    return {
        "linear": (LinearRegression, ROW_LIMIT, {}),
        "neighbours": (KNeighborsRegressor, ROW_LIMIT // 10, {"n_neighbors": near}),
        "kernel_ridge": (ridge, 4_000, {"alpha": [1.0, 0.001, 0.01, 0.1, 10.0], "gamma": gamma}),
        "gaussian_process": (process, 1_000, {}),
        "forest": (
            partial(RandomForestRegressor, random_state=seed), 20_000,
            {"min_samples_leaf": [1, 2, 4, 8, 16, 32]},
        ),
    }  # fmt: skip
