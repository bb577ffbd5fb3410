"""Translation: one sentence through one checkpoint; the words, how sure of each, the maps."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import torch

from attention_plugins.contract import ContractError, Parameter, settle
from attention_plugins.decoding import force
from attention_plugins.devices import resolve
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.translator import MAX_BEAM, Translation, Translator
from dashboard.runs.changes import Change, read_changes, write_changes
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks.changes import interventions
from dashboard.tasks.context import Context
from dashboard.tasks.tables import maps_table

BEAM = Parameter(
    name="beam",
    title="Beam width",
    default=1,
    low=1,
    high=MAX_BEAM,
    help="How many translations are followed at once; 1 takes the likeliest word at every step.",
)
_TEXTS = ("text", "target", "changes")


def perform(request: Request, context: Context) -> Result:
    """Translate, or decode a forced target, and record every site.

    Options of the request: ``text`` (the sentence), ``target`` (words to force; optional),
    ``changes`` (to heads, see :mod:`dashboard.runs.changes`; optional) and :data:`BEAM`. ``data``
    is a checkpoint's name.

    Returns:
        Tables ``maps`` and ``tokens`` (``token``, ``log_probability`` in nats); facts
        ``translation``, ``tokens``, ``source_tokens``, ``unknown``, ``target_unknown``,
        ``forced``, ``log_probability``, ``model``, ``scoring``, ``corpus``, ``card``, ``device``,
        ``torch``, ``seconds``; with changes also ``changes`` and ``unchanged``: the model's
        ``translation``, ``tokens`` and ``log_probability`` without them, and the
        ``changed_log_probability`` of these tokens under them.

    Raises:
        ValueError: an unknown checkpoint or option, a checkpoint that cannot be used, an empty
            or over-long sentence, a change to what the model does not have.
    """
    began = time.perf_counter()
    texts, width = _options(request)
    if not request.data:
        raise ContractError("need a checkpoint to translate with, got none")
    device = str(resolve(request.device))
    context.report(0.1, "loading the model")
    translator = translator_of(request.data, device)
    context.report(0.5, "translating")
    said = translator.explain(texts["text"], width=width, target=texts["target"])
    changes, more = read_changes(texts["changes"]), {}
    if changes:
        context.report(0.7, "translating with the changes")
        said, more = _changed(translator, texts, width, changes, said)
    return Result(
        tables={"maps": maps_table(said.maps), "tokens": _tokens_table(said)},
        facts={
            "translation": said.text,
            "tokens": list(said.tokens),
            "source_tokens": list(said.source_tokens),
            "unknown": list(said.unknown),
            "target_unknown": list(said.target_unknown),
            "forced": bool(texts["target"].strip()),
            "log_probability": said.log_probability,
            "beam": width,
            **provenance(translator),
            "device": device,
            "seconds": time.perf_counter() - began,
            **more,
        },
    )


def _options(request: Request) -> tuple[dict[str, str], int]:
    given = dict(request.options)
    texts = {name: given.pop(name, "") for name in _TEXTS}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ContractError(f"need {name} to be text, got {text!r}")
    return texts, settle([BEAM], given)["beam"]


def _changed(
    translator: Translator,
    texts: dict[str, str],
    width: int,
    changes: Sequence[Change],
    usual: Translation,
) -> tuple[Translation, dict[str, Any]]:
    """The translation under the changes; what it was without them, as facts."""
    made = interventions(changes, usual.maps)
    text, target = texts["text"], texts["target"]
    said = translator.explain(text, width=width, target=target, interventions=made)
    kept, _ = force(translator.model, *translator.pair(text, target, width=width),
                    interventions=made)  # fmt: skip
    return said, {
        "changes": write_changes(changes),
        "unchanged": {
            "translation": usual.text,
            "tokens": list(usual.tokens),
            "log_probability": usual.log_probability,
            "changed_log_probability": sum(kept[0].tolist()),
        },
    }


@functools.lru_cache(maxsize=8)
def translator_of(name: str, device: str) -> Translator:
    """The translator of a checkpoint, kept for the next request.

    Raises:
        ContractError: no such checkpoint, or one that cannot be used.
    """
    registry = installed()
    return open_checkpoint(read_checkpoint(registry.checkpoint(name).path), registry, device)


def provenance(translator: Translator) -> dict[str, Any]:
    """The facts on what a result was made with."""
    card = translator.summary
    scoring = installed().provider("scorings", card["scoring"])
    maker = translator.library or (scoring.distribution, scoring.version)
    return {
        "model": card["model"],
        "scoring": card["scoring"],
        "corpus": card["corpus"]["name"],
        "card": card,
        "plugin": dict(zip(("distribution", "version"), maker, strict=True)),
        "torch": torch.__version__,
    }


def _tokens_table(said: Translation) -> pa.Table:
    return pa.table(
        {
            "token": pa.array(said.tokens, pa.string()),
            "log_probability": pa.array(said.log_probabilities, pa.float64()),
        }
    )
