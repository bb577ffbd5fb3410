"""Whether a model of the library attends by way of our tap, everywhere, and to the same effect.

Families of whom nobody here has heard are taken or refused by what they do with a few tokens.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.huggingface.attention import NAME, Sites, watched
from attention_plugins.huggingface.families import refuse_by_itself
from attention_plugins.tap import Recorder, Site, Tap

_SAME = 1e-4  # of a weight, and of a share of the largest output


@torch.no_grad()
def sites_in_order(library: Any, kind: Literal["encoder", "decoder"], **given: Any) -> Sites:
    """Every module that attends, with its sites in the order in which they are called.

    CheckpointError where none goes through our function.
    """
    with watched(None, {}) as seen:
        library(**given)
    found = defaultdict[nn.Module, list[Site]](list)
    for number, module in enumerate(seen.order):
        found[module].append(Site(kind, number))
    if not found:
        refuse_by_itself(library.config.model_type, library.name_or_path or "this model")
    return found


@torch.no_grad()
def require_same(library: Any, sites: Sites, given: Mapping[str, Tensor]) -> None:
    """Compare with the library's own attention on some input: what comes out, and every map.

    CheckpointError: an attention that our function did not see, maps or outputs that differ, a
    decoder whose tokens see later ones.
    """
    recorder = Recorder()
    with watched(Tap(recorder), sites):
        ours = library(**given)
    try:
        library.set_attn_implementation("eager")
        theirs = library(**given, output_attentions=True)
    finally:
        library.set_attn_implementation(NAME)
    family, maps = repr(library.config.model_type), recorder.weights()
    if not maps:
        refuse_by_itself(library.config.model_type, library.name_or_path)
    known = _maps_of(theirs, next(iter(maps)).kind)
    if maps.keys() != known.keys():
        raise CheckpointError(
            f"{len(maps)} of the {len(known)} attentions of {family} can be seen here, and only "
            "models that can be seen whole are read"
        )
    mask = given.get("attention_mask")
    for site, weights in maps.items():
        away = (weights - known[site]).abs().movedim(1, 2)
        # Rows of padding look nowhere here, and anywhere there.
        away = (away if mask is None or site.kind != "encoder" else away[mask.bool()]).max()
        if site.kind == "decoder":
            away = torch.maximum(away, weights.triu(1).abs().max())
        if not away <= _SAME:
            raise CheckpointError(
                f"the map of {site.kind} layer {site.layer + 1} of {family} is not what the "
                f"library's own attention makes, but up to {away:.2g} away from it, so this "
                "family is refused"
            )
    mine, wanted = (each[0] for each in (ours, theirs))
    if mask is not None and not library.config.is_encoder_decoder:
        mine, wanted = mine[mask.bool()], wanted[mask.bool()]
    if not (away := (mine - wanted).abs().max() / wanted.abs().max()) <= _SAME:
        raise CheckpointError(
            f"what {family} says here is up to {away:.2g} of its size away from what it says with "
            "the library's own attention, so this family is refused"
        )


def few_tokens(library: Any, tokens: int) -> dict[str, Tensor]:
    """Two texts, the second one shorter."""
    words = library.get_input_embeddings().weight.shape[0]
    padding = library.config.pad_token_id
    known = [id for id in range(min(words, 50)) if id != padding]
    ids = torch.tensor([[known[(7 * n + 3) % len(known)] for n in range(tokens)]] * 2)
    mask = torch.ones_like(ids)
    mask[1, tokens // 2 + 1 :] = 0
    given = {"input_ids": ids.masked_fill(mask == 0, padding or 0), "attention_mask": mask}
    if library.config.is_encoder_decoder:
        given["decoder_input_ids"] = ids
    return {name: tensor.to(library.device) for name, tensor in given.items()}


def _maps_of(output: Any, kind: str) -> dict[Site, Tensor]:
    """What the library itself says that its maps are."""
    names = ("encoder", "decoder")
    sides: dict[Any, Any] = {name: output.get(f"{name}_attentions") or () for name in names}
    if sides["encoder"]:
        sides["cross"] = output.get("cross_attentions") or ()
    else:
        sides = {kind: output.get("attentions") or ()}
    return {Site(kind, layer): weights for kind, found in sides.items()
            for layer, weights in enumerate(found)}  # fmt: skip
