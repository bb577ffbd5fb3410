import numpy as np
import pytest
from support.validating import Watcher, ask, check, kernel, near, table, widths

from dashboard.features.regression import task_result, task_validation
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs

RNG = np.random.default_rng(3)
X = RNG.normal(size=(31, 2))
Y = X[:, 0] + RNG.normal(size=31) / 2


# KFold(3, shuffle=True, random_state=1) and train_test_split(test_size=1 / 3, random_state=1) of
# scikit-learn 1.9.1, of eleven rows; the slow tests ask scikit-learn itself.
FOLDS = [[2, 3, 4, 9], [0, 1, 6, 7], [5, 8, 10]]
HELD_OUT = [2, 3, 4, 9]


def test_rows_are_split_as_scikit_learn_splits_them():
    parts = task_validation.folds(11, 3, 1)
    assert [[*test] for _, test in parts] == FOLDS
    (held_out,) = task_validation.folds(11, 3, 1, held_out=True)
    assert sorted(held_out[1]) == HELD_OUT
    for train, test in [*parts, held_out]:
        assert sorted([*train, *test]) == [*range(11)]


def by_folds(x, y, parts, width=lambda train: 1.0):
    predicted = np.zeros(len(y))
    for train, test in parts:
        predicted[test] = kernel(x[train], y[train], x[test], width(train))
    return predicted


def test_each_fold_is_predicted_from_the_others():
    watcher = Watcher()
    result = ask(table(X, Y), watcher, method="folds", folds=7, seed=5, width=0.7)
    parts = task_validation.folds(31, 7, 5)
    check(result, Y, by_folds(X, Y, parts, lambda _: 0.7))
    held = result.tables["validation"]
    assert held.column_names == ["row", "x0", "x1", "measured", "fold", "prediction"]
    assert np.array_equal(held["x1"], X[:, 1])
    for number, (_, test) in enumerate(parts, 1):
        assert [*held["row"].to_numpy()[held["fold"].to_numpy() == number]] == [*(test + 1)]
    assert watcher.notes[-1] == "fold 7 of 7"


def test_one_input_is_split_in_the_order_of_the_file():
    parts = task_validation.folds(31, 5, 0)
    check(ask(table(X[:, :1], Y), method="folds"), Y, by_folds(X[:, :1], Y, parts))


def test_folds_of_the_training_rows_choose_what_is_tuned():
    def best(train):
        x, y, inner = X[train], Y[train], task_validation.folds(len(train), 3, 2)
        errors = {
            width: np.mean([
                np.mean((y[test] - kernel(x[fit], y[fit], x[test], width)) ** 2)
                for fit, test in inner
            ])
            for width in widths()
        }  # fmt: skip
        return min(errors, key=errors.__getitem__)

    parts = task_validation.folds(31, 3, 2)
    result = ask(table(X, Y), method="folds", folds=3, seed=2, tune=True)
    found = check(result, Y, by_folds(X, Y, parts, best))
    assert [one["width"] for one in found["chosen"]] == [best(train) for train, _ in parts]
    assert found["tuned"] == {"width": best(np.arange(31))}
    assert found["tried"] == {"width": (min(widths()), max(widths()), len(widths()))}
    assert found["ends"] == []


def test_a_tuned_value_at_an_end_is_named():
    """What was measured has nothing to do with x."""
    found = ask(
        table(X, np.random.default_rng(1).normal(size=31)), method="folds", folds=2, tune=True
    )
    chosen = [one["width"] for one in found.facts["validation"]["chosen"]]
    ends = {"lowest": min(widths()), "highest": max(widths())}
    chosen.insert(0, found.facts["validation"]["tuned"]["width"])
    of = {end: [n for n, one in enumerate(chosen) if one == value]
          for end, value in ends.items()}  # fmt: skip
    assert found.facts["validation"]["ends"] == [
        ("width", end, folds) for end, folds in of.items() if folds
    ] != []  # fmt: skip


def test_the_least_count_is_no_end_beyond_which_there_is_more():
    tried, low, high = {"leaf": (1, 4, 3), "width": (1.0, 3.0, 3)}, (1, 1.0), (4, 3.0)
    chosen = [dict(zip(tried, one, strict=True)) for one in (high, low, high, (1, 3.0))]
    assert [*task_validation._ends(tried, chosen)] == [
        ("leaf", "highest", [0, 2]), ("width", "lowest", [1]), ("width", "highest", [0, 2, 3]),
    ]  # fmt: skip


def test_of_many_rows_a_sample_is_scored(monkeypatch):
    monkeypatch.setattr(task_validation, "FEWEST_ROWS", 2)
    monkeypatch.setattr(task_validation, "MOST_WORK", 13 * 31)
    result = ask(table(X, Y), method="folds")
    found = check(result, Y, by_folds(X, Y, task_validation.folds(31, 5, 0)))
    assert (found["rows"], found["points"], found["trained"]) == (13, 31, (24, 25))


def test_each_row_is_left_out_of_a_fit_that_starts_anew(monkeypatch):
    """Its scale too, unlike the page's own figures."""
    parts = [(np.delete(np.arange(31), i), [i]) for i in range(31)]
    whole = ask(table(X, Y), method="leave-one-out")
    found = check(whole, Y, by_folds(X, Y, parts))
    assert (found["rows"], found["points"], found["trained"]) == (31, 31, (30, 30))
    monkeypatch.setattr(task_validation.Method.__new__, "__defaults__", (99, "", 7 * 31))
    monkeypatch.setattr(task_validation, "_FEWEST_ALONE", 3)
    few = check(ask(table(X, Y), method="leave-one-out"), Y, by_folds(X, Y, parts))
    assert (few["rows"], few["trained"]) == (7, (30, 30))
    with pytest.raises(ValueError, match=r"has 2 rows .* these folds need 3 or more"):
        ask(table(X[:2], Y[:2]), method="leave-one-out")


def test_what_cannot_be_validated_says_why(monkeypatch):
    data = table(X[:9], Y[:9])
    with pytest.raises(ValueError, match=r"has 9 rows .* these folds need 10 or more"):
        ask(data, method="folds")
    with pytest.raises(Cancelled):
        ask(data, Watcher(stops=True), method="folds", folds=2)
    monkeypatch.setattr(task_validation, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'attention-workbench\[baselines\]'"):
        ask(data, method="folds", folds=2, baseline="linear")


def test_a_table_has_figures_of_each_row_left_out_without_being_asked():
    found = ask(table(X, Y)).facts["validation"]
    predicted = [kernel(np.delete(X, i, 0), np.delete(Y, i), X[[i]], of=X)[0] for i in range(31)]
    assert found["mae"][0] == near(np.abs(predicted - Y).mean())
    assert (found["rows"], found["points"]) == (31, 31)


def test_values_that_never_change_have_no_share_explained():
    found = task_result.scores(np.full(7, 2.0), np.arange(7.0), 0)
    assert found["r2"] == [None] * 3
    assert found["mae"][0] == near(np.abs(np.arange(7.0) - 2).mean())


def test_an_interval_is_of_rows_drawn_with_replacement(monkeypatch):
    monkeypatch.setattr(task_result, "_SAMPLES", 60)
    predicted = Y + RNG.normal(size=31) / 3
    rng = np.random.default_rng(4)
    drawn = [rng.integers(31, size=31) for _ in range(60)]
    r2 = [1 - ((Y - predicted)[rows] ** 2).mean() / Y[rows].var() for rows in drawn]
    rmse = [np.sqrt(((Y - predicted)[rows] ** 2).mean()) for rows in drawn]
    found = task_result.scores(Y, predicted, 4)
    assert found["r2"][1:] == near(np.quantile(r2, [0.025, 0.975]))
    assert found["rmse"][1:] == near(np.quantile(rmse, [0.025, 0.975]))


NEW = "extra,x1,x0\n1,0.5,0.25\n2,,3\n3,-1,2\n"
MIXED = "day;city;row;y\n" + "".join(
    f"2024-0{n}-0{n};{'ABC'[n % 3]};{n},5;{n}\n" for n in range(1, 9)
)


def elsewhere(data, text=NEW, **plan):
    options = {
        "validation.seed": 0,
        "validation.rows": f"upload:{Blobs().put(text.encode())}",
        **plan,
    }
    return wide(data, options)


def wide(data, options):
    request = Request.make("regression", scoring="gaussian", parameters={"width": 0.7}, data=data,
                           device="cpu", options=options)  # fmt: skip
    return perform(request, Watcher())


ALONG = {"validation.along": True, "validation.seed": 0}


def test_two_inputs_are_predicted_over_a_grid_of_their_ranges():
    held = wide(table(X, Y), ALONG).tables["surface"]
    sides = [np.linspace(column.min(), column.max(), 41) for column in X.T]
    grid = np.array([(a, b) for a in sides[0] for b in sides[1]])
    assert held["x0"].to_pylist() == near(grid[:, 0])
    assert held["x1"].to_pylist() == near(grid[:, 1])
    assert held["prediction"].to_pylist() == near(kernel(X, Y, grid, 0.7))


def test_several_inputs_have_their_partial_dependence(monkeypatch):
    """Means over the rows with one input replaced; of a sample where these are many."""
    x = np.column_stack([X, RNG.integers(3, size=31)])
    found = wide(table(x, Y), ALONG)
    held = found.tables["partial"].to_pandas()
    assert held["input"].value_counts().to_dict() == {0: 30, 1: 30, 2: 3}
    for number, value, mean in held.to_numpy():
        replaced = x.copy()
        replaced[:, int(number)] = value
        own = kernel(x, Y, replaced, 0.7, of=x)
        assert mean == near(own.mean())
    assert (found.facts["rows"], found.facts["points"]) == (31, 31)
    monkeypatch.setattr(task_validation, "_FEWEST_OF_MEAN", 7)
    monkeypatch.setattr(task_validation, "MOST_WORK", 0)
    few = wide(table(x, Y), ALONG).facts
    assert (few["rows"], few["points"]) == (7, 31)


def test_rows_of_another_file_are_predicted_from_the_whole_table():
    found = elsewhere(table(X, Y))
    held = found.tables["rows"].to_pydict()
    assert (held["row"], held["x0"], held["x1"]) == ([1, 3], [0.25, 2], [0.5, -1])
    assert held["prediction"] == near(kernel(X, Y, np.array([[0.25, 0.5], [2, -1]]), 0.7))
    assert (found.facts["skipped"]["missing"], found.facts["points"]) == (1, 31)
    assert (found.facts["outside"], found.facts["inputs"]) == (0, [])


def test_rows_outside_the_table_are_counted_and_their_inputs_named():
    low, high = X.min(axis=0), X.max(axis=0)
    edge, above = f"{low[0]},{high[1]}", f"{high[0]},{high[1] + 0.1}"
    both = f"{low[0] - 0.1},{low[1] - 0.1}"
    facts = elsewhere(table(X, Y), f"x0,x1\n{edge}\n{above}\n").facts
    assert (facts["outside"], facts["inputs"]) == (1, ["x1"])
    facts = elsewhere(table(X, Y), f"x0,x1\n{edge}\n{above}\n{both}\n").facts
    assert (facts["outside"], facts["inputs"]) == (2, ["x0", "x1"])


def test_new_rows_have_their_columns_as_the_file_has_them():
    """Text and dates as they are written, however many columns they become; numbers as such."""
    data, new = f"upload:{Blobs().put(MIXED.encode())}", "row,city,day\n1.5, Z ,03/02/2024\n"
    held = elsewhere(data, new, columns="1,-1,2,3:4").tables["rows"]
    assert held.column_names == ["row", "prediction", "day", "city", "row (2)"]
    (row,) = held.drop_columns("prediction").to_pylist()
    assert row == {"row": 1, "day": "03/02/2024", "city": "Z", "row (2)": 1.5}


def test_what_is_tuned_for_other_rows_is_what_folds_of_all_rows_choose():
    """Of one input too, whose rows are sorted by it elsewhere."""
    data, plan = table(X[:, :1], Y), {"folds": 3, "seed": 2, "tune": True}
    (width,) = ask(data, method="folds", **plan).facts["validation"]["tuned"].values()
    new, at = "x0\n0.25\n2\n", np.array([[0.25], [2.0]])
    held = elsewhere(data, new, **{f"validation.{key}": value for key, value in plan.items()})
    assert held.tables["rows"]["prediction"].to_pylist() == near(kernel(X[:, :1], Y, at, width))
    assert width not in (0.7, 1.0)


def test_a_fold_that_learns_gives_signs_of_life_and_can_be_stopped():
    plan = {"validation.method": "folds", "validation.folds": 2, "validation.seed": 0,
            "validation.tune": False, "learn": True, "epochs": 40}  # fmt: skip
    request = Request.make("regression", scoring="gaussian", parameters={"width": 0.7},
                           data=table(X, Y), device="cpu", options=plan)  # fmt: skip
    watcher = Watcher()
    perform(request, watcher)
    second = watcher.notes.index("fold 2 of 2")
    assert [watcher.notes[0], watcher.notes[1]] == ["fold 1 of 2", "learning, step 0 of 40"]
    assert watcher.notes[second - 1] == watcher.notes[-1] == "learning, step 40 of 40"
    assert second > 10
    stops = Watcher()
    stops.stopped = lambda: "learning, step 20 of 40" in stops.notes
    with pytest.raises(Cancelled):
        perform(request, stops)
    assert stops.notes[-1] == "learning, step 20 of 40"


def test_new_rows_that_learn_are_predicted_as_the_page_predicts(monkeypatch):
    """At rows of the table itself, the same model says the same."""
    options = {"learn": True, "epochs": 7}
    whole = Request.make("regression", scoring="gaussian", parameters={"width": 0.7},
                         data=table(X, Y), device="cpu", options=options)  # fmt: skip
    curve = perform(whole, Watcher()).tables["curve"]
    rows = "x0,x1\n" + "".join(f"{float(a)!r},{float(b)!r}\n" for a, b in X)
    held = elsewhere(whole.data, rows, **options).tables["rows"]
    assert held["prediction"].to_pylist() == near(curve["prediction"].to_pylist())
    monkeypatch.setattr(task_validation, "_MOST_PAIRS", 61)
    with pytest.raises(ValueError, match=r"2 new rows are too many for a table of 31; .* most 1"):
        elsewhere(whole.data)
    with pytest.raises(ValueError, match="missing: x1; found: x0, z"):
        elsewhere(whole.data, "x0,z\n1,2\n")
