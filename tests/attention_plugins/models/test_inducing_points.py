"""Regression through inducing points, against two kernel regressions in a row."""

from __future__ import annotations

import pytest
import torch

from attention_plugins import ModelSizes, Recorder, RegressionData, Site, Tap, registry
from attention_plugins.checking import check_model
from attention_plugins.fitting import fit
from attention_plugins.models import nadaraya_watson
from attention_plugins.models.nadaraya_watson import INDUCING_POINTS, evenly
from attention_plugins.record import Axes
from attention_plugins.regression import leave_one_out, predict, standardise

BUILT_IN = registry.load(allow=[])
SCORINGS = [s for s, spec in BUILT_IN.scorings.items() if "regression" in spec.tasks]
SUMMARIES, ANSWERS = Site("pooling", 0), Site("pooling", 1)


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64) * 5 - 2.5


def make(scoring="gaussian", size=2, normaliser=None, width=None, **values):
    torch.manual_seed(0)
    made = normaliser and BUILT_IN.normalisers[normaliser].factory()
    factory = BUILT_IN.scoring(scoring).factory(width and {"width": width}, made)
    return INDUCING_POINTS.create(factory, ModelSizes(size, 1), values).double().eval()


def weights(scoring, queries, keys):
    scores = scoring(scoring.project_queries(queries), scoring.project_keys(keys))
    return scoring.normalise(scores)


def test_it_keeps_every_rule_of_the_kit():
    assert [found for found in check_model(INDUCING_POINTS) if not found.passed] == []


# In their windows there may be no point: see below.
@pytest.mark.parametrize("scoring", [s for s in SCORINGS if s not in ("epanechnikov", "boxcar")])
def test_it_is_two_regressions_in_a_row(scoring):
    keys, values, queries = draw(11, 2), draw(11, seed=2), draw(7, 2, seed=1)
    model = make(scoring, inducing=5)
    summaries = weights(model.summarise, model.places, keys) @ values
    expected = weights(model.answer, queries, model.places) @ summaries
    found = model(queries, keys, values, None, Tap())
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("normaliser", ["softmax", "sparsemax", "sigmoid", "top_k"])
def test_a_mask_is_as_if_the_points_were_not_there(scoring, normaliser):
    keys, values, queries = draw(11, 2), draw(11, seed=2), draw(5, 2, seed=1)
    mask = torch.rand(5, 11, generator=torch.Generator().manual_seed(3)) < 0.5
    mask[2] = False
    model = make(scoring, normaliser=normaliser, inducing=5)
    found = model(queries, keys, values, mask, Tap())
    for row, allowed in enumerate(mask):
        if not allowed.any():
            assert found[row] == 0
            continue
        one = model(queries[row : row + 1], keys[allowed], values[allowed], None, Tap())
        torch.testing.assert_close(found[row : row + 1], one)


def test_masks_are_met_in_parts_with_the_same_numbers_and_gradients(monkeypatch):
    keys, values, queries = draw(11, 2), draw(11, seed=2), draw(5, 2, seed=1)
    mask = torch.rand(5, 11, generator=torch.Generator().manual_seed(3)) < 0.5
    model, found = make("additive", inducing=3), []
    for most in (nadaraya_watson._MOST_SCORES, 2 * 3 * 11):  # at once, and two queries at a time
        monkeypatch.setattr(nadaraya_watson, "_MOST_SCORES", most)
        predicted = model(queries, keys, values, mask, Tap())
        gradients = torch.autograd.grad(predicted.square().sum(), [*model.parameters()])
        found.append([predicted, *gradients])
        recorder = Recorder()  # which sees all queries at once
        model(queries, keys, values, mask, Tap(recorder))
        assert recorder.weights()[SUMMARIES].shape == (5, 3, 11)
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_leaving_out_forgets_the_point_itself():
    x, y = draw(13, 1), draw(13, seed=2)
    model = make(size=1)
    before = leave_one_out(model, x, y, torch.tensor([4]))
    y[4] += 1000.0
    assert torch.equal(leave_one_out(model, x, y, torch.tensor([4])), before)


def test_an_inducing_point_that_sees_nothing_says_nothing():
    """Windows of the boxcar: far inducing points see no training point, and are left out."""
    keys, values = torch.tensor([[-2.4], [-2.2], [-2.0]]).double(), torch.ones(3).double()
    queries = torch.tensor([[-2.0], [-1.2], [-0.5]]).double()  # the last near some of either kind
    model, recorder = make("boxcar", size=1, width=1.0), Recorder()
    found = model(queries, keys, values, None, Tap(recorder))
    torch.testing.assert_close(found, torch.ones(3).double())
    blind = ~recorder.weights()[SUMMARIES].any(dim=-1)
    assert blind.any()
    assert not recorder.weights()[ANSWERS][:, blind].any()


def test_its_sites_say_what_they_weigh():
    model, recorder = make(inducing=3), Recorder()
    model(draw(7, 2, seed=1), draw(11, 2), draw(11, seed=2), None, Tap(recorder))
    assert {site: tuple(w.shape) for site, w in recorder.weights().items()} == {
        SUMMARIES: (3, 11), ANSWERS: (7, 3),
    }  # fmt: skip
    inducing = ("inducing 1", "inducing 2", "inducing 3")
    assert model.axes(SUMMARIES) == Axes(inducing, ("points",))
    assert model.axes(ANSWERS) == Axes(("queries",), inducing)


@pytest.mark.parametrize("count", [1, 5, 16])
def test_one_dimension_is_filled_at_even_distances(count):
    width = 5.0 / count
    expected = -2.5 + width * (torch.arange(count) + 0.5)
    torch.testing.assert_close(evenly(count, 1)[:, 0], expected)


@pytest.mark.parametrize("size", [2, 3])
def test_no_quarter_of_the_box_is_left_empty(size):
    points = evenly(8 * 4**size, size)
    assert points.abs().max() < 2.5
    cells = {tuple(cell) for cell in ((points + 2.5) / 1.25).long().tolist()}
    assert len(cells) == 4**size


def test_without_learning_it_follows_a_curve_and_learning_comes_nearer():
    x = torch.linspace(0, 5, 41, dtype=torch.float64)[:, None]
    data, _ = standardise(RegressionData(x, (2 * x[:, 0]).sin(), x))
    variance = float(data.y.var())
    model = make(size=1, width=0.3)
    untrained = predict(model, data, keep_weights=False).values
    assert float((untrained - data.y).square().mean()) < 0.5 * variance
    history = fit(model, data, epochs=60).history
    assert history[-1].loss < 0.7 * history[0].loss
