"""Tiny random models of 34 of the library's families, with attention that is far from uniform."""

from __future__ import annotations

import json
from typing import NamedTuple

import torch

WORDS = 41
LENGTHS = torch.tensor([11, 7, 2])
BEGIN, END, PAD = 2, 1, 0


class Tiny(NamedTuple):
    """How a family is loaded, and the sizes of a tiny model of it."""

    loader: str
    sizes: dict


_USUAL = {"hidden_size": 48, "intermediate_size": 24, "num_hidden_layers": 3,
          "num_attention_heads": 6, "max_position_embeddings": 64}  # fmt: skip
_GROUPED = {**_USUAL, "num_key_value_heads": 2, "head_dim": 14}
_WINDOW = {**_GROUPED, "sliding_window": 5}
_FIVE = {**_USUAL, "hidden_size": 30, "intermediate_size": 23, "num_attention_heads": 5}
_BOTH = {
    "d_model": 30, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 5,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 11, "decoder_ffn_dim": 13,
    "max_position_embeddings": 64, "decoder_start_token_id": 1,
}  # fmt: skip
_PATCHES = {"hidden_size": 30, "intermediate_size": 23, "num_hidden_layers": 3,
            "num_attention_heads": 5, "image_size": 12, "patch_size": 4}  # fmt: skip
_CAUSAL, _MASKED, _TWO, _NONE = (
    "AutoModelForCausalLM", "AutoModelForMaskedLM", "AutoModelForSeq2SeqLM", "AutoModel",
)  # fmt: skip
DECODERS = {
    "gpt2": {"n_embd": 35, "n_layer": 3, "n_head": 5, "n_positions": 64},
    "llama": _GROUPED, "mistral": _WINDOW, "qwen3": _GROUPED,
    "gemma2": {**_WINDOW, "attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 14},
    "gemma3_text": {**_WINDOW, "sliding_window_pattern": 2, "query_pre_attn_scalar": 2},
    "phi3": {**_USUAL, "num_key_value_heads": 2}, "gpt_neox": _USUAL,
    "opt": {**_USUAL, "ffn_dim": 23, "word_embed_proj_dim": 48},
    "deepseek_v3": {
        **_USUAL, "num_key_value_heads": 6, "kv_lora_rank": 8, "q_lora_rank": 10,
        "qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 6, "n_routed_experts": 4,
        "num_experts_per_tok": 2, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1,
        "moe_intermediate_size": 12, "n_shared_experts": 1,
    },
    "gpt_oss": {**_WINDOW, "num_local_experts": 4, "num_experts_per_tok": 2},
}  # fmt: skip
ENCODERS = {
    "bert": _FIVE, "roberta": _FIVE, "electra": {**_FIVE, "embedding_size": 12},
    "albert": {**_FIVE, "embedding_size": 12},
    "distilbert": {"dim": 30, "hidden_dim": 23, "n_layers": 3, "n_heads": 5,
                   "max_position_embeddings": 64},
    "modernbert": {**_FIVE, "hidden_size": 40, "local_attention": 4, "cls_token_id": 2,
                   "sep_token_id": 1, "global_attn_every_n_layers": 3},
    "esm": {**_FIVE, "mask_token_id": 3, "position_embedding_type": "absolute"},
}  # fmt: skip
TRANSLATORS = {
    **dict.fromkeys(("bart", "marian", "m2m_100", "mbart", "pegasus"), _BOTH),
    "t5": {"d_model": 14, "d_kv": 7, "d_ff": 11, "num_layers": 2, "num_decoder_layers": 3,
           "num_heads": 5, "decoder_start_token_id": 0},
}  # fmt: skip
SENSES = {
    **{name: Tiny(_NONE, _PATCHES) for name in ("vit", "deit", "dinov2", "clip_vision_model")},
    "swin": Tiny(_NONE, {"image_size": 16, "patch_size": 2, "embed_dim": 12, "depths": [2, 2],
                         "num_heads": [2, 3], "window_size": 2}),
    "wav2vec2": Tiny(_NONE, {
        "hidden_size": 30, "intermediate_size": 23, "num_hidden_layers": 3,
        "num_attention_heads": 5, "conv_dim": [8, 8], "conv_stride": [5, 2],
        "conv_kernel": [10, 3], "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4,
        "num_conv_pos_embedding_groups": 2,
    }),
    "whisper": Tiny("AutoModelForSpeechSeq2Seq", {
        **_BOTH, "num_mel_bins": 8, "max_source_positions": 10, "max_target_positions": 64,
    }),
}  # fmt: skip
BY_THEMSELVES = {
    "bloom": Tiny(_CAUSAL, {"hidden_size": 48, "n_layer": 3, "n_head": 6}),
    "falcon": Tiny(_CAUSAL, {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 6}),
    "gpt_neo": Tiny(_CAUSAL, {"hidden_size": 48, "num_layers": 2, "num_heads": 6,
                              "attention_types": [[["global", "local"], 1]]}),
    "deberta-v2": Tiny(_MASKED, _FIVE),
}  # fmt: skip
READ = {
    **{name: Tiny(_CAUSAL, sizes) for name, sizes in DECODERS.items()},
    **{name: Tiny(_MASKED, sizes) for name, sizes in ENCODERS.items()},
    **{name: Tiny(_TWO, sizes) for name, sizes in TRANSLATORS.items()},
    **SENSES,
}  # fmt: skip
FAMILIES = {**READ, **BY_THEMSELVES}


def build(family):
    """A random model of a family, with the library's own attention, in evaluation mode."""
    import transformers

    loader, sizes = FAMILIES[family]
    if loader != _NONE:
        sizes = {"vocab_size": WORDS, "pad_token_id": PAD, "bos_token_id": BEGIN,
                 "eos_token_id": END, **sizes}  # fmt: skip
    config = transformers.AutoConfig.for_model(family, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = getattr(transformers, loader).from_config(config, attn_implementation="eager")
        return sharpened(model).eval()


@torch.no_grad()
def sharpened(model):
    """The model with weights so large that attention is far from uniform."""
    for name, weight in sorted(model.named_parameters()):
        if "conv" in name or "norm" in name.lower() or "ln" in name:
            continue
        if weight.dim() > 1:
            factor = 2.5 if "att" in name.lower() else 1.2
            weight.normal_(std=factor / weight.shape[-1] ** 0.5)
        else:
            weight.normal_(std=0.3)
    return model


def save(family, folder):
    """A folder as the Hub has it, without a tokenizer."""
    build(family).save_pretrained(folder)
    return folder


def given(family):
    """Keyword arguments of a forward pass: three texts, padded, or two pictures or sounds."""
    made = torch.Generator().manual_seed(0)
    if family == "wav2vec2":
        mask = (torch.arange(160) < torch.tensor([[160], [100]])).long()
        return {"input_values": torch.randn(2, 160, generator=made), "attention_mask": mask}
    ids = torch.randint(3, WORDS, (3, 11), generator=made)
    target = torch.randint(3, WORDS, (3, 7), generator=made)
    if family == "whisper":
        return {"input_features": torch.randn(3, 8, 20, generator=made),
                "decoder_input_ids": target}  # fmt: skip
    if family in SENSES:
        size = READ[family].sizes["image_size"]
        return {"pixel_values": torch.randn(2, 3, size, size, generator=made)}
    places = torch.arange(11)
    if FAMILIES[family].loader == _CAUSAL:  # padding first
        mask = (places >= 11 - LENGTHS[:, None]).long()
        return {"input_ids": ids, "attention_mask": mask,
                "position_ids": (mask.cumsum(1) - 1).clamp_min(0)}  # fmt: skip
    mask = (places < LENGTHS[:, None]).long()
    more = {"decoder_input_ids": target} if family in TRANSLATORS else {}
    return {"input_ids": ids.masked_fill(mask == 0, PAD), "attention_mask": mask, **more}


def with_words(folder, words=(), *, pieces=False):
    """Add a tokenizer of words, or of pieces of words, with special tokens around each text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    names = ["[PAD]", "[SEP]", "[CLS]", "[MASK]", "[UNK]", *words]
    known = {name: number for number, name in enumerate(names)}
    made = models.WordPiece if pieces else models.WordLevel
    raw = Tokenizer(made(known, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[SEP]", 1), ("[CLS]", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", sep_token="[SEP]", cls_token="[CLS]",
        mask_token="[MASK]", unk_token="[UNK]",
    ).save_pretrained(folder)  # fmt: skip
    return folder


def note(folder, **facts):
    """Write what is known of a model beside it."""
    (folder / "adopted.json").write_text(json.dumps(facts))
    return folder
