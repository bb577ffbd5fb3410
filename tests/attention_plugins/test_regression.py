from __future__ import annotations

import math

import pytest
import torch

from attention_plugins import ModelSizes, RegressionData, registry
from attention_plugins.fitting import left_out
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.regression import (
    check_data,
    errors,
    leave_one_out,
    predict,
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


def test_many_points_are_left_out_by_an_even_pick():
    assert left_out(2011).tolist() == list(range(2011))
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
