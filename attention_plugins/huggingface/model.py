"""The library's encoder–decoder with the seams of our translation models: start, then step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from attention_plugins.huggingface.watching import Library, sites_of, watched
from attention_plugins.models.protocols import State
from attention_plugins.tap import Intervention, Tap

_CACHED = ("keys", "values", "cross_keys", "cross_values")
# Scores of words that a pass over forced words may make, twice: 64 MB in single precision.
_MOST_SCORES = 1 << 24


class _Layer(Protocol):
    """What a cache of the library keeps of a layer that attends."""

    keys: Tensor
    values: Tensor


class LibraryModel(nn.Module):
    """What :mod:`attention_plugins.decoding` can force words through; it searches by itself.

    Args:
        library: a model of ``transformers``, loaded with our attention.
    """

    def __init__(self, library: Library) -> None:
        super().__init__()
        self.library = library
        self._sites = sites_of(library)

    @property
    def begin(self) -> int:
        """The id of the token that the decoder starts from."""
        return self.library.generation_config.decoder_start_token_id

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode ``source (B, n)`` with valid lengths ``(B,)``."""
        mask = _mask(source, source_lengths)
        with watched(tap, self._sites):
            memory = self.library.get_encoder()(input_ids=source, attention_mask=mask)
        return {"memory": memory.last_hidden_state, "mask": mask}

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """Log-probabilities ``(B, words)`` in nats after ``tokens (B,)``.

        The first tokens are replaced by the model's own start.
        """
        if not _layers(state):
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
        size = max(1, _MOST_SCORES // (len(target) * words))
        columns = []
        for given, wanted in zip(before.split(size, 1), target.split(size, 1), strict=True):
            scores, state = self._write(state, given, tap)
            columns.append(scores.gather(2, wanted[..., None])[..., 0])
        return torch.cat(columns, dim=1)

    def _write(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """Log-probabilities ``(B, k, words)`` after each of ``tokens (B, k)``."""
        from transformers import DynamicCache, EncoderDecoderCache
        from transformers.modeling_outputs import BaseModelOutput

        own, cross = _cached(state)
        cache = EncoderDecoderCache(DynamicCache(own), DynamicCache(cross))
        with watched(tap, self._sites):
            output = self.library(
                encoder_outputs=BaseModelOutput(last_hidden_state=state["memory"]),
                attention_mask=state["mask"],
                decoder_input_ids=tokens,
                cache=cache,
                use_cache=True,
            )
        parts = zip(
            cast("list[_Layer]", cache.self_attention_cache.layers),
            cast("list[_Layer]", cache.cross_attention_cache.layers),
            strict=True,
        )
        kept = {
            f"{name}.{layer}": tensor
            for layer, (mine, its) in enumerate(parts)
            for name, tensor in zip(
                _CACHED, (mine.keys, mine.values, its.keys, its.values), strict=True
            )
        }
        memory = {"memory": state["memory"], "mask": state["mask"]}
        return output.logits.log_softmax(dim=-1), memory | kept

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
        with watched(tap, self._sites):
            written = self.library.generate(
                source, attention_mask=_mask(source, lengths), num_beams=width, do_sample=False,
                max_new_tokens=limit, use_cache=True, **options,
                # Its own would have a place for each layer of T5's encoder, not of its decoder.
                cache=EncoderDecoderCache(DynamicCache(), DynamicCache()),
            )  # fmt: skip
        end = self.library.generation_config.eos_token_id
        ends = set(end if isinstance(end, list) else [end])
        return [_until(row[1:], ends) for row in written.tolist()]


def _mask(source: Tensor, lengths: Tensor) -> Tensor:
    """1 where a token is, 0 on padding, ``(B, n)``."""
    return (torch.arange(source.shape[1], device=source.device) < lengths[:, None]).long()


def _layers(state: State) -> int:
    """How many of them keep something; none at the start."""
    return sum(name.startswith("keys.") for name in state)


def _cached(state: State) -> tuple[list[tuple[Tensor, ...]], list[tuple[Tensor, ...]]]:
    """Keys and values by layer, of self-attention and of cross-attention; empty at the start."""
    own, cross = (
        [tuple(state[f"{name}.{layer}"] for name in names) for layer in range(_layers(state))]
        for names in (_CACHED[:2], _CACHED[2:])
    )
    return own, cross


def _until(ids: list[int], ends: set[int | None]) -> list[int]:
    """The ids up to the first end, with it."""
    length = next((place + 1 for place, id in enumerate(ids) if id in ends), len(ids))
    return ids[:length]
