from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attention_plugins import ModelSizes, Recorder, RegressionData, Tap, registry
from attention_plugins.fitting import left_out
from attention_plugins.models.nadaraya_watson import (
    INDUCING_POINTS,
    NADARAYA_WATSON,
    NEAREST_NEIGHBOURS,
)
from attention_plugins.regression import (
    check_data,
    errors,
    evaluate,
    leave_one_out,
    mean_squares,
    predict,
    rows_of,
    standardise,
)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def model(scoring, size=1, **parameters):
    torch.manual_seed(0)
    factory = registry.installed().scoring(scoring).factory(parameters)
    return NADARAYA_WATSON.create(factory, ModelSizes(size, 1)).double()


def gaussian_mean(query, x, y, width):
    weights = [math.exp(-0.5 * ((query - key) / width) ** 2) for key in x]
    return sum(w * value for w, value in zip(weights, y, strict=True)) / sum(weights)


def test_leave_one_out_predicts_each_point_from_the_others():
    x, y = draw(13, 1), draw(13, seed=1)
    keys, values = x[:, 0].tolist(), y.tolist()
    expected = [
        gaussian_mean(keys[i], keys[:i] + keys[i + 1 :], values[:i] + values[i + 1 :], width=0.5)
        for i in range(13)
    ]
    found = leave_one_out(model("gaussian", width=0.5), x, y, torch.arange(13))
    assert found.tolist() == pytest.approx(expected, abs=1e-12)
    some = leave_one_out(model("gaussian", width=0.5), x, y, torch.tensor([11, 2, 7]))
    assert some.tolist() == pytest.approx([expected[11], expected[2], expected[7]], abs=1e-12)


def test_leaving_one_out_of_an_average_changes_it():
    y = draw(13, seed=1)
    found = leave_one_out(model("uniform"), draw(13, 1), y, torch.arange(13))
    torch.testing.assert_close(found, (y.sum() - y) / 12)


def test_two_points_predict_each_other():
    x, y = draw(2, 1), torch.tensor([3.0, 5.0], dtype=torch.float64)
    assert leave_one_out(model("gaussian"), x, y, torch.arange(2)).tolist() == [5.0, 3.0]


def test_errors_are_means_of_squares():
    x, y, queries = draw(11, 1), draw(11, seed=1), draw(7, 1, seed=2)
    data = RegressionData(x, y, queries, queries[:, 0])
    predicted = torch.full((7,), 2.0, dtype=torch.float64)
    found = errors(model("uniform"), data, predicted)
    alone = [(y.sum() - y[i]) / 10 - y[i] for i in range(11)]
    assert found == pytest.approx(
        {
            "leave_one_out_mse": float(sum(error**2 for error in alone)) / 11,
            "training_mse": float(y.var(correction=0)),
            "truth_mse": float(((2.0 - queries) ** 2).sum()) / 7,
        }
    )
    assert "truth_mse" not in errors(model("uniform"), data._replace(truth=None), predicted)


def test_effective_neighbours_of_an_average_are_all_and_of_a_narrow_kernel_one():
    x = torch.arange(13.0, dtype=torch.float64)[:, None]
    data = RegressionData(x, x[:, 0], x[:7])
    assert predict(
        model("uniform"), data, keep_weights=False
    ).effective_neighbours == pytest.approx(13)
    narrow = predict(model("gaussian", width=0.02), data, keep_weights=False)
    assert narrow.effective_neighbours == pytest.approx(1)


@pytest.mark.parametrize("keep_weights", [True, False])
@pytest.mark.parametrize("scoring", ["gaussian", "additive"])
def test_effective_neighbours_are_the_exponential_of_the_entropy(scoring, keep_weights):
    data = RegressionData(draw(13, 1), draw(13, seed=1), draw(7, 1, seed=2))
    made = model(scoring)
    (weights,) = predict(made, data, keep_weights=True).weights.values()
    counts = [math.exp(-sum(w * math.log(w) for w in row if w > 0)) for row in weights[0].tolist()]
    assert max(counts) - min(counts) > 0.01
    found = predict(made, data, keep_weights=keep_weights).effective_neighbours
    assert found == pytest.approx(sum(counts) / 7, rel=1e-9)


def test_blocks_of_queries_change_nothing(monkeypatch):
    data = RegressionData(draw(17, 2), draw(17, seed=1), draw(11, 2, seed=2))
    whole = predict(model("additive", size=2), data, keep_weights=True)
    monkeypatch.setattr("attention_plugins.regression._BLOCK_SCORES", 17 * 3)
    parts = predict(model("additive", size=2), data, keep_weights=True)
    torch.testing.assert_close(parts.values, whole.values)
    ((site, weights),) = whole.weights.items()
    assert weights.shape == (1, 11, 17)
    torch.testing.assert_close(parts.weights[site], weights)
    assert parts.effective_neighbours == pytest.approx(whole.effective_neighbours)
    assert predict(model("additive", size=2), data, keep_weights=False).weights == {}


def scores_of(name, made, queries, keys):
    """Written out in NumPy, ``(r, n)``."""
    apart = [queries[:, j, None] - keys[:, j] for j in range(keys.shape[1])]
    if name == "gaussian":
        return -0.5 * sum(np.square(each) for each in apart)
    if name == "laplacian":
        return -sum(np.abs(each) for each in apart) / made.scoring.width.item()
    if name == "scaled_dot":
        return queries @ keys.T / np.sqrt(keys.shape[1])
    if name == "additive":
        asked, held = (
            part @ weights.weight.detach().numpy().T
            for part, weights in (
                (queries, made.scoring.from_query), (keys, made.scoring.from_key),
            )
        )  # fmt: skip
        shares = made.scoring.weight.weight.detach().numpy()[0]
        return sum(
            share * np.tanh(asked[:, i, None] + held[:, i]) for i, share in enumerate(shares)
        )
    return -np.sqrt(sum(np.square(each) for each in apart)) / 0.3  # the typed formula


def written_out(name, made, x, y, rows):
    """Predictions of rows from all points, and from all others, ``(2, r)``."""
    found = []
    for part in np.array_split(rows, -(-len(rows) * len(x) // 2_000_000)):
        scores = scores_of(name, made, x[part], x)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        among = weights @ y / weights.sum(axis=1)
        weights[np.arange(len(part)), part] = 0.0
        found.append((among, weights @ y / weights.sum(axis=1)))
    return np.concatenate(found, axis=1)


def table(n, size):
    random = np.random.default_rng(n + size)
    x = random.normal(size=(n, size)) * 1.44
    return x, np.sin(2 * x[:, 0]) + 0.5 * random.normal(size=n) + 3


def as_data(x, y):
    return RegressionData(torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(x[:1]))


def agree_with_the_reference(name, n, size, *, rows):
    x, y = table(n, size)
    made, data = model(name, size), as_data(x, y)
    found = evaluate(made, data, seed=3)
    assert (len(found.rows), found.points) == (rows, n)
    numbers = found.rows.numpy()
    among, alone = written_out(name, made, x, y, numbers)
    means = mean_squares(data, found)
    expected = {"leave_one_out_mse": alone, "training_mse": among}
    for metric, predicted in expected.items():
        squares = np.square(predicted - y[numbers])
        assert means[metric].value == pytest.approx(squares.mean(), rel=1e-9)
        deviation = squares.std(ddof=1) / np.sqrt(rows) * np.sqrt(1 - rows / n)
        assert means[metric].standard_error == pytest.approx(deviation, rel=1e-9)
    assert means["leave_one_out_mse"].value > means["training_mse"].value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size"),
    [("gaussian", 1), ("laplacian", 1), ("gaussian", 3), ("scaled_dot", 2), ("=-|q-k|/0.3", 2)],
)
def test_every_row_of_a_table_of_4_790_is_left_out(name, size):
    agree_with_the_reference(name, 4_790, size, rows=4_790)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "size", "rows"),
    [
        ("additive", 4_790, 2, 4_790), ("laplacian", 4_790, 8, 4_790),
        ("gaussian", 20_000, 1, 20_000), ("scaled_dot", 20_000, 2, 20_000),
        ("additive", 20_000, 2, 5_000), ("=-|q-k|/0.3", 20_000, 2, 5_000),
        ("gaussian", 100_000, 3, 4_000), ("additive", 100_000, 2, 1_000),
    ],
)  # fmt: skip
def test_larger_tables_are_left_out_row_by_row_or_by_a_stated_sample(name, n, size, rows):
    agree_with_the_reference(name, n, size, rows=rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "laplacian", "matern", "boxcar", "epanechnikov"])
def test_all_of_100_000_rows_on_a_line_are_left_out(name):
    x, y = table(100_000, 1)
    made, data = model(name, width=0.1), as_data(x, y)
    found = evaluate(made, data)
    assert torch.equal(found.rows, torch.arange(100_000))
    # By the usual way, of some of them.
    some = torch.arange(17, 100_000, 2_003)
    torch.testing.assert_close(found.alone[some], by_a_mask(made, data, some), rtol=1e-8, atol=0)


def by_a_mask(made, data, rows):
    mask = rows[:, None] != torch.arange(len(data.x))
    with torch.no_grad():
        return made(data.x[rows], data.x, data.y, mask, Tap(Recorder()))


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("normaliser", ["softmax", "entmax", "sparsemax"])
@pytest.mark.parametrize(
    "scoring", ["gaussian", "boxcar", "epanechnikov", "laplacian", "dot", "uniform", "cosine"]
)
def test_one_pass_predicts_what_two_would(scoring, normaliser, few, monkeypatch):
    """Also where a window holds no other point, and where a point has nearly all the weight."""
    if not few:
        monkeypatch.setattr("attention_plugins.sums.MANY_SCORES", 1)
    agree_with_two_passes(NADARAYA_WATSON, scoring, normaliser)


@pytest.mark.parametrize("spec", [NEAREST_NEIGHBOURS, INDUCING_POINTS])
def test_other_models_predict_in_two_passes_of_blocks(spec, monkeypatch):
    monkeypatch.setattr("attention_plugins.regression._PASSING_SCORES", 200)
    agree_with_two_passes(spec, "gaussian", "softmax")


def agree_with_two_passes(spec, scoring, normaliser):
    x = draw(41, 2)
    x[7], x[11] = x[8], 40.0
    data = RegressionData(x, draw(41, seed=1) + 7, x)
    values = {"width": 0.4} if "width" in installed_parameters(scoring) else {}
    factory = registry.installed().scoring_factory(scoring, values, normaliser)
    torch.manual_seed(0)
    made = spec.create(factory, ModelSizes(2, 1), {}).double()
    found = evaluate(made, data)
    every = torch.arange(41)
    torch.testing.assert_close(found.alone, by_a_mask(made, data, every), rtol=1e-9, atol=1e-9)
    with torch.no_grad():
        among = made(x, x, data.y, None, Tap(Recorder()))
    torch.testing.assert_close(found.among, among, rtol=1e-9, atol=1e-9)


def installed_parameters(scoring):
    return {each.name for each in registry.installed().scoring(scoring).parameters}


def test_a_sample_is_drawn_by_the_seed_and_holds_every_smaller_one():
    drawn = rows_of(1_009, 101, seed=3)
    assert len(set(drawn.tolist())) == 101
    assert drawn.tolist() == sorted(drawn.tolist())
    assert torch.equal(rows_of(1_009, 101, seed=3), drawn)
    assert not torch.equal(rows_of(1_009, 101, seed=4), drawn)
    assert set(rows_of(1_009, 53, seed=3).tolist()) < set(drawn.tolist())
    assert rows_of(53, 53, seed=3).tolist() == list(range(53))


def test_the_standard_error_is_how_far_samples_lie_from_all_rows(monkeypatch):
    x, y = draw(211, 2), draw(211, seed=1)
    made, data = model("gaussian", size=2), RegressionData(x, y, x[:1])
    whole = mean_squares(data, evaluate(made, data))
    monkeypatch.setattr("attention_plugins.regression.MOST_WORK", 0)
    monkeypatch.setattr("attention_plugins.regression.FEWEST_ROWS", 101)
    samples = [mean_squares(data, evaluate(made, data, seed)) for seed in range(300)]
    for metric, true in whole.items():
        assert true.standard_error == 0
        values = np.array([one[metric].value for one in samples])
        deviation = np.mean([one[metric].standard_error for one in samples])
        assert values.std() == pytest.approx(deviation, rel=0.12)
        assert abs(values.mean() - true.value) < 3 * deviation / np.sqrt(300)


def test_a_longer_formula_has_fewer_rows_left_out(monkeypatch):
    monkeypatch.setattr("attention_plugins.regression.FEWEST_ROWS", 1)
    monkeypatch.setattr("attention_plugins.regression.MOST_WORK", 4 * 501 * 400)
    x, y = draw(501, 2), draw(501, seed=1)
    long = "=" + " + ".join(f"tanh(q.k / {n})" for n in range(1, 12))
    counts = [
        len(evaluate(model(name, size=2), RegressionData(x, y, x[:1])).rows)
        for name in ("=exp(-|q-k|)", long)
    ]
    assert counts[0] == 400
    assert 20 < counts[1] < 200


def test_the_fewest_rows_are_scored_at_any_cost(monkeypatch):
    monkeypatch.setattr("attention_plugins.regression.MOST_WORK", 0)
    x, y = draw(701, 2), draw(701, seed=1)
    found = evaluate(model("additive", size=2), RegressionData(x, y, x[:1]))
    assert (len(found.rows), found.points, found.is_sample) == (500, 701, True)


def test_many_points_are_left_out_by_an_even_pick():
    assert left_out(2_048).tolist() == list(range(2_048))
    assert len(left_out(2_049)) < 2_049
    picked = left_out(20_000)
    assert len(picked) == 500
    assert (picked[0], picked[-1]) == (0, 19_999)
    assert set(picked.diff().tolist()) == {40, 41} or picked.diff().float().std() < 1


def test_standardised_inputs_spread_like_the_built_in_problems():
    data = RegressionData(draw(97, 2) * 1e6 + 3e7, draw(97, seed=1), draw(7, 2, seed=2))
    scaled, scale = standardise(data)
    torch.testing.assert_close(scaled.x.mean(dim=0), torch.zeros(2).double(), atol=1e-9, rtol=0)
    uniform = torch.linspace(0, 5, 100_001, dtype=torch.float64)
    torch.testing.assert_close(
        scaled.x.std(dim=0, correction=0), uniform.std().expand(2), rtol=1e-4, atol=0
    )
    torch.testing.assert_close(scaled.queries * scale.unit + scale.mean, data.queries)
    assert scaled.y is data.y


@pytest.mark.parametrize("size", [1e-200, 1e100])
def test_standardising_survives_extreme_units(size):
    data = RegressionData(draw(13, 1) * size, draw(13, seed=1), draw(7, 1) * size)
    scaled, _ = standardise(data)
    assert scaled.x.std(correction=0).item() == pytest.approx(5 / math.sqrt(12))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": draw(13)}, "need x (n, d) and queries (m, d), got (13,) and (7, 2)"),
        ({"queries": draw(7, 3)}, "need x (n, d) and queries (m, d), got (13, 2) and (7, 3)"),
        ({"y": draw(11)}, "need one y per row of x"),
        ({"truth": draw(5)}, "one truth per query"),
        ({"x": draw(1, 2), "y": draw(1)}, 'need 2 <= n, got n=1 (field "training points")'),
        ({"queries": draw(0, 2), "truth": None}, "at least one query, got 0"),
        ({"y": draw(13) * math.nan}, "holds NaN or infinity"),
    ],
)
def test_data_that_break_the_contract_are_named(change, message):
    data = RegressionData(draw(13, 2), draw(13), draw(7, 2), draw(7))
    check_data(data, "mine")
    with pytest.raises(ValueError, match="data 'mine': ") as caught:
        check_data(data._replace(**change), "mine")
    assert message in str(caught.value)
