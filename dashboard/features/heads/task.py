"""Heads: every head of one model on one sentence; how healthy it is, and its ablation effect."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import torch

from attention_plugins.attention import rows_sum_to_one, weights_are_signed
from attention_plugins.decoding import force
from attention_plugins.health import Head, figures, heads_of, leave_one_out, verdicts
from attention_plugins.models.protocols import StepModel
from attention_plugins.registry import installed
from attention_plugins.tap import Intervention, Site
from attention_plugins.text import pad
from attention_plugins.translator import Pair, Translator
from dashboard.jobs.task_translator import open_translator, provenance, read_texts, refuse_others
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
_SCHEMA = pa.schema(
    [("kind", pa.string()), ("layer", pa.int32()), ("head", pa.int32())]
    + [(name, pa.float64()) for name in _FIGURES]
    + [("verdicts", pa.string())]
)


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
        ``log_probability``, ``forced``, ``needed`` (None if forced or where the model writes
        nothing, else its ``translation`` and the one that it writes ``without`` the head of the
        lowest ``leave_one_out``), ``padded_to`` (source tokens; 0 where the model reads no
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
    context.report(0.1, gettext_noop("reading"))
    pair, written = translator.pair_and_text(texts["text"], texts["target"])
    scores, sites = force(translator.model, *pair)
    context.report(0.15, gettext_noop("reading beside a longer text"))
    kind = translator.summary["kind"]
    # A decoder's padding comes after all that it reads.
    longer = None if kind == "decoder" else _longer(pair, translator.max_tokens)
    padded = _padding(translator.model, pair, longer) if longer else {}
    context.report(0.2, gettext_noop("looking at the untrained model"))
    _, before = force(translator.untrained(), *pair)
    effects: dict[Head, float] = {}
    heads = heads_of(sites)
    for head, change in leave_one_out(translator, pair, heads):
        effects[head] = change
        note = gettext_noop("without head {head} of {heads}", head=len(effects), heads=len(heads))
        context.report(0.2 + 0.8 * len(effects) / len(heads), note)
    forced = bool(texts["target"].strip())
    needed = None
    if not forced and kind != "encoder" and (off := _most_needed(effects)):
        needed = {"translation": written, "without": translator.write(texts["text"], [off])}
    sums_to_one = rows_sum_to_one(translator.model)
    rows = []
    for site, given in sites.items():
        if site.kind in KINDS:  # another kind has no words to be shown with
            causal = site.kind == "decoder"
            weights, fresh = _heads_first(given), _heads_first(before[site])
            eos = None if causal else weights.shape[-1] - 1
            columns = figures(weights, fresh, causal=causal, eos=eos, sums_to_one=sums_to_one)
            columns["padding"] = padded.get(site, torch.full_like(weights[:, 0, 0], torch.nan))
            rows += _rows(site, columns, effects)
    return Result(
        tables={"heads": pa.Table.from_pylist(rows, _SCHEMA)},
        facts={
            "tokens": translator.target_vocabulary.words(pair.target[0].tolist()),
            "log_probability": sum(scores[0].tolist()), "forced": forced, "needed": needed,
            "padded_to": longer.source.shape[1] if longer else 0,
            "row_error": _largest(rows, "row_error"), "padding": _largest(rows, "padding"),
            "signed": weights_are_signed(translator.model), "plugins": _plugins(translator),
            **provenance(translator), "seconds": time.perf_counter() - began,
        },
    )  # fmt: skip


def _most_needed(effects: Mapping[Head, float]) -> Intervention | None:
    """Switches off the head of the lowest change; None where none has words to be shown with."""
    shown = (head for head in effects if head.site.kind in KINDS)
    most = min(shown, key=lambda head: effects[head], default=None)
    return most and Intervention(site=most.site, action="off", head=most.head)


def _longer(pair: Pair, limit: int) -> Pair | None:
    """The pair twice, its sentence beside one of more words; None where none may be longer."""
    ids = pair.source[0].tolist()
    length = min(len(ids) + _LONGER, limit)
    if length <= len(ids):
        return None
    words = ids[:-1] * (length // len(ids) + 2)
    neighbour = [*words[: length - 1], ids[-1]]
    device = pair.source.device
    return Pair(
        torch.tensor(pad([ids, neighbour]), device=device),
        torch.tensor([len(ids), length], device=device), pair.target.repeat(2, 1),
    )  # fmt: skip


def _padding(model: StepModel, pair: Pair, longer: Pair) -> dict[Site, torch.Tensor]:
    """The largest weight ``(heads,)`` that a row has on padded keys, where keys are padded."""
    length = pair.source.shape[1]
    _, sites = force(model, *longer)
    return {
        site: _heads_first(weights)[:, : side.shape[1], length:].sum(-1).amax(-1)
        for site, weights in sites.items()
        if site.kind != "decoder"
        for side in [pair.source if site.kind == "encoder" else pair.target]
    }


def _rows(
    site: Site, figures: Mapping[str, torch.Tensor], effects: Mapping[Head, float]
) -> list[dict[str, Any]]:
    """One row per head of a site, whose figures are ``(heads,)``."""
    columns = {name: values.tolist() for name, values in figures.items()}
    rows = []
    for head in range(len(columns["entropy"])):
        own = {name: values[head] for name, values in columns.items()}
        own["leave_one_out"] = effects[Head(site, head)]
        place = {"kind": site.kind, "layer": site.layer, "head": head}
        rows.append(place | own | {"verdicts": " ".join(verdicts(own))})
    return rows


def _largest(rows: Sequence[Mapping[str, Any]], figure: str) -> float:
    return max((row[figure] for row in rows if math.isfinite(row[figure])), default=0.0)


def _heads_first(weights: torch.Tensor) -> torch.Tensor:
    """The first sentence's ``(heads, queries, keys)``; a model without heads has one."""
    first = weights[0]
    return first if first.dim() == 3 else first[None]


def _plugins(translator: Translator) -> dict[str, dict[str, str]]:
    """Who is to be asked about a bug in the weights."""
    registry, card = installed(), translator.card
    found = {}
    for what, kind in (("model", "models"), ("scoring", "scorings")):
        if translator.library:
            distribution, version = translator.library
        else:
            plugin = registry.provider(kind, card[what])
            distribution, version = plugin.distribution, plugin.version
        found[what] = {"name": card[what], "distribution": distribution, "version": version}
    return found
