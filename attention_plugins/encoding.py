"""Sentence pairs to token ids, and these to batches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.models.protocols import Batch
from attention_plugins.recipe import Recipe
from attention_plugins.text import TOKENISERS, Vocabulary, pad, truncate

# Batches whose sentences are sorted together: long enough to sort well, short enough to shuffle.
_POOL = 50


@dataclass(frozen=True)
class Encoded:
    """A corpus as token ids, with the vocabularies that number them."""

    source: list[list[int]]
    target: list[list[int]]
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary


def encode(pairs: Sequence[SentencePair], recipe: Recipe) -> Encoded:
    """Tokenise the pairs, count both vocabularies, number and cut every sentence.

    Raises:
        ContractError: no pairs.
    """
    if not pairs:
        raise ContractError("need at least one sentence pair to train on, got none")
    tokenise = TOKENISERS[recipe.tokeniser]
    source, read = _numbered([tokenise(pair.source) for pair in pairs], recipe)
    target, written = _numbered([tokenise(pair.target) for pair in pairs], recipe)
    return Encoded(source, target, read, written)


def _numbered(side: list[list[str]], recipe: Recipe) -> tuple[list[list[int]], Vocabulary]:
    vocabulary = Vocabulary.count(side, min_frequency=recipe.min_frequency)
    ids = [truncate(vocabulary.ids(tokens), recipe.max_tokens) for tokens in side]
    return ids, vocabulary


def collate(rows: Sequence[Sequence[int]], device: torch.device | str) -> tuple[Tensor, Tensor]:
    """Token ids padded to the longest row ``(B, n)``, and lengths ``(B,)``."""
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return torch.tensor(pad(rows), device=device), lengths


def batches(
    corpus: Encoded, size: int, generator: random.Random, device: torch.device, start: int = 0
) -> Iterator[Batch]:
    """One epoch: every pair once, in random order, sentences of like length together.

    Args:
        start: how many batches at the beginning are left out.
    """
    order = list(range(len(corpus.source)))
    generator.shuffle(order)
    groups = []
    for first in range(0, len(order), size * _POOL):
        pool = order[first : first + size * _POOL]
        pool.sort(key=lambda i: (len(corpus.target[i]), len(corpus.source[i])))
        groups += [pool[i : i + size] for i in range(0, len(pool), size)]
    generator.shuffle(groups)
    for group in groups[start:]:
        source = collate([corpus.source[i] for i in group], device)
        target = collate([corpus.target[i] for i in group], device)
        yield Batch(*source, *target)
