"""Regression from the nearest points, against a plain loop over sorted distances."""

from __future__ import annotations

import pytest
import torch

from attention_plugins import ModelSizes, Recorder, RegressionData, Site, Tap, registry
from attention_plugins.checking import check_model
from attention_plugins.fitting import fit
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON, NEAREST_NEIGHBOURS, nearest
from attention_plugins.regression import leave_one_out

BUILT_IN = registry.load(allow=[])
SCORINGS = [s for s, spec in BUILT_IN.scorings.items() if "regression" in spec.tasks]


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64) * 5


def make(spec, scoring="gaussian", size=2, normaliser=None, **values):
    torch.manual_seed(0)
    made = normaliser and BUILT_IN.normalisers[normaliser].factory()
    factory = BUILT_IN.scoring(scoring).factory(None, made)
    return spec.create(factory, ModelSizes(size, 1), values).double().eval()


def test_it_keeps_every_rule_of_the_kit():
    assert [found for found in check_model(NEAREST_NEIGHBOURS) if not found.passed] == []


def by_hand(query, keys, count, allowed):
    """Numbers of the keys, by a sorted list of distances."""
    away = sorted((sum((q - k) ** 2 for q, k in zip(query, keys[i], strict=True)), i)
                  for i in allowed)  # fmt: skip
    return {i for _, i in away[:count]}


@pytest.mark.parametrize("scoring", SCORINGS)
def test_it_is_kernel_regression_on_the_nearest_points(scoring):
    keys, values, queries = draw(11, 2), draw(11, seed=2), draw(5, 2, seed=1)
    mask = torch.rand(5, 11, generator=torch.Generator().manual_seed(3)) < 0.6
    model, plain = (
        make(spec, scoring, **own)
        for spec, own in ((NEAREST_NEIGHBOURS, {"neighbours": 3}), (NADARAYA_WATSON, {}))
    )
    plain.load_state_dict(model.state_dict())
    for allowed in (mask, None):
        recorder = Recorder()
        found = model(queries, keys, values, allowed, Tap(recorder))
        (weights,) = recorder.weights().values()
        for row in range(5):
            seen = range(11) if allowed is None else allowed[row].nonzero()[:, 0].tolist()
            chosen = sorted(by_hand(queries[row].tolist(), keys.tolist(), 3, seen))
            assert weights[row].nonzero()[:, 0].tolist() == chosen or scoring in (
                "epanechnikov", "boxcar",
            )  # fmt: skip
            one = plain(queries[row : row + 1], keys[chosen], values[chosen], None, Tap())
            torch.testing.assert_close(found[row : row + 1], one)


@pytest.mark.parametrize("normaliser", BUILT_IN.normalisers)
def test_no_normaliser_gives_weight_to_a_masked_or_distant_point(normaliser):
    model = make(NEAREST_NEIGHBOURS, "scaled_dot", normaliser=normaliser, neighbours=3)
    mask = torch.ones(5, 11, dtype=torch.bool)
    mask[:, 4] = False
    recorder = Recorder()
    queries, keys = draw(5, 2, seed=1), draw(11, 2)
    model(queries, keys, draw(11, seed=2), mask, Tap(recorder))
    weights = recorder.weights()[Site("pooling", 0)]
    assert not weights[~nearest(queries, keys, 3, mask)].any()
    assert not weights[:, 4].any()


def test_fewer_points_than_neighbours_are_all_seen_and_masked_ones_never():
    queries, keys = draw(3, 2, seed=1), draw(7, 2)
    assert nearest(queries, keys, 20, None).all()
    mask = torch.tensor([[True, False] * 3 + [True], [False] * 7, [True] * 7])
    assert torch.equal(nearest(queries, keys, 7, mask), mask)
    assert torch.equal(nearest(queries, keys, 5, mask)[:2], mask[:2])


def test_points_equally_far_are_taken_together():
    keys = torch.tensor([[1.0], [-1.0], [3.0], [1.0]])
    found = nearest(torch.tensor([[0.0]]), keys, 2, None)
    assert found.tolist() == [[True, True, False, True]]


def test_one_neighbour_is_the_nearest_points_value():
    keys, values, queries = draw(13, 2), draw(13, seed=2), draw(7, 2, seed=1)
    found = make(NEAREST_NEIGHBOURS, neighbours=1)(queries, keys, values, None, Tap())
    expected = values[torch.cdist(queries, keys).argmin(dim=1)]
    torch.testing.assert_close(found, expected)


def test_leaving_out_forgets_the_point_itself():
    x, y = draw(13, 1), draw(13, seed=2)
    model = make(NEAREST_NEIGHBOURS, size=1, neighbours=1)
    found = leave_one_out(model, x, y, torch.arange(13))
    away = torch.cdist(x, x).fill_diagonal_(torch.inf)
    torch.testing.assert_close(found, y[away.argmin(dim=1)])


def test_a_width_is_learned():
    x = torch.linspace(-3, 3, 31, dtype=torch.float64)[:, None]
    data = RegressionData(x, x[:, 0].sin(), x)
    history = fit(make(NEAREST_NEIGHBOURS, size=1), data, epochs=30).history
    assert history[-1].loss < 0.7 * history[0].loss
