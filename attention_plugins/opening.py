"""From a folder to its checkpoint and its translator, whichever library its model is of."""

from pathlib import Path

import torch

from attention_plugins import checkpoints
from attention_plugins.checkpoints import Checkpoint
from attention_plugins.huggingface import folder as adopted
from attention_plugins.translator import Translator


def read_checkpoint(folder: Path) -> Checkpoint:
    """A checkpoint of ours, or a folder of Hugging Face; CheckpointError if it is none."""
    folder = Path(folder)
    return adopted.read(folder) if adopted.is_one(folder) else checkpoints.read(folder)


def open_checkpoint(
    checkpoint: Checkpoint, registry: object, device: torch.device | str = "cpu"
) -> Translator:
    """The translator that a checkpoint needs: :class:`Translator`, or another library's."""
    if isinstance(checkpoint, adopted.Adopted):
        from attention_plugins.huggingface.texts import TRANSLATORS

        return TRANSLATORS[checkpoint.kind](checkpoint, registry, device)
    return Translator(checkpoint, registry, device)
