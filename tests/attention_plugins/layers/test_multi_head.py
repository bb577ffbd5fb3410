"""Multi-head attention against torch's, and over every scoring against one head at a time."""

import pytest
import torch
from torch import nn

from attention_plugins.attention import attend
from attention_plugins.contract import ContractError, Sizes
from attention_plugins.layers import MultiHead, merge_heads, split_heads
from attention_plugins.registry import load
from attention_plugins.tap import Recorder, Site, Tap

SCORINGS = load(allow=[]).scorings
SITE = Site("encoder", 0)
B, N_Q, N_K, HEADS, HEAD = 2, 5, 7, 3, 4
SIZE = HEADS * HEAD
LENGTHS = torch.tensor([7, 3])


def _multi_head(scoring="scaled_dot", **options):
    torch.manual_seed(11)
    return MultiHead(SCORINGS[scoring].factory(), SIZE, HEADS, **options).double().eval()


def _inputs(n):
    return torch.randn(B, n, SIZE, dtype=torch.float64, generator=torch.manual_seed(n))


def _torchs(mine):
    """torch's module with the same weights."""
    theirs = nn.MultiheadAttention(SIZE, HEADS, batch_first=True).double().eval()
    theirs.in_proj_weight.data.copy_(mine.projections.weight)
    theirs.out_proj.weight.data.copy_(mine.output.weight)
    theirs.in_proj_bias.data.copy_(mine.projections.bias)
    theirs.out_proj.bias.data.copy_(mine.output.bias)
    return theirs


@pytest.mark.parametrize("self_attention", [True, False])
def test_scaled_dot_equals_torch_in_outputs_weights_and_gradients(self_attention):
    mine = _multi_head()
    theirs = _torchs(mine)
    queries = _inputs(N_K if self_attention else N_Q).requires_grad_()
    memory = queries if self_attention else _inputs(N_K).requires_grad_()
    recorder = Recorder()
    found = mine(Tap(recorder), SITE, queries, memory, LENGTHS)
    padding = torch.arange(N_K) >= LENGTHS[:, None]
    expected, weights = theirs(
        queries, memory, memory, key_padding_mask=padding, average_attn_weights=False
    )
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(recorder.weights()[SITE], weights, rtol=1e-9, atol=1e-10)
    wanted = [queries, memory]
    for one, other in zip(
        torch.autograd.grad(found.square().sum(), [*wanted, mine.projections.weight]),
        torch.autograd.grad(expected.square().sum(), [*wanted, theirs.in_proj_weight]),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-8)


def _of_one_head(scoring, of_all, head):
    """The scoring with what that head has of every weight."""
    alone = SCORINGS[scoring].create(Sizes(HEAD, HEAD, HEAD, value=HEAD)).double()
    weights = of_all.state_dict()
    for name, wanted in alone.state_dict().items():
        if weights[name].shape != wanted.shape:
            weights[name] = weights[name][head].reshape(wanted.shape)
    alone.load_state_dict(weights)
    return alone


@pytest.mark.parametrize("scoring", [name for name in SCORINGS if name != "talking_heads"])
def test_every_scoring_gives_what_its_heads_give_alone(scoring):
    mine = _multi_head(scoring)
    queries, memory = _inputs(N_Q), _inputs(N_K)
    recorder = Recorder()
    found = mine(Tap(recorder), SITE, queries, memory, LENGTHS)
    w_q, w_k, w_v = mine.projections.weight.chunk(3)
    b_q, b_k, b_v = mine.projections.bias.chunk(3)
    outputs = []
    for head in range(HEADS):
        own = slice(head * HEAD, (head + 1) * HEAD)
        output, weights = attend(
            _of_one_head(scoring, mine.scoring, head), queries @ w_q[own].T + b_q[own],
            memory @ w_k[own].T + b_k[own], memory @ w_v[own].T + b_v[own], LENGTHS,
        )  # fmt: skip
        outputs.append(output)
        torch.testing.assert_close(recorder.weights()[SITE][:, head], weights)
    torch.testing.assert_close(found, mine.output(torch.cat(outputs, dim=-1)))


def test_splitting_heads_keeps_every_number_at_its_place():
    tensor = torch.arange(B * N_Q * SIZE).view(B, N_Q, SIZE)
    split = split_heads(tensor, HEADS)
    assert split.shape == (B, HEADS, N_Q, HEAD)
    assert split[1, 2, 3, 1] == tensor[1, 3, 2 * HEAD + 1]
    assert torch.equal(merge_heads(split), tensor)


def test_dropout_falls_on_the_weights_in_training_only():
    mine, inputs = _multi_head(dropout=0.5), _inputs(N_K)
    still = mine(Tap(), SITE, inputs, inputs)
    assert torch.equal(still, mine(Tap(), SITE, inputs, inputs))
    mine.train()
    recorder = Recorder()
    assert not torch.equal(still, mine(Tap(recorder), SITE, inputs, inputs))
    sums = recorder.weights()[SITE].sum(dim=-1)  # recorded before dropout
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_heads_must_divide_the_size():
    with pytest.raises(ContractError, match="divide the hidden size 12, got 5"):
        MultiHead(SCORINGS["dot"].factory(), 12, 5)


@pytest.mark.parametrize("key_heads", [8, 2])
def test_each_projection_starts_as_a_matrix_of_its_own(key_heads):
    """Glorot & Bengio 2010: uniform within sqrt(6 / (inputs + outputs)) of each, not of all."""
    torch.manual_seed(0)
    made = MultiHead(SCORINGS["dot"].factory(), 64, 8, key_heads=key_heads)
    kept = 64 * key_heads // 8
    parts = [*made.projections.weight.split([64, kept, kept]), made.output.weight]
    for part, outputs in zip(parts, (64, kept, kept, 64), strict=True):
        bound = (6 / (64 + outputs)) ** 0.5
        assert part.shape == (outputs, 64)
        assert 0.97 * bound < part.abs().max().item() <= bound
        assert part.std().item() == pytest.approx(bound / 3**0.5, rel=0.06)
    assert not made.projections.bias.any()
    assert not made.output.bias.any()
