"""The fused way against scores, softmax and weighted values written out."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attention_plugins import Product, ProductScoring, Recorder, Site, Sizes, Tap, attend
from attention_plugins.attention import Inputs
from attention_plugins.blocks import attend_fused, runs_fused
from attention_plugins.registry import load

SCORINGS = load(allow=[]).scorings
FUSED = (
    "scaled_dot", "dot", "cosine", "bilinear", "low_rank_bilinear", "biaffine", "rope", "xpos",
)  # fmt: skip
CROSS = Site("cross")


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def masks(*leading):
    """By name: none, lengths, lengths of queries, and boolean ones of every shape that masks have.

    Each but the first leaves a query without any key.
    """
    some = torch.rand(*leading, 7, 11, generator=torch.Generator().manual_seed(3)) < 0.4
    some[..., 2, :] = False
    found = {
        "none": None,
        "one for all": torch.zeros(11, dtype=torch.bool),
        "queries by keys": some.reshape(-1, 7, 11)[0],
        "queries alone": some.reshape(-1, 7, 11)[0, :, :1],
        "whole": some,
    }
    if leading:
        found["lengths"] = torch.tensor([0, 5])
        found["lengths of queries"] = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [11] * 7])
    return found


CASES = [(leading, name) for leading in ((), (2,), (2, 3), (2, 2, 3)) for name in masks(*leading)]


@pytest.mark.parametrize(("leading", "mask"), CASES, ids=str)
@pytest.mark.parametrize("read", [3, 5, 8])
def test_output_and_gradients_are_those_of_scores_written_out(leading, mask, read):
    scoring = SCORINGS["scaled_dot"].create(Sizes(5, 5, 5))
    mask = masks(*leading)[mask]

    def results(way):
        parts = [
            draw(*leading, n, d, seed=n * d).requires_grad_()
            for n, d in ((7, 5), (11, 5), (11, read))
        ]
        output = way(*parts)
        gradients = torch.autograd.grad((output * draw(*leading, 7, read, seed=9)).sum(), parts)
        return output, *gradients

    def written_out(queries, keys, values):
        allowed = torch.ones(*leading, 7, 11, dtype=torch.bool)
        if mask is not None and mask.dtype != torch.bool:
            rows = mask.reshape(2, *[1] * (len(leading) - 1), -1, 1)
            allowed = (torch.arange(11) < rows).expand(*leading, 7, 11)
        elif mask is not None:
            allowed = allowed & mask
        kernel = (queries @ keys.mT / 5**0.5).exp() * allowed
        total = kernel.sum(-1, keepdim=True)
        return kernel @ values / torch.where(total > 0, total, 1.0)

    found = results(lambda q, k, v: attend_fused(Inputs(scoring, q, k, v, mask)))
    for one, other in zip(found, results(written_out), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("projected", [False, True])
def test_every_product_gives_the_same_with_weights_and_without(name, projected):
    """Also in two parts, where positions go on counting; and the weights of the scoring learn."""
    scoring = SCORINGS[name].create(Sizes(6, 6, 6)).double()
    queries, keys, values = draw(2, 3, 7, 6), draw(2, 3, 11, 6, seed=1), draw(2, 3, 11, 6, seed=2)
    lengths = torch.tensor([11, 4])

    def outputs(tap):
        made = scoring.project_keys(keys) if projected else keys
        parts = [
            tap.attend(CROSS, scoring, part, made, values, lengths, keys_projected=projected)
            for part in queries.split([3, 4], dim=-2)
        ]
        found = torch.cat(parts, dim=-2)
        weights = list(scoring.parameters())
        return found, *(torch.autograd.grad(found.sin().sum(), weights) if weights else ())

    assert runs_fused(Inputs(scoring, queries, keys, values))
    for one, other in zip(outputs(Tap()), outputs(Tap(Recorder())), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=1e-10)


def test_nothing_of_the_size_of_the_scores_is_made():
    """On the way that a tap chooses, forward and backward."""
    scoring = SCORINGS["dot"].create(Sizes(5, 5, 5))
    parts = [draw(2, n, 2, seed=n).requires_grad_() for n in (7, 11, 11)]
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: kept.append(t.numel()) or t, lambda t: t
    ):
        output = Tap().attend(CROSS, scoring, *parts, torch.tensor([3, 11]))
    output.sum().backward()
    assert kept
    assert max(kept) < 2 * 7 * 11


class _Biased(ProductScoring):
    def forward(self, queries, keys):
        return queries @ keys.mT + torch.arange(keys.shape[-2])


class _Squared(ProductScoring):
    def normalise(self, scores):
        return super().normalise(scores) ** 2


class _Doubled(ProductScoring):
    def pool(self, weights, values):
        return 2 * weights @ values


def _normalised():
    scoring = ProductScoring()
    scoring.normaliser = nn.Softplus()
    return scoring


@pytest.mark.parametrize("scoring", [_Biased(), _Squared(), _Doubled(), _normalised()])
def test_who_changes_scores_weights_or_pooling_is_attended_with_by_them(scoring):
    parts = draw(2, 7, 5), draw(2, 11, 5, seed=1), draw(2, 11, 5, seed=2)
    assert not runs_fused(Inputs(scoring, *parts))
    torch.testing.assert_close(Tap().attend(CROSS, scoring, *parts), attend(scoring, *parts)[0])


def test_scores_may_hold_a_number_for_each_query_that_the_factors_do_not():
    class Near(ProductScoring):
        def factors(self, queries, keys):
            ones = torch.ones_like(queries[..., :1])
            lengths = keys.square().sum(-1, keepdim=True)
            return Product(torch.cat([queries, ones], -1), torch.cat([keys, -lengths / 2], -1))

        def forward(self, queries, keys):
            return -0.5 * torch.cdist(queries, keys).square()

    parts = draw(2, 7, 5), draw(2, 11, 5, seed=1), draw(2, 11, 3, seed=2)
    assert runs_fused(Inputs(Near(), *parts))
    torch.testing.assert_close(Tap().attend(CROSS, Near(), *parts), attend(Near(), *parts)[0])


def test_queries_of_one_row_meet_keys_of_many():
    scoring = SCORINGS["dot"].create(Sizes(5, 5, 5))
    parts = draw(7, 5), draw(2, 3, 11, 5, seed=1), draw(2, 3, 11, 3, seed=2)
    lengths = torch.tensor([0, 4])
    torch.testing.assert_close(
        attend_fused(Inputs(scoring, *parts, lengths)), attend(scoring, *parts, lengths)[0]
    )


def test_a_mask_may_have_more_rows_than_queries_and_keys():
    scoring = SCORINGS["dot"].create(Sizes(5, 5, 5))
    parts = draw(7, 5), draw(11, 5, seed=1), draw(11, 3, seed=2)
    mask = masks(2, 3)["whole"]
    torch.testing.assert_close(
        attend_fused(Inputs(scoring, *parts, mask)), attend(scoring, *parts, mask)[0]
    )


def test_dropout_on_a_cpu_goes_by_the_weights():
    torch.manual_seed(0)
    scoring = SCORINGS["dot"].create(Sizes(5, 5, 5))
    queries, keys = draw(1, 997, 5), draw(1, 11, 5, seed=1)
    found = Tap().attend(CROSS, scoring, queries, keys, torch.eye(11).double(), dropout=0.5)
    assert 0.45 < (found == 0).double().mean() < 0.55


def test_a_scoring_of_products_keeps_the_smallest_form():
    """The projections alone make a plugin; what it is asked for fits the plain scoring's seams."""

    class Halves(ProductScoring):
        def project_keys(self, keys):
            return keys / 2

    parts = draw(2, 7, 5), draw(2, 11, 5, seed=1), draw(2, 11, 3, seed=2)
    expected = (parts[0] @ parts[1].mT / 2).softmax(-1)
    _, weights = attend(Halves(), *parts)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(Tap().attend(CROSS, Halves(), *parts), expected @ parts[2])
