from __future__ import annotations

import pytest
import torch

from attention_plugins.radial import absolute_distances, squared_distances


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("size", [1, 2, 8, 9, 31])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_squares_agree_with_torchs_distances(size, offset):
    queries, keys = draw(2, 7, size) + offset, draw(2, 13, size, seed=1) + offset
    exact = torch.cdist(queries, keys, compute_mode="donot_use_mm_for_euclid_dist").square()
    torch.testing.assert_close(squared_distances(queries, keys), exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1, 5, 11])
def test_sums_agree_with_torchs_distances(size):
    queries, keys = draw(2, 7, size), draw(2, 13, size, seed=1)
    torch.testing.assert_close(
        absolute_distances(queries, keys), torch.cdist(queries, keys, p=1), rtol=1e-12, atol=0
    )


def test_close_points_far_from_the_others_keep_their_distance():
    """1,000,000 and 1,000,000.0625 are neighbours in single precision; squares lose that."""
    points = torch.tensor([[0.0], [1e6], [1e6 + 0.0625], [1e6 + 0.25]])
    gaps = (points.double() - points.double().mT).abs().float()
    assert gaps[1, 2] == 0.0625
    assert torch.equal(squared_distances(points, points), gaps.square())
    assert torch.equal(absolute_distances(points, points), gaps)


@pytest.mark.parametrize("size", [9, 31])
def test_wide_points_far_from_the_origin_lose_little(size):
    queries, keys = (draw(7, size) + 1e3).float(), (draw(13, size, seed=1) + 1e3).float()
    exact = torch.cdist(queries.double(), keys.double()).square()
    found = squared_distances(queries, keys).double()
    torch.testing.assert_close(found, exact, rtol=1e-5, atol=0)


@pytest.mark.parametrize("size", [5, 31])
def test_no_square_is_negative(size):
    points = draw(17, size).float() * 1e3
    assert (squared_distances(points, points.clone()) >= 0).all()


def test_wide_points_need_no_tensor_of_differences():
    """What the backward pass keeps is of the size of the scores, not ``size`` times that."""
    queries, keys = draw(127, 64).requires_grad_(), draw(131, 64, seed=1).requires_grad_()
    kept = []

    def keep(tensor):
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        squared_distances(queries, keys)
    assert max(kept) <= 127 * 131


def test_wide_points_have_the_gradients_of_their_differences():
    queries, keys = draw(7, 11).requires_grad_(), draw(13, 11, seed=1).requires_grad_()
    direction = draw(7, 13, seed=2)
    direct = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
    expected = torch.autograd.grad((direct * direction).sum(), (queries, keys))
    found = torch.autograd.grad(
        (squared_distances(queries, keys) * direction).sum(), (queries, keys)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
