"""Scores have the shape of queries by keys, whatever the sizes."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.checking.devices import left_behind
from attention_plugins.checking.findings import ALONE, attempt, rule
from attention_plugins.checking.scorings.common import (
    KEYS,
    QUERIES,
    SIZE,
    attended,
    draw,
    inputs,
    knows_heads,
    make,
    require_shape,
    scores,
)
from attention_plugins.contract import ScoringSpec
from attention_plugins.discovery import let_go

_LEADING = ((), (3,), (2, 3), (2, 3, 2))


@rule("scorings", decides=True)
def check_it_can_be_built_and_asked(spec: ScoringSpec) -> None:
    """``build`` gives a scoring that takes queries and keys, before anything else is looked at."""
    with attempt("when it was built", ALONE):
        scoring = make(spec)
    with attempt("when it was asked for scores", lambda: _remedy(spec)):
        found = scores(scoring, *inputs(2))
    if isinstance(found, Tensor) and found.shape == (2, QUERIES, KEYS):
        with attempt("when normalise and pool were asked", ALONE):
            attended(scoring, *inputs(2))


def _remedy(spec: ScoringSpec) -> str:
    """What to change in a scoring that raised, found by asking it otherwise."""
    if left := left_behind(make(spec)):
        return (
            f"{left} is a tensor that the module does not know, so it keeps its precision and its "
            "device; make it an nn.Parameter, or self.register_buffer(name, tensor)"
        )
    if _answers(spec, torch.float32, KEYS):
        return (
            "it answers in float32, but not in float64: tensors from outside the module keep "
            "their precision; make them in __init__ as nn.Parameter or with register_buffer, or "
            "of the inputs, as queries.new_zeros(...)"
        )
    if _answers(spec, torch.float64, SIZE):
        return (
            "it answers only where there are as many keys as numbers in each: multiply by the "
            "keys transposed, queries @ keys.mT"
        )
    return ALONE


def _answers(spec: ScoringSpec, dtype: torch.dtype, keys: int) -> bool:
    try:
        scores(make(spec, dtype=dtype), *(part.to(dtype) for part in inputs(2, keys=keys)))
    except BaseException as error:
        let_go(error)
        return False
    return True


@rule("scorings", decides=True)
def check_scores_have_the_shape_of_queries_by_keys(spec: ScoringSpec) -> None:
    """``(..., n_q, d)`` and ``(..., n_k, d)`` give ``(..., n_q, n_k)``, whatever leads."""
    for leading in _LEADING:
        if not leading and "regression" not in spec.tasks:
            continue  # only points come without a batch
        scoring = make(spec, heads=leading[1] if len(leading) == 2 else 1)
        if len(leading) > 2 and knows_heads(spec):
            continue
        found = scores(scoring, *inputs(*leading))
        turned = getattr(found, "shape", ()) == (*leading, KEYS, QUERIES)
        require_shape(
            found, (*leading, QUERIES, KEYS),
            f"for queries {(*leading, QUERIES, SIZE)} and keys {(*leading, KEYS, SIZE)}",
            "rows are queries and columns keys: queries @ keys.mT, not keys @ queries.mT"
            if turned
            else "count dimensions from the end: keys.mT, dim=-1, queries.unsqueeze(-2)",
        )  # fmt: skip


@rule("scorings")
def check_dimensions_of_one_stay(spec: ScoringSpec) -> None:
    """One query, one key, one number per vector, one row: each is a dimension all the same."""
    for n_queries, n_keys, size in ((1, KEYS, SIZE), (QUERIES, 1, SIZE), (QUERIES, KEYS, 1)):
        found = scores(
            make(spec, query=size, key=size),
            draw(1, n_queries, size), draw(1, n_keys, size, seed=1),
        )  # fmt: skip
        require_shape(
            found, (1, n_queries, n_keys),
            f"for queries {(1, n_queries, size)} and keys {(1, n_keys, size)}",
            "write squeeze(-1), never squeeze(), which takes every dimension of one away",
        )  # fmt: skip


@rule("scorings")
def check_queries_and_keys_may_differ_in_size(spec: ScoringSpec) -> None:
    """Models may compare queries of one size with keys of another."""
    advice = (
        "build for both sizes.query and sizes.key, or set same_size=True on the record, which "
        "puts a learned projection before the keys"
    )
    with attempt("for queries of size 5 and keys of size 3", advice):
        found = scores(make(spec, query=5, key=3), draw(2, QUERIES, 5), draw(2, KEYS, 3, seed=1))
    require_shape(found, (2, QUERIES, KEYS), "for queries of size 5 and keys of size 3", advice)
