"""How well a model translates sentences, near its training set and far from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attention_plugins.contract import ContractError, MetricSpec, SentencePair
from attention_plugins.datasets.parallel import references
from attention_plugins.experiment import BLEU
from attention_plugins.neighbours import Neighbour, apart, nearest
from attention_plugins.registry import Registry
from attention_plugins.scores import corpus_bleu
from attention_plugins.translator import Translator


def evaluate(
    translator: Translator,
    pairs: Sequence[SentencePair],
    *,
    width: int = 1,
    metric: MetricSpec | None = None,
    neighbours: Mapping[str, Neighbour] | None = None,
) -> dict[str, Any]:
    """Score the translations of every distinct source, against all its references.

    Sources longer than the model reads are left out and counted.

    Args:
        translator: whose translations.
        pairs: sources and references.
        width: of the beam.
        metric: the corpus's own, where that is not BLEU.
        neighbours: of every source its nearest training pair, see :func:`neighbours_of`.

    Returns:
        Corpus BLEU as ``bleu`` (0 to 100) with its ``signature`` and, as ``normalised``, what was
        done to the text before; ``sentences``, ``beam``, ``too_long``; where another metric is
        given also ``metric``: its ``name``, ``title``, ``value``, ``unit`` and
        ``higher_is_better``. With neighbours ``near``, ``far`` and ``copied``, see
        :func:`~attention_plugins.neighbours.apart`: each ``sentences``, ``bleu`` and, by another
        metric, ``value``.
    """
    by_source = references(pairs)
    sources = [source for source in by_source if translator.reads(source)]
    translations = translator.translate(sources, width=width)
    wanted = [by_source[source] for source in sources]
    score = corpus_bleu(translations, wanted)
    own = None if metric is None or metric.name == BLEU else metric
    tokeniser = translator.card["tokeniser"]
    found = {
        "bleu": round(score.score, 2), "signature": score.signature,
        "normalised": f"{score.normalised}; translations detokenised from {tokeniser}",
        "sentences": score.sentences, "beam": width, "too_long": len(by_source) - len(sources),
    }  # fmt: skip
    if own:
        facts = {n: getattr(own, n) for n in ("name", "title", "unit", "higher_is_better")}
        found["metric"] = {**facts, "value": _value(own, translations, wanted)}
    if neighbours:
        found |= apart(sources, translations, wanted, neighbours, _scoring(own))
    return found


def _scoring(
    own: MetricSpec | None,
) -> Callable[[Sequence[str], Sequence[Sequence[str]]], dict[str, Any]]:
    """What part of a corpus scores, by BLEU and by the corpus's own metric."""

    def score(translations: Sequence[str], wanted: Sequence[Sequence[str]]) -> dict[str, Any]:
        bleu = round(corpus_bleu(translations, wanted).score, 2)
        value = {"value": _value(own, translations, wanted)} if own else {}
        return {"sentences": len(translations), "bleu": bleu, **value}

    return score


def _value(
    metric: MetricSpec, translations: Sequence[str], wanted: Sequence[Sequence[str]]
) -> float:
    value = metric.score(translations, wanted)
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ContractError(f"metric {metric.name!r} gave {value!r}; need a finite number")
    return round(float(value), 2)


def neighbours_of(
    held_out: Sequence[SentencePair],
    learned: Sequence[SentencePair],
    registry: Registry,
    counted: str,
) -> dict[str, Neighbour]:
    """The nearest training pair of every held-out source.

    Args:
        held_out: the pairs whose sources are looked at.
        learned: the training pairs.
        registry: where the tokeniser is looked up.
        counted: the tokeniser by whose tokens they differ; see
            :func:`~attention_plugins.experiment.counted_by`.
    """
    if not held_out:
        return {}
    spec = registry.tokeniser(counted)
    tokeniser = spec.create(spec.learned_from([pair.source for pair in learned]))
    return nearest(references(held_out), learned, tokeniser.tokenise)
