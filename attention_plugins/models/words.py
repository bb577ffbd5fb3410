"""Words as vectors: embeddings with positions, and an output layer that shares their matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable

from torch import Tensor, nn

from attention_plugins.models.positions import sinusoidal_positions
from attention_plugins.randomness import dropout


def placed(embedding: nn.Embedding, tokens: Tensor, places: Tensor, rate: float) -> Tensor:
    """Scaled embeddings plus sinusoidal positions, ``(B, m, size)``.

    Vaswani et al. 2017, sections 3.4 and 3.5.

    Args:
        tokens: ids ``(B, m)``.
        places: where they stand, ``(m,)`` or ``(B, m)``, from 0.
        rate: share of the numbers dropped; 0 outside training.
    """
    words = embedding(tokens) * math.sqrt(embedding.embedding_dim)
    positions = sinusoidal_positions(places, embedding.embedding_dim, words.dtype)
    return dropout(words + positions, rate)


def tie(output: nn.Linear, shared: nn.Embedding, embeddings: Iterable[nn.Embedding]) -> None:
    """Let ``output`` score words with the matrix of ``shared``, and start all embeddings small.

    One matrix reads words and scores them: unit rows as input would give huge logits.
    """
    output.weight = shared.weight
    for embedding in embeddings:
        nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)
    nn.init.zeros_(output.bias)
