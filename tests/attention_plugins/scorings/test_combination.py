"""Two registered scorings in one."""

import pytest
import torch

from attention_plugins import ContractError, Sizes, attend, get_scoring
from attention_plugins.attention import needs_of
from attention_plugins.scorings.combination import COMBINATION

SIZES = Sizes(6, 6, 5, heads=2)


def make(first, second, gate=0.5, sizes=SIZES):
    torch.manual_seed(3)
    return COMBINATION.create(sizes, {"first": first, "second": second, "gate": gate}).double()


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def scores(scoring, queries, keys):
    needs = needs_of(scoring, queries.shape[-2], keys)
    return scoring(scoring.project_queries(queries), scoring.project_keys(keys), **needs)


@pytest.mark.parametrize("pair", [("additive", "gaussian"), ("rope", "alibi"), ("dot", "uniform"),
                                  ("scaled_dot", "t5_bias")])  # fmt: skip
def test_scores_are_the_weighted_mean_of_both(pair):
    queries, keys = draw(1, 2, 4, 6), draw(1, 2, 7, 6, seed=1)
    built = make(*pair, gate=0.3)
    one, other = scores(built.first, queries, keys), scores(built.second, queries, keys)
    assert built.gate.item() == pytest.approx(0.3, rel=1e-6)
    torch.testing.assert_close(
        scores(built, queries, keys), 0.3 * one + 0.7 * other, rtol=1e-6, atol=1e-6
    )
    product = one.softmax(-1) ** 0.3 * other.softmax(-1) ** 0.7  # a product of experts
    weights = attend(built, queries, keys, keys)[1]
    torch.testing.assert_close(
        weights, product / product.sum(-1, keepdim=True), rtol=1e-6, atol=1e-6
    )


def test_it_needs_what_either_needs_once():
    assert make("rope", "alibi").needs == ("positions",)
    assert make("rope", "coverage").needs == ("positions", "memory")
    assert make("dot", "gaussian").needs == ()


def test_it_makes_as_many_numbers_of_a_pair_as_the_larger_part():
    assert make("dot", "gaussian").elements_per_pair == 6
    assert make("dot", "additive").elements_per_pair is None
    assert make("additive", "dot").elements_per_pair is None


def test_sizes_that_differ_and_heads_reach_both():
    built = make("gaussian", "talking_heads", sizes=Sizes(6, 4, 5, heads=2))
    assert scores(built, draw(1, 2, 3, 6), draw(1, 2, 5, 4, seed=1)).shape == (1, 2, 3, 5)


def test_a_name_that_nothing_has_is_refused_with_the_near_one():
    with pytest.raises(ContractError, match='no scoring "gausian"; did you mean "gaussian"'):
        make("gausian", "dot")


def test_a_scoring_with_weights_of_its_own_is_refused():
    assert get_scoring("monotonic").own_normaliser
    with pytest.raises(ContractError, match="'monotonic' makes its weights in its own way"):
        make("dot", "monotonic")
