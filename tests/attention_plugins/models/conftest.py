"""Sentence pairs for every translation model of 19 source and 13 target words."""

import pytest
import torch

from attention_plugins.models.protocols import Batch
from attention_plugins.text import PAD_ID


@pytest.fixture
def batch():
    """Three pairs with padding planted on both sides."""
    torch.manual_seed(7)
    source, target = torch.randint(4, 19, (3, 7)), torch.randint(4, 13, (3, 5))
    source_lengths, target_lengths = torch.tensor([7, 3, 1]), torch.tensor([2, 5, 3])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths, strict=True):
            row[length:] = PAD_ID
    return Batch(source, source_lengths, target, target_lengths)
