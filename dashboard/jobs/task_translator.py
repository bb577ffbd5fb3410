"""The checkpoint that a request names, at work: what all tasks on translation models share."""

import functools
from collections.abc import Sequence
from typing import Any

import torch

from attention_plugins.contract import ContractError
from attention_plugins.devices import resolve
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.translator import Translator
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Scalar

_LOADING = 0.05  # of a job, when its model is loaded
_KEPT = 6  # models, so that pages that take turns read none anew; each holds 10 to 20 MB


def read_texts(request: Request, names: Sequence[str]) -> tuple[dict[str, str], dict[str, Scalar]]:
    """The options that hold text, empty where left out; and all other options."""
    given = dict(request.options)
    texts: dict[str, str] = {}
    for name in names:
        text = given.pop(name, "")
        if not isinstance(text, str):
            raise ContractError(f"need {name} to be text, got {text!r}")
        texts[name] = text
    return texts, given


def refuse_others(others: dict[str, Scalar], offered: Sequence[str]) -> None:
    """Refuse options that a task does not have."""
    if others:
        raise ContractError(f"no option {min(others)!r}; offered: {', '.join(offered)}")


def open_translator(request: Request, context: Context) -> Translator:
    """The translator of the checkpoint that ``data`` names, on the device of the request.

    ContractError: no checkpoint, an unknown or unusable one, or a device that is not here.
    """
    if not request.data:
        raise ContractError("need a checkpoint to translate with, got none")
    device = str(resolve(request.device))
    context.report(_LOADING, gettext_noop("loading the model"))
    return translator_of(request.data, device)


@functools.lru_cache(maxsize=_KEPT)
def translator_of(name: str, device: str) -> Translator:
    """The translator of a checkpoint, kept for the next request.

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
        "model": card["model"], "scoring": card["scoring"], "corpus": card["corpus"]["name"],
        "card": card, "plugin": dict(zip(("distribution", "version"), maker, strict=True)),
        "torch": torch.__version__, "device": str(translator.device),
    }  # fmt: skip
