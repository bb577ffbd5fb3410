"""Watched weights are those of a reference in double precision, and the model does as before."""

from __future__ import annotations

import math
import os
import threading
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attention_plugins import AttentionUnseen, watch

BATCH, HEADS, QUERIES, KEYS, SIZE = 2, 3, 5, 7, 11
VARIABLE = "ATTENTION_TEST_MODELS"
CLOSE = {"atol": 1e-5, "rtol": 0.0}


def drawn(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


QUERY, KEY, VALUE = (
    drawn(BATCH, HEADS, length, SIZE, seed=seed) * 2
    for seed, length in enumerate((QUERIES, KEYS, KEYS))
)
# Padded on the left in one row, on the right in the other.
PADDED = torch.ones(BATCH, KEYS, dtype=torch.bool)
PADDED[0, :2] = PADDED[1, 4:] = False
SOME = PADDED[:, None, None, :].expand(BATCH, 1, QUERIES, KEYS).clone()
SOME[1, 0, 3] = False  # a row that sees nothing
CAUSAL = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril()


def reference(query, key, mask=None, bias=0.0, scale=None):
    """Weights in double precision, 0 in rows that see nothing."""
    query, key = query.double(), key.double()
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale) + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0)


class Called(nn.Module):
    """One module that attends by a function of its own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *given):
        return self.function(*given)


class ByHand(nn.Module):
    def __init__(self, product, masked=lambda scores: scores, softmax=None):
        super().__init__()
        self.product, self.masked = product, masked
        self.softmax = softmax or nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(0.3)

    def forward(self, query, key, value):
        weights = self.softmax(self.masked(self.product(query, key) / SIZE**0.5))
        return self.dropout(weights) @ value


def sdpa(**options):
    return Called(lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, **options))


def filled(scores):
    scores += BIAS
    return scores.masked_fill_(~PADDED[:, None, None], -math.inf)


BIAS = drawn(HEADS, QUERIES, KEYS, seed=7)
FEW = KEY[:, :1]
KINDS = {
    "plain": (sdpa(), reference(QUERY, KEY)),
    "boolean mask": (sdpa(attn_mask=SOME), reference(QUERY, KEY, SOME)),
    "additive mask": (sdpa(attn_mask=BIAS), reference(QUERY, KEY, bias=BIAS)),
    "causal": (sdpa(is_causal=True, scale=0.3), reference(QUERY, KEY, CAUSAL, scale=0.3)),
    "scale of 0": (sdpa(scale=0.0), reference(QUERY, KEY, scale=0.0)),
    "grouped": (
        Called(lambda q, k, v: functional.scaled_dot_product_attention(
            q.repeat(1, 2, 1, 1), k, v, enable_gqa=True)),
        reference(QUERY.repeat(1, 2, 1, 1), KEY.repeat_interleave(2, 1)),
    ),
    "@": (ByHand(lambda q, k: q @ k.mT), reference(QUERY, KEY)),
    "matmul, bias and mask in place": (
        ByHand(lambda q, k: torch.matmul(q, k.transpose(-1, -2)), filled),
        reference(QUERY, KEY, PADDED[:, None, None], BIAS),
    ),
    "einsum": (
        ByHand(lambda q, k: torch.einsum("bhqd, bhkd -> bhqk", q, k), torch.tanh),
        (QUERY.double() @ KEY.double().mT / SIZE**0.5).tanh().softmax(-1),
    ),
    "softmax of a function": (
        ByHand(lambda q, k: q @ k.mT, softmax=lambda s: torch.softmax(s, dim=3)),
        reference(QUERY, KEY),
    ),
    "row that sees nothing, by hand": (
        ByHand(lambda q, k: q @ k.mT, lambda s: torch.where(SOME, s, -math.inf)),
        reference(QUERY, KEY, SOME),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_the_reference_and_the_output_is_equal(kind):
    model, weights = KINDS[kind]
    key, value = (KEY, VALUE)
    torch.manual_seed(5)
    plain = model(QUERY, key, value)
    torch.manual_seed(5)
    with watch(model) as seen:
        watched = model(QUERY, key, value)
    torch.testing.assert_close(watched, plain, rtol=0, atol=0, equal_nan=True)
    (one,) = seen.maps
    assert (one.name, one.call, one.sure, one.doubts) == ("", 0, True, ())
    assert (one.weights.dtype, one.weights.requires_grad) == (torch.float32, False)
    torch.testing.assert_close(one.weights.double(), weights, **CLOSE)


@pytest.mark.parametrize("kind", ["boolean mask", "causal", "grouped", "@"])
def test_chosen_heads_and_rows_are_those_of_the_whole(kind):
    model, weights = KINDS[kind]
    with watch(model, heads=[2, 0], rows=slice(1, None, 2), keep="float16") as seen:
        model(QUERY, KEY, VALUE)
    (one,) = seen.maps
    assert (one.heads, one.rows, one.weights.dtype) == ((2, 0), (1, 3), torch.float16)
    chosen = weights[:, [2, 0]][:, :, [1, 3]]
    torch.testing.assert_close(one.weights.double(), chosen, atol=5e-4, rtol=0)
    assert seen.maps.bytes == chosen.numel() * 2


def score(score, b, h, q, k):
    return score + BIAS[h, q, k] + b


def lengths(b, h, q, k):
    return PADDED[b, k] & ((q >= k) | (h == 1))


def test_flex_attention_is_seen_with_its_functions():
    block = create_block_mask(lengths, BATCH, HEADS, QUERIES, KEYS, device="cpu")
    model = Called(lambda q, k, v: flex_attention(q, k, v, score_mod=score, block_mask=block))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it is slow
        plain = model(QUERY, KEY, VALUE)
        with watch(model) as seen, watch(model, heads=1, rows=[-1]) as part:
            watched = model(QUERY, KEY, VALUE)
    assert watched.equal(plain)
    mask = PADDED[:, None, None] & (CAUSAL | (torch.arange(HEADS) == 1)[:, None, None])
    batch = torch.arange(BATCH)[:, None, None, None]
    wanted = reference(QUERY, KEY, mask, BIAS + batch)
    torch.testing.assert_close(seen.maps[0].weights.double(), wanted, **CLOSE)
    torch.testing.assert_close(part.maps[0].weights.double(), wanted[:, 1:2, -1:], **CLOSE)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "asked", [(True, True), (True, False), (False, True)], ids=["mean", "heads", "none"]
)
def test_multi_head_attention_answers_as_before(training, asked):
    torch.manual_seed(2)
    model = nn.MultiheadAttention(12, 4, dropout=0.4, batch_first=True).train(training)
    inputs, padded = drawn(BATCH, KEYS, 12, seed=3), ~PADDED
    own = {"need_weights": asked[0], "average_attn_weights": asked[1], "key_padding_mask": padded}
    torch.manual_seed(5)
    plain, theirs = model(inputs, inputs, inputs, **own)
    drawn_next = torch.rand(3)
    torch.manual_seed(5)
    with watch(model) as seen:
        watched, ours = model(inputs, inputs, inputs, **own)
    assert torch.rand(3).equal(drawn_next)
    torch.testing.assert_close(watched, plain, atol=0 if training else 1e-6, rtol=0)
    if asked[0]:
        assert ours.shape == theirs.shape
        torch.testing.assert_close(ours, theirs, atol=0 if training else 1e-6, rtol=0)
    else:
        assert ours is None
    exact = model.double().eval()
    _, wanted = exact(*[inputs.double()] * 3, key_padding_mask=padded, average_attn_weights=False)
    torch.testing.assert_close(seen.maps[0].weights.double(), wanted, **CLOSE)


def test_a_row_that_sees_nothing_has_no_weights_in_multi_head_attention():
    model, nothing = nn.MultiheadAttention(6, 3, batch_first=True), torch.zeros(5, 5).bool()
    nothing[2] = True
    with watch(model) as seen:
        model(*[drawn(2, 5, 6)] * 3, attn_mask=nothing, need_weights=False)
    sums = seen.maps[0].weights.sum(-1)
    torch.testing.assert_close(sums, (~nothing[:, 0]).float().expand(2, 3, 5))


def test_a_transformer_is_seen_with_cross_attention_and_causal_masks():
    torch.manual_seed(0)
    model = nn.Transformer(12, 2, 2, 1, 13, batch_first=True).eval()
    source, target = drawn(BATCH, KEYS, 12), drawn(BATCH, QUERIES, 12, seed=1)
    masks = {
        "src_key_padding_mask": ~PADDED, "memory_key_padding_mask": ~PADDED,
        "tgt_mask": ~CAUSAL[:, :QUERIES], "tgt_is_causal": True,
    }  # fmt: skip
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors are a prototype
        plain = model(source, target, **masks)
        with watch(model) as seen:
            watched = model(source, target, **masks)
    torch.testing.assert_close(watched, plain, atol=1e-6, rtol=0)
    assert [each.name for each in seen.maps] == [
        "encoder.layers.0.self_attn", "encoder.layers.1.self_attn",
        "decoder.layers.0.self_attn", "decoder.layers.0.multihead_attn",
    ]  # fmt: skip
    own, cross = (each.weights for each in seen.maps[2:])
    assert not own[..., ~CAUSAL[:, :QUERIES]].any()
    assert not cross.masked_fill(PADDED[:, None, None], 0.0).any()
    assert cross.shape == (BATCH, 2, QUERIES, KEYS)
    assert seen.maps.map(3).site == ("cross", 0)


def test_gradients_flow_as_before_and_nothing_is_drawn():
    model = ByHand(lambda q, k: q @ k.mT)
    gradients = []
    for is_watched in (False, True):
        query = QUERY.clone().requires_grad_()
        torch.manual_seed(1)
        if is_watched:
            with watch(model):
                model(query, KEY, VALUE).square().sum().backward()
        else:
            model(query, KEY, VALUE).square().sum().backward()
        gradients.append((query.grad, torch.rand(3)))
    assert gradients[0][0].equal(gradients[1][0])
    assert gradients[0][1].equal(gradients[1][1])


class Unlike(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.table = kind, nn.Parameter(drawn(SIZE, KEYS))

    def forward(self, query, key, value):
        if self.kind == "parameter":
            return (query @ self.table).softmax(-1) @ value
        if self.kind == "unused":
            return (query @ key.mT).softmax(-1)
        if self.kind == "folded":
            return (query.flatten(0, 1).bmm(key.flatten(0, 1).mT)).softmax(-1) @ value.flatten(
                0, 1
            )
        if self.kind == "einsum":
            return (
                torch.einsum("bhqd,bhkd->qbhk", query, key).softmax(-1).permute(1, 2, 0, 3) @ value
            )
        if self.kind == "moved":
            return (key @ query.mT).mT.softmax(-1).permute(0, 1, 2, 3) @ value
        first = (query @ key.mT).softmax(-1) @ value
        return (first @ key.mT).softmax(-1) @ value


@pytest.mark.parametrize(
    ("kind", "count", "doubt"),
    [
        ("parameter", 1, "parameter"),
        ("unused", 1, "no values"),
        ("folded", 1, "heads"),
        ("einsum", 1, "einsum"),
        ("several", 2, "2 softmaxes"),
    ],
)
def test_what_is_not_certain_says_so(kind, count, doubt):
    model = Unlike(kind)
    with watch(model) as seen:
        model(QUERY, KEY, VALUE)
    assert len(seen.maps) == count
    for one in seen.maps:
        assert not one.sure
        assert doubt in " ".join(one.doubts)
        assert doubt in str(one)


@pytest.mark.parametrize(
    "function",
    [
        lambda q, k, v: q.softmax(-1) @ k.mT,  # of no product
        lambda q, k, v: (q @ k.mT).softmax(-2) @ v,  # over the queries
        lambda q, k, v: functional.linear(q, k[0, 0]).softmax(-1),
        lambda q, k, v: (q[0, 0] @ k[0, 0].mT).softmax(-1) @ v[0, 0],
    ],
)
def test_other_softmaxes_are_no_attention(function):
    model = Called(function)
    with watch(model) as seen:
        model(QUERY, KEY, VALUE)
    assert len(seen.maps) == 0
    assert "None of the 1 modules that ran attended" in str(seen)


def layered():
    return nn.ModuleDict({"first": sdpa(), "second": ByHand(lambda q, k: q @ k.mT)})


def run(layers, query=QUERY):
    for name in ("first", "second", "first"):
        layers[name](query, KEY, VALUE)


@pytest.mark.parametrize(
    ("layers", "names"),
    [
        (None, ["first 0", "second 0", "first 1"]),
        ("f*", ["first 0", "first 1"]),
        (1, ["second 0"]),
        ([0, "second"], ["first 0", "second 0", "first 1"]),
        (lambda name: "cond" in name, ["second 0"]),
    ],
)
def test_layers_are_chosen_by_name_number_or_function(layers, names):
    model = layered()
    with watch(model, layers=layers) as seen:
        run(model)
    assert [f"{each.name} {each.call}" for each in seen.maps] == names


def test_nested_watches_see_their_own_model():
    outer, inner = layered(), sdpa()
    with watch(outer) as one, watch(inner) as other:
        run(outer)
        inner(QUERY, KEY, VALUE)
    assert (len(one.maps), len(other.maps)) == (3, 1)
    with watch(outer) as whole, watch(outer["first"]) as part:
        run(outer)
    assert (len(whole.maps), len(part.maps)) == (3, 2)


def test_another_thread_is_not_seen_and_keeps_its_fast_path():
    layer = nn.TransformerEncoderLayer(12, 2, 13, batch_first=True).eval()
    inputs, paths = drawn(2, 5, 12), []

    def elsewhere():
        with torch.no_grad(), torch.profiler.profile() as profile:
            layer(inputs)
        paths.extend(event.name for event in profile.events())

    with watch(layer) as seen, torch.no_grad():
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
        assert len(seen.maps) == 0
        layer(inputs)
    assert len(seen.maps) == 1
    assert "aten::_transformer_encoder_layer_fwd" in paths


def test_modules_that_run_in_another_thread_do_not_give_their_names():
    begun, over = threading.Event(), threading.Event()

    def wait(given):
        begun.set()
        over.wait(10)
        return given

    model = nn.ModuleDict({"slow": Called(wait), "own": sdpa()})
    with watch(model) as seen:
        other = threading.Thread(target=model["slow"], args=(QUERY,))
        other.start()
        begun.wait(10)
        functional.scaled_dot_product_attention(QUERY, KEY, VALUE)  # of no module
        model["own"](QUERY, KEY, VALUE)
        over.set()
        other.join()
    assert [each.name for each in seen.maps] == ["own"]


def test_weights_are_kept_as_they_were_when_the_model_changes_them():
    model = Called(lambda q, k, v: (q @ k.mT).softmax(-1).mul_(0.0) @ v)
    with watch(model) as seen:
        model(QUERY, KEY, VALUE)
    torch.testing.assert_close(seen.maps[0].weights.sum(-1), torch.ones(BATCH, HEADS, QUERIES))


def test_a_single_head_has_an_axis_of_its_own():
    model = Called(lambda q, k, v: (q.bmm(k.mT) * SIZE**-0.5).softmax(-1).bmm(v))
    with watch(model) as seen:
        model(QUERY[:, 1], KEY[:, 1], VALUE[:, 1])
    (one,) = seen.maps
    assert one.sure
    wanted = reference(QUERY[:, 1:2], KEY[:, 1:2])
    torch.testing.assert_close(one.weights.double(), wanted, **CLOSE)


def test_nothing_stays_after_an_exception():
    def fail(*_):
        raise OSError("of the model")

    model = nn.ModuleDict({"good": sdpa(), "bad": Called(fail)})
    hooks = nn.modules.module._global_forward_hooks, nn.modules.module._global_forward_pre_hooks
    before = [len(each) for each in hooks]
    with watch(model) as seen:
        with pytest.raises(OSError, match="of the model"):
            model["bad"](QUERY)
        model["good"](QUERY, KEY, VALUE)
    assert [each.name for each in seen.maps] == ["good"]
    seen = watch(model)
    with pytest.raises(OSError, match="of the model"), seen:
        model["bad"](QUERY)
    model["good"](QUERY, KEY, VALUE)
    assert len(seen.maps) == 0
    assert [len(each) for each in hooks] == before
    assert torch.overrides._get_current_function_mode_stack() == []


def test_more_than_the_limit_is_refused_before_it_is_made():
    model = sdpa()
    size = BATCH * HEADS * QUERIES * KEYS * 4
    with watch(model, limit_bytes=size) as seen:
        model(QUERY, KEY, VALUE)
        with pytest.raises(MemoryError, match=r"layers=, heads= or rows=, .* keep=") as refusal:
            model(QUERY, KEY, VALUE)
    assert f"need {2 * size:,} bytes" in str(refusal.value)
    assert seen.maps.bytes == size


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"keep": "int8"}, ValueError, "need keep='float32' or 'float16', got 'int8'"),
        ({"layers": "third"}, ValueError, "layers='third' fits no module's name"),
        ({"layers": [-1]}, ValueError, "names, patterns and numbers from 0"),
        ({"heads": HEADS}, IndexError, "heads=3: this attention has heads 0 to 2"),
        ({"rows": [0, -9]}, IndexError, "rows=-9: this attention has rows 0 to 4"),
    ],
)
def test_what_cannot_be_chosen_is_said(given, error, message):
    model = layered()
    with pytest.raises(error, match=message), watch(model, **given):
        run(model)


def test_no_model_is_refused():
    with pytest.raises(TypeError, match=r"need a torch\.nn\.Module, got str"):
        watch("bert")


def test_why_there_is_no_map():
    model = layered()
    with watch(model) as seen:
        sdpa()(QUERY, KEY, VALUE)
    assert seen.unseen == ("The model was not called in this thread while it was watched.",)
    with watch(model, layers=[7]) as seen:
        run(model)
    assert seen.unseen == ("layers= chose none of the modules that attended: 'first', 'second'.",)


def test_compiled_models_are_refused():
    model = layered()
    model["second"].compile(backend="eager")
    with pytest.raises(AttentionUnseen, match="module 'second' is compiled"), watch(model):
        pass
    with (
        pytest.raises(AttentionUnseen, match="is compiled"),
        watch(torch.compile(sdpa(), backend="eager")),
    ):
        pass


@pytest.mark.parametrize("fullgraph", [False, True])
@pytest.mark.parametrize("function", [flex_attention, functional.scaled_dot_product_attention])
def test_compiled_functions_are_refused_whenever_they_run(function, fullgraph):
    compiled = []

    def backend(graph, _):
        compiled.append(graph)
        return graph.forward

    @torch.compile(backend=backend, fullgraph=fullgraph)
    def attend(*given):
        return function(*given)

    model = nn.ModuleDict({"part": Called(attend)})
    for _ in range(2):
        with pytest.raises(AttentionUnseen, match="module 'part' is compiled"), watch(model):
            model["part"](QUERY, KEY, VALUE)
    model["part"](QUERY, KEY, VALUE)
    before = len(compiled)
    model["part"](QUERY, KEY, VALUE)
    assert len(compiled) == before
    assert compiled


def test_a_kernel_of_another_package_is_named():
    with torch.library._scoped_library("flash_attn", "DEF") as library:
        library.define("test_forward(Tensor q) -> Tensor")
        library.impl("test_forward", torch.clone, "CPU")
        model = nn.ModuleDict({"own": Called(torch.ops.flash_attn.test_forward)})
        with watch(model) as seen, pytest.warns(UserWarning, match="test_forward of module 'own'"):
            model["own"](QUERY)
    assert "test_forward of module 'own' gives no weights" in seen.unseen[0]


@pytest.fixture(scope="module")
def folder():
    if not (root := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} names no folder with models in it")
    return Path(root)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize(("name", "count"), [("stories260K", 5), ("gpt-nano-sort", 3)])
def test_decoders_that_others_trained_give_the_maps_of_their_library(
    folder, name, count, implementation
):
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder / name, attn_implementation=implementation
    ).eval()
    ids = torch.randint(0, 3, (2, 6), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[0, :2] = 0
    with torch.no_grad():
        plain = model(ids, attention_mask=mask).logits
        with watch(model) as seen:
            watched = model(ids, attention_mask=mask).logits
        model.set_attn_implementation("eager")
        wanted = model(ids, attention_mask=mask, output_attentions=True).attentions
    assert watched.equal(plain)
    assert len(seen.maps) == len(wanted) == count
    for ours, theirs in zip(seen.maps, wanted, strict=True):
        assert ours.sure
        # What a padded query sees is nobody's concern, and differs between the two.
        torch.testing.assert_close(ours.weights[0, :, 2:], theirs[0, :, 2:], **CLOSE)
        torch.testing.assert_close(ours.weights[1], theirs[1], **CLOSE)


def test_a_translator_that_others_trained_gives_its_cross_attention(folder):
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        folder / "aren-transliteration", attn_implementation="sdpa"
    ).eval()
    made = torch.Generator().manual_seed(0)
    given = {
        "input_ids": torch.randint(3, 40, (1, 7), generator=made),
        "decoder_input_ids": torch.randint(55, 80, (1, 5), generator=made),
    }
    with torch.no_grad():
        plain = model(**given).logits
        with watch(model) as seen:
            watched = model(**given).logits
        model.set_attn_implementation("eager")
        wanted = model(**given, output_attentions=True)
    assert watched.equal(plain)
    assert len(seen.maps) == 18
    cross = seen.maps.named("*.encoder_attn")
    for layer, ours in enumerate(cross):
        torch.testing.assert_close(ours.weights, wanted.cross_attentions[layer], **CLOSE)
        assert cross.map(layer).site == ("cross", layer)


def test_one_map_is_counted_in_the_singular():
    model = torch.nn.MultiheadAttention(4, 2)
    with watch(model) as seen:
        model(*[torch.zeros(3, 4)] * 3)
    assert str(seen) == "1 map of 1 module, 72 bytes"
