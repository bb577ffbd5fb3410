"""Scores have the shape of queries by keys, whatever the sizes."""

from __future__ import annotations

from attention_plugins.checking.findings import ALONE, attempt, rule
from attention_plugins.checking.scorings.common import (
    KEYS,
    QUERIES,
    SIZE,
    draw,
    inputs,
    knows_heads,
    make,
    require_shape,
    scores,
)
from attention_plugins.contract import ScoringSpec

_LEADING = ((), (3,), (2, 3), (2, 3, 2))


@rule("scorings", decides=True)
def check_it_can_be_built_and_asked(spec: ScoringSpec) -> None:
    """``build`` gives a scoring that takes queries and keys, before anything else is looked at."""
    with attempt("when it was built", ALONE):
        scoring = make(spec)
    with attempt("when it was asked for scores", ALONE):
        scores(scoring, *inputs(2))


@rule("scorings")
def check_scores_have_the_shape_of_queries_by_keys(spec: ScoringSpec) -> None:
    """``(..., n_q, d)`` and ``(..., n_k, d)`` give ``(..., n_q, n_k)``, whatever leads."""
    for leading in _LEADING:
        if not leading and "regression" not in spec.tasks:
            continue  # only points come without a batch
        scoring = make(spec, heads=leading[1] if len(leading) == 2 else 1)
        if len(leading) > 2 and knows_heads(spec):
            continue
        found = scores(scoring, *inputs(*leading))
        require_shape(
            found, (*leading, QUERIES, KEYS),
            f"for queries {(*leading, QUERIES, SIZE)} and keys {(*leading, KEYS, SIZE)}",
            "count dimensions from the end: keys.mT, dim=-1, queries.unsqueeze(-2)",
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
