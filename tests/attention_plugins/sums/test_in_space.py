"""Sums block by block in several dimensions, and how regression takes them."""

from __future__ import annotations

import pytest
import torch
from support.kernel_means import make

from attention_plugins import (
    ModelSizes,
    Recorder,
    RegressionData,
    Site,
    Tap,
    attend,
    registry,
    sums,
)
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.regression import errors, leave_one_out, predict
from attention_plugins.sums import pool_without_weights, runs_without_weights

NAMES = ("gaussian", "laplacian", "matern-3/2", "inverse_multiquadric", "boxcar", "epanechnikov")
SITE = Site("pooling", 0)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def few(monkeypatch):
    """As if few scores were many."""
    monkeypatch.setattr("attention_plugins.sums.MANY_SCORES", 100)
    monkeypatch.setattr("attention_plugins.regression._BLOCK_SCORES", 500)


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("size", [2, 3, 11])
@pytest.mark.parametrize("name", NAMES)
def test_blocks_give_what_attention_gives(name, size, shift, monkeypatch):
    monkeypatch.setattr(sums, "_BLOCK_SCORES", 600)
    scoring = make(name, 0.9, size)
    queries, keys, values = draw(29, size) + shift, draw(101, size, seed=1) + shift, draw(101, 2)
    queries[3] += 40.0  # far from all keys
    output, weights = attend(scoring, queries, keys, values)
    found = pool_without_weights(scoring, queries, keys, values, entropy=True)
    torch.testing.assert_close(found.values, output, rtol=1e-7, atol=1e-7)
    entropies = torch.special.entr(weights).sum(-1)
    torch.testing.assert_close(found.entropies, entropies, rtol=1e-6, atol=1e-6)
    assert found.reached.tolist() == weights.any(dim=-1).tolist()
    own = torch.arange(101).flip(0)[:29]
    left = torch.ones(29, 101, dtype=torch.bool).scatter_(1, own[:, None], False)
    alone = pool_without_weights(scoring, keys[own], keys, values, own=own)
    expected = attend(scoring, keys[own], keys, values, left)[0]
    torch.testing.assert_close(alone.values, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("keys", [50, 5_000])
def test_a_block_fits_the_cache_and_has_rows_enough(keys, monkeypatch):
    scoring = make("gaussian", 0.9, 3)
    sizes, profile = [], type(scoring).profile

    def seen(self, distances):
        if distances.dim() == 2:  # not those that its range is read from
            sizes.append(distances.shape)
        return profile(self, distances)

    monkeypatch.setattr(type(scoring), "profile", seen)
    pool_without_weights(scoring, draw(400, 3), draw(keys, 3, seed=1), draw(keys, 1, seed=2))
    assert max(rows * columns for rows, columns in sizes) <= 2**16
    assert all(rows >= 64 for rows, _ in sizes[:-5])
    assert sum(rows * columns for rows, columns in sizes) == 400 * keys


@pytest.mark.parametrize("far", [1.0, 1e5])
def test_products_are_taken_only_where_their_rounding_is_not_seen(far):
    scoring = make("gaussian", 1.0, 3)
    keys = draw(101, 3) * far
    assert sums._Distances(scoring, keys, keys)._products is (far == 1.0)
    assert not sums._Distances(make("boxcar", 1.0, 3), keys, keys)._products
    exact = pool_without_weights(scoring, keys, keys, keys)
    torch.testing.assert_close(exact.values, attend(scoring, keys, keys, keys)[0])


def test_weights_are_made_as_ever_where_they_are_few_or_asked_for(few):
    scoring, keys = make("gaussian", 1.0), draw(11, 1)
    assert runs_without_weights(scoring, keys, keys, keys)
    mask = torch.ones(11, 11, dtype=torch.bool)
    assert not runs_without_weights(scoring, keys, keys, keys, mask)
    assert not runs_without_weights(scoring, keys, keys, keys, dropout=0.1)
    assert not runs_without_weights(scoring, keys[:9], keys, keys)
    given = [keys] * 3
    for at in range(3):
        for other in (keys.float(), keys.clone().requires_grad_()):
            assert not runs_without_weights(scoring, *given[:at], other, *given[at + 1 :])
    assert not runs_without_weights(scoring, *[keys.to("meta")] * 3)  # a device of its own
    assert not runs_without_weights(scoring, *[keys.expand(11, 11, 1)] * 3)
    assert not runs_without_weights(scoring, keys, keys, keys.expand(11, 11, 1))
    for way in ("normalise", "pool", "project_queries", "project_keys"):
        changed = type("Changed", (type(scoring),), {way: lambda self, given: given})
        scoring.__class__, usual = changed, type(scoring)
        assert not runs_without_weights(scoring, keys, keys, keys), way
        scoring.__class__ = usual
    assert not runs_without_weights(make("dot", 1.0), keys, keys, keys)
    assert not runs_without_weights(make("mixture", 1.0), keys, keys, keys)
    scoring.requires_grad_()
    assert not runs_without_weights(scoring, keys, keys, keys)
    with torch.no_grad():
        assert runs_without_weights(scoring, keys, keys, keys)
    scoring.normaliser = torch.nn.Softmax(dim=-1)
    with torch.no_grad():
        assert not runs_without_weights(scoring, keys, keys, keys)
    recorder = Recorder()
    Tap(recorder).attend(SITE, make("gaussian", 1.0), keys, keys, keys)
    assert recorder.weights()[SITE].shape == (11, 11)


def test_a_tap_goes_on_counting_where_no_weights_were_made(few):
    tap, keys = Tap(), draw(11, 1)
    tap.attend(SITE, make("gaussian", 1.0), keys, keys, keys)
    assert tap._count(SITE, keys) == 11


def model(name, **parameters):
    factory = registry.installed().scoring(name).factory(parameters)
    return NADARAYA_WATSON.create(factory, ModelSizes(1, 1)).double()


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", ["gaussian", "laplacian", "matern", "boxcar", "epanechnikov"])
def test_regression_says_the_same_with_weights_and_without(name, size, monkeypatch):
    data = RegressionData(draw(53, size), draw(53, seed=1), draw(31, size, seed=2), draw(31))
    built = model(name, width=0.05 if name in ("boxcar", "epanechnikov") else 0.4)
    kept = predict(built, data, keep_weights=True)
    usual = errors(built, data, kept.values)
    monkeypatch.setattr("attention_plugins.sums.MANY_SCORES", 100)
    monkeypatch.setattr("attention_plugins.tap.Recorder.add", None)  # no weights may be made
    found = predict(built, data, keep_weights=False)
    torch.testing.assert_close(found.values, kept.values, rtol=1e-9, atol=1e-9)
    assert found.effective_neighbours == pytest.approx(kept.effective_neighbours, rel=1e-9)
    assert found.row_sums == pytest.approx(kept.row_sums)
    assert found.axes == kept.axes
    assert errors(built, data, found.values) == pytest.approx(usual, rel=1e-9)


@pytest.mark.parametrize("name", ["additive", "gaussian"])
def test_points_left_out_in_blocks_have_the_same_gradients(name, monkeypatch):
    x, y, rows = draw(53, 1), draw(53, seed=1), torch.arange(0, 53, 3)
    torch.manual_seed(0)
    built = model(name)
    gradients = []
    for most in (1 << 20, 200):
        monkeypatch.setattr("attention_plugins.regression._BLOCK_SCORES", most)
        built.zero_grad()
        alone = leave_one_out(built, x, y, rows)
        alone.square().sum().backward()
        gradients.append([alone.detach(), *(part.grad.clone() for part in built.parameters())])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)
