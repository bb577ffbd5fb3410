"""The library's decoder with the seams of our models: it continues what it is given."""

import inspect
from typing import Any

import torch
from torch import Tensor

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.decoding import force
from attention_plugins.huggingface.attention import WithSink, watched
from attention_plugins.huggingface.model import MOST_SCORES, Searching, cache_of, cached_in
from attention_plugins.huggingface.trial import sites_in_order
from attention_plugins.models.protocols import State
from attention_plugins.record import TEXT, Axes
from attention_plugins.tap import Site, Tap

_PROBE = 3  # tokens
_SAME = 1e-2  # nats; where a padding is seen, or a position is lost, it is far more


class LibraryDecoder(Searching):
    """See :class:`~attention_plugins.models.protocols.StepModel`; it searches by itself.

    The source is a prompt, the target its continuation. At ``Site("decoder", layer)`` rows and
    columns are the same tokens: the prompt, then the continuation without its last token.

    ``library``: a causal language model of ``transformers``, loaded with our attention.
    """

    def __init__(self, library: Any) -> None:
        super().__init__()
        self.library = library
        self._takes = inspect.signature(library.forward).parameters
        probe = torch.arange(_PROBE, device=library.device)[None] % self.words
        self.sites = sites_in_order(library, "decoder", input_ids=probe)
        if any(getattr(module, "sinks", None) is not None for module in self.sites):
            self.sink = WithSink()

    @property
    def words(self) -> int:
        """How many tokens it knows."""
        return self.library.get_output_embeddings().weight.shape[0]

    def axes(self, site: Site) -> Axes:
        """Rows and columns are the same tokens, in their order."""
        return Axes((TEXT,), (TEXT,))

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Read ``source (B, n)`` of valid lengths ``(B,)`` up to each last token.

        Rows are moved so that all end together.
        """
        ids, mask = _to_the_right(source, source_lengths)
        state = {"last": ids[:, -1], "mask": mask[:, :0]}
        if ids.shape[1] > 1:
            _, state = self._read(state, ids[:, :-1], mask[:, :-1], tap, keep=1)
        return state | {"last": ids[:, -1]}

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """Log-probabilities ``(B, words)`` in nats after ``tokens (B,)``.

        The first tokens are replaced by the last ones of the prompt.
        """
        state = dict(state)
        tokens = state.pop("last", tokens)[:, None]
        scores, state = self._read(state, tokens, torch.ones_like(tokens), tap, keep=1)
        return scores[:, -1], state

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Log-probabilities ``(B, m)`` of ``target (B, m)``, in evaluation mode.

        Each row follows its own prompt without padding in between. All tokens come at once,
        unless the scores of a large vocabulary would fill the memory.
        """
        columns = source.shape[1] + target.shape[1] - 1
        places = torch.arange(target.shape[1], device=target.device) + source_lengths[:, None]
        ids = torch.cat([source, torch.zeros_like(target)], dim=1).scatter(1, places, target)
        wanted = torch.zeros_like(ids[:, 1:]).scatter(1, places - 1, target)
        size = max(1, MOST_SCORES // (len(ids) * self.words))
        first = int(source_lengths.min()) - 1
        parts = [(0, first)] if first else []
        parts += [(n, min(n + size, columns)) for n in range(first, columns, size)]
        state: State = {"mask": ids[:, :0]}
        found = wanted.new_zeros(len(ids), first, dtype=torch.float)
        ahead = torch.ones_like(ids)  # padding comes after all tokens of its row
        for start, end in parts:
            keep = end - start if end > first else 1
            scores, state = self._read(state, ids[:, start:end], ahead[:, start:end], tap, keep)
            if end > first:
                given = scores.gather(2, wanted[:, start:end, None])[..., 0]
                found = torch.cat([found.to(given.dtype), given], dim=1)
        return found.gather(1, places - 1)

    @torch.no_grad()
    def require_steps(self) -> None:
        """Try padding and the cache: CheckpointError where they change what a model says."""
        source = torch.arange(2 * _PROBE, device=self.library.device).view(2, -1) % self.words
        given = self, source, torch.tensor([_PROBE, 1], device=source.device), source[:, 1:]
        steps, _ = force(*given, by_steps=True)
        found, _ = force(*given)
        if not (away := (steps - found).abs().max()) <= _SAME:
            raise CheckpointError(
                f"{self.library.config.model_type!r} says other words one by one than at once, up "
                f"to {away:.2g} nats, so this family is refused"
            )

    def _read(
        self, state: State, tokens: Tensor, mask: Tensor, tap: Tap | None, keep: int
    ) -> tuple[Tensor, State]:
        """Log-probabilities ``(B, keep, words)`` after the last of ``tokens (B, k)``."""
        cache = cache_of(state)
        whole = torch.cat([state["mask"], mask], dim=1)
        places = (whole.cumsum(dim=1) - 1).clamp_min(0)[:, -tokens.shape[1] :]
        asked = {"position_ids": places, "logits_to_keep": keep}
        asked = {name: value for name, value in asked.items() if name in self._takes}
        with watched(tap, self.sites):
            output = self.library(
                input_ids=tokens, attention_mask=whole, cache=cache, use_cache=True, **asked
            )
        return output.logits[:, -keep:].log_softmax(dim=-1), {"mask": whole} | cached_in(cache)

    def _begun(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Any, int]:
        ids, mask = _to_the_right(source, lengths)
        return ids, mask, cache_of({}), ids.shape[1]


def _to_the_right(ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Padding first: ``ids (B, n)``, and 1 where a token is, 0 on padding."""
    moved = torch.arange(ids.shape[1], device=ids.device) - (ids.shape[1] - lengths)[:, None]
    return ids.gather(1, moved.clamp_min(0)), (moved >= 0).long()
