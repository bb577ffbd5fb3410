"""Language models in a catalogue, and texts as they would read them, made up here."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from support.catalogue import checkpoint

from dashboard.records.request import Result

LONG = 12  # tokens; a longer text has its maps in blocks of two


def language_models():
    """Checkpoints of a catalogue: two decoders and an encoder."""
    made = [
        checkpoint("speaker", "bahdanau", "scaled_dot", "beginnings"),
        checkpoint("talker", "bahdanau", "additive", "beginnings"),
        checkpoint("reader", "bahdanau", "scaled_dot", "elsewhere"),
    ]
    for one, kind in zip(made, ("decoder", "decoder", "encoder"), strict=True):
        one["card"]["kind"] = kind
        one["card"]["corpus"]["continues"] = True
        one["card"]["corpus"]["examples"] = ["i am not", "where is the"]
    return made


def reading(request, maps):
    """Head h of layer l looks 1 + h + l tokens back, and with a quarter of it at itself."""
    options = dict(request.options)
    kind = "encoder" if request.data == "reader" else "decoder"
    tokens, written = ["<s>", *options["text"].split()], ["on", "·ly"][: options["words"]]
    whole = [*tokens, *written]
    if len(whole) > 1000:
        raise ValueError("the prompt has too many tokens; this model reads at most 1000")
    block = 2 if len(whole) > LONG and not options.get("map") else 1
    labels = whole[::block]
    weights = np.zeros((2, 3, len(labels), len(labels)))
    for layer, head, row in np.ndindex(2, 3, len(labels)):
        weights[layer, head, row, max(0, row - 1 - head - layer)] += 0.75
        weights[layer, head, row, row] += 0.25
    if name := options.get("map", ""):
        layer, _, head = name.partition(".")
        chosen = weights[int(layer) - 1]
        weights = (chosen.mean(0) if head == "mean" else chosen[int(head) - 1])[None, None]
    losses = [None, *(place / 4 for place in range(1, len(whole)))]
    masked = [place for place, token in enumerate(tokens) if token == "[MASK]"]
    places = masked if kind == "encoder" else [len(tokens)]
    rows = [
        {"place": place, "token": token, "log_probability": math.log(share), "probability": share}
        for place in places
        for token, share in (("on", 0.625), ("*off*", 0.25), ("<eos>", 0.0125))
    ]
    schema = pa.schema(
        [("place", pa.int32()), ("token", pa.string()), ("log_probability", pa.float64()),
         ("probability", pa.float64())]
    )  # fmt: skip
    bare = kind == "encoder" and "bare" in tokens  # a vocabulary without a mask
    losses = [None] * len(whole) if bare else losses
    facts = {
        "kind": kind, "text": " ".join(written), "written": len(written),
        "loss": None if bare else 1.25, "block": block, "length": len(whole),
        "mask": "[MASK]" if kind == "encoder" and not bare else "",
        "unknown": [token for token in tokens if token == "zebra"], "map": name,
        "stopped_at": 11 if "stop" in tokens else 0,
    }  # fmt: skip
    tables = {
        "tokens": pa.table({
            "token": whole, "loss": pa.array(losses, pa.float64()),
            "written": [place >= len(tokens) for place in range(len(whole))],
        }),
        "next": pa.Table.from_pylist(rows, schema),
        "maps": maps(kind, weights, labels, labels),
    }  # fmt: skip
    return Result(tables=tables, facts=facts)
