"""From a checkpoint to the translator that reads it, whichever library its model is of."""

from __future__ import annotations

import torch

from attention_plugins.checkpoints import Checkpoint
from attention_plugins.huggingface.folder import Adopted
from attention_plugins.translator import Translator


def open_checkpoint(
    checkpoint: Checkpoint, registry: object, device: torch.device | str = "cpu"
) -> Translator:
    """The translator that a checkpoint needs: :class:`Translator`, or another library's.

    Raises:
        ContractError: a checkpoint that cannot be used.
    """
    if isinstance(checkpoint, Adopted):
        from attention_plugins.huggingface.translator import AdoptedTranslator

        return AdoptedTranslator(checkpoint, registry, device)
    return Translator(checkpoint, registry, device)
