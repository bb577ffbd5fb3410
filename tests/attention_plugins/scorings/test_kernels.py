"""Kernels and bilinear forms, against their formulas written in plain Python and NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attention_plugins import Sizes, attend, scoring, scorings
from attention_plugins.attention import Inputs
from attention_plugins.checking import check_scoring
from attention_plugins.linear_time import attend_in_linear_time
from attention_plugins.scorings.linear_attention import PERFORMER, Performer, orthogonal_features

SPECS = {spec.name: spec for spec in scorings.attention_scorings()}


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make(name, size=5, key=None, **values):
    torch.manual_seed(3)
    return SPECS[name].create(Sizes(size, key or size, 7), values).double()


def projected(scoring, queries, keys):
    return scoring(scoring.project_queries(queries), scoring.project_keys(keys))


def distance(q, k):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(q, k, strict=True)))


def dot(q, k):
    return sum(a * b for a, b in zip(q, k, strict=True))


def matern_3(q, k, width):
    r = math.sqrt(3) * distance(q, k) / width
    return (1 + r) * math.exp(-r)


def matern_5(q, k, width):
    d = distance(q, k)
    return (1 + math.sqrt(5) * d / width + 5 * d**2 / (3 * width**2)) * math.exp(
        -math.sqrt(5) * d / width
    )


def epanechnikov(q, k, width):
    return max(0.0, 1 - distance(q, k) ** 2 / len(q) / width**2)


def mixture(q, k, gate, width):
    return gate * math.exp(dot(q, k) / math.sqrt(len(q))) + (1 - gate) * math.exp(
        -(distance(q, k) ** 2) / 2 / width**2
    )


def elu_1(x):
    return x + 1 if x > 0 else math.exp(x)


KERNELS = {
    "matern-3/2": ("matern", {"width": 1.5, "smoothness": "3/2"},
                   lambda q, k: matern_3(q, k, 1.5)),
    "matern-5/2": ("matern", {"width": 0.7, "smoothness": "5/2"},
                   lambda q, k: matern_5(q, k, 0.7)),
    "inverse_multiquadric": ("inverse_multiquadric", {"width": 0.8},
                             lambda q, k: 1 / math.sqrt(1 + distance(q, k) ** 2 / 0.8**2)),
    "rational_quadratic": ("rational_quadratic", {"width": 1.7, "alpha": 2.5},
                           lambda q, k: (1 + distance(q, k) ** 2 / 5 / 1.7**2) ** -2.5),
    "polynomial": ("polynomial", {"degree": 6, "offset": 0.5},
                   lambda q, k: (dot(q, k) / math.sqrt(len(q)) + 0.5) ** 6),
    "epanechnikov": ("epanechnikov", {"width": 1.3}, lambda q, k: epanechnikov(q, k, 1.3)),
    "boxcar": ("boxcar", {"width": 1.3},
               lambda q, k: float(distance(q, k) < 1.3 * math.sqrt(len(q)))),
    "linear_attention": ("linear_attention", {},
                         lambda q, k: sum(elu_1(a) * elu_1(b)
                                          for a, b in zip(q, k, strict=True))),
    "mixture": ("mixture", {"gate": 0.3, "width": 1.2}, lambda q, k: mixture(q, k, 0.3, 1.2)),
}  # fmt: skip


@pytest.mark.parametrize("size", [1, 3, 11])
@pytest.mark.parametrize("name", KERNELS)
def test_scores_are_logarithms_of_the_kernel_and_weights_its_shares(name, size):
    spec, values, kernel = KERNELS[name]
    built = make(spec, size, **values)
    exact = _exact(built, values)
    queries, keys = draw(7, size), draw(13, size, seed=1)
    table = np.array([[kernel(q, k) for k in keys.tolist()] for q in queries.tolist()])
    with np.errstate(divide="ignore"):
        expected = torch.from_numpy(np.log(table))
    torch.testing.assert_close(projected(exact, queries, keys), expected, atol=1e-10, rtol=1e-10)
    sums = table.sum(axis=1, keepdims=True)
    shares = torch.from_numpy(np.divide(table, sums, out=np.zeros_like(table), where=sums > 0))
    weights = attend(exact, queries, keys, keys)[1]
    torch.testing.assert_close(weights, shares, atol=1e-10, rtol=1e-10)
    assert ((weights == 0) == (shares == 0)).all()


def _exact(built, values):
    """The scoring with its parameters in double precision from the start."""
    exact = {
        "inverse_width": lambda: 1 / values["width"],
        "log_alpha": lambda: math.log(values["alpha"]),
        "logit": lambda: math.log(values["gate"] / (1 - values["gate"])),
        "offset": lambda: values["offset"],
    }
    with torch.no_grad():
        for name, parameter in built.named_parameters():
            assert parameter.item() == pytest.approx(exact[name](), rel=1e-6)  # where it starts
            parameter.fill_(exact[name]())
    return built


@pytest.mark.parametrize("name", ["epanechnikov", "boxcar"])
def test_an_empty_window_gives_a_row_of_zeros_and_no_gradient_that_is_not_a_number(name):
    built = make(name, 2, width=1.0)
    queries = torch.tensor([[0.0, 0.0], [50.0, 50.0], [1.0, 1.0]]).double().requires_grad_()
    keys = torch.tensor([[0.5, 0.0], [0.0, 0.2], [1.0, 1.0]]).double().requires_grad_()
    values = draw(3, 4).requires_grad_()
    output, weights = attend(built, queries, keys, values)
    assert not weights[1].any()
    assert not output[1].any()
    torch.testing.assert_close(weights.sum(dim=-1), torch.tensor([1.0, 0.0, 1.0]).double())
    output.sum().backward()
    for tensor in (queries, keys, values, *built.parameters()):
        assert tensor.grad is None or tensor.grad.isfinite().all()


def test_a_kernel_at_the_edge_of_its_window_has_a_finite_gradient():
    built = make("epanechnikov", 1, width=1.0)
    keys = torch.tensor([[1.0], [1.0 - 2**-52], [-1.0], [0.0]]).double().requires_grad_()
    output, weights = attend(built, torch.zeros(1, 1).double(), keys, draw(4, 2))
    assert weights[0, 0] == weights[0, 2] == 0
    output.sum().backward()
    assert keys.grad.isfinite().all()
    boxcar = attend(make("boxcar", 1, width=1.0), torch.zeros(1, 1).double(), keys, draw(4, 2))[1]
    assert boxcar[0, 0] == boxcar[0, 2] == 0


def test_a_polynomial_falls_far_at_its_zero_and_is_precise_near_it():
    queries, keys = torch.ones(1, 4), torch.tensor([[-0.5] * 4, [-0.494] * 4])
    exact, near = projected(built := make("polynomial", 4), queries.double(), keys.double())[0]
    assert exact < -1000
    assert near.item() == pytest.approx(4 * math.log(0.012), rel=1e-5)
    query, key = torch.tensor([[0.3, 0.7, 1.1, 1.9], [-0.3, -0.5, -0.7, -0.45]]).half()
    found = projected(built.half(), query[None], key[None])[0, 0]
    assert found.dtype == torch.float16
    wanted = 4 * math.log(abs(dot(query.tolist(), key.tolist()) / 2 + 1))
    assert found.item() == pytest.approx(wanted, rel=1e-3)


def test_low_rank_bilinear_is_a_bilinear_form_of_that_rank():
    built = make("low_rank_bilinear", 5, 3, rank=2)
    matrix = (built.from_query.weight.T @ built.from_key.weight).detach().numpy()
    assert np.linalg.matrix_rank(matrix) == 2
    queries, keys = draw(7, 5), draw(13, 3, seed=1)
    expected = torch.from_numpy(queries.numpy() @ matrix @ keys.numpy().T)
    torch.testing.assert_close(projected(built, queries, keys), expected, atol=1e-10, rtol=0)


def test_biaffine_adds_to_each_key_what_it_is_worth_to_everybody():
    built = make("biaffine", 5, 3)
    weight = built.from_key.weight.detach().numpy()
    queries, keys = draw(7, 5), draw(13, 3, seed=1)
    expected = queries.numpy() @ weight[:5] @ keys.numpy().T + keys.numpy() @ weight[5]
    torch.testing.assert_close(
        projected(built, queries, keys), torch.from_numpy(expected), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("size", [3, 11])
def test_a_learned_metric_is_a_mahalanobis_distance(size):
    built = make("learned_metric", size)
    queries, keys = draw(7, size), draw(13, size, seed=1)
    gaussian = projected(make("gaussian", size), queries, keys)
    torch.testing.assert_close(projected(built, queries, keys), gaussian)
    with torch.no_grad():
        built.metric.weight.copy_(draw(size, size, seed=2))
    inverse = (built.metric.weight.T @ built.metric.weight).detach().numpy()
    between = queries.numpy()[:, None] - keys.numpy()[None]
    expected = -0.5 * np.einsum("qki,ij,qkj->qk", between, inverse, between)
    found = projected(built, queries, keys)
    torch.testing.assert_close(found, torch.from_numpy(expected), atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("name", ["linear_attention", "performer"])
def test_linear_time_gives_what_the_weights_give(name, padded):
    built = make(name, 8)
    queries, keys, values = draw(2, 3, 7, 8), draw(2, 3, 13, 8, seed=1), draw(2, 3, 13, 4, seed=2)
    mask = torch.tensor([13, 5]) if padded else None
    output, weights = attend(built, queries, keys, values, mask)
    found = attend_in_linear_time(Inputs(built, queries, keys, values, mask))
    torch.testing.assert_close(found, output, atol=1e-12, rtol=1e-10)
    torch.testing.assert_close(found, weights @ values, atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize("scale", [30.0, 1e4])
@pytest.mark.parametrize("name", ["linear_attention", "performer"])
def test_linear_time_gives_what_the_weights_give_where_features_vanish(name, scale):
    built = make(name, 8).float()
    queries, keys, values = (part.float() for part in (draw(7, 8), draw(13, 8), draw(13, 4)))
    queries, keys = -queries.abs() * scale, -keys.abs() * scale
    output, _ = attend(built, queries, keys, values)
    found = attend_in_linear_time(Inputs(built, queries, keys, values))
    torch.testing.assert_close(found, output, atol=1e-5, rtol=1e-4)


def test_a_performer_comes_near_the_softmax_the_more_features_it_has():
    queries, keys = draw(7, 8) / 2, draw(13, 8, seed=1) / 2
    exact = attend(make("scaled_dot", 8), queries, keys, keys)[1]
    errors = []
    for features in (64, 4096, 65_536):
        torch.manual_seed(0)
        built = Performer(Sizes(8, 8, 1), {"features": features}).double()
        weights = attend(built, queries, keys, keys)[1]
        errors.append(float((weights - exact).square().mean().sqrt()))
    assert errors[0] > 4 * errors[1] > 8 * errors[2]  # by the root of their number
    assert errors[2] < 1e-3


def test_a_performers_weights_are_those_of_its_random_features():
    built = make("performer", 4, features=32)
    w = built.features.numpy()
    queries, keys = draw(7, 4), draw(13, 4, seed=1)
    queries[0] *= 8  # whose features are far smaller than those of the others

    def phi(points):
        points = points.numpy() / 4**0.25
        return np.exp(points @ w.T - (points**2).sum(axis=-1, keepdims=True) / 2) / 32**0.5

    kernel = phi(queries) @ phi(keys).T
    expected = torch.from_numpy(kernel / kernel.sum(axis=1, keepdims=True))
    torch.testing.assert_close(attend(built, queries, keys, keys)[1], expected, atol=1e-10, rtol=0)


def test_random_features_are_orthogonal_in_blocks_and_as_long_as_normal_vectors():
    torch.manual_seed(0)
    rows = orthogonal_features(4000, 8).double()
    block = rows[8:16] / rows[8:16].norm(dim=-1, keepdim=True)
    torch.testing.assert_close(block @ block.T, torch.eye(8).double(), atol=1e-5, rtol=0)
    assert float(rows.square().sum(dim=-1).mean()) == pytest.approx(8, rel=0.05)
    assert float(rows.mean()) == pytest.approx(0, abs=0.05)
    assert orthogonal_features(5, 3).shape == (5, 3)


def test_features_stay_within_what_single_precision_can_multiply():
    linear = make("linear_attention", 3)
    found = linear.query_features(torch.tensor([-38.0, -1e3, 2.0]).double()).log()
    assert found.tolist() == pytest.approx([-38.0, -40.0, math.log(3.0)])
    wide = make("performer", 256)
    keys = torch.stack([wide.features[0] * 256**0.25, 100 * draw(256)])
    logs = wide.key_features(keys).log()
    assert [logs.amax().item(), logs.amin().item()] == pytest.approx([60.0, -40.0])


def test_a_performers_keys_may_come_one_by_one():
    """No statistic over keys: a key's features are the same whoever stands beside it."""
    built, keys = make("performer", 8), draw(13, 8) * 3
    one_by_one = torch.cat([built.key_features(key) for key in keys.split(1)])
    torch.testing.assert_close(built.key_features(keys), one_by_one, atol=1e-12, rtol=1e-10)
    assert PERFORMER.create(Sizes(8, 8, 1)).state_dict().keys() == {"features"}


def _broken_rules(function):
    record = scoring(function.__name__, formula="0", reference="nobody", same_size=True)(function)
    return {finding.rule for finding in check_scoring(record) if not finding.passed}


def test_a_score_of_minus_infinity_rules_out_but_no_other_is_infinite():
    def half(queries, keys):
        scores = queries @ keys.mT
        return scores.masked_fill(keys[..., 0].unsqueeze(-2) > 0, -torch.inf)

    def plus(queries, keys):
        return -half(queries, keys)

    def unguarded(queries, keys):
        return (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(-1).log()

    assert _broken_rules(half) == set()
    assert "scores_are_finite" in _broken_rules(plus)
    assert "gradients_are_finite" in _broken_rules(unguarded)
