"""What is measured of a training: its metrics, and those that wait for its end.

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
from dashboard.records.metric import Metric
from dashboard.records.nearness import PARTS
from dashboard.records.training import Epoch

# The last epoch has the first two; the facts of a training that is done have the others.
METRICS = (
    Metric(
        name="loss", title="Loss", unit="nats per token", better="lower", digits=4,
        help="Mean training loss of the last epoch, in nats per target token.",
    ),
    Metric(
        name="bleu", title="BLEU", better="higher",
        help="Of the held-out sentences' greedy translations after the last epoch, 0 to 100.",
    ),
    *(Metric(name=name, title=name.capitalize(), help=words) for name, words in PARTS.items()),
    Metric(
        name="alignment_error", title="AER", better="lower",
        help="Alignment error rate on held-out sentences against the corpus's gold "
        "alignments, 0 to 1: the best layer's cross-attention, mean of its heads.",
    ),
    Metric(
        name="relative_entropy", title="Entropy",
        help="Of the cross-attention's rows on held-out sentences, over the largest possible "
        "one: 0 looks at one word, 1 at all alike. Neither is good in itself.",
    ),
    Metric(
        name="seconds", title="Time", unit="s", better="lower",
        help="Of all steps. Wall-clock time on this machine, which other work on it makes longer.",
    ),
    Metric(
        name="tokens_per_second", title="Tokens/s", better="higher",
        help="Target tokens learned from, over the time of all steps.",
    ),
    Metric(
        name="peak_memory", title="Memory", unit="MB", better="lower",
        help="The most that was held at once: on a GPU by its tensors, else by the whole "
        "worker process, in which Python and torch take a few hundred.",
    ),
)  # fmt: skip


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
