"""Heads: every head of one model on one sentence; how healthy it is, and what it is worth."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor, nn

from attention_plugins.ablation import Head, heads_of, leave_one_out
from attention_plugins.contract import ContractError
from attention_plugins.decoding import force
from attention_plugins.devices import resolve
from attention_plugins.health import figures, verdicts
from attention_plugins.opening import read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.tap import Site
from attention_plugins.text import EOS_ID, pad
from attention_plugins.translator import Pair, Translator
from dashboard.runs.changes import KINDS
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks import translation
from dashboard.tasks.context import Context

_LONGER = 5  # words by which the sentence's neighbour in the batch is longer
_FIGURES = (
    "row_error", "padding", "eos", "entropy", "stuckness", "diagonality", "distance",
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
        ``log_probability``, ``forced``, ``padded_to`` (source tokens; 0 where the model reads no
        longer sentence), ``plugins`` (who made the model and its scoring), and those of
        :func:`dashboard.tasks.translation.provenance`.

    Raises:
        ValueError: as the translation task.
    """
    began = time.perf_counter()
    texts = _texts(request)
    if not request.data:
        raise ContractError("need a checkpoint to look at, got none")
    device = resolve(request.device)
    context.report(0.05, "loading the model")
    translator = translation.translator_of(request.data, str(device))
    context.report(0.1, "translating")
    pair = translator.pair(**texts)
    scores, sites = force(translator.model, *pair)
    context.report(0.15, "translating beside a longer sentence")
    longer = _longer(pair, translator.max_tokens)
    padded = _padding(translator.model, pair, longer) if longer else {}
    context.report(0.2, "looking at the untrained model")
    _, before = force(_untrained(request.data, device), *pair)
    worth = _worth(translator, pair, len(heads_of(sites)), context)
    rows = [
        row
        for site, weights in sites.items()
        if site.kind in KINDS  # another kind has no words to be shown with
        for row in _rows(site, _heads_first(weights), _heads_first(before[site]),
                         padded.get(site), worth)
    ]  # fmt: skip
    return Result(
        tables={"heads": pa.Table.from_pylist(rows, _schema())},
        facts={
            "tokens": translator.target_vocabulary.words(pair.target[0].tolist()),
            "log_probability": sum(scores[0].tolist()),
            "forced": bool(texts["target"].strip()),
            "padded_to": longer.source.shape[1] if longer else 0,
            "plugins": _plugins(translator),
            **translation.provenance(translator),
            "device": str(device),
            "seconds": time.perf_counter() - began,
        },
    )


def _texts(request: Request) -> dict[str, str]:
    given = dict(request.options)
    texts = {name: given.pop(name, "") for name in ("text", "target")}
    if given:
        raise ContractError(f"no option {min(given)!r}; offered: text, target")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ContractError(f"need {name} to be text, got {text!r}")
    return {"sentence": texts["text"], "target": texts["target"]}


def _untrained(name: str, device: torch.device) -> nn.Module:
    registry = installed()
    return read_checkpoint(registry.checkpoint(name).path).untrained(registry).to(device)


def _worth(translator: Translator, pair: Pair, count: int, context: Context) -> dict[Head, float]:
    found: dict[Head, float] = {}
    for head, change in leave_one_out(translator, pair):
        found[head] = change
        context.report(0.2 + 0.8 * len(found) / count, f"without head {len(found)} of {count}")
    return found


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


def _padding(model: nn.Module, pair: Pair, longer: Pair) -> dict[Site, Tensor]:
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
    worth: Mapping[Head, float],
) -> list[dict[str, Any]]:
    """One row per head of a site; weights ``(heads, queries, keys)``."""
    causal = site.kind == "decoder"
    eos = None if causal else weights.shape[-1] - 1
    found = figures(weights, untrained, causal=causal, eos=eos)
    found["padding"] = torch.full_like(weights[:, 0, 0], torch.nan) if padding is None else padding
    rows = []
    for head in range(len(weights)):
        own = {name: float(values[head]) for name, values in found.items()}
        own["leave_one_out"] = worth[Head(site, head)]
        place = {"kind": site.kind, "layer": site.layer, "head": head}
        rows.append(place | own | {"verdicts": " ".join(verdicts(own))})
    return rows


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
