"""The library's encoder–decoder with the seams of our models, every attention done by our tap."""

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attention_plugins.huggingface.attention import Sites, watched
from attention_plugins.models.protocols import State
from attention_plugins.tap import Intervention, Site, Tap

_OWN, _CROSS = ("keys", "values"), ("cross_keys", "cross_values")
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


class Searching(nn.Module):
    """A model of ``transformers``, loaded with our attention, that searches by itself.

    ``sites``: of its modules that attend.
    """

    library: Any
    sites: Sites

    @torch.no_grad()
    def search(
        self, source: Tensor, lengths: Tensor, *, width: int, limit: int,
        first: int | None = None, interventions: Sequence[Intervention] = (),
    ) -> list[list[int]]:  # fmt: skip
        """The library's own search: ids of what is best for each row, with its end.

        Args:
            width: of the beam; 1 is greedy.
            limit: most tokens that are written.
            first: id of a token that it must begin with, such as its language's.
        """
        ids, mask, cache, begin = self._begun(source, lengths)
        ends, padding = ends_of(self.library), self.library.generation_config.pad_token_id
        options = {} if first is None else {"forced_bos_token_id": first}
        tap = Tap(interventions=interventions) if interventions else None
        with watched(tap, self.sites):
            written = self.library.generate(
                ids, attention_mask=mask, num_beams=width, do_sample=False, max_new_tokens=limit,
                use_cache=True, cache=cache, **options,
                pad_token_id=(*ends, 0)[0] if padding is None else padding,
            )  # fmt: skip
        return [up_to_an_end(row, ends) for row in written[:, begin:].tolist()]

    def _begun(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Any, int]:
        """Ids and their mask, an empty cache, and how many columns come before what is new."""
        raise NotImplementedError


class LibraryModel(Searching):
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
        from transformers import EncoderDecoderCache
        from transformers.modeling_outputs import BaseModelOutput

        own, cross = cache_of(state, _OWN), cache_of(state, _CROSS)
        with watched(tap, self.sites):
            output = self.library(
                encoder_outputs=BaseModelOutput(last_hidden_state=state["memory"]),
                attention_mask=state["mask"], decoder_input_ids=tokens,
                cache=EncoderDecoderCache(own, cross), use_cache=True,
            )  # fmt: skip
        new = {"memory": state["memory"], "mask": state["mask"]}
        new |= cached_in(own, _OWN) | cached_in(cross, _CROSS)
        return output.logits.log_softmax(dim=-1), new

    def _begun(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Any, int]:
        from transformers import EncoderDecoderCache

        # Its own would have a place for each layer of T5's encoder, not of its decoder.
        return source, mask_of(source, lengths), EncoderDecoderCache(cache_of({}), cache_of({})), 1


def mask_of(source: Tensor, lengths: Tensor) -> Tensor:
    """1 where a token is, 0 on padding, ``(B, n)``."""
    return (torch.arange(source.shape[1], device=source.device) < lengths[:, None]).long()


def cache_of(state: State, names: tuple[str, str] = _OWN) -> Any:
    """The library's cache of what a state has of every layer; none at the start."""
    from transformers import DynamicCache

    layers = sum(name.startswith(f"{names[0]}.") for name in state)
    # Without the configuration, so that no layer forgets what a window has left behind.
    return DynamicCache([tuple(state[f"{name}.{n}"] for name in names) for n in range(layers)])


def cached_in(cache: Any, names: tuple[str, str] = _OWN) -> State:
    """Keys and values of every layer, under these names."""
    return {
        f"{name}.{number}": part
        for number, layer in enumerate(cache.layers)
        for name, part in zip(names, (layer.keys, layer.values), strict=True)
    }


def ends_of(library: Any) -> list[int]:
    """The ids of tokens that end a text; maybe none."""
    end = library.generation_config.eos_token_id
    return [id for id in (end if isinstance(end, list) else [end]) if id is not None]


def up_to_an_end(ids: list[int], ends: Sequence[int]) -> list[int]:
    """The ids up to the first end, with it."""
    return ids[: next((place + 1 for place, id in enumerate(ids) if id in ends), None)]
