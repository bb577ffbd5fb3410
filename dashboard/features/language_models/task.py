"""Language models: a text through one; what comes next, what each token costs, the maps."""

import math
import time
from dataclasses import replace
from typing import Any

import pyarrow as pa

from attention_plugins.contract import ContractError, settle
from attention_plugins.language import MOST_READ, Reading, Wanted
from attention_plugins.record import AttentionMap
from attention_plugins.tap import Site
from dashboard.jobs.task_offers import offered
from dashboard.jobs.task_tables import map_names, maps_table
from dashboard.jobs.task_translator import open_translator, provenance, read_texts
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result

OPTIONS = offered(__file__).OPTIONS
_TEXTS = ("text", "map")
# Rows and columns of each map where all are asked for, and of one that is asked for alone.
_MOST_OF_ALL, _MOST_OF_ONE = 64, MOST_READ
_KINDS = ("decoder", "encoder")


def perform(request: Request, context: Context) -> Result:
    """Read a text, and let a decoder go on with it.

    Options of the request: ``text``, ``words`` (that a decoder writes), and ``map`` (such as
    ``2.3`` or ``2.mean``, the only one that is wanted; optional). ``data`` is a checkpoint's name.

    Returns:
        Tables ``tokens`` (``token``, ``loss`` in nats, null where a token is given, and whether it
        was ``written``), ``next`` (``place`` of the token, counted from 0, ``token``,
        ``log_probability`` in nats, ``probability``; likeliest first) and ``maps``, in which a
        row and a column stand for up to ``block`` of ``length`` tokens. Facts besides these two:
        ``kind``, ``text`` (what the model wrote), ``written`` (how many tokens), ``stopped_at``
        (as of :class:`~attention_plugins.language.Reading`), ``loss`` (mean
        in nats, None where no token has one), ``mask`` (how a mask is written; empty where there
        is none), ``unknown``, ``map``, ``seconds``, and those of
        :func:`~dashboard.jobs.task_translator.provenance`.

    Raises:
        ValueError: an unknown checkpoint or option, a checkpoint that is no language model or
            cannot be used, an empty or over-long text, a map that the model does not have.
    """
    began = time.perf_counter()
    texts, others = read_texts(request, _TEXTS)
    words = int(settle(OPTIONS, others)["words"])
    translator = open_translator(request, context)
    kind = translator.summary.get("kind")
    if kind not in _KINDS:
        raise ContractError(
            f"{request.data} is of the kind {kind}; need a language model: {', '.join(_KINDS)}"
        )
    context.report(0.3, gettext_noop("reading"))
    wanted = Wanted(words=words, most=_MOST_OF_ALL)
    if name := texts["map"]:
        layer = name.partition(".")[0]
        only = Site(kind, int(layer) - 1) if layer.isdecimal() else None
        wanted = Wanted(words=words, most=_MOST_OF_ONE, only=only)
    reading = translator.read_text(texts["text"], wanted)
    losses = reading.losses
    facts: dict[str, Any] = {
        "kind": kind, "text": reading.text, "written": reading.written,
        "loss": sum(losses) / len(losses) if losses else None, "mask": translator.mask,
        "unknown": list(reading.unknown), "block": reading.block, "length": reading.length,
        "stopped_at": reading.stopped_at, "map": name, **provenance(translator),
        "seconds": time.perf_counter() - began,
    }  # fmt: skip
    found = [_only(name, reading)] if name else reading.maps
    return Result(tables={**_tables(reading), "maps": maps_table(found)}, facts=facts)


def _tables(reading: Reading) -> dict[str, pa.Table]:
    scores = reading.log_probabilities
    first = len(reading.tokens) - reading.written
    rows = [
        {"place": at.place, "token": token, "log_probability": score,
         "probability": math.exp(score)}
        for at in reading.candidates
        for token, score in zip(at.tokens, at.log_probabilities, strict=True)
    ]  # fmt: skip
    schema = pa.schema(
        [("place", pa.int32()), ("token", pa.string()), ("log_probability", pa.float64()),
         ("probability", pa.float64())]
    )  # fmt: skip
    tokens = {
        "token": pa.array(reading.tokens, pa.string()),
        "loss": pa.array([None if one is None else -one for one in scores], pa.float64()),
        "written": pa.array([place >= first for place in range(len(scores))], pa.bool_()),
    }
    return {"tokens": pa.table(tokens), "next": pa.Table.from_pylist(rows, schema)}


def _only(name: str, reading: Reading) -> AttentionMap:
    """The map of that name alone."""
    for found in reading.maps:
        names = map_names(found.site.layer, len(found.weights))
        if name in names:
            heads = [*found.weights.split(1), found.weights.mean(0, keepdim=True)]
            return replace(found, weights=heads[names.index(name)])
    raise ContractError(f"need a map that this model has, such as 1.1, got {name!r}")
