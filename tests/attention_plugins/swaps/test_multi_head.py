"""Another scoring in torch's own Transformer, in training, in evaluation, on its fast path."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from support.swaps import SCORINGS, away, moved
from torch import nn

from attention_plugins import ContractError, attend, swap, unswap, watch

BATCH, SOURCE, TARGET, SIZE, HEADS = 3, 7, 5, 16, 4
PADDED = torch.arange(SOURCE) >= torch.tensor([SOURCE, 4, 2])[:, None]
LATER = torch.ones(TARGET, TARGET).triu(1).bool()


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Nn]ested")  # a prototype, says torch
        yield


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def transformer(**options):
    torch.manual_seed(0)
    return nn.Transformer(SIZE, HEADS, 2, 2, 24, dropout=0.0, **options).double()


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_its_own_scoring_changes_nothing(batch_first, training):
    model = transformer(batch_first=batch_first).train(training)
    pair = drawn(BATCH, SOURCE, SIZE), drawn(BATCH, TARGET, SIZE, seed=1)
    pair = pair if batch_first else [each.transpose(0, 1) for each in pair]
    masks = {"src_key_padding_mask": PADDED, "memory_key_padding_mask": PADDED,
             "tgt_mask": LATER, "tgt_is_causal": True}  # fmt: skip
    with torch.no_grad():
        before = model(*pair, **masks)
        with swap(model, "scaled_dot") as swapped, watch(model) as seen:
            after = model(*pair, **masks)
        assert model(*pair, **masks).equal(before)
    assert away(after, before) <= 1e-12
    assert [each.name for each in seen.maps] == [*swapped.sites]
    assert {type(each) for each in model.modules() if hasattr(each, "in_proj_weight")} == {
        nn.MultiheadAttention
    }


def test_the_fast_path_is_taken_over_with_its_zeros_on_padding():
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, 24, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).double().eval()
    inputs = drawn(BATCH, SOURCE, SIZE)
    with torch.no_grad():
        before = model(inputs, src_key_padding_mask=PADDED)
        with swap(model, "scaled_dot"):
            after = model(inputs, src_key_padding_mask=PADDED)
        with swap(model, "cosine"):
            other = model(inputs, src_key_padding_mask=PADDED)
    assert not before[2, 2:].any()
    assert not after[2, 2:].any()
    assert away(after, before) <= 1e-12
    assert away(other, before) > 1e-2


@pytest.mark.parametrize("scoring", SCORINGS)
def test_rows_say_alone_what_they_say_padded_on_either_side(scoring, tmp_path):
    model = transformer(batch_first=True).eval()
    swapped = moved(swap(model, scoring, **SCORINGS[scoring]))
    source, target = drawn(BATCH, SOURCE, SIZE), drawn(BATCH, TARGET, SIZE, seed=1)
    own = {"tgt_mask": LATER}
    with torch.no_grad():
        for turned, begin, end in ((False, 0, 4), (True, 3, 7)):
            padded = PADDED.flip(1) if turned else PADDED
            masks = {"src_key_padding_mask": padded, "memory_key_padding_mask": padded}
            said = model(source, target, **masks, **own)
            alone = model(source[1:2, begin:end], target[1:2], **own)
            assert away(said[1:2], alone) <= 1e-12
        swap.save(model, tmp_path / "kept")
        other = transformer(batch_first=True).eval()
        swap.load(other, tmp_path / "kept")
        assert away(other(source, target, **masks, **own), said) <= 1e-12
    model(source, target, **own).square().sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in swapped.parameters())


@pytest.mark.parametrize(
    "options",
    [{"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 5, "vdim": 6}, {"bias": False}],
    ids=lambda options: next(iter(options)),
)
def test_a_module_alone_keeps_its_keys_masks_and_weights(options):
    torch.manual_seed(1)
    model = nn.MultiheadAttention(SIZE, HEADS, batch_first=True, **options).double()
    query = drawn(BATCH, TARGET, SIZE)
    key, value = (drawn(BATCH, SOURCE, options.get(name, SIZE)) for name in ("kdim", "vdim"))
    added = drawn(BATCH * HEADS, TARGET, SOURCE, seed=2)
    asked = {"key_padding_mask": PADDED, "attn_mask": added, "average_attn_weights": False}
    few = query[0], key[0], value[0]
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # masks of two types
        before, alone = model(query, key, value, **asked), model(*few)
        with swap(model, "scaled_dot"):
            after, again = model(query, key, value, **asked), model(*few)
    for ours, theirs in zip((*after, *again), (*before, *alone), strict=True):
        assert away(ours, theirs) <= 1e-12


def test_a_swapped_module_is_the_scoring_between_its_projections():
    torch.manual_seed(1)
    model = nn.MultiheadAttention(SIZE, HEADS, batch_first=True).double()
    moved(swap(model, "bilinear"))
    query, key = drawn(BATCH, TARGET, SIZE), drawn(BATCH, SOURCE, SIZE, seed=1)
    parts = [
        nn.functional.linear(each, weight).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for each, weight in zip((query, key, key), model.in_proj_weight.chunk(3), strict=True)
    ]
    wanted, maps = attend(model.swapped.scoring, *parts)
    output, weights = model(query, key, key, average_attn_weights=False)
    assert away(output, model.out_proj(wanted.transpose(1, 2).flatten(2))) <= 1e-12
    assert away(weights, maps) <= 1e-12


class Own(nn.Module):
    """Somebody's own model around torch's encoder."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(SIZE, HEADS, 24, dropout=0.0, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(SIZE, 3)

    def forward(self, inputs):
        return self.head(self.encoder(inputs))


def test_in_somebodys_own_model_a_layer_is_chosen_and_copies_go_their_way():
    model, inputs = Own().eval(), drawn(2, 5, SIZE).float()
    plain = model(inputs)
    swapped = moved(swap(model, "additive", layers="*.1.*"))
    assert swapped.sites == ("encoder.layers.1.self_attn",)
    said, other = model(inputs), copy.deepcopy(model)
    assert away(other(inputs), said) == 0.0
    unswap(other)
    assert away(other(inputs), plain) == 0.0
    assert away(model(inputs), said) == 0.0
    assert away(said, plain) > 1e-4


class ByItself(nn.MultiheadAttention):
    def forward(self, *inputs, **more):
        return super().forward(*inputs, **more)


class Sdpa(nn.Module):
    def forward(self, inputs):
        return nn.functional.scaled_dot_product_attention(inputs, inputs, inputs)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (nn.Sequential(ByItself(SIZE, HEADS)), "'0' is a ByItself, which attends in a way of its"),
        (nn.Sequential(Own(), Sdpa()), "'1' is a Sdpa, which attends by itself"),
        (nn.Linear(2, 3), "nothing in this model attends"),
    ],
)
def test_what_would_ignore_a_swap_is_refused_by_name(model, message):
    with pytest.raises(ContractError, match=message):
        swap(model, "cosine")
    assert not [name for name, _ in model.named_modules() if "swapped" in name]


def test_kinds_of_modules_that_stand_alone_are_not_known():
    model = nn.MultiheadAttention(SIZE, HEADS)
    with pytest.raises(ContractError, match="self- or cross-attention is not known"):
        swap(model, "cosine", kinds="self")
    model = nn.MultiheadAttention(SIZE, HEADS, add_bias_kv=True)
    swap(model, "alibi")
    with pytest.raises(ContractError, match="add_bias_kv"):
        model(*[torch.ones(2, 3, SIZE)] * 3)


def test_a_sentence_without_a_batch_is_one_of_a_batch():
    module = nn.MultiheadAttention(SIZE, HEADS, batch_first=True).double().eval()
    swap(module, "alibi")
    x, begins = drawn(1, SOURCE, SIZE), torch.arange(SOURCE)[None] < 2  # padding comes first
    with torch.no_grad():
        wanted, weights = module(x, x, x, key_padding_mask=begins)
        alone = x[0]
        found, own = module(alone, alone, alone, key_padding_mask=begins[0])
    torch.testing.assert_close(found, wanted[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(own, weights[0], rtol=0, atol=1e-12)


def test_a_causal_call_without_its_mask_is_refused_as_torch_refuses_it():
    module, given = nn.MultiheadAttention(SIZE, HEADS).double(), [drawn(TARGET, 1, SIZE)] * 3
    with pytest.raises(RuntimeError, match="attn_mask"):
        module(*given, is_causal=True)
    with swap(module, "additive"), pytest.raises(RuntimeError, match="need attn_mask where"):
        module(*given, is_causal=True)


@pytest.mark.parametrize("added", [False, True])
def test_a_mask_and_padding_hold_together(added):
    module = nn.MultiheadAttention(SIZE, HEADS, batch_first=True).double().eval()
    given = [drawn(BATCH, SOURCE, SIZE)] * 3
    masks = {"attn_mask": torch.ones(SOURCE, SOURCE).triu(1).bool(), "key_padding_mask": PADDED}
    if added:
        masks = {name: drawn(*mask.shape, seed=n) for n, (name, mask) in enumerate(masks.items())}
    expected, _ = module(*given, **masks)
    with swap(module, "scaled_dot"):
        found, _ = module(*given, **masks)
    torch.testing.assert_close(found, expected)
