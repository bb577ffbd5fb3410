"""How well scorings and scikit-learn's models predict rows that they were not fitted to.

Folds and held-out rows are those of scikit-learn's ``KFold`` and ``train_test_split`` over the
rows in the order of the table. Everything is fitted to training rows alone: the scale of x, what a
scoring learns, and what tuning chooses, by folds of the training rows.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from pkgutil import resolve_name
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from attention_plugins import RegressionData
from attention_plugins.devices import resolve, widest
from attention_plugins.fitting import fit, grid
from attention_plugins.regression import FEWEST_ROWS, MOST_WORK, predict, rows_of, standardise
from dashboard.features.regression import task, task_problem
from dashboard.features.regression.task_problem import Problem
from dashboard.features.regression.task_result import named, numbered, scores
from dashboard.jobs.task_tables import columns_table, coordinates
from dashboard.jobs.tasks import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.links.fits import LEAVE_ONE_OUT, VALIDATION
from dashboard.records.beside import beside
from dashboard.records.parameter import pairs
from dashboard.records.request import COLUMNS, Request, Result

_SAID = beside(__file__, "words.toml")["task_validation"]
_MOST_PAIRS = 10 * MOST_WORK  # of a new row and a row of the table
_SIDE, _VALUES, _FEWEST_OF_MEAN = 41, 30, 50  # of a surface, of an input; rows of a mean
_FEWEST, _FEWEST_ALONE, _REPORTS = 3, 20, 50
_MOST_TUNED = 2_000  # training rows by whose folds values are chosen
_BASELINES = beside(__file__, "validation.toml")["baselines"]

Values = Mapping[str, Any]


class Method(NamedTuple):
    """What predicts: ``predict(values, (x, y, queries))`` gives float64 ``(m,)`` at the queries.

    Of ``grid`` tuning chooses; ``most`` training rows are taken, of more a random sample;
    ``words`` are how scikit-learn writes it. Where single rows are left out, so many that all
    fits together take ``alone`` training rows.
    """

    predict: Callable[[Values, RegressionData], np.ndarray]
    grid: Sequence[Values]
    most: int = task_problem.ROW_LIMIT
    words: str = ""
    alone: int = MOST_WORK


def folds(
    points: int, count: int, seed: int, *, held_out: bool = False
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of a shuffled ``KFold``, or of ``train_test_split(1 / count)``."""
    order, tested = np.random.RandomState(seed).permutation(points), math.ceil(1 / count * points)
    if held_out:
        return [(order[tested:], order[:tested])]
    return [(np.setdiff1d(order, part), np.sort(part)) for part in np.array_split(order, count)]


def perform(request: Request, context: Context) -> Result:
    """Predict rows that were left out, or others, as options say that begin ``validation.``.

    Raises:
        ValueError: as the page's own task; too few rows, too many new ones; no scikit-learn.
        Cancelled: the job was stopped.
    """
    own = {name: value for name, value in request.options if not name.startswith(VALIDATION)}
    plan: Any = {name.removeprefix(VALIDATION): value for name, value in request.options}
    request = replace(request, options=pairs(own))
    problem = task_problem.read_problem(request)
    order = torch.as_tensor(problem.rows).argsort()  # as in the file
    data = problem.data._replace(x=problem.data.x[order], y=problem.data.y[order])
    problem = problem._replace(data=data, rows=torch.as_tensor(problem.rows)[order])
    method = _baseline(request, plan) if "baseline" in plan else _scoring(request, context)
    if "rows" in plan:
        return _new_rows(request, plan, problem, method)
    if "along" in plan:
        return _along(data, method, plan)
    return _left_out(plan, problem, method, context)


def _left_out(plan: Values, problem: Problem, method: Method, context: Context) -> Result:
    """Of rows, a table ``validation``: ``row``, inputs, ``measured``, ``fold``, ``prediction``.

    Facts ``validation``: those of :func:`.scores`, of ``rows`` among ``points``; on how few and
    how many was ``trained``; the values ``chosen`` in each split, and ``tuned`` by folds of all
    rows, which other rows are predicted with; ``tried``, each name's lowest and highest value and
    how many there are; the ``ends``, name, ``lowest`` or ``highest``, and folds, 0 for all rows,
    of those beyond which there is more; ``words``, see :class:`Method`.
    """
    count, seed = plan["folds"], plan["seed"]
    data, points = problem.data, len(problem.data.x)
    alone = plan["method"] == LEAVE_ONE_OUT
    need = _FEWEST if alone else 2 * count
    if points < need:
        raise ValueError(gettext_noop(_SAID["few"], rows=points, need=need))
    most, fewest = max(FEWEST_ROWS, MOST_WORK // points), _FEWEST_ALONE
    if alone:
        method = method._replace(most=min(method.most, method.alone // fewest))
        most = max(fewest, method.alone // min(method.most, points))
    scored = rows_of(points, most, seed).numpy()
    predicted, fold = np.zeros(points), np.zeros(points, np.int64)
    parts = folds(points, count, seed, held_out=plan["method"] == "hold-out")
    if alone:
        parts = [(np.delete(np.arange(points), row), row) for row in scored[:, None]]
    chosen, trained = [], set[int]()
    for number, (others, left_out) in enumerate(parts, 1):
        if number % math.ceil(len(parts) / _REPORTS) in (0, 1):
            note = gettext_noop("fold {fold} of {folds}", fold=number, folds=len(parts))
            context.report((number - 1) / len(parts), note)
        if context.stopped():
            raise Cancelled
        chosen.append(_chosen(method, data, others, plan))
        train = others[rows_of(len(others), method.most, seed).numpy()]
        test = np.intersect1d(left_out, scored)
        fold[test] = number
        if len(test):
            trained.add(len(train))
            predicted[test] = method.predict(chosen[-1], _part(data, train, test))
    rows = np.flatnonzero(fold)
    measured = data.y[rows].double().numpy()
    table = {
        **numbered(problem, torch.from_numpy(rows)), "measured": pa.array(measured),
        "fold": pa.array(fold[rows]), "prediction": pa.array(predicted[rows]),
    }  # fmt: skip
    tuned = dict(_chosen(method, data, np.arange(points), plan))
    tried = {name: (min(values), max(values), len(values)) for name in tuned
             for values in [{one[name] for one in method.grid}]}  # fmt: skip
    facts = {
        **scores(measured, predicted[rows], 0 if alone else seed), "rows": len(rows),
        "points": points, "trained": (min(trained), max(trained)), "words": method.words,
        "chosen": [dict(values) for values in chosen if values], "tuned": tuned, "tried": tried,
        "ends": list(_ends(tried, [tuned, *chosen])),
    }  # fmt: skip
    return Result(tables={"validation": pa.table(table)}, facts={"validation": facts})


def _ends(
    tried: Mapping[str, Sequence[Any]], chosen: Sequence[Values]
) -> Iterator[tuple[str, str, list[int]]]:
    for name, (low, high, _) in tried.items():
        for end, value in {"lowest": low, "highest": high}.items():
            folds = [fold for fold, one in enumerate(chosen) if one[name] == value]
            if folds and not (isinstance(value, int) and value == 1):  # the least count
                yield name, end, folds


def _whole(method: Method, data: RegressionData, queries: Tensor, plan: Values) -> Tensor:
    """Predictions ``(m,)`` at the queries by a fit to all rows, or to as many as it takes."""
    tuned = _chosen(method, data, np.arange(len(data.x)), plan)
    train = rows_of(len(data.x), method.most, plan["seed"])
    part = RegressionData(data.x[train], data.y[train], queries)
    return torch.from_numpy(method.predict(tuned, part))


def _new_rows(request: Request, plan: Values, problem: Problem, method: Method) -> Result:
    """Of a file, a table ``rows``: ``row``, ``prediction``, the inputs as the file has them.

    Facts are ``skipped``, ``unknown``, see :func:`.read_rows`, ``points``, the table's rows, and
    how many rows are ``outside`` its range, in which ``inputs``.
    """
    paths = [task_problem.stored(one) for one in (plan["rows"], request.data)]
    table, unknown = task_problem.read_rows(
        paths[0], paths[1], str(dict(request.options).get(COLUMNS, ""))
    )
    count, points = len(table.rows), len(problem.data.x)
    if (most := _MOST_PAIRS // points) < count:
        raise ValueError(gettext_noop(_SAID["many"], rows=count, points=points, most=most))
    assert table.own is not None  # of rows that are new
    own = named(zip(table.own.column_names, table.own.columns, strict=True))
    predicted = _whole(method, problem.data, table.values, plan).numpy()
    held = {"row": table.rows.numpy(), "prediction": predicted, **own}
    low, high = problem.data.x.aminmax(dim=0)
    outside = (table.values < low) | (table.values > high)
    ends = zip(problem.titles[:-1], outside.any(dim=0), strict=True)
    inputs = [name for name, beyond in ends if beyond]
    facts = {
        "skipped": table.skipped._asdict(), "unknown": unknown, "points": points,
        "outside": int(outside.any(dim=1).sum()), "inputs": inputs,
    }  # fmt: skip
    return Result(tables={"rows": pa.table(held)}, facts=facts)


def _spaced(values: Tensor, count: int) -> Tensor:
    low, high = map(float, values.aminmax())
    return torch.linspace(low, high, count, dtype=values.dtype)


def _along(data: RegressionData, method: Method, plan: Values) -> Result:
    """Of two inputs ``surface``: ``x0``, ``x1``, ``prediction`` over a grid, ``x1`` the faster.

    Of others ``partial``: ``input``, from 0, ``x0``, ``prediction``, its partial dependence
    (Friedman 2001): the mean over ``rows`` of the ``points`` with the input set to ``x0``.
    """
    x, points = data.x, len(data.x)
    if x.shape[1] == 2:
        grid = torch.cartesian_prod(*(_spaced(column, _SIDE) for column in x.T))
        held = {**coordinates(grid), "prediction": _whole(method, data, grid, plan)}
        return Result(tables={"surface": columns_table(held)})
    found = map(torch.unique, x.T)
    tried = [one if len(one) < _VALUES else _spaced(one, _VALUES) for one in found]
    counts = torch.tensor([*map(len, tried)])
    values, inputs = torch.cat(tried), torch.arange(len(tried)).repeat_interleave(counts)
    most = max(_FEWEST_OF_MEAN, MOST_WORK // 4 // (points * len(values)))
    rows = x[rows_of(points, most, plan["seed"])]
    queries = rows.repeat(len(values), 1, 1)
    queries[torch.arange(len(values)), :, inputs] = values[:, None]
    found = _whole(method, data, queries.flatten(0, 1), plan).reshape(len(values), -1).mean(1)
    held = {"input": inputs, "x0": values, "prediction": found}
    facts = {"rows": len(rows), "points": points}
    return Result(tables={"partial": columns_table(held)}, facts=facts)


def _part(data: RegressionData, train: np.ndarray, test: np.ndarray) -> RegressionData:
    return RegressionData(data.x[train], data.y[train], data.x[test])


def _chosen(method: Method, data: RegressionData, train: np.ndarray, plan: Values) -> Values:
    """What ``GridSearchCV`` chooses: the smallest mean of inner folds' mean squared errors."""
    if not plan.get("tune") or len(method.grid) == 1:
        return {}
    train = train[rows_of(len(train), _MOST_TUNED, plan["seed"]).numpy()]
    parts = folds(len(train), plan["folds"], plan["seed"])

    def error(values: Values) -> float:
        try:
            misses = [method.predict(values, _part(data, train[fit], train[test]))
                      - data.y[train[test]].numpy() for fit, test in parts]  # fmt: skip
        except ValueError:  # of values that fit no such rows
            return math.inf
        return float(np.mean([np.mean(each**2) for each in misses]))

    return min(method.grid, key=error)


def _scoring(request: Request, context: Context) -> Method:
    asked, options = task.read_asked(request), task.options_of(request)
    device, own = resolve(request.device), dict(request.parameters)
    dtype = widest(device)

    def predicted(values: Values, part: RegressionData) -> np.ndarray:
        scaled = standardise(part)[0] if options.standardise else part
        scaled = RegressionData(*(each.to(device, dtype) for each in scaled[:3]))
        tuned = replace(request, parameters=pairs({**own, **values}))
        model = task.model_of(tuned, asked, scaled.x.shape[1], dtype).to(device).eval()
        if options.learn:
            watch = task.watching(context, task.StepClock(), options.epochs)
            fit(model, scaled, watch=watch, **options.fitting(asked))
        found = predict(model, scaled, keep_weights=False).values.double().cpu().numpy()
        if not np.isfinite(found).all():
            raise asked.not_finite()
        return found

    first, *others = [{}] if options.learn else grid(asked.scoring.parameters)
    first = {name: float(own.get(name, value)) for name, value in first.items()}
    return Method(predicted, [first, *others])


def _baseline(request: Request, plan: Mapping[str, Any]) -> Method:
    if not find_spec("sklearn"):
        raise ValueError(gettext_noop(_SAID["extra"]))
    import sklearn

    name, seed, scaled = plan["baseline"], plan["seed"], task.options_of(request).standardise

    def predicted(values: Values, part: RegressionData) -> np.ndarray:
        x, y, queries = (each.double().numpy() for each in part[:3])
        with warnings.catch_warnings(action="ignore"):
            return estimator(name, seed, values, scaled=scaled).fit(x, y).predict(queries)

    tried, most, alone = (_BASELINES[name][key] for key in ("grid", "most", "alone"))
    grid = [dict(zip(tried, one, strict=True)) for one in product(*tried.values())]
    steps = [" ".join(repr(one).split()) for _, one in estimator(name, seed, scaled=scaled).steps]
    words = f"make_pipeline({', '.join(steps)})" if scaled else steps[0]
    return Method(predicted, grid, most, f"scikit-learn {sklearn.__version__}, {words}", alone)


def estimator(name: str, seed: int, values: Values | None = None, *, scaled: bool = True) -> Any:
    """A pipeline of scikit-learn for a baseline of ``validation.toml``, with ``values`` set."""
    from sklearn import compose, gaussian_process, pipeline, preprocessing

    facts = _BASELINES[name]
    options = {**facts.get("options", {}), **(values or {})}
    if "kernels" in facts:
        kinds = gaussian_process.kernels
        options |= {"kernel": kinds.ConstantKernel() * kinds.RBF() + kinds.WhiteKernel()}
    options |= {"random_state": seed} if facts.get("random") else {}
    made = resolve_name(facts["estimator"])(**options)
    if facts.get("scales_y"):
        made = compose.TransformedTargetRegressor(made, transformer=preprocessing.StandardScaler())
    return pipeline.make_pipeline(*[preprocessing.StandardScaler()] * scaled, made)
