"""Whole models give the maps of a reference, and answer as if nobody watched them.

Of torch's own the reference is written here, in double precision; of transformers it is what the
library itself returns under ``attn_implementation="eager"``.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

from attention_plugins import watch

BATCH, TOKENS, SIZE, HEADS = 2, 7, 12, 3
CLOSE = {"atol": 1e-5, "rtol": 0.0}
PADDED = torch.zeros(BATCH, TOKENS, dtype=torch.bool)  # True is padding
PADDED[1, 4:] = True


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def sharpened(model, factor=3.0):
    """Larger weights, so that maps are far from uniform."""
    torch.manual_seed(0)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(factor)
    return model


def by_hand(module, query, key, forbidden):
    """Weights of one ``nn.MultiheadAttention``, of inputs ``(batch, length, size)``."""
    heads, size = module.num_heads, module.head_dim
    (w_q, w_k, _), (b_q, b_k, _) = (
        part.double().chunk(3) for part in (module.in_proj_weight, module.in_proj_bias)
    )
    query, key = (
        functional.linear(side.double(), weight, bias).unflatten(-1, (heads, size)).transpose(1, 2)
        for side, weight, bias in ((query, w_q, b_q), (key, w_k, b_k))
    )
    scores = query @ key.mT / math.sqrt(size)
    return scores.masked_fill(forbidden, -math.inf).softmax(-1)


def references(model, run, forbidden):
    """The weights of each attending module, from what it was given in double precision."""
    found, exact = {}, model.double()

    def note(name):
        def hook(module, args):
            query, key, *_ = args
            found[name] = by_hand(module, query, key, forbidden(name))

        return hook

    hooks = [
        module.register_forward_pre_hook(note(name))
        for name, module in exact.named_modules()
        if isinstance(module, nn.MultiheadAttention)
    ]
    with torch.no_grad():
        run(exact, torch.float64)
    for hook in hooks:
        hook.remove()
    model.float()
    return found


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_an_encoder_of_torch_also_where_it_would_take_its_fast_path(training, norm_first):
    layer = nn.TransformerEncoderLayer(
        SIZE, HEADS, 17, dropout=0.0, batch_first=True, norm_first=norm_first
    )
    model = sharpened(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)).train(training)
    inputs = drawn(BATCH, TOKENS, SIZE)

    def run(model, dtype=torch.float32):
        return model(inputs.to(dtype), src_key_padding_mask=PADDED)

    with torch.no_grad():
        plain = run(model)
        with watch(model) as seen:
            watched = run(model)
    if training:
        assert watched.equal(plain)
    else:  # with the fast path off, which the documentation says
        torch.testing.assert_close(watched[~PADDED], plain[~PADDED], atol=1e-5, rtol=0)
    wanted = references(model, run, lambda name: PADDED[:, None, None])
    assert [one.name for one in seen.maps] == list(wanted)
    for one in seen.maps:
        torch.testing.assert_close(one.weights.double(), wanted[one.name], **CLOSE)


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_training_step_of_torchs_attention_learns_the_same(need_weights):
    """The weights are made where its scores were, which its backward pass must not miss."""
    model = sharpened(nn.MultiheadAttention(SIZE, HEADS, dropout=0.3, batch_first=True))
    inputs, gradients = drawn(BATCH, TOKENS, SIZE), []
    own = {"key_padding_mask": PADDED, "need_weights": need_weights}
    for is_watched in (False, True):
        torch.manual_seed(3)
        model.zero_grad()
        with watch(model) if is_watched else contextlib.nullcontext():
            answer, weights = model(inputs, inputs, inputs, **own)
            (answer.square().sum() + (weights.square().sum() if need_weights else 0)).backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    for plain, watched in zip(*gradients, strict=True):
        assert watched.equal(plain)


def test_a_transformer_of_torch_with_its_three_kinds_of_attention():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd number of heads keeps it from nested tensors
        model = nn.Transformer(SIZE, HEADS, 2, 2, 17, dropout=0.0, batch_first=True)
    sharpened(model, 2.0).train()  # where each layer takes the path that is watched
    source, target = drawn(BATCH, TOKENS, SIZE), drawn(BATCH, 5, SIZE, seed=1)
    later = torch.ones(5, 5).triu(1).bool()

    def run(model, dtype=torch.float32):
        return model(
            source.to(dtype), target.to(dtype), tgt_mask=later, src_key_padding_mask=PADDED,
            memory_key_padding_mask=PADDED,
        )  # fmt: skip

    def forbidden(name):
        is_own = "decoder" in name and "self_attn" in name
        return later if is_own else PADDED[:, None, None]

    with torch.no_grad():
        plain = run(model)
        with watch(model) as seen:
            watched = run(model)
    assert watched.equal(plain)
    wanted = references(model, run, forbidden)
    assert len(seen.maps) == len(wanted) == 6
    for one in seen.maps:
        torch.testing.assert_close(one.weights.double(), wanted[one.name], **CLOSE)


def ids(high=60):
    made = torch.Generator().manual_seed(1)
    return torch.randint(5, high, (BATCH, TOKENS), generator=made)


def text(attending=True):
    return (
        {"input_ids": ids(), "attention_mask": (~PADDED).long()}
        if attending
        else {"input_ids": ids()}
    )


SIZES = {
    "vocab_size": 64, "hidden_size": SIZE, "num_hidden_layers": 2, "num_attention_heads": HEADS,
    "intermediate_size": 17, "max_position_embeddings": 32,
}  # fmt: skip
T5 = {
    "vocab_size": 64, "d_model": SIZE, "d_kv": 4, "d_ff": 17, "num_layers": 2, "num_heads": HEADS,
}  # fmt: skip
WHISPER = {
    "vocab_size": 64, "d_model": SIZE, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": 17,
    "decoder_ffn_dim": 17, "num_mel_bins": 5, "max_source_positions": 9, "pad_token_id": 0,
    "max_target_positions": 16, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}  # fmt: skip
# The class, its configuration, how it attends, what it is given, and how many maps there are.
KINDS = {
    "GPT-2, eager": (
        "GPT2LMHeadModel",
        {"vocab_size": 64, "n_embd": SIZE, "n_layer": 2, "n_head": HEADS, "n_positions": 32},
        "eager", text, 2,
    ),
    "Llama with grouped heads, sdpa": (
        "LlamaForCausalLM",
        SIZES | {"hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2},
        "sdpa", text, 2,
    ),
    "BERT, sdpa": ("BertModel", SIZES, "sdpa", text, 2),
    "T5, eager": (
        "T5ForConditionalGeneration", T5, "eager",
        lambda: {**text(), "decoder_input_ids": ids()[:, :5]}, 6,
    ),
    "ViT, sdpa": (
        "ViTModel", SIZES | {"image_size": 8, "patch_size": 4, "num_channels": 3}, "sdpa",
        lambda: {"pixel_values": drawn(BATCH, 3, 8, 8)}, 2,
    ),
    "Whisper, sdpa": (
        "WhisperForConditionalGeneration", WHISPER, "sdpa",
        lambda: {"input_features": drawn(BATCH, 5, 18), "decoder_input_ids": ids()[:, :5]}, 6,
    ),
}  # fmt: skip
ATTENTIONS = ("encoder_attentions", "decoder_attentions", "cross_attentions", "attentions")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_models_of_transformers(kind):
    transformers = pytest.importorskip("transformers")
    name, config, implementation, given, count = KINDS[kind]
    kept = getattr(transformers, name)
    torch.manual_seed(0)
    model = sharpened(kept(kept.config_class(**config, attn_implementation=implementation)), 8.0)
    model.eval()
    inputs = given()
    with torch.no_grad():
        plain = model(**inputs)[0]
        with watch(model) as seen:
            watched = model(**inputs)[0]
        model.set_attn_implementation("eager")
        library = model(**inputs, output_attentions=True)
    assert watched.equal(plain)
    wanted = [
        weights for part in ATTENTIONS for weights in (getattr(library, part, None) or ())
    ]  # fmt: skip
    assert len(seen.maps) == len(wanted) == count
    assert all(one.sure for one in seen.maps)
    matched = set()
    for ours in seen.maps:
        same = [n for n, theirs in enumerate(wanted) if differ(ours.weights, theirs) <= 1e-5]
        assert len(same) == 1, ours  # that one, and no other
        matched |= set(same)
    assert len(matched) == count


def differ(ours, theirs):
    return float((ours - theirs).abs().max()) if ours.shape == theirs.shape else math.inf


VARIABLE = "ATTENTION_TEST_MODELS"
FRAMES, FEATURES = 98, 40


class Keywords(nn.Module):
    """Keyword Transformer 1 (Berg, O'Connor & Cruz 2021), as their repository builds it.

    A class token and 98 frames of 40 features; 12 layers that normalise after adding.
    """

    def __init__(self, flags):
        super().__init__()
        size = flags["d_model"]
        self.project = nn.Linear(FEATURES, size)
        self.cls = nn.Parameter(torch.zeros(1, 1, size))
        self.pos = nn.Parameter(torch.zeros(1, FRAMES + 1, size))
        layer = nn.TransformerEncoderLayer(
            size, flags["heads"], flags["mlp_dim"], 0.0, "gelu", layer_norm_eps=1e-6,
            batch_first=True,
        )  # fmt: skip
        self.encoder = nn.TransformerEncoder(
            layer, flags["num_layers"], enable_nested_tensor=False
        )
        self.head = nn.Linear(size, flags["label_count"])

    def forward(self, features):
        frames = self.project(features)
        joined = torch.cat([self.cls.expand(len(frames), -1, -1), frames], dim=1) + self.pos
        return self.head(self.encoder(joined)[:, 0])


def keywords_by_hand(tensors, features, layers):
    """Its logits and the maps ``(batch, 1, 99, 99)`` of all layers, from its file alone."""
    tensors = {name: tensor.double() for name, tensor in tensors.items()}

    def linear(inputs, name):
        return inputs @ tensors[f"{name}weight"].T + tensors[f"{name}bias"]

    def normed(inputs, name):
        spread, mean = torch.var_mean(inputs, dim=-1, correction=0, keepdim=True)
        unit = (inputs - mean) / (spread + 1e-6).sqrt()
        return unit * tensors[f"{name}weight"] + tensors[f"{name}bias"]

    inner = linear(features.double(), "project.")
    inner = torch.cat([tensors["cls"].expand(len(inner), -1, -1), inner], 1) + tensors["pos"]
    maps = []
    for number in range(layers):
        at = f"encoder.layers.{number}."
        query, key, value = linear(inner, f"{at}self_attn.in_proj_").chunk(3, dim=-1)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        maps.append((powers / powers.sum(-1, keepdim=True))[:, None])
        pooled = linear(maps[-1][:, 0] @ value, f"{at}self_attn.out_proj.")
        inner = normed(inner + pooled, f"{at}norm1.")
        wide = linear(inner, f"{at}linear1.")
        wide = wide * (1 + torch.erf(wide / math.sqrt(2))) / 2
        inner = normed(inner + linear(wide, f"{at}linear2."), f"{at}norm2.")
    return linear(inner[:, 0], "head."), maps


def test_a_model_of_speech_that_others_trained():
    """TFLite, which its authors ran, is not asked: the reference is written out above."""
    safetensors = pytest.importorskip("safetensors.torch")
    if not (root := os.environ.get(VARIABLE)):
        pytest.skip(f"{VARIABLE} names no folder with models in it")
    folder = Path(root) / "kwt1"
    flags = json.loads((folder / "kwt1_flags.json").read_text("utf-8"))
    tensors = safetensors.load_file(folder / "kwt1.safetensors")
    model = Keywords(flags).eval()
    known = model.state_dict().keys()
    model.load_state_dict({name: tensor for name, tensor in tensors.items() if name in known})
    assert known - tensors.keys() == set()
    # What its features are made with: a window, a Fourier transform, a mel scale, a cosine's norm.
    assert tensors.keys() - known == {"im", "mel", "norm", "re", "window"}
    features = drawn(2, FRAMES, FEATURES) * 3
    logits, maps = keywords_by_hand(tensors, features, flags["num_layers"])
    with torch.no_grad():
        plain = model(features)
        with watch(model) as seen:
            watched = model(features)
    torch.testing.assert_close(plain.double(), logits, atol=5e-5, rtol=0)
    torch.testing.assert_close(watched.double(), logits, atol=5e-5, rtol=0)
    assert [one.name for one in seen.maps] == [f"encoder.layers.{n}.self_attn" for n in range(12)]
    for ours, wanted in zip(seen.maps, maps, strict=True):
        torch.testing.assert_close(ours.weights.double(), wanted, **CLOSE)
