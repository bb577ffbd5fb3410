"""What attention makes of the scores: ``normalise`` and ``pool``, with every number of heads."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.attention import Scoring, attend
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checking.scorings.common import (
    KEYS,
    QUERIES,
    SIZE,
    VALUE,
    draw,
    equal,
    make,
)
from attention_plugins.contract import ScoringSpec

_HEADS = (1, 2, 3, 4)
_LENGTHS = (KEYS, 6)  # keys that the two rows of a batch may see


@rule("scorings")
def check_weights_are_sound_with_every_number_of_heads(spec: ScoringSpec) -> None:
    """Weights have the shape of queries by keys, are not negative, and 0 behind the mask.

    Each row sums to 1, unless the scoring says ``sums_to_one = False``.
    """
    for heads in _HEADS:
        scoring = make(spec, heads=heads)
        output, weights = _attended(scoring, heads)
        where = f"with {heads} head{'s' * (heads > 1)}"
        wanted = _shape(heads, QUERIES, KEYS), _shape(heads, QUERIES, VALUE)
        if (tuple(weights.shape), tuple(output.shape)) != wanted:
            raise Broken(
                f"{where} weights are {tuple(weights.shape)} and outputs {tuple(output.shape)}, "
                f"need {wanted[0]} and {wanted[1]}; heads are the third axis from last, and with "
                "one head there is no such axis"
            )
        if not (weights.isfinite().all() and output.isfinite().all()):
            raise Broken(f"{where} weights or outputs are NaN or infinite; look at normalise")
        if (weights < 0).any():
            raise Broken(
                f"{where} weights are negative, which no page can draw; keep them at 0 or above, "
                "or waive this rule and know that its maps are refused"
            )
        for row, seen in enumerate(_LENGTHS):
            if weights[row, ..., seen:].any():
                raise Broken(f"{where} a masked key has weight; normalise each row for itself")
        sums = weights.sum(dim=-1)
        off = torch.minimum((sums - 1).abs(), sums.abs())  # 0 where every key is ruled out
        if scoring.sums_to_one and not equal(off, torch.zeros_like(off)):
            raise Broken(
                f"{where} rows sum to {sums.min():.3g} to {sums.max():.3g}; make them 1, or say "
                "sums_to_one = False in the class"
            )


@rule("scorings")
def check_a_sentence_attends_alone_as_among_others(spec: ScoringSpec) -> None:
    """Weights and outputs of a batch row do not follow from the other rows."""
    for heads in _HEADS:
        scoring = make(spec, heads=heads)
        together = _attended(scoring, heads)
        for row in range(2):
            alone = _attended(scoring, heads, row)
            if not all(equal(a[0], b[row]) for a, b in zip(alone, together, strict=True)):
                raise Broken(
                    f"with {heads} head{'s' * (heads > 1)} a batch row attends differently alone "
                    "than among others; with one head the third axis from last is the batch's: "
                    "read sizes.heads before normalise or pool mix over it"
                )


def _attended(scoring: Scoring, heads: int, row: int | None = None) -> tuple[Tensor, Tensor]:
    """Output and weights of a batch of two sentences, or of one of them."""
    tensors = [
        draw(*_shape(heads, count, size), seed=seed)
        for seed, (count, size) in enumerate(((QUERIES, SIZE), (KEYS, SIZE), (KEYS, VALUE)))
    ]
    lengths = torch.tensor(_LENGTHS)
    if row is not None:
        tensors, lengths = [part[row : row + 1] for part in tensors], lengths[row : row + 1]
    advice = "let every part follow sizes.heads; with one head there is no axis of heads"
    with attempt(f"with {heads} head{'s' * (heads > 1)}", advice):
        queries, keys, values = tensors
        return attend(scoring, queries, keys, values, lengths)


def _shape(heads: int, *last: int) -> tuple[int, ...]:
    return (2, heads, *last) if heads > 1 else (2, *last)
