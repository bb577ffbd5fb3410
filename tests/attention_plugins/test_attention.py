from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from attention_plugins import (
    ContractError,
    Intervention,
    Recorder,
    Scoring,
    Site,
    Sizes,
    Tap,
    attend,
    masked_softmax,
)
from attention_plugins.attention import Inputs, as_mask, pooled
from attention_plugins.blocks import attend_in_blocks
from attention_plugins.scorings import ADDITIVE
from attention_plugins.scorings.dot import average_pooling
from attention_plugins.scorings.scaled_dot import scaled_dot_product

CROSS, DECODER = Site("cross", 0), Site("decoder", 1)
SCALED_DOT = scaled_dot_product.create(Sizes(5, 5, 1))


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def inputs(*leading):
    """Queries, keys and values with 7 queries, 11 keys, sizes 5 and 3."""
    return draw(*leading, 7, 5), draw(*leading, 11, 5, seed=1), draw(*leading, 11, 3, seed=2)


# Masks


def test_lengths_per_row_become_a_mask():
    mask = as_mask(torch.tensor([2, 0, 5]), torch.Size((3, 7, 4)))
    assert mask.tolist() == [
        [[True, True, False, False]],
        [[False] * 4],
        [[True] * 4],
    ]


def test_lengths_per_query_become_a_mask():
    mask = as_mask(torch.tensor([[1, 3], [2, 4]]), torch.Size((2, 2, 4)))
    assert mask.sum(dim=-1).tolist() == [[1, 3], [2, 4]]
    assert mask[0, 1].tolist() == [True, True, True, False]


@pytest.mark.parametrize("lengths", [[2, 5], [[1] * 7, [6] * 7]])
def test_heads_share_the_lengths_of_their_row(lengths):
    mask = as_mask(torch.tensor(lengths), torch.Size((2, 3, 7, 5)))
    weights = masked_softmax(draw(2, 3, 7, 5), mask)
    flat = masked_softmax(draw(2, 3, 7, 5)[:, 1], torch.tensor(lengths))
    torch.testing.assert_close(weights[:, 1], flat)


def test_a_boolean_mask_stays_as_it_is():
    mask = torch.rand(7, 5) < 0.5
    assert as_mask(mask, torch.Size((2, 7, 5))) is mask


@pytest.mark.parametrize(
    ("mask", "shape", "message"),
    [
        (torch.ones(2), (2, 7, 5), "boolean .* not floats"),
        (torch.tensor(3), (2, 7, 5), r"shape \(batch,\) or \(batch, 7\), got \(\)"),
        (torch.ones(2, 7, 5, dtype=torch.long), (2, 7, 5), r"got \(2, 7, 5\)"),
        (torch.ones(2, 3, dtype=torch.long), (2, 7, 5), r"got \(2, 3\)"),
        (torch.ones(3, dtype=torch.long), (2, 7, 5), r"one row of valid lengths per batch row"),
        (torch.ones(7, dtype=torch.long), (7, 5), r"one row of valid lengths per batch row"),
    ],
)
def test_other_masks_are_refused_in_one_sentence(mask, shape, message):
    with pytest.raises(ValueError, match=message):
        as_mask(mask, torch.Size(shape))


# Masked softmax

# The fixed example of d2l.ai, section 10.3; weights by hand from exp over the allowed scores.
SCORES = torch.tensor(
    [
        [[0.0343, 0.0830, 0.2883, 0.7795], [0.6423, 0.1566, 0.5636, 0.0877]],
        [[0.2908, 0.3970, 0.9207, 0.7803], [0.4699, 0.2348, 0.0882, 0.1583]],
    ]
)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([2, 3],
         [[[0.4878, 0.5122, 0, 0], [0.6191, 0.3809, 0, 0]],
          [[0.2507, 0.2787, 0.4706, 0], [0.4043, 0.3196, 0.2760, 0]]]),
        ([[1, 3], [2, 4]],
         [[[1, 0, 0, 0], [0.3938, 0.2423, 0.3640, 0]],
          [[0.4735, 0.5265, 0, 0], [0.3120, 0.2466, 0.2130, 0.2284]]]),
    ],
)  # fmt: skip
def test_the_textbooks_masked_softmax(lengths, expected):
    weights = masked_softmax(SCORES, torch.tensor(lengths))
    torch.testing.assert_close(weights, torch.tensor(expected), atol=5e-5, rtol=0)
    assert torch.equal(weights == 0, torch.tensor(expected) == 0)


def test_weighted_averages_by_batched_products():
    """d2l.ai, section 10.2: ten equal weights on the numbers 0…9 and 10…19; and its product."""
    values = torch.arange(20.0).reshape(2, 10, 1)
    equal = average_pooling.create(Sizes(1, 1, 1))
    output, weights = attend(equal, torch.ones(2, 1, 1), torch.ones(2, 10, 1), values)
    torch.testing.assert_close(weights, torch.full((2, 1, 10), 0.1))
    torch.testing.assert_close(output, torch.tensor([[[4.5]], [[14.5]]]))
    product = pooled(equal, torch.ones(2, 1, 3), torch.ones(2, 3, 2), {})
    assert product.tolist() == [[[3.0, 3.0]], [[3.0, 3.0]]]
    weights, values = draw(2, 3, 5), draw(2, 5, 7, seed=1)
    expected = torch.einsum("bqk,bkd->bqd", weights, values)
    torch.testing.assert_close(pooled(equal, weights, values, {}), expected)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_row_sums_to_one_or_is_zero(data):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 7))
    numbers = st.floats(-1e30, 1e30)
    table = st.lists(st.lists(numbers, min_size=columns, max_size=columns),
                     min_size=rows, max_size=rows)  # fmt: skip
    lengths = torch.tensor(data.draw(st.lists(st.integers(-1, 9), min_size=rows, max_size=rows)))
    scores = torch.tensor(data.draw(table))[None]
    weights = masked_softmax(scores, lengths[None])[0]
    assert (weights >= 0).all()
    expected = (lengths > 0).float()
    torch.testing.assert_close(weights.sum(dim=-1), expected)
    beyond = torch.arange(columns) >= lengths[:, None]
    assert (weights[beyond] == 0).all()


@pytest.mark.parametrize("keys", [1, 3, 15, 16, 17])  # around the length of a short row
@pytest.mark.parametrize("rows", [3, 1031])
def test_rows_of_any_length_have_the_weights_and_gradients_of_the_formula(rows, keys):
    torch.manual_seed(0)
    scores = (9 * torch.randn(rows, keys, dtype=torch.float64)).requires_grad_()
    weights = masked_softmax(scores)
    powers = scores.exp()
    expected = powers / powers.sum(dim=-1, keepdim=True)
    torch.testing.assert_close(weights, expected, rtol=1e-12, atol=1e-15)
    wanted = torch.randn(rows, keys, dtype=torch.float64)
    found = [torch.autograd.grad((way * wanted).sum(), scores)[0] for way in (weights, expected)]
    torch.testing.assert_close(*found, rtol=1e-9, atol=1e-12)


def test_a_masked_score_does_not_matter_however_large():
    scores = torch.tensor([[[1.0, 2.0, 1e30]]])
    changed = torch.tensor([[[1.0, 2.0, -1e30]]])
    lengths = torch.tensor([2])
    assert torch.equal(masked_softmax(scores, lengths), masked_softmax(changed, lengths))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_fully_masked_row_is_zero_and_so_is_its_gradient(dtype):
    scores = draw(3, 2, 5).to(dtype).requires_grad_()
    weights = masked_softmax(scores, torch.tensor([0, 3, 0]))
    assert torch.equal(weights[0], torch.zeros(2, 5, dtype=dtype))
    assert torch.equal(weights[2], torch.zeros(2, 5, dtype=dtype))
    (weights * draw(3, 2, 5).to(dtype)).sum().backward()
    assert torch.equal(scores.grad[0], torch.zeros(2, 5, dtype=dtype))
    assert torch.isfinite(scores.grad).all()
    assert scores.grad[1].abs().sum() > 0


def test_masking_leaves_the_scores_alone():
    scores = draw(2, 7, 5)
    before, lengths = scores.clone(), torch.tensor([0, 3])
    masked_softmax(scores, lengths)
    masked_softmax(scores, torch.rand(7, 5) < 0.5)
    assert torch.equal(scores, before)
    assert scores._version == 0
    assert lengths.tolist() == [0, 3]


# Attention


@pytest.mark.parametrize("leading", [(2,), (2, 3)], ids=["batch", "batch and heads"])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_agrees_with_torch(leading, masked):
    tensors = [part.requires_grad_() for part in inputs(*leading)]
    others = [part.detach().clone().requires_grad_() for part in tensors]
    mask = torch.rand(*leading, 7, 11, generator=torch.Generator().manual_seed(3)) < 0.6
    mask[..., 4] = True  # torch gives NaN for a row without any key
    mask = mask if masked else None
    ours, _ = attend(SCALED_DOT, *tensors, mask)
    theirs = scaled_dot_product_attention(*others, attn_mask=mask)
    torch.testing.assert_close(ours, theirs, atol=1e-13, rtol=1e-12)
    direction = draw(*leading, 7, 3, seed=5)
    (ours * direction).sum().backward()
    (theirs * direction).sum().backward()
    for one, other in zip(tensors, others, strict=True):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-13, rtol=1e-11)


def test_a_causal_mask_hides_the_future():
    queries, keys, values = draw(2, 7, 5), draw(2, 7, 5, seed=1), draw(2, 7, 3, seed=2)
    causal = torch.ones(7, 7, dtype=torch.bool).tril()
    ours, weights = attend(SCALED_DOT, queries, keys, values, causal)
    theirs = scaled_dot_product_attention(queries, keys, values, is_causal=True)
    torch.testing.assert_close(ours, theirs, atol=1e-13, rtol=1e-12)
    assert not weights.triu(1).any()
    keys[:, 4:], values[:, 4:] = 100.0, -100.0
    again, _ = attend(SCALED_DOT, queries, keys, values, causal)
    assert torch.equal(again[:, :4], ours[:, :4])


def test_padding_changes_nothing():
    queries, keys, values = inputs(2)
    lengths = torch.tensor([11, 4])
    output, weights = attend(SCALED_DOT, queries, keys, values, lengths)
    alone, _ = attend(SCALED_DOT, queries[1], keys[1, :4], values[1, :4])
    torch.testing.assert_close(output[1], alone)
    assert not weights[1, :, 4:].any()


def test_attending_changes_none_of_its_inputs():
    tensors = (*inputs(2), torch.tensor([0, 5]))
    before = [tensor.clone() for tensor in tensors]
    attend(SCALED_DOT, *tensors)
    attend_in_blocks(Inputs(SCALED_DOT, *tensors), block=3)
    interventions = [Intervention(site=CROSS, action=a, key=1) for a in ("off", "uniform", "pin")]
    Tap(Recorder(), interventions).attend(CROSS, SCALED_DOT, *tensors)
    assert all(torch.equal(one, other) for one, other in zip(tensors, before, strict=True))
    assert [tensor._version for tensor in tensors] == [0, 0, 0, 0]


def test_a_fully_masked_query_reads_nothing_and_learns_nothing():
    queries, keys, values = (part.requires_grad_() for part in inputs(2))
    output, _ = attend(SCALED_DOT, queries, keys, values, torch.tensor([0, 5]))
    assert not output[0].any()
    output.square().sum().backward()
    assert not queries.grad[0].any()
    assert not values.grad[1, 5:].any()
    assert all(torch.isfinite(part.grad).all() for part in (queries, keys, values))


class Paired(Scoring):
    """Forgets to compare each query with each key: of one query it scores a batch, not a row."""

    def forward(self, queries, keys):
        return -(queries - keys).abs().sum(-1)


@pytest.mark.parametrize("how", [attend, lambda *given: attend_in_blocks(Inputs(*given))])
def test_scores_that_would_broadcast_over_the_batch_are_refused(how):
    with pytest.raises(ContractError, match=r"scores \(2, 11\).*need \(2, 1, 11\); compare each"):
        how(Paired(), draw(2, 1, 5), draw(2, 11, 5), draw(2, 11, 3))


def test_queries_without_a_batch_share_the_keys_of_each_row():
    queries, keys, values = draw(7, 5), draw(2, 11, 5, seed=1), draw(2, 11, 3, seed=2)
    _, weights = attend(SCALED_DOT, queries, keys, values)
    assert weights.shape == (2, 7, 11)


def test_projected_keys_are_not_projected_again():
    scoring = ADDITIVE.create(Sizes(5, 5, 7)).double()
    queries, keys, values = inputs(2)
    whole = attend(scoring, queries, keys, values)
    reused = attend(scoring, queries, scoring.project_keys(keys), values, keys_projected=True)
    torch.testing.assert_close(whole, reused)
    blocks = attend_in_blocks(
        Inputs(scoring, queries, scoring.project_keys(keys), values, keys_projected=True), block=2
    )
    torch.testing.assert_close(blocks, whole[0])


def test_dropout_drops_weights_after_the_softmax():
    torch.manual_seed(0)
    queries, keys = draw(1, 997, 5), draw(1, 11, 5, seed=1)
    output, weights = attend(SCALED_DOT, queries, keys, torch.eye(11).double(), dropout=0.5)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(1, 997, dtype=torch.float64))
    kept = output != 0
    torch.testing.assert_close(output[kept], 2 * weights[kept])
    assert 0.45 < kept.double().mean() < 0.55


@pytest.mark.parametrize("mask", [None, torch.tensor([11, 4]), torch.arange(11) % 3 > 0])
def test_blocks_of_every_size_give_the_same(mask):
    queries, keys, values = inputs(2)
    expected, _ = attend(SCALED_DOT, queries, keys, values, mask)
    for block in (1, 2, 7, 8):
        found = attend_in_blocks(Inputs(SCALED_DOT, queries, keys, values, mask), block=block)
        torch.testing.assert_close(found, expected)


def test_blocks_take_lengths_per_query():
    queries, keys, values = inputs(2)
    lengths = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [11] * 7])
    expected, _ = attend(SCALED_DOT, queries, keys, values, lengths)
    found = attend_in_blocks(Inputs(SCALED_DOT, queries, keys, values, lengths), block=3)
    torch.testing.assert_close(found, expected)


def test_blocks_never_hold_all_scores():
    sizes = []

    class Watched(Scoring):
        def forward(self, queries, keys):
            sizes.append(queries.shape[-2])
            return queries @ keys.mT

    queries, keys, values = (part.requires_grad_() for part in inputs(2))
    attend_in_blocks(Inputs(Watched(), queries, keys, values), block=3).sum().backward()
    assert sizes == [3, 3, 1, 3, 3, 1]  # made again in the backward pass


def test_a_scoring_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r"Scoring needs forward\(queries, keys\)"):
        attend(Scoring(), *inputs(2))


def test_a_scoring_with_memory_is_told_where_keys_stand_too():
    class Both(Scoring):
        needs = ("positions", "memory")

        def forward(self, queries, keys, positions, memory):
            return (positions.keys + memory.sum(dim=-2)).to(queries.dtype)[..., None, :]

    keys, places = torch.randn(2, 3, 4), torch.tensor([5, 0, 5])
    _, weights = attend(Both(), torch.randn(2, 2, 4), keys, keys, key_positions=places)
    first = places.float().softmax(-1)
    torch.testing.assert_close(weights[0], torch.stack([first, (places + first).softmax(-1)]))


def test_a_key_ruled_out_by_its_score_has_no_weight_where_another_row_is_no_number():
    scores = torch.tensor([[0.0, torch.nan, 0.0], [-torch.inf] * 3, [0.0, -torch.inf, 0.0]])
    weights = masked_softmax(scores)
    assert weights[1:].tolist() == [[0.0, 0.0, 0.0], [0.5, 0.0, 0.5]]
