"""The workbench's own rules on every scoring, and each formula against another way to it."""

import pytest
import torch
from attention_distance_pack import ATTENTION_EXPECTED_FAILURES, attention_scorings
from torch.nn.functional import normalize

from attention_plugins import Sizes, attend
from attention_plugins.checking.pytest import scoring_rules

SCORINGS = {spec.name: spec for spec in attention_scorings()}
QUERIES, KEYS = (
    torch.randn(n, 3, generator=torch.Generator().manual_seed(n), dtype=torch.float64)
    for n in (5, 7)
)


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, id=f"{name}-{rule.__name__}")
        for name, spec in SCORINGS.items()
        for rule in scoring_rules(
            spec, expected_failures=ATTENTION_EXPECTED_FAILURES.get(name, {})
        )
    ],
)
def test_it_holds_everywhere(rule):
    rule()


def made(name, size=3, **values):
    torch.manual_seed(0)
    return SCORINGS[name].create(Sizes(size, size, 11), values).double()


def weights(scoring, queries, keys):
    with torch.no_grad():
        return attend(scoring, queries, keys, keys)[1]


def test_shepards_weights_are_one_over_a_power_of_the_distance():
    powers = torch.cdist(QUERIES, KEYS) ** -3.5
    found = weights(made("shepard", power=3.5), QUERIES, KEYS)
    torch.testing.assert_close(found, normalize(powers, p=1, dim=-1), atol=1e-4, rtol=0)


def test_a_learned_metric_is_a_gaussian_of_what_it_maps():
    scoring = made("mahalanobis", rank=2)
    matrix = scoring.metric.weight.detach()
    precision = matrix.T @ matrix
    differences = QUERIES[:, None] - KEYS
    expected = torch.einsum("qkd,de,qke->qk", differences, precision, differences)
    torch.testing.assert_close(weights(scoring, QUERIES, KEYS), (-expected / 2).softmax(dim=-1))


def test_on_a_line_hyperbolic_distance_is_that_of_the_inverse_hyperbolic_sines():
    queries, keys = QUERIES[:, :1], KEYS[:, :1]
    distances = (queries.asinh() - keys.asinh().T).abs()
    found = weights(made("lorentz", size=1, sharpness=2.0), queries, keys)
    torch.testing.assert_close(found, (-2 * distances).softmax(dim=-1), atol=1e-3, rtol=0)


def test_the_window_stands_where_the_query_says():
    scoring = made("local_p", reach=6.0, width=0.5)
    torch.nn.init.zeros_(scoring.from_key.weight)
    hidden = torch.tanh(QUERIES @ scoring.from_query.weight.T)
    centres = 6 * torch.sigmoid(hidden @ scoring.centre.weight[0])
    nearest = (torch.arange(7) - centres[:, None]).abs().argmin(dim=-1)
    assert weights(scoring, QUERIES, KEYS).argmax(dim=-1).equal(nearest)
