"""What is measured of a model once it is trained: where it looks on sentences it never saw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.gold import alignment_error
from attention_plugins.health import relative_entropy
from attention_plugins.text import normalise
from attention_plugins.translator import Translator


def with_alignments(
    sample: Sequence[SentencePair], held_out: Sequence[SentencePair]
) -> list[SentencePair]:
    """The held-out pairs, as the corpus has them, of the sources that were drawn."""
    drawn = {normalise(pair.source) for pair in sample}
    return [pair for pair in held_out if normalise(pair.source) in drawn]


def final_figures(
    translator: Translator, pairs: Sequence[SentencePair]
) -> dict[str, float | None]:
    """Figures of the cross-attention while the pairs' targets are forced.

    Returns:
        ``alignment_error``: of the best layer's mean of heads, 0 to 1, against the gold
        alignments that pairs have. ``relative_entropy``: the mean over all rows, heads and
        layers of the entropy over the logarithm of the source's length, 0 to 1. None where there
        is nothing to measure it on.
    """
    return {
        "alignment_error": _alignment_error(translator, pairs),
        "relative_entropy": _relative_entropy(translator, pairs),
    }


def _alignment_error(translator: Translator, pairs: Sequence[SentencePair]) -> float | None:
    try:
        rates = alignment_error(translator, pairs)
    except ContractError:  # no gold here, or gold for another tokeniser
        return None
    return min((heads[-1] for heads in rates.values()), default=None)


def _relative_entropy(translator: Translator, pairs: Sequence[SentencePair]) -> float | None:
    readable = [
        (pair.source, pair.target)
        for pair in pairs
        if translator.reads(pair.source) and translator.reads(pair.target)
    ]
    total, rows = 0.0, 0
    for sites in translator.look(readable):
        for site, weights in sites.items():
            if site.kind == "cross":
                allowed = weights.new_ones(weights.shape[1:], dtype=bool)
                total += float(relative_entropy(weights, allowed).mean()) * len(allowed)
                rows += len(allowed)
    return total / rows if rows and math.isfinite(total) else None
