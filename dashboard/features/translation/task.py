"""Translation: one sentence through one checkpoint; the words, how sure of each, the maps."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from torch import Tensor

from attention_plugins.beyond import Patch
from attention_plugins.contract import ContractError, settle
from attention_plugins.decoding import force
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Intervention, Site
from dashboard.features.translation.task_offer import BEAM
from dashboard.jobs.task_tables import maps_table
from dashboard.jobs.task_translator import open_translator, provenance, read_texts
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.interventions import Change, read_changes, write_changes
from dashboard.records.request import Request, Result


def interventions(
    changes: Sequence[Change], maps: Sequence[AttentionMap],
    outputs: Mapping[Site, Tensor] | None = None,
) -> list[Intervention]:  # fmt: skip
    """The changes as a tap takes them, at the sites of these maps.

    Heads are patched by ``outputs`` of another sentence, see :class:`Patch`. ContractError: a
    site, head, row or key that model or sentence lacks, or another sentence of more or fewer rows.
    """
    known = {(found.site.kind, found.site.layer + 1): found for found in maps}
    made = []
    for change in changes:
        found = known.get((change.kind, change.layer))
        if found is None:
            offered = ", ".join(f"{kind}.{layer}" for kind, layer in known)
            raise ContractError(f"{change}: this model has no {change.kind}.{change.layer}; "
                                f"offered: {offered}")  # fmt: skip
        _check(change, found)
        head = None if change.head is None else change.head - 1
        if change.action == "patch":
            output = (outputs or {})[found.site]
            if output.shape[1] != (rows := found.weights.shape[1]):
                raise ContractError(
                    f"{change}: need another sentence of as many tokens: this head has {rows} "
                    f"rows here and {output.shape[1]} there"
                )
            made.append(Patch(site=found.site, action="patch", head=head, output=output))
            continue
        where = {"head": head, "row": change.row, "key": change.key}
        made.append(Intervention(site=found.site, action=change.action, **where))
    return made


def _check(change: Change, found: AttentionMap) -> None:
    heads, rows, keys = found.weights.shape
    if change.head is not None and change.head > heads:
        raise ContractError(f"{change}: need 1 <= head <= {heads}, got {change.head}")
    if change.row is None or change.key is None:
        return
    if change.row >= rows:
        raise ContractError(f"{change}: need 0 <= row < {rows}, got {change.row}")
    seen = min(keys, change.row + 1) if change.kind == "decoder" else keys
    if change.key >= seen:
        if change.kind == "decoder":
            raise ContractError(
                f"{change}: need 0 <= key < {seen}, got {change.key} "
                "(a word sees those before it alone)"
            )
        raise ContractError(f"{change}: need 0 <= key < {seen}, got {change.key}")


_TEXTS = ("text", "target", "changes", "measure", "other")


def perform(request: Request, context: Context) -> Result:
    """Translate, or decode a forced target, and record every site.

    Options of the request: ``text`` (the sentence), ``target`` (words to force; optional),
    ``changes`` (to heads, see :mod:`dashboard.records.interventions`; optional), ``other`` (the
    sentence of patches), ``measure`` (maps show it, see :mod:`attention_plugins.beyond`; optional)
    and :data:`BEAM`. ``data`` is a checkpoint's name.

    Returns:
        Tables ``maps`` and ``tokens`` (``token``, ``log_probability`` in nats, ``probability``);
        facts ``translation``, ``tokens``, ``source_tokens``, ``unknown``, ``target_unknown``,
        ``reads_as_target`` (whether the sentence seems to be of the other side),
        ``forced``, ``log_probability``, ``beam``, ``seconds``, and those of
        :func:`~dashboard.jobs.task_translator.provenance`; with a ``measure`` that, with changes
        also ``changes`` and ``unchanged``: the model's ``translation``, ``tokens`` and
        ``log_probability`` without them, and the ``changed_log_probability`` of these tokens.

    Raises:
        ValueError: an unknown checkpoint or option, a checkpoint that cannot be used, an empty
            or over-long sentence, a change to what the model does not have.
    """
    began = time.perf_counter()
    texts, others = read_texts(request, _TEXTS)
    text, target = texts["text"], texts["target"]
    width = int(settle([BEAM], others)["beam"])
    translator = open_translator(request, context)
    context.report(0.5, gettext_noop("reading and writing"))
    changes, measure = read_changes(texts["changes"]), texts["measure"]
    given = {"width": width, "target": target}
    made = translator.explain(text, **given, measure="" if changes else measure)
    more: dict[str, Any] = {"measure": measure} if measure else {}
    if changes:
        context.report(0.7, gettext_noop("reading and writing with the changes"))
        usual = made
        pair, patches = translator.pair(text, **given), "patch" in texts["changes"]
        outputs = translator.outputs(texts["other"], pair) if patches else None
        taps = interventions(changes, usual.maps, outputs)
        made = translator.explain(text, **given, interventions=taps, measure=measure)
        kept, _ = force(translator.model, *pair, interventions=taps)
        more["changes"] = write_changes(changes)
        more["unchanged"] = {
            "translation": usual.text, "tokens": list(usual.tokens),
            "log_probability": usual.log_probability,
            "changed_log_probability": sum(kept[0].tolist()),
        }  # fmt: skip
    return Result(
        tables={
            "maps": maps_table(made.maps),
            "tokens": pa.table(
                {
                    "token": pa.array(made.tokens, pa.string()),
                    "log_probability": pa.array(made.log_probabilities, pa.float64()),
                    "probability": pa.array(map(math.exp, made.log_probabilities), pa.float64()),
                }
            ),
        },
        facts={
            "translation": made.text, "tokens": list(made.tokens),
            "source_tokens": list(made.source_tokens), "unknown": list(made.unknown),
            "target_unknown": list(made.target_unknown),
            "reads_as_target": translator.reads_as_target(text), "forced": bool(target.strip()),
            "log_probability": made.log_probability, "beam": width, **provenance(translator),
            "seconds": time.perf_counter() - began, **more,
        },
    )  # fmt: skip
