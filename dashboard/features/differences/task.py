"""Differences: how far apart two models look while both are forced to write one translation."""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import torch
from torch import Tensor

from attention_plugins.comparison import correlations, jensen_shannon, match_heads
from attention_plugins.contract import ContractError
from attention_plugins.record import AttentionMap
from attention_plugins.translator import Translator
from dashboard.features.differences.words import folded, labels_of, texts_of
from dashboard.jobs import task_translator
from dashboard.jobs.task_tables import map_names
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request, Result

Heads = dict[str, Tensor]  # (queries, keys), by the map's name


def compare(
    one: Sequence[AttentionMap], other: Sequence[AttentionMap], name: str, other_name: str
) -> Result:
    """How two models' maps of one kind differ: two of the maps cell by cell, and all heads.

    Args:
        one, other: of all layers, at least one; those of another shape than the last are left out.
        name, other_name: the maps that are compared, such as ``2.3`` or ``2.mean``.

    Returns:
        Tables ``differences``, a row per cell (``query``, ``key``, ``query_label``,
        ``key_label``, ``weight_one``, ``weight_other``, ``difference``; null where masked);
        ``divergence``, a row per query (``query``, ``query_label``, ``jensen_shannon_bits``; null
        where a row has no weight); ``matches``, a row per head of the one model (``map``,
        ``match``: the other model's map with the highest Pearson correlation, ``r``; null where
        there is none). Facts ``mean_divergence`` and ``most_different`` (a query's number), over
        queries with weight, and ``correlation`` of the two maps; None where there is none.

    Raises:
        ContractError: a map that a model lacks, maps whose queries or keys are other words.
    """
    queries, keys = own = one[-1].query_labels, one[-1].key_labels
    if own != (other[-1].query_labels, other[-1].key_labels):
        raise ContractError(
            "the two models split the text in different ways, so their maps have different "
            "words and cannot be compared"
        )
    causal = one[-1].site.kind == "decoder"
    heads, other_heads = _heads(one), _heads(other)
    chosen = _chosen(heads, one, name)
    other_chosen = _chosen(other_heads, other, other_name)
    bits = jensen_shannon(chosen, other_chosen)
    seen = _seen([chosen], causal) & _seen([other_chosen], causal)
    r = correlations(chosen[None], other_chosen[None], seen).item()
    known = bits[~bits.isnan()]
    return Result(
        tables={
            "differences": _cells(chosen, other_chosen, queries, keys, causal),
            "divergence": pa.table(
                {
                    "query": range(len(queries)),
                    "query_label": queries,
                    "jensen_shannon_bits": pa.array(bits.tolist(), pa.float64(), from_pandas=True),
                }
            ),
            "matches": _matches(heads, other_heads, causal),
        },
        facts={
            "mean_divergence": known.mean().item() if len(known) else None,
            "most_different": int(bits.nan_to_num(-1.0).argmax()) if len(known) else None,
            "correlation": None if math.isnan(r) else r,
        },
    )


def _heads(maps: Sequence[AttentionMap]) -> Heads:
    shape = maps[-1].weights.shape[1:]
    pairs = ((map_names(found.site.layer, len(found.weights)), found.weights)
             for found in maps if found.weights.shape[1:] == shape)  # fmt: skip
    return {name: weights.double().cpu()
            for pair in pairs for name, weights in zip(*pair, strict=False)}  # fmt: skip


def _chosen(heads: Heads, maps: Sequence[AttentionMap], name: str) -> Tensor:
    """A head, or the mean of a layer's heads, ``(queries, keys)``."""
    if name in heads:
        return heads[name]
    for found in maps:
        names = map_names(found.site.layer, len(found.weights))
        if name == names[-1] and names[0] in heads:
            return found.weights.double().cpu().mean(dim=0)
    raise ContractError(f"no map {name!r}; offered: {', '.join(heads)}, and means of layers")


def _seen(heads: Iterable[Tensor], causal: bool) -> Tensor:
    """The cells ``(queries, keys)`` that no head masks; a row without weight is masked."""
    weights = torch.stack([*heads])
    rows = (weights.sum(dim=-1) > 0).all(dim=0)
    cells = rows[:, None].expand(weights.shape[1:])
    return cells.tril() if causal else cells


def _cells(
    one: Tensor, other: Tensor, queries: Sequence[str], keys: Sequence[str], causal: bool
) -> pa.Table:
    masked = [weights.where(_seen([weights], causal), torch.nan) for weights in (one, other)]
    values = {
        "weight_one": masked[0], "weight_other": masked[1], "difference": masked[0] - masked[1],
    }  # fmt: skip
    places = [(query, key) for query in range(len(queries)) for key in range(len(keys))]
    return pa.table({
        "query": [query for query, _ in places], "key": [key for _, key in places],
        "query_label": [queries[query] for query, _ in places],
        "key_label": [keys[key] for _, key in places],
        **{
            name: pa.array(matrix.flatten().tolist(), pa.float64(), from_pandas=True)
            for name, matrix in values.items()
        },
    })  # fmt: skip


def _matches(heads: Heads, others: Heads, causal: bool) -> pa.Table:
    seen = _seen(heads.values(), causal) & _seen(others.values(), causal)
    one, other = torch.stack([*heads.values()]), torch.stack([*others.values()])
    found = match_heads(one, other, seen)
    matched = [None if match.head is None else [*others][match.head] for match in found]
    return pa.table({
        "map": [*heads], "match": pa.array(matched, pa.string()),
        "r": pa.array([match.r for match in found], pa.float64(), from_pandas=True),
    })  # fmt: skip


_TEXTS = ("other", "text", "target", "kind", "map", "other_map", "words")


def perform(request: Request, context: Context) -> Result:
    """Compare the attention of two checkpoints on one sentence and one forced translation.

    ``data`` is the name of the one checkpoint. Options of the request: ``other`` (the name of the
    other one), ``text`` (the sentence), ``target`` (the translation), ``kind`` (of attention),
    ``map`` and ``other_map`` (the maps to compare, such as ``2.3`` or ``2.mean``), ``words``
    (``yes``: rows and columns are words, see :mod:`dashboard.features.differences.words`).

    Returns:
        As :func:`~dashboard.features.differences.task.compare`; facts also ``one`` and
        ``other``, each as of :func:`~dashboard.jobs.task_translator.provenance`, and ``seconds``.

    Raises:
        ValueError: an unknown checkpoint or option, a checkpoint that cannot be used, an empty
            or over-long sentence or target, maps that cannot be compared.
    """
    began = time.perf_counter()
    texts, others = task_translator.read_texts(request, _TEXTS)
    task_translator.refuse_others(others, _TEXTS)
    if texts["kind"] not in KINDS:
        raise ContractError(f"need kind to be {', '.join(KINDS)}, got {texts['kind']!r}")
    if not texts["target"].strip() and texts["kind"] != "encoder":
        raise ContractError("need the words that both models write, got none")
    if not texts["other"]:
        raise ContractError("need another checkpoint to compare with, got none")
    one = task_translator.open_translator(request, context)
    other = task_translator.translator_of(texts["other"], str(one.device))
    context.report(0.3, gettext_noop("reading the sentence"))
    maps = _maps(one, texts)
    context.report(0.6, gettext_noop("reading the sentence with the other model"))
    found = compare(maps, _maps(other, texts), texts["map"], texts["other_map"])
    sides = {"one": task_translator.provenance(one), "other": task_translator.provenance(other)}
    seconds = time.perf_counter() - began
    return Result(tables=found.tables, facts={**found.facts, **sides, "seconds": seconds})


def _maps(translator: Translator, texts: dict[str, str]) -> list[AttentionMap]:
    said = translator.explain(texts["text"], target=texts["target"])
    found = [one for one in said.maps if one.site.kind == texts["kind"]]
    if not found:
        raise ContractError(
            f"{translator.card['model']} has no {texts['kind']} attention to compare"
        )
    return [_by_words(one, translator, texts) for one in found] if texts["words"] else found


def _by_words(one: AttentionMap, translator: Translator, texts: Mapping[str, str]) -> AttentionMap:
    both = texts_of(translator.summary["kind"], texts["kind"], texts["text"], texts["target"])
    queries, keys = map(labels_of, both)
    weights = folded(one.weights.numpy(), both, one.query_labels, one.key_labels)
    return replace(one, weights=torch.from_numpy(weights), query_labels=queries, key_labels=keys)
