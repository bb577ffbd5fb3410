from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch

from attention_plugins import DatasetSpec, RegressionData, registry, scoring
from attention_plugins.datasets.regression import PROBLEMS
from attention_plugins.regression import rows_of
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result
from dashboard.storage.blobs import Blobs

SCORINGS = {
    name: spec
    for name, spec in registry.installed().scorings.items()
    if "regression" in spec.tasks
}


WITHOUT_WEIGHTS = {
    "dot", "scaled_dot", "uniform", "boxcar", "linear_attention", "performer",
}  # fmt: skip


def test_a_scoring_of_positions_is_refused():
    with pytest.raises(ValueError, match="points of a regression have no order: choose another"):
        ask(scoring="alibi")
    with pytest.raises(ValueError, match=r"scoring 'alibi' is for .*points of a regression have"):
        ask(scoring="combination", parameters={"second": "alibi"})


class Watcher:
    """A context that remembers; it asks to stop after ``patience`` questions."""

    def __init__(self, patience=math.inf):
        self.reports, self.patience = [], patience

    def report(self, fraction, note="", facts=None):
        self.reports.append((fraction, note, dict(facts or {})))

    def stopped(self):
        self.patience -= 1
        return self.patience < 0


def ask(data="", scoring="gaussian", context=None, parameters=None, seed=0, **options):
    named = {name.replace("data_", "data."): value for name, value in options.items()}
    request = Request.make(
        "regression", scoring=scoring, data=data, seed=seed, parameters=parameters or {},
        options=named, device="cpu",
    )  # fmt: skip
    return perform(request, context or Watcher())


def column(result, table, name):
    return result.tables[table][name].to_pylist()


def upload(text):
    return f"upload:{Blobs().put(text.encode())}"


def offering(monkeypatch, **kinds):
    """The registry with more scorings or data sets, as if plugins had brought them."""
    base = registry.installed()
    plugin = base.plugins[0]
    records = {kind: {**base.records[kind], **kinds.get(kind, {})} for kind in base.records}
    offers = {kind: tuple(records[kind]) for kind in ("scorings", "datasets")}
    extended = registry.Registry(
        records=records,
        plugins=(*base.plugins, registry.Plugin(**{**vars(plugin), "offers": offers})),
    )
    monkeypatch.setattr(registry, "installed", lambda: extended)


def test_the_default_request_gives_the_whole_picture():
    context = Watcher()
    result = perform(Request.make("regression"), context)
    again = Result.from_bytes(result.to_bytes())
    assert {name: table.schema.names for name, table in again.tables.items()} == {
        "curve": ["x0", "prediction", "truth"],
        "points": ["x0", "y"],
        "maps": ["kind", "layer", "heads", "queries", "keys", "causal", "weights"],
    }
    assert len(again.tables["curve"]) == len(again.tables["points"]) == 50
    # The textbook's data: 50 sorted inputs on [0, 5), queries every tenth, normal noise of 0.5.
    queries, truth = (np.array(column(result, "curve", name)) for name in ("x0", "truth"))
    np.testing.assert_allclose(queries, np.arange(50) / 10)
    np.testing.assert_allclose(truth, 2 * np.sin(queries) + queries**0.8)
    x, y = (np.array(column(result, "points", name)) for name in ("x0", "y"))
    assert 0 <= x[0] < x[-1] < 5
    assert np.ptp(x) > 4
    noise = y - (2 * np.sin(x) + x**0.8)
    assert 0.35 < noise.std() < 0.65
    assert abs(noise.mean()) < 0.3
    (attention,) = again.tables["maps"].to_pylist()
    assert (attention["kind"], attention["layer"], attention["heads"]) == ("pooling", 0, 1)
    assert attention["queries"][:3] == ["0", "0.1", "0.2"]
    keys = [f"{x:.4g}" for x in column(result, "points", "x0")]
    assert attention["keys"] == keys == sorted(keys, key=float)
    weights = torch.tensor(attention["weights"], dtype=torch.float64).reshape(50, 50)
    torch.testing.assert_close(
        weights @ torch.tensor(column(result, "points", "y"), dtype=torch.float64),
        torch.tensor(column(result, "curve", "prediction"), dtype=torch.float64),
        rtol=0, atol=1e-5,
    )  # fmt: skip
    assert set(again.facts["metrics"]) == {
        "truth_mse", "leave_one_out_mse", "training_mse", "effective_neighbours",
    }  # fmt: skip
    assert again.facts["learned"] == {}
    assert again.facts["parameters"] == 1  # the Gaussian's width
    assert 0 < again.facts["work_seconds"] < again.facts["seconds"]
    assert again.facts["notes"] == []
    assert again.facts["standardised"] is None
    assert (again.facts["x_names"], again.facts["y_name"]) == (["x"], "y")
    assert again.facts["torch"] == str(torch.__version__)
    assert list(again.facts["plugins"]) == ["attention-workbench"]
    assert [fraction for fraction, *_ in context.reports] == sorted(
        fraction for fraction, *_ in context.reports
    )


def test_the_seed_draws_the_starting_weights():
    """Of data that every seed sees alike: an experiment's spread is then that of the weights."""

    def predicted(seed):
        return column(ask("five_points", scoring="additive", seed=seed), "curve", "prediction")

    torch.manual_seed(1)
    first = predicted(3)
    assert predicted(3) == first
    assert len({tuple(predicted(seed)) for seed in (3, 4, 5)}) == 3


def test_five_points_by_the_formula():
    result = ask("five_points", parameters={"width": 1.0})
    assert column(result, "curve", "prediction") == pytest.approx(
        [3.6751, 3.6184, 3.4016, 2.0077, 1.8574], abs=5e-5
    )
    assert result.tables["curve"].schema.field("truth").type == pa.float64()
    assert column(result, "curve", "truth") == [None] * 5
    assert "truth_mse" not in result.facts["metrics"]


@pytest.mark.parametrize("problem", [problem.name for problem in PROBLEMS])
@pytest.mark.parametrize("name", SCORINGS)
def test_every_scoring_answers_every_problem_and_learns(name, problem):
    result = ask(problem, scoring=name, learn=True, epochs=2)
    (attention,) = result.tables["maps"].to_pylist()
    rows = torch.tensor(attention["weights"]).reshape(len(result.tables["curve"]), -1)
    sums = rows.sum(dim=-1)
    empty = name in ("boxcar", "epanechnikov")  # a window may hold no point
    if name == "learned_sinks":
        assert sums.max() < 1 + 1e-6
        assert 0 < sums.min() < 0.999
    else:
        torch.testing.assert_close(
            sums[sums > 0] if empty else sums, torch.ones(int((sums > 0).sum()))
        )
    expected = None if name in WITHOUT_WEIGHTS else 3
    history = result.tables.get("history")
    assert (history and len(history)) == expected
    Result.from_bytes(result.to_bytes())


def test_learning_is_reported_and_ends_at_the_optimum():
    context = Watcher()
    result = ask(learn=True, context=context)
    assert result.tables["history"].schema.names == ["step", "loss", "width"]
    steps, losses, widths = (column(result, "history", n) for n in ("step", "loss", "width"))
    assert steps == list(range(201))
    assert result.facts["learned"] == {"width": widths[-1]}
    assert result.facts["metrics"]["leave_one_out_mse"] == pytest.approx(losses[-1])
    for width in (widths[-1] * 0.9, widths[-1] * 1.1):
        beside = ask(parameters={"width": width}).facts["metrics"]
        assert beside["leave_one_out_mse"] > losses[-1]
    live = [facts for _, _, facts in context.reports if facts]
    assert 20 < len(live) <= 60
    assert live[0] == {"step": 0, "loss": losses[0], "width": 1.0}


def test_a_normaliser_that_draws_in_training_predicts_by_the_best_point():
    drawn, best = (
        column(ask(scoring="laplacian", normaliser=name), "curve", "prediction")
        for name in ("gumbel", "hard")
    )
    assert drawn == best


def test_a_scoring_without_weights_says_so():
    result = ask(scoring="uniform", learn=True)
    assert result.facts["notes"] == ["Nothing to learn: this scoring has no weights."]
    assert result.facts["metrics"]["effective_neighbours"] == pytest.approx(50)


def test_a_request_to_stop_is_obeyed():
    context = Watcher(patience=7)
    with pytest.raises(Cancelled):
        ask(learn=True, context=context)
    assert max(facts.get("step", 0) for *_, facts in context.reports) < 8


def test_equal_requests_give_equal_numbers_and_leave_no_trace():
    torch.manual_seed(5)
    one = ask(scoring="additive", learn=True, epochs=7, seed=3)
    torch.manual_seed(11)
    state = torch.get_rng_state()
    other = ask(scoring="additive", learn=True, epochs=7, seed=3)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_default_dtype() == torch.float32
    assert one.tables == other.tables
    assert one.facts["data_sha256"] == other.facts["data_sha256"]
    third = ask(scoring="additive", learn=True, epochs=7, seed=4)
    assert third.tables["curve"] != one.tables["curve"]
    assert third.facts["data_sha256"] != one.facts["data_sha256"]


def test_an_uploaded_table_is_scaled_and_drawn_in_its_own_units():
    lines = [f"{1e6 + 1e5 * i},{math.sin(i)}" for i in range(23)]
    text = "\n".join(["distance,force", *lines])
    result = ask(upload(text), parameters={"width": 0.3})
    xs = column(result, "curve", "x0")
    assert (min(xs), max(xs)) == pytest.approx((1e6, 3.2e6))
    assert (result.facts["x_names"], result.facts["y_name"]) == (["distance"], "force")
    assert result.facts["data_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    unit = result.facts["standardised"]["unit"][0]
    assert result.facts["standardised"]["mean"] == pytest.approx([2.1e6])
    x, y = xs[31], [math.sin(i) for i in range(23)]
    kernel = [math.exp(-0.5 * ((x - 1e6 - 1e5 * i) / (0.3 * unit)) ** 2) for i in range(23)]
    expected = sum(k * v for k, v in zip(kernel, y, strict=True)) / sum(kernel)
    assert column(result, "curve", "prediction")[31] == pytest.approx(expected)
    assert result.facts["notes"] == [
        "x was scaled to a standard deviation of 1.44: a distance of 1 in the scoring is 0.69 "
        f"standard deviations, or {unit:.4g} (distance)."
    ]
    assert list(result.facts["plugins"]) == ["attention-workbench"]
    as_is = ask(upload(text), parameters={"width": 0.3}, standardise=False)
    assert as_is.facts["standardised"] is None
    assert column(as_is, "curve", "prediction")[0] == pytest.approx(0.0)


def test_the_note_on_scaled_inputs_says_what_was_done():
    rows = "\n".join(f"{i},{i * i % 7},{i}" for i in range(11))
    result = ask(upload(f"near,far,y\n{rows}"), parameters={"width": 1.0})
    x = np.array([[i, i * i % 7] for i in range(11)])
    units = result.facts["standardised"]["unit"]
    np.testing.assert_allclose(np.divide(units, x.std(axis=0)), 0.69, atol=0.005)
    np.testing.assert_allclose((x / units).std(axis=0), 1.44, atol=0.005)
    assert result.facts["notes"][0].endswith(f"{units[0]:.4g} (near), {units[1]:.4g} (far).")


def test_predictions_of_rows_left_out_hold_their_numbers_and_inputs():
    lines = ["prediction,far,y", *(f"{i},{i * i % 7},{2.0 * i}" for i in range(11))]
    lines[4] = "3,,6.0"
    result = ask(upload("\n".join(lines)), parameters={"width": 0.5})
    alone = result.tables["left_out"].to_pandas()
    assert [*alone] == ["row", "prediction (2)", "far", "measured", "prediction"]
    assert alone["row"].to_list() == [1, 2, 3, 5, 6, 7, 8, 9, 10, 11]
    i = alone["row"] - 1
    assert alone["prediction (2)"].to_list() == i.to_list()
    assert alone["far"].to_list() == (i * i % 7).to_list()
    assert alone["measured"].to_list() == (2.0 * i).to_list()
    errors = {row.pop("metric"): row for row in result.tables["errors"].to_pylist()}
    metrics = result.facts["metrics"]
    assert errors == {
        name: {"value": metrics[name], "standard_error": 0.0, "rows": 10, "points": 10}
        for name in ("leave_one_out_mse", "training_mse")
    }


def test_a_table_with_one_input_has_its_rows_left_out_too():
    result = ask(upload("x,y\n5,1\n-1,2\n2,3\n"), parameters={"width": 1.0})
    alone = result.tables["left_out"].to_pandas()
    assert [*alone] == ["row", "x", "measured", "prediction"]
    assert alone[["row", "x", "measured"]].to_numpy().tolist() == [
        [2, -1, 2],
        [3, 2, 3],
        [1, 5, 1],
    ]


TABLE_OF_4_790 = "\n".join(
    ["a,b,y", *(f"{i * 7 % 1009},{i * i % 997},{i % 13}" for i in range(4_790))]
)


LEFT_OUT = (
    "and at most 250,000 are drawn. Each prediction still uses all of its weights. A table with "
    "fewer rows has heatmaps."
)


def test_the_error_of_a_table_is_that_of_all_its_rows():
    result = ask(upload(TABLE_OF_4_790), parameters={"width": 0.5})
    alone = result.tables["left_out"].to_pandas()
    assert alone["row"].to_list() == list(range(1, 4_791))
    error = (alone["measured"] - alone["prediction"]).pow(2).mean()
    assert result.facts["metrics"]["leave_one_out_mse"] == pytest.approx(error, rel=1e-12)
    assert result.facts["leave_one_out"] == {
        "rows": 4_790, "points": 4_790,
        "standard_errors": {"leave_one_out_mse": 0.0, "training_mse": 0.0},
    }  # fmt: skip
    assert result.facts["notes"] == [
        result.facts["notes"][0],
        "Each panel shows 1,000 of 4,790 rows, evenly picked; effective neighbours are those of "
        "these rows.",
        f"Heatmaps are left out: a panel has 4,790,000 weights, {LEFT_OUT}",
    ]


def test_an_error_of_a_sample_says_so_with_its_standard_error(monkeypatch):
    monkeypatch.setattr("attention_plugins.regression.MOST_WORK", 4_790 * 1_200)
    found = [ask(upload(TABLE_OF_4_790), parameters={"width": 0.5}, seed=seed) for seed in (3, 4)]
    for result in found:
        alone, facts = result.tables["left_out"].to_pandas(), result.facts
        assert len(alone) == facts["leave_one_out"]["rows"] == 1_200
        assert alone["row"].is_unique
        squares = (alone["measured"] - alone["prediction"]).pow(2)
        deviation = math.sqrt(squares.var() / 1_200 * (1 - 1_200 / 4_790))
        error = facts["metrics"]["leave_one_out_mse"]
        assert error == pytest.approx(squares.mean())
        assert facts["leave_one_out"]["points"] == 4_790
        assert facts["leave_one_out"]["standard_errors"]["leave_one_out_mse"] == pytest.approx(
            deviation
        )
        row = result.tables["errors"].to_pylist()[0]
        assert (row["metric"], row["rows"], row["points"]) == ("leave_one_out_mse", 1_200, 4_790)
        assert row["standard_error"] == pytest.approx(deviation)
        assert facts["notes"][0] == (
            "Gaussian kernel: the leave-one-out error is estimated on 1,200 of 4,790 rows, drawn "
            f"at random: {error:.4g} ± {deviation:.4g} (standard error)."
        )
    assert found[0].tables["left_out"] != found[1].tables["left_out"]


def test_the_same_rows_are_drawn_whatever_the_inputs_are(monkeypatch):
    """A single input is sorted; of a scoring without inputs the error is then the same."""
    monkeypatch.setattr("attention_plugins.regression.FEWEST_ROWS", 97)
    monkeypatch.setattr("attention_plugins.regression.MOST_WORK", 0)
    table = upload(TABLE_OF_4_790)
    one, two = (ask(table, columns=of, scoring="uniform", seed=5) for of in ("1:3", "1,2:3"))
    drawn = [{*column(each, "left_out", "row")} for each in (one, two)]
    assert drawn[0] == drawn[1] == {*(rows_of(4_790, 97, 5) + 1).tolist()}
    assert one.facts["metrics"]["leave_one_out_mse"] == pytest.approx(
        two.facts["metrics"]["leave_one_out_mse"]
    )


def test_several_inputs_come_with_rows_left_out_and_what_was_measured():
    rows = [(i, i * i % 7, 2.0 * i) for i in range(11)]
    text = "\n".join(",".join(map(str, row)) for row in rows)
    result = ask(upload(text), parameters={"width": 0.5})
    y = [row[-1] for row in rows]
    assert column(result, "curve", "measured") == y
    alone = result.tables["left_out"].to_pandas()
    assert alone["measured"].to_list() == y
    error = (alone["measured"] - alone["prediction"]).pow(2).mean()
    assert error == pytest.approx(result.facts["metrics"]["leave_one_out_mse"])
    among = np.subtract(column(result, "curve", "prediction"), y)
    assert np.square(among).mean() < error


def test_a_built_in_problem_may_be_scaled():
    scale = ask(standardise=True).facts["standardised"]
    plain = ask(parameters={"width": scale["unit"][0]})
    assert column(plain, "curve", "prediction") == pytest.approx(
        column(ask(standardise=True), "curve", "prediction")
    )


def test_points_of_a_plugins_data_are_sorted(monkeypatch):
    x = torch.tensor([[3.0], [1.0], [2.0]])
    data = RegressionData(x, torch.tensor([30.0, 10.0, 20.0]), x)
    shuffled = DatasetSpec(
        name="shuffled", title="S", task="regression", load=lambda values, seed: data
    )
    broken = DatasetSpec(
        name="broken", title="B", task="regression",
        load=lambda values, seed: data._replace(y=data.y[:2]),
    )  # fmt: skip
    offering(monkeypatch, datasets={"shuffled": shuffled, "broken": broken})
    result = ask("shuffled")
    assert column(result, "points", "x0") == [1.0, 2.0, 3.0]
    assert column(result, "points", "y") == [10.0, 20.0, 30.0]
    with pytest.raises(ValueError, match="data 'broken': need one y per row of x"):
        ask("broken")


def test_a_map_too_large_to_draw_is_left_out_with_a_note():
    drawn = ask(data_points=500, data_queries=500)
    assert len(drawn.tables["maps"]) == 1
    table = "\n".join(f"{i},{i % 7}" for i in range(2503))
    result = ask(upload(table))
    assert "maps" not in result.tables
    said = f"Heatmaps are left out: a panel has 250,300 weights, {LEFT_OUT}"
    assert result.facts["notes"][-1] == said
    assert result.facts["metrics"]["effective_neighbours"] > 100
    fewer = ask(upload(table.split("\n2400,")[0]))
    assert "maps" in fewer.tables
    assert not any("Heatmaps" in note for note in fewer.facts["notes"])


@pytest.mark.parametrize("learn", [False, True])
def test_a_scoring_that_gives_nan_is_named_with_what_to_do(monkeypatch, learn):
    slope = registry.installed().scorings["gaussian"].parameters[0]

    @scoring("crumbling", formula=r"\sqrt{q-k}", parameters=(slope,))
    def crumbling(queries, keys, width):
        return (queries.unsqueeze(-2) - keys.unsqueeze(-3)).sum(-1).sqrt() / width

    offering(monkeypatch, scorings={"crumbling": crumbling})
    with pytest.raises(
        ValueError, match="scoring 'crumbling' with normaliser 'softmax' gave NaN"
    ) as caught:
        ask(scoring="crumbling", learn=learn)
    assert "scale x or change its parameters" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"colour": 1}, "no parameter 'colour'; offered: learn, standardise, epochs, lr"),
        ({"epochs": 0}, "need 1 <= epochs <= 2000, got 0"),
        ({"optimiser": "lbfgs"}, "need optimiser to be one of sgd, adam"),
        ({"data_points": 1}, "need 2 <= points <= 500, got 1"),
        ({"data_colour": 1}, "no parameter 'colour'; offered: points, noise, queries"),
        ({"parameters": {"colour": 1}}, "no parameter 'colour'; offered: width"),
        ({"parameters": {"width": 0.0}}, "need 0.02 <= width <= 10, got 0"),
        ({"parameters": {"hidden": 0}}, "need 1 <= hidden <= 64, got 0"),
        ({"scoring": "gausian"}, 'no scoring "gausian"; did you mean "gaussian"?'),
        ({"data": "sines"}, 'no data set "sines"; did you mean "sine"?'),
        ({"data": "upload:../../etc/passwd"}, "need the 64 hexadecimal digits of a sha256"),
        ({"data": "upload:" + "0" * 64}, "is not kept here: it was removed"),
    ],
)
def test_what_is_refused_is_named(fields, message):
    with pytest.raises(ValueError, match=r"\A") as caught:
        ask(**fields)
    assert message in str(caught.value)


def test_faulty_uploads_are_refused_by_the_tables_own_sentence():
    with pytest.raises(ValueError, match="need two columns of numbers, dates") as caught:
        ask(upload("1,2\n3,four\n5,six"))
    assert caught.value.facts == {"table": True}
    with pytest.raises(ValueError, match=r"an uploaded table has no option 'data\.points'"):
        ask(upload("1,2\n3,4"), data_points=7)


def test_models_and_data_of_another_task_are_refused(monkeypatch):
    corpus = DatasetSpec(
        name="corpus", title="C", task="translation", load=lambda values, seed: []
    )
    offering(monkeypatch, datasets={"corpus": corpus})
    with pytest.raises(ValueError, match="data set 'corpus' is for translation; need one for reg"):
        ask("corpus")
    request = Request.make("regression", model="bahdanau")
    with pytest.raises(ValueError, match="model 'bahdanau' is for translation; need one for regr"):
        perform(request, Watcher())


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match="no device 'cuda:63' here; need one of auto"):
        perform(Request.make("regression", device="cuda:63"), Watcher())


def test_the_models_hidden_size_reaches_the_scoring():
    result = ask(scoring="additive", parameters={"hidden": 13}, learn=True, epochs=1)
    assert result.facts["notes"][0].startswith("Learned 39 weights in 1 step,")


def test_facts_are_json():
    facts = ask(learn=True, epochs=3).facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def weights_of(result):
    (row,) = result.tables["maps"].to_pylist()
    return np.array(row["weights"]).reshape(row["heads"], len(row["queries"]), -1)[0]


def projected(scores):
    """Martins & Astudillo 2016: the point of the simplex nearest to a row of scores."""
    ordered = np.sort(scores)[::-1]
    size = max(k for k in range(1, len(scores) + 1) if 1 + k * ordered[k - 1] > ordered[:k].sum())
    return np.maximum(scores - (ordered[:size].sum() - 1) / size, 0)


def test_the_chosen_normaliser_makes_the_weights():
    result = ask(scoring="gaussian", parameters={"width": 0.7}, normaliser="sparsemax")
    points, curve = (result.tables[name].to_pandas() for name in ("points", "curve"))
    scores = (
        -0.5 * np.subtract.outer(curve["x0"].to_numpy(), points["x0"].to_numpy()) ** 2 / 0.7**2
    )
    expected = np.stack([projected(row) for row in scores])
    np.testing.assert_allclose(weights_of(result), expected, atol=1e-6)
    np.testing.assert_allclose(curve["prediction"], expected @ points["y"], atol=1e-6)
    shares = np.where(expected > 0, expected, 1)
    neighbours = np.exp(-(shares * np.log(shares)).sum(axis=1)).mean()
    assert result.facts["metrics"]["effective_neighbours"] == pytest.approx(neighbours)
    assert not any("sum to" in note for note in result.facts["notes"])


def test_rows_that_do_not_sum_to_one_are_said_and_counted_by_their_shares():
    result = ask(scoring="gaussian", normaliser="sigmoid")
    weights = weights_of(result)
    sums = weights.sum(axis=1)
    assert not np.allclose(sums, 1)
    shares = weights / sums[:, None]
    neighbours = np.exp(-(shares * np.log(shares)).sum(axis=1)).mean()
    assert result.facts["metrics"]["effective_neighbours"] == pytest.approx(neighbours, rel=1e-5)
    (note,) = [note for note in result.facts["notes"] if "need not sum to 1" in note]
    assert note.startswith("Gaussian kernel, Sigmoid: ")
    assert f"they sum to {sums.min():.3g} to {sums.max():.3g}" in note


def test_rows_without_any_weight_rest_on_no_point():
    result = ask(scoring="gaussian", normaliser="relu")  # no score is above 0
    assert result.facts["metrics"]["effective_neighbours"] == 0
    assert any("they sum to 0," in note for note in result.facts["notes"])


def test_a_learnable_normaliser_is_learned_and_followed():
    result = ask(scoring="scaled_dot", normaliser="entmax", learn=True, epochs=11,
                 **{"normaliser.alpha": 2.0})  # fmt: skip
    history = result.tables["history"].to_pandas()["normaliser alpha"]
    assert history[0] == 2.0
    assert history[11] != 2.0
    assert result.facts["learned"] == {"normaliser alpha": pytest.approx(history[11])}
    cold = ask(scoring="gaussian", normaliser="temperature", learn=True, epochs=20)
    assert (cold.tables["history"].to_pandas()["normaliser temperature"] > 0).all()


@pytest.mark.parametrize("name", [n for n in registry.installed().normalisers if n != "softmax"])
@pytest.mark.parametrize("scored", ["gaussian", "epanechnikov", "scaled_dot"])
def test_every_normaliser_predicts_with_every_kind_of_score(name, scored):
    result = ask(scoring=scored, normaliser=name)
    assert np.isfinite(result.tables["curve"].to_pandas()["prediction"]).all()
    assert np.isfinite(list(result.facts["metrics"].values())).all()


@pytest.mark.parametrize(("options", "message"), [
    ({"normaliser": "nowhere"}, 'no normaliser "nowhere"'),
    ({"normaliser": "entmax", "normaliser.alpha": 99.0}, "alpha"),
    ({"normaliser": "sparsemax", "normaliser.alpha": 2.0}, "no parameter 'alpha'"),
])  # fmt: skip
def test_a_bad_normaliser_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ask(scoring="gaussian", **options)


def test_who_brought_the_normaliser_is_noted(monkeypatch):
    installed = registry.installed()
    theirs = replace(installed.provider("scorings", "dot"), distribution="their-pack",
                     version="3.5", offers={"normalisers": ["sigmoid"]})  # fmt: skip
    known = replace(installed, plugins=(theirs, *installed.plugins))
    monkeypatch.setattr(registry, "installed", lambda: known)
    assert ask(normaliser="sigmoid").facts["plugins"]["their-pack"] == "3.5"
    assert "their-pack" not in ask().facts["plugins"]
