"""The library's encoder with the seams of our models: it reads a text, and guesses masked words.

Salazar et al. 2020, Masked language model scoring: what a token's log-probability is.
"""

from collections.abc import Iterable
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from attention_plugins.contract import ContractError
from attention_plugins.huggingface.attention import watched
from attention_plugins.huggingface.model import MOST_SCORES, mask_of
from attention_plugins.huggingface.trial import sites_in_order
from attention_plugins.marking import gettext_noop
from attention_plugins.tap import Tap

_PROBE = 3  # tokens
NO_HEAD = gettext_noop(
    "this encoder has no head that guesses masked words, so it has maps and no likelihoods"
)


class LibraryEncoder(nn.Module):
    """See :class:`~attention_plugins.models.protocols.ForcedModel`; it writes no words.

    The target is the source without its special tokens, or nothing, where only maps are wanted.

    Args:
        library: a model of ``transformers``, loaded with our attention.
        mask: id of the token that stands for a hidden one; None where it can guess none.
        special: ids of tokens that are no words of a text.
    """

    def __init__(self, library: Any, mask: int | None, special: Iterable[int]) -> None:
        super().__init__()
        self.library, self.mask = library, mask
        self._special = torch.tensor(sorted(special), dtype=torch.long)
        words = library.get_input_embeddings().weight.shape[0]
        probe = (torch.arange(_PROBE, device=library.device)[None] + 3) % words
        self.sites = sites_in_order(library, "encoder", input_ids=probe)

    def start(self, *_: Any) -> NoReturn:
        """An encoder has no next word: ContractError."""
        raise ContractError("this model is an encoder: it reads a text, and writes none")

    step = start

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Log-probabilities ``(B, m)`` of ``target (B, m)``, each token while it is masked.

        The tap sees the text as it is; what it changes is changed in the masked copies, too.
        """
        there = mask_of(source, source_lengths)
        ids = source.masked_fill(there == 0, self.library.config.pad_token_id or 0)
        self._logits(ids, there, tap)
        found = torch.zeros(target.shape, dtype=self.library.dtype, device=target.device)
        if not target.shape[1]:
            return found
        if self.mask is None:
            raise ContractError(NO_HEAD)
        is_word = (there == 1) & ~torch.isin(ids, self._special.to(ids.device))
        # Words first, in their order.
        places = (~is_word).int().argsort(dim=1, stable=True)[:, : target.shape[1]]
        # Changes may be of single rows of a batch, which then are no copies of each other.
        alone = len(ids) == 1
        scores = ids.numel() * self.library.get_input_embeddings().weight.shape[0]
        size = max(1, MOST_SCORES // scores) if alone else 1
        for part in torch.arange(target.shape[1], device=ids.device).split(size):
            column: Any = (0, part) if alone else (slice(None), part[0])
            hidden = places[column]
            rows = torch.arange(len(hidden), device=ids.device)
            copies = ids.expand(len(hidden), -1).clone()
            copies[rows, hidden] = self.mask
            logits = self._logits(copies, there.expand(len(hidden), -1), tap.anew(None))
            given = logits[rows, hidden].log_softmax(dim=-1)
            found[column] = given.gather(1, target[column][:, None])[:, 0]
        return found

    @torch.no_grad()
    def guess(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> Tensor:
        """Log-probabilities ``(B, n, words)`` of each place of a text as it stands, in nats."""
        return self._logits(source, mask_of(source, source_lengths), tap).log_softmax(dim=-1)

    def _logits(self, ids: Tensor, there: Tensor, tap: Tap) -> Tensor:
        """What the head gives ``(B, n, words)``, or the last layer where there is no head."""
        with watched(tap, self.sites):
            return self.library(input_ids=ids, attention_mask=there)[0]
