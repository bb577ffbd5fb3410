"""Differences: how far apart two models look while both are forced to write one translation."""

from __future__ import annotations

import time

from attention_plugins.contract import ContractError
from attention_plugins.record import AttentionMap
from attention_plugins.translator import Translator
from dashboard.features.differences.task_comparison import compare
from dashboard.jobs.context import Context
from dashboard.jobs.task_translator import (
    open_translator,
    provenance,
    read_texts,
    refuse_others,
    translator_of,
)
from dashboard.language import gettext_noop
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request
from dashboard.records.result import Result

_TEXTS = ("other", "text", "target", "kind", "map", "other_map")


def perform(request: Request, context: Context) -> Result:
    """Compare the attention of two checkpoints on one sentence and one forced translation.

    ``data`` is the name of the one checkpoint. Options of the request: ``other`` (the name of the
    other one), ``text`` (the sentence), ``target`` (the translation), ``kind`` (of attention),
    ``map`` and ``other_map`` (the maps to compare, such as ``2.3`` or ``2.mean``).

    Returns:
        As :func:`~dashboard.features.differences.task_comparison.compare`; facts also ``one`` and
        ``other``, each as of :func:`~dashboard.jobs.task_translator.provenance`, and ``seconds``.

    Raises:
        ValueError: an unknown checkpoint or option, a checkpoint that cannot be used, an empty
            or over-long sentence or target, maps that cannot be compared.
    """
    began = time.perf_counter()
    texts, others = read_texts(request, _TEXTS)
    refuse_others(others, _TEXTS)
    if texts["kind"] not in KINDS:
        raise ContractError(f"need kind to be {', '.join(KINDS)}, got {texts['kind']!r}")
    if not texts["target"].strip():
        raise ContractError("need the words that both models write, got none")
    if not texts["other"]:
        raise ContractError("need another checkpoint to compare with, got none")
    one = open_translator(request, context)
    other = translator_of(texts["other"], str(one.device))
    context.report(0.3, gettext_noop("reading the sentence"))
    maps = _maps(one, texts)
    context.report(0.6, gettext_noop("reading the sentence with the other model"))
    found = compare(maps, _maps(other, texts), texts["map"], texts["other_map"])
    more = {
        "one": provenance(one),
        "other": provenance(other),
        "seconds": time.perf_counter() - began,
    }
    return Result(tables=found.tables, facts={**found.facts, **more})


def _maps(translator: Translator, texts: dict[str, str]) -> list[AttentionMap]:
    said = translator.explain(texts["text"], target=texts["target"])
    found = [one for one in said.maps if one.site.kind == texts["kind"]]
    if not found:
        raise ContractError(
            f"{translator.card['model']} has no {texts['kind']} attention to compare"
        )
    return found
