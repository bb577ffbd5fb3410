"""The library's encoder–decoder with the seams of our models, every attention done by our tap."""

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attention_plugins.huggingface.attention import Sites, watched
from attention_plugins.models.protocols import State
from attention_plugins.tap import Intervention, Site, Tap

_CACHED = ("keys", "values", "cross_keys", "cross_values")
# Scores of words that a pass over forced words may make, twice: 64 MB in single precision.
MOST_SCORES = 1 << 24


def _sites_of(library: Any) -> Sites:
    """Every attention module of the library's encoder–decoder, with the site that it is."""
    found = {}
    for side in ("encoder", "decoder"):
        part = library.get_encoder() if side == "encoder" else library.get_decoder()
        for path, module in part.named_modules():
            layer = re.search(r"\d+", path)
            # T5 wraps its attention in layers whose names end like it.
            if layer and _attends(module) and sum(map(_attends, module.modules())) == 1:
                cross = side == "decoder" and "enc" in path.rsplit(".", 1)[-1].lower()
                found[module] = (Site("cross" if cross else side, int(layer[0])),)
    return found


def _attends(module: nn.Module) -> bool:
    return type(module).__name__.endswith("Attention")


class LibraryModel(nn.Module):
    """What :mod:`attention_plugins.decoding` can force words through; it searches by itself.

    ``library``: a model of ``transformers``, loaded with our attention.
    """

    def __init__(self, library: Any) -> None:
        super().__init__()
        self.library = library
        self.sites = _sites_of(library)

    @property
    def begin(self) -> int:
        """The id of the token that the decoder starts from."""
        return self.library.generation_config.decoder_start_token_id

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode ``source (B, n)`` with valid lengths ``(B,)``."""
        mask = mask_of(source, source_lengths)
        with watched(tap, self.sites):
            memory = self.library.get_encoder()(input_ids=source, attention_mask=mask)
        return {"memory": memory.last_hidden_state, "mask": mask}

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """Log-probabilities ``(B, words)`` in nats after ``tokens (B,)``.

        The first tokens are replaced by the model's own start.
        """
        if "keys.0" not in state:
            tokens = torch.full_like(tokens, self.begin)
        scores, state = self._write(state, tokens[:, None], tap)
        return scores[:, -1], state

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Log-probabilities ``(B, m)`` of ``target (B, m)``, in evaluation mode.

        All words come at once, unless the scores of a large vocabulary would fill the memory.
        """
        state = self.start(source, source_lengths, tap)
        before = torch.cat([torch.full_like(target[:, :1], self.begin), target[:, :-1]], dim=1)
        words = self.library.get_output_embeddings().out_features
        size = max(1, MOST_SCORES // (len(target) * words))
        columns = []
        for given, wanted in zip(before.split(size, 1), target.split(size, 1), strict=True):
            scores, state = self._write(state, given, tap)
            columns.append(scores.gather(2, wanted[..., None])[..., 0])
        return torch.cat(columns, dim=1)

    def _write(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """Log-probabilities ``(B, k, words)`` after each of ``tokens (B, k)``."""
        from transformers import DynamicCache, EncoderDecoderCache
        from transformers.modeling_outputs import BaseModelOutput

        layers = sum(name.startswith("keys.") for name in state)  # none at the start
        own, cross = (
            DynamicCache([tuple(state[f"{name}.{layer}"] for name in names)
                          for layer in range(layers)])
            for names in (_CACHED[:2], _CACHED[2:])
        )  # fmt: skip
        with watched(tap, self.sites):
            output = self.library(
                encoder_outputs=BaseModelOutput(last_hidden_state=state["memory"]),
                attention_mask=state["mask"],
                decoder_input_ids=tokens,
                cache=EncoderDecoderCache(own, cross),
                use_cache=True,
            )
        new = {"memory": state["memory"], "mask": state["mask"]}
        parts: Any = zip(own.layers, cross.layers, strict=True)
        for layer, (mine, its) in enumerate(parts):
            kept = mine.keys, mine.values, its.keys, its.values
            new |= {f"{name}.{layer}": part for name, part in zip(_CACHED, kept, strict=True)}
        return output.logits.log_softmax(dim=-1), new

    @torch.no_grad()
    def search(
        self,
        source: Tensor,
        lengths: Tensor,
        *,
        width: int,
        limit: int,
        first: int | None = None,
        interventions: Sequence[Intervention] = (),
    ) -> list[list[int]]:
        """The library's own search: ids of each row's best translation, with its end.

        Args:
            width: of the beam; 1 is greedy.
            limit: most tokens of a translation.
            first: id of a token that it must begin with, such as its language's.
        """
        from transformers import DynamicCache, EncoderDecoderCache

        options = {} if first is None else {"forced_bos_token_id": first}
        tap = Tap(interventions=interventions) if interventions else None
        with watched(tap, self.sites):
            written = self.library.generate(
                source, attention_mask=mask_of(source, lengths), num_beams=width, do_sample=False,
                max_new_tokens=limit, use_cache=True, **options,
                # Its own would have a place for each layer of T5's encoder, not of its decoder.
                cache=EncoderDecoderCache(DynamicCache(), DynamicCache()),
            )  # fmt: skip
        end = self.library.generation_config.eos_token_id
        ends = end if isinstance(end, list) else [end]
        return [up_to_an_end(row[1:], ends) for row in written.tolist()]


def mask_of(source: Tensor, lengths: Tensor) -> Tensor:
    """1 where a token is, 0 on padding, ``(B, n)``."""
    return (torch.arange(source.shape[1], device=source.device) < lengths[:, None]).long()


def up_to_an_end(ids: list[int], ends: Sequence[int | None]) -> list[int]:
    """The ids up to the first end, with it."""
    length = next((place + 1 for place, id in enumerate(ids) if id in ends), len(ids))
    return ids[:length]
