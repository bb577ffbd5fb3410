"""Whether a model that trains on whole sentences is the one that decodes word by word.

A scoring that counts positions by itself, or looks at other queries, learns one function and is
asked for another: the loss falls and the translations are nonsense.
"""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attention_plugins.contract import ContractError
from attention_plugins.decoding import force
from attention_plugins.encoding import collate
from attention_plugins.models.losses import valid_positions
from attention_plugins.models.protocols import Batch, TranslationModel
from attention_plugins.text import PAD_ID

# Nats per token. In double precision the ways differ by rounding alone, about 1e-14; a plugin
# that computes in single precision by itself stays below this too.
TOLERANCE = 1e-5
_EXTRA = 3  # tokens of padding


class DisagreementError(ContractError):
    """A model whose training and decoding disagree, and by how much."""


class Losses(NamedTuple):
    """Of the same sentences, each in nats per target token; the last two with more padding."""

    at_once: float
    word_by_word: float
    at_once_padded: float
    word_by_word_padded: float

    @property
    def spread(self) -> float:
        """The largest difference between two of them."""
        return max(self) - min(self)

    @property
    def agree(self) -> bool:
        """Whether all four are the same but for rounding; NaN never is."""
        return self.spread <= TOLERANCE


@torch.no_grad()
def losses(model: TranslationModel, batch: Batch) -> Losses:
    """The four losses of a model in evaluation mode; the model stays as it is.

    A copy in double precision on the CPU is measured, as the batch lies there.
    """
    model = copy.deepcopy(model).to(torch.device("cpu")).double().eval()
    # Without alignment: a loss with more terms than cross-entropy drops them.
    batch = Batch(*batch)
    wider = batch._replace(source=_wider(batch.source), target=_wider(batch.target))
    return Losses(
        float(model.loss(batch)), _word_by_word(model, batch),
        float(model.loss(wider)), _word_by_word(model, wider),
    )  # fmt: skip


def require_agreement(found: Losses, blamed: str) -> None:
    """Refuse a model whose losses differ, naming what is blamed, such as ``"scoring 'mine'"``."""
    if found.agree:
        return
    if not abs(found.at_once - found.word_by_word) <= TOLERANCE:
        raise DisagreementError(
            f"training and decoding disagree: the same held-out sentences cost "
            f"{found.at_once:.4f} nats per token scored at once, as in training, and "
            f"{found.word_by_word:.4f} word by word, as in decoding. The cause is {blamed}: it "
            'counts positions itself, or lets queries meet. Declare needs = ("positions",) or '
            '("memory",) and use what is then handed over; "check" names the broken rule'
        )
    raise DisagreementError(
        f"padding changes the result: the same held-out sentences cost {found.at_once:.4f} nats "
        f"per token, and {found.at_once_padded:.4f} at once or {found.word_by_word_padded:.4f} "
        f"word by word with {_EXTRA} tokens of padding. The cause is {blamed}: it counts keys "
        'from the end, or computes over all keys at once; "check" names the broken rule'
    )


def batch_of(source: Sequence[Sequence[int]], target: Sequence[Sequence[int]]) -> Batch:
    """Encoded sentences as one batch on the CPU."""
    return Batch(*collate(source, "cpu"), *collate(target, "cpu"))


def _word_by_word(model: TranslationModel, batch: Batch) -> float:
    found, _ = force(model, batch.source, batch.source_lengths, batch.target, by_steps=True)
    return float(-found[valid_positions(batch.target_lengths, batch.target.shape[1])].mean())


def _wider(ids: Tensor) -> Tensor:
    return torch.nn.functional.pad(ids, (0, _EXTRA), value=PAD_ID)
