from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from statsmodels.nonparametric.kernel_regression import KernelReg

from attention_plugins import ContractError, ModelSizes, Recorder, Site, Sizes, Tap, registry
from attention_plugins import attention as core
from attention_plugins import blocks as in_blocks
from attention_plugins import tap as taps
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON

X = [1.3261, 1.7632, 2.2849, 3.7667, 4.0057]
Y = [3.3744, 3.9904, 3.9660, 1.5305, 1.4809]


def model(scoring="gaussian", size=1, **parameters):
    """In float64; `parameters` are the scoring's, `hidden` the model's."""
    own = {"hidden": parameters.pop("hidden")} if "hidden" in parameters else {}
    factory = registry.installed().scoring(scoring).factory(parameters)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(0)
        return NADARAYA_WATSON.create(factory, ModelSizes(size, 1), own)
    finally:
        torch.set_default_dtype(before)


def draw(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(*shape, generator=generator, dtype=torch.float64) * 5


def test_five_points_by_hand():
    x, y = torch.tensor(X, dtype=torch.float64)[:, None], torch.tensor(Y, dtype=torch.float64)
    recorder = Recorder()
    found = model(width=1.0)(x, x, y, None, Tap(recorder)).tolist()
    kernel = np.exp(-0.5 * np.subtract.outer(X, X) ** 2)
    weights = kernel / kernel.sum(axis=1, keepdims=True)
    assert found == pytest.approx(weights @ Y, abs=1e-12)
    assert found == pytest.approx([3.6751, 3.6184, 3.4016, 2.0077, 1.8574], abs=5e-5)
    (recorded,) = recorder.weights().items()
    assert recorded[0] == Site("pooling", 0)
    assert recorded[1][0].tolist() == pytest.approx(
        [0.3818, 0.3471, 0.2411, 0.0194, 0.0105], abs=5e-5
    )


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("width", [0.1, 0.3, 1.0, 2.7])
def test_a_gaussian_scoring_is_local_constant_kernel_regression(size, width):
    keys, queries, values = draw(53, size), draw(31, size, seed=1), draw(53, seed=2)
    found = model(size=size, width=width)(queries, keys, values, None, Tap())
    with warnings.catch_warnings():  # it announces another random generator, which is not used
        warnings.simplefilter("ignore", FutureWarning)
        reference = KernelReg(
            values.numpy(), keys.numpy(), "c" * size, reg_type="lc", bw=[width] * size
        )
    expected, _ = reference.fit(queries.numpy())
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=0, atol=1e-10)


def test_average_pooling_predicts_the_mean_everywhere():
    values = draw(17, seed=2)
    found = model("uniform")(draw(7, 1), draw(17, 1, seed=1), values, None, Tap())
    torch.testing.assert_close(found, values.mean().expand(7))


def test_a_mask_keeps_values_out():
    keys, values = draw(11, 3), draw(11, seed=2)
    mask = torch.rand(5, 11, generator=torch.Generator().manual_seed(3)) < 0.5
    mask[2] = False
    found = model("laplacian", size=3)(keys[:5], keys, values, mask, Tap())
    for row, allowed in enumerate(mask):
        if row == 2:
            assert found[row] == 0
        else:
            alone = model("laplacian", size=3)(
                keys[row : row + 1], keys[allowed], values[allowed], None, Tap()
            )
            torch.testing.assert_close(found[row : row + 1], alone)


def test_the_scoring_is_made_once_with_the_models_sizes():
    seen = []
    factory = registry.installed().scoring("gaussian").factory()

    def spy(sizes):
        seen.append(sizes)
        return factory(sizes)

    NADARAYA_WATSON.create(spy, ModelSizes(3, 1), {"hidden": 13})
    assert seen == [Sizes(query=3, key=3, hidden=13, value=1, kind="pooling")]
    with pytest.raises(ContractError, match="need 1 <= hidden <= 64, got 65"):
        NADARAYA_WATSON.create(spy, ModelSizes(3, 1), {"hidden": 65})


@pytest.mark.parametrize("scoring", ["gaussian", "additive"])
def test_an_unwatched_tap_attends_in_blocks_to_the_same_numbers(monkeypatch, scoring):
    """Many points must not cost the memory of all scores; nor may they change the answer."""
    keys, values, mask = draw(37, 2), draw(37, seed=2), ~torch.eye(37, dtype=torch.bool)
    whole = model(scoring, size=2)
    expected = whole(keys, keys, values, mask, Tap())
    expected.square().sum().backward()
    blocks = []
    weigh = core.weigh

    def spy(scoring, queries, *rest):
        blocks.append(len(queries))
        return weigh(scoring, queries, *rest)

    monkeypatch.setattr(core, "weigh", spy)
    monkeypatch.setattr(in_blocks, "weigh", spy)
    monkeypatch.setattr(taps, "_MOST_SCORES", 37 * 37 - 1)
    monkeypatch.setattr(in_blocks, "_BLOCK_ELEMENTS", 37 * 16)
    blocked = model(scoring, size=2)
    found = blocked(keys, keys, values, mask, Tap())
    forward = list(blocks)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
    assert max(forward) < 37
    assert sum(forward) == 37
    found.square().sum().backward()
    for one, other in zip(blocked.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(one.grad, other.grad)
    blocks.clear()
    blocked(keys, keys, values, mask, Tap(Recorder()))
    assert blocks == [37]


def test_a_pair_costs_what_its_scoring_does():
    x, y = draw(11, 2), draw(11)
    for scoring, work in (("scaled_dot", 1.0), ("additive", 4.0), ("laplacian", 4.0)):
        made = model(scoring, size=2)
        assert made.work_of_a_pair(x, y) == work, scoring
        assert made.with_and_without(x, y, torch.arange(3)) is not None
    made.scoring.needs = ("positions",)  # of which those two passes in one know nothing
    assert made.with_and_without(x, y, torch.arange(3)) is None


def test_it_comes_with_the_workbench():
    assert registry.installed().model("nadaraya_watson") is NADARAYA_WATSON
