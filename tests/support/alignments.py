"""Alignments of models with gold, made up here."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dashboard.records.request import Result

WORDS = ["i", "am", "*home*", "<eos>"], ["je", "suis", "chez", "moi", "<eos>"]
SURE = [(0, 0), (1, 1), (2, 2), (2, 3)]
# Of three pairs the second is the worst for both models, the third the best.
ERRORS = {"twin_a": (0.5, 0.75, 0.25), "transformer_x": (0.5, 1.0, 0.0)}


def names_of(data):
    return ["1.1"] if data == "twin_a" else [f"{n}.{h}" for n in (1, 2) for h in (1, 2, "mean")]


def rates(data):
    """The usual map, the last mean, is not the best one."""
    rows = [
        {"map": name, "error_rate": 0.5 if name != "1.2" else 0.125, "precision": 0.75,
         "recall": float("nan"), "untrained": 0.875}
        for name in names_of(data)
    ]  # fmt: skip
    pairs = [
        {"number": number, "source": f"s{number}", "target": f"t{number}", "error_rate": rate}
        for number, rate in enumerate(ERRORS.get(data, ERRORS["transformer_x"]), start=1)
    ]
    best = "1.2" if len(rows) > 1 else "1.1"
    # The task makes all numbers; those of one head alone are no means of what is above.
    facts = {"best": best, "average": 0.40625 if len(rows) > 1 else 0.5, "untrained": 0.875,
             "scored": 3, "too_long": 2, "available": 5, "corpus": "phrasebook"}  # fmt: skip
    tables = {"rates": pa.Table.from_pylist(rows), "pairs": pa.Table.from_pylist(pairs)}
    return Result(tables=tables, facts=facts)


def one_pair(data, number):
    source, target = WORDS
    layers = 1 if data == "twin_a" else 2
    heads = 1 if data == "twin_a" else 2
    weights = np.full((layers, heads, len(target), len(source)), 1 / len(source))
    maps = pa.table(
        {
            "kind": ["cross"] * layers, "layer": pa.array(range(layers), pa.int32()),
            "heads": pa.array([heads] * layers, pa.int32()), "queries": [target] * layers,
            "keys": [source] * layers, "causal": [False] * layers,
            "weights": pa.array([w.ravel().tolist() for w in weights], pa.list_(pa.float32())),
        }
    )  # fmt: skip
    links = [
        {"map": name, "source": s, "target": t, "verdict": verdict}
        for name in names_of(data)
        for s, t, verdict in ((0, 0, "right"), (1, 1, "right"), (2, 2, "missed"), (1, 2, "wrong"))
    ]
    facts = {
        "number": number, "available": 5, "source": "I am *home*.", "target": "Je suis chez moi.",
        "source_tokens": source, "target_tokens": target, "sure": SURE, "possible": [],
        "unknown": [], "target_unknown": [], "corpus": "phrasebook",
    }  # fmt: skip
    return Result(tables={"maps": maps, "links": pa.Table.from_pylist(links)}, facts=facts)


def alignment(request):
    """The rates of a model's heads, or one pair."""
    pair = dict(request.options).get("pair", 0)
    return one_pair(request.data, pair) if pair else rates(request.data)


def with_gold(facts):
    """The catalogue with a data set that has gold alignments, and two models of it."""
    corpus = {**facts["datasets"][-1], "name": "phrasebook", "title": "Phrases", "aligned": True}
    facts["datasets"].append(corpus)
    twin = facts["checkpoints"].pop()
    card = {**twin["card"], "model": "transformer"}
    facts["checkpoints"].append({**twin, "name": "transformer_x", "card": card})
    return facts
