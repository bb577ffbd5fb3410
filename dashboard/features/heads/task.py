"""Heads: every head of one model on one sentence; how healthy it is, and its ablation effect."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from attention_plugins.attention import rows_sum_to_one
from attention_plugins.decoding import force
from attention_plugins.health import Head, figures, heads_of, leave_one_out, verdicts
from attention_plugins.models.protocols import StepModel
from attention_plugins.opening import read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.tap import Intervention, Site
from attention_plugins.text import EOS_ID, pad
from attention_plugins.translator import Pair, Translator
from dashboard.jobs.task_translator import (
    open_translator,
    provenance,
    read_texts,
    refuse_others,
)
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.interventions import KINDS
from dashboard.records.request import Request, Result

_TEXTS = ("text", "target")
_LONGER = 5  # words by which the sentence's neighbour in the batch is longer
_FIGURES = (
    "row_error", "padding", "eos", "entropy", "concentration", "diagonality", "distance",
    "leave_one_out",
)  # fmt: skip


def perform(request: Request, context: Context) -> Result:
    """Force one translation, and look at every head: as it is, padded, untrained, switched off.

    Options of the request: ``text`` (the sentence) and ``target`` (a translation; the model's
    own greedy one where it is empty). ``data`` is a checkpoint's name.

    Returns:
        Table ``heads``, a row per map and head: ``kind``, ``layer`` and ``head`` (from 0), the
        figures of :func:`attention_plugins.health.figures`, ``padding`` (the largest weight that
        a row has on padded keys, in a batch beside a longer sentence; NaN where a map has no
        such), ``leave_one_out`` (change of the target's log-probability without this head, in
        nats), and ``verdicts``: those of :func:`attention_plugins.health.verdicts`, a space
        between two. Facts ``tokens``,
        ``log_probability``, ``forced``, ``needed`` (None if forced, else the model's
        ``translation`` and the one that it writes ``without`` the head of the lowest
        ``leave_one_out``), ``padded_to`` (source tokens; 0 where the model reads no
        longer sentence), ``row_error`` and ``padding`` (the largest of all heads), ``plugins``
        (who made the model and its scoring), ``seconds``, and those of
        :func:`~dashboard.jobs.task_translator.provenance`.

    Raises:
        ValueError: as the translation task.
    """
    began = time.perf_counter()
    texts, others = read_texts(request, _TEXTS)
    refuse_others(others, _TEXTS)
    translator = open_translator(request, context)
    context.report(0.1, gettext_noop("translating"))
    pair = translator.pair(texts["text"], texts["target"])
    scores, sites = force(translator.model, *pair)
    context.report(0.15, gettext_noop("translating beside a longer sentence"))
    longer = _longer(pair, translator.max_tokens)
    padded = _padding(translator.model, pair, longer) if longer else {}
    context.report(0.2, gettext_noop("looking at the untrained model"))
    _, before = force(_untrained(request.data, translator.device), *pair)
    effects = _effects(translator, pair, len(heads_of(sites)), context)
    forced = bool(texts["target"].strip())
    sums_to_one = rows_sum_to_one(translator.model)
    rows = [
        row
        for site, weights in sites.items()
        if site.kind in KINDS  # another kind has no words to be shown with
        for row in _rows(site, _heads_first(weights), _heads_first(before[site]),
                         padded.get(site), effects, sums_to_one)
    ]  # fmt: skip
    return Result(
        tables={"heads": pa.Table.from_pylist(rows, _schema())},
        facts={
            "tokens": translator.target_vocabulary.words(pair.target[0].tolist()),
            "log_probability": sum(scores[0].tolist()),
            "forced": forced,
            "needed": None if forced else _needed(translator, texts["text"], effects),
            "padded_to": longer.source.shape[1] if longer else 0,
            "row_error": _largest(rows, "row_error"),
            "padding": _largest(rows, "padding"),
            "plugins": _plugins(translator),
            **provenance(translator),
            "seconds": time.perf_counter() - began,
        },
    )


def _untrained(name: str, device: torch.device) -> StepModel:
    registry = installed()
    return read_checkpoint(registry.checkpoint(name).path).untrained(registry).to(device)


def _effects(
    translator: Translator, pair: Pair, count: int, context: Context
) -> dict[Head, float]:
    """The ablation effect of every head."""
    found: dict[Head, float] = {}
    for head, change in leave_one_out(translator, pair):
        found[head] = change
        note = gettext_noop("without head {head} of {heads}", head=len(found), heads=count)
        context.report(0.2 + 0.8 * len(found) / count, note)
    return found


def _needed(
    translator: Translator, text: str, effects: Mapping[Head, float]
) -> dict[str, str] | None:
    """What the model writes, and what it writes without the head that it needs most."""
    shown = {head: change for head, change in effects.items() if head.site.kind in KINDS}
    if not shown:
        return None
    most = min(shown, key=lambda head: shown[head])
    off = Intervention(site=most.site, action="off", head=most.head)
    return {
        "translation": translator.explain(text).text,
        "without": translator.explain(text, interventions=[off]).text,
    }


def _longer(pair: Pair, limit: int) -> Pair | None:
    """The pair twice, its sentence beside one of more words; None where none may be longer."""
    ids = pair.source[0].tolist()
    length = min(len(ids) + _LONGER, limit)
    if length <= len(ids):
        return None
    words = ids[:-1] * (length // len(ids) + 2)
    neighbour = [*words[: length - 1], EOS_ID]
    device = pair.source.device
    return Pair(
        torch.tensor(pad([ids, neighbour]), device=device),
        torch.tensor([len(ids), length], device=device),
        pair.target.repeat(2, 1),
    )


def _padding(model: StepModel, pair: Pair, longer: Pair) -> dict[Site, Tensor]:
    """The largest weight ``(heads,)`` that a row has on padded keys, where keys are padded."""
    length = pair.source.shape[1]
    _, sites = force(model, *longer)
    return {
        site: _heads_first(weights)[:, : _queries(site, pair), length:].sum(-1).amax(-1)
        for site, weights in sites.items()
        if site.kind != "decoder"
    }


def _queries(site: Site, pair: Pair) -> int:
    return (pair.source if site.kind == "encoder" else pair.target).shape[1]


def _rows(
    site: Site,
    weights: Tensor,
    untrained: Tensor,
    padding: Tensor | None,
    effects: Mapping[Head, float],
    sums_to_one: bool,
) -> list[dict[str, Any]]:
    """One row per head of a site; weights ``(heads, queries, keys)``."""
    causal = site.kind == "decoder"
    eos = None if causal else weights.shape[-1] - 1
    found = figures(weights, untrained, causal=causal, eos=eos, sums_to_one=sums_to_one)
    found["padding"] = torch.full_like(weights[:, 0, 0], torch.nan) if padding is None else padding
    columns = {name: values.tolist() for name, values in found.items()}
    rows = []
    for head in range(len(weights)):
        own = {name: values[head] for name, values in columns.items()}
        own["leave_one_out"] = effects[Head(site, head)]
        place = {"kind": site.kind, "layer": site.layer, "head": head}
        rows.append(place | own | {"verdicts": " ".join(verdicts(own))})
    return rows


def _largest(rows: Sequence[Mapping[str, Any]], figure: str) -> float:
    return max((row[figure] for row in rows if math.isfinite(row[figure])), default=0.0)


def _heads_first(weights: Tensor) -> Tensor:
    """The first sentence's ``(heads, queries, keys)``; a model without heads has one."""
    first = weights[0]
    return first if first.dim() == 3 else first[None]


def _plugins(translator: Translator) -> dict[str, dict[str, str]]:
    """Who is to be asked about a bug in the weights."""
    registry, card = installed(), translator.card
    if translator.library:
        name, version = translator.library
        return {
            what: {"name": card[what], "distribution": name, "version": version}
            for what in ("model", "scoring")
        }
    found = {"model": registry.provider("models", card["model"]),
             "scoring": registry.provider("scorings", card["scoring"])}  # fmt: skip
    return {
        what: {"name": card[what], "distribution": plugin.distribution, "version": plugin.version}
        for what, plugin in found.items()
    }


def _schema() -> pa.Schema:
    return pa.schema(
        [("kind", pa.string()), ("layer", pa.int32()), ("head", pa.int32())]
        + [(name, pa.float64()) for name in _FIGURES]
        + [("verdicts", pa.string())]
    )
