"""One measurement of a checkpoint on a corpus: its scores, and its alignment error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attention_plugins import experiment
from attention_plugins.contract import DatasetSpec, SentencePair
from attention_plugins.evaluation import evaluate
from attention_plugins.gold import alignment_error, has_gold
from attention_plugins.neighbours import Neighbour
from attention_plugins.registry import Registry
from attention_plugins.translator import Translator


def measure(
    translator: Translator,
    pairs: Sequence[SentencePair],
    registry: Registry,
    data: DatasetSpec | None,
    *,
    width: int,
    neighbours: Mapping[str, Neighbour] | None,
) -> dict[str, Any]:
    """What :func:`~attention_plugins.evaluation.evaluate` gives; ``alignment_error`` by head.

    Args:
        translator: whose translations.
        pairs: sources and references.
        registry: where the metric is looked up.
        data: the data set that the pairs are of; None for a file's, of which the card says more.
        width: of the beam.
        neighbours: of every source its nearest training pair, where that is known.
    """
    named = data.metric if data else str(translator.card["corpus"].get("metric", experiment.BLEU))
    metric = registry.metric(named)
    score = evaluate(translator, pairs, width=width, metric=metric, neighbours=neighbours)
    rates = _alignment_error(translator, pairs, experiment.counted_by(data))
    return {**score, "alignment_error": rates} if rates else score


def _alignment_error(
    translator: Translator, pairs: Sequence[SentencePair], counted: str
) -> dict[str, float]:
    """By cross-attention head, where the corpus has gold alignments that this model can follow."""
    if translator.card["tokeniser"] != counted or not any(map(has_gold, pairs)):
        return {}
    rates = {}
    for site, heads in alignment_error(translator, pairs, counted).items():
        names = ["mean of heads"] if len(heads) > 1 else []
        names = [f"head {number}" for number in range(1, len(heads) + 1 - len(names))] + names
        for name, rate in zip(names, heads, strict=True):
            rates[f"cross-attention layer {site.layer + 1}, {name}"] = round(rate, 4)
    return rates
