"""What is measured of a training once it has ended.

Loss and the held-out score are measured after every epoch, in the task itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.encoding import GOLD_TOKENISER
from attention_plugins.gold import alignment_error
from attention_plugins.health import relative_entropy
from attention_plugins.text import normalise
from attention_plugins.translator import Translator
from dashboard.records.training import Epoch


def with_alignments(
    sample: Sequence[SentencePair], held_out: Sequence[SentencePair]
) -> list[SentencePair]:
    """The held-out pairs, as the corpus has them, of the sources that were drawn."""
    drawn = {normalise(pair.source) for pair in sample}
    return [pair for pair in held_out if normalise(pair.source) in drawn]


def totals(epochs: Sequence[Epoch]) -> dict[str, float | None]:
    """``seconds`` of all epochs' steps, and ``tokens_per_second`` over that time."""
    seconds = sum(epoch.seconds for epoch in epochs)
    tokens = sum(epoch.tokens_per_second * epoch.seconds for epoch in epochs)
    return {"seconds": seconds, "tokens_per_second": tokens / seconds if seconds else None}


def final_figures(
    translator: Translator, pairs: Sequence[SentencePair], counted: str = GOLD_TOKENISER
) -> dict[str, float | None]:
    """Figures of the cross-attention while the pairs' targets are forced.

    Args:
        translator: the model.
        pairs: what is read and forced.
        counted: the tokeniser whose tokens the pairs' alignments count.

    Returns:
        ``alignment_error``: of the best layer's mean of heads, 0 to 1, against the gold
        alignments that pairs have. ``relative_entropy``: the mean over all rows, heads and
        layers of the entropy over the logarithm of the source's length, 0 to 1. None where there
        is nothing to measure it on.
    """
    return {
        "alignment_error": _alignment_error(translator, pairs, counted),
        "relative_entropy": _relative_entropy(translator, pairs),
    }


def _alignment_error(
    translator: Translator, pairs: Sequence[SentencePair], counted: str
) -> float | None:
    try:
        rates = alignment_error(translator, pairs, counted)
    except ContractError:  # no gold here, or gold for another tokeniser
        return None
    return min((heads[-1] for heads in rates.values()), default=None)


def _relative_entropy(translator: Translator, pairs: Sequence[SentencePair]) -> float | None:
    readable = [
        (pair.source, pair.target)
        for pair in pairs
        if translator.reads(pair.source) and translator.reads(pair.target, target=True)
    ]
    total, rows = 0.0, 0
    for sites in translator.look(readable):
        for site, weights in sites.items():
            if site.kind == "cross":
                allowed = weights.new_ones(weights.shape[1:], dtype=torch.bool)
                total += float(relative_entropy(weights, allowed).mean()) * len(allowed)
                rows += len(allowed)
    return total / rows if rows and math.isfinite(total) else None
