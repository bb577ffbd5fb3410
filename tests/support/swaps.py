"""Scorings of every sort in models that others wrote, and how far two ways to run one differ."""

from __future__ import annotations

import torch
from support.tiny_families import build, given

# With positions, relative and absolute; with heads; with weights; with normalisers; linear.
SCORINGS = {
    "additive": {}, "bilinear": {}, "gaussian": {}, "rope": {}, "alibi": {}, "shaw": {},
    "transformer_xl": {}, "talking_heads": {}, "linear_attention": {},
    "cosine": {"normaliser": "entmax"}, "dot": {"normaliser": "sigmoid"},
    "=q.k/sqrt(d)-0.3*i+0.1*j": {},
}  # fmt: skip
DECODERS = ("gpt2", "llama")
MODELS = (*DECODERS, "bert", "bart", "t5", "vit")


def tiny(family):
    """A random model in double precision, and what it is given."""
    inputs = given(family)
    exact = {name: x.double() if x.is_floating_point() else x for name, x in inputs.items()}
    return build(family).double(), exact


@torch.no_grad()
def moved(swapped, seed=0):
    """The swap with its new weights drawn anew, so that none is where it begins."""
    made = torch.Generator().manual_seed(seed)
    for weight in swapped.parameters():
        noise = torch.randn(weight.shape, generator=made)
        weight.add_(0.1 * noise.to(weight.dtype))
    return swapped


def away(found, wanted):
    """The largest difference, as a share of the largest number, or of 1."""
    found, wanted = found.detach(), wanted.detach()
    return float((found - wanted).abs().max() / wanted.abs().max().clamp_min(1.0))


@torch.no_grad()
def alone(model, inputs):
    """How far each row of a padded batch is from what it is without the others."""
    mask, whole = inputs["attention_mask"], model(**inputs)[0]
    worst = 0.0
    for row, keep in enumerate(mask.bool()):
        one = {name: each[row : row + 1] for name, each in inputs.items()}
        one = {name: each if name == "decoder_input_ids" else each[:, keep]
               for name, each in one.items()}  # fmt: skip
        mine = whole[row : row + 1]
        mine = mine if "decoder_input_ids" in inputs else mine[:, keep]
        worst = max(worst, away(model(**one)[0], mine))
    return worst


@torch.no_grad()
def piecewise(model, inputs, cache, cuts):
    """How far a pass is from the same one in pieces, with a cache, where there are tokens."""
    if "decoder_input_ids" in inputs:
        encoded = model.get_encoder()(inputs["input_ids"], inputs["attention_mask"])
        written = inputs["decoder_input_ids"]
        parts = [
            model(encoder_outputs=encoded, attention_mask=inputs["attention_mask"], cache=cache,
                  decoder_input_ids=written[:, start:end], use_cache=True).logits
            for start, end in cuts
        ]  # fmt: skip
        return away(torch.cat(parts, 1), model(**inputs).logits)
    mask, places = inputs["attention_mask"], inputs["position_ids"]
    parts = [
        model(input_ids=inputs["input_ids"][:, start:end], attention_mask=mask[:, :end],
              position_ids=places[:, start:end], cache=cache, use_cache=True).logits
        for start, end in cuts
    ]  # fmt: skip
    return away(torch.cat(parts, 1)[mask.bool()], model(**inputs).logits[mask.bool()])
