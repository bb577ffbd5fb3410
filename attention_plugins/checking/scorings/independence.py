"""A score is made of one query and one key, whoever stands beside them."""

from __future__ import annotations

import torch

from attention_plugins.attention import attend
from attention_plugins.checking.findings import Broken, rule
from attention_plugins.checking.scorings.common import (
    KEYS,
    VALUE,
    draw,
    equal,
    inputs,
    knows_heads,
    make,
    needs_nothing,
    scored,
    scores,
)
from attention_plugins.contract import ScoringSpec

_MASKED = 8  # keys, of 13


@rule("scorings")
def check_batch_rows_do_not_meet(spec: ScoringSpec) -> None:
    """A sentence scores alone as it does among others, and so does a head.

    Heads may meet in a scoring that has weights of its own for each of them.
    """
    heads = 3 if knows_heads(spec) else 1
    scoring = make(spec, heads=heads)
    queries, keys = inputs(2, 3)
    together = scores(scoring, queries, keys)
    for row in range(2):
        rows = [(row,)] if heads > 1 else [(row, head) for head in range(3)]
        for place in rows:
            alone = scores(scoring, queries[place], keys[place])
            if not equal(together[place], alone):
                raise Broken(
                    "a batch row scores differently alone than among others; work on the last "
                    "two dimensions only: no mean, norm or softmax over the leading ones"
                )


@rule("scorings")
def check_queries_do_not_meet(spec: ScoringSpec) -> None:
    """A decoder asks one query at a time and must get what all at once would get."""
    scoring = make(spec)
    queries, keys = inputs(2)
    together = scores(scoring, queries, keys)
    projected = scoring.project_queries(queries.clone()), scoring.project_keys(keys.clone())
    parts = [
        scored(scoring, part.clone(), projected[1].clone(), first)
        for part, first in zip(projected[0].split((2, 5), dim=-2), (0, 2), strict=True)
    ]
    if not equal(together, torch.cat(parts, dim=-2)):
        raise Broken(
            "a query scores differently alone than among others; nothing may be computed over "
            "the queries' dimension (-2 of queries and of scores), such as a mean; a query's"
            ' position comes with needs = ("positions",)'
        )


@rule("scorings", applies=needs_nothing)
def check_moving_a_key_moves_its_scores(spec: ScoringSpec) -> None:
    """Keys in another order give the same scores in that order."""
    scoring, order = make(spec), draw(KEYS, seed=2).argsort()
    queries, keys = inputs(2)
    moved = scores(scoring, queries, keys[:, order])
    if not equal(moved, scores(scoring, queries, keys)[..., order]):
        raise Broken(
            "scores depend on the order of the keys; take counted positions, triangular masks, "
            'cumsum and sort out of it: a scoring of positions says needs = ("positions",), and '
            "masks come through the tap"
        )


@rule("scorings")
def check_a_masked_key_changes_nothing(spec: ScoringSpec) -> None:
    """Attention's output does not depend on keys that the mask hides, such as padding."""
    scoring = make(spec)
    queries, keys = inputs(2)
    values, lengths = draw(2, KEYS, VALUE, seed=2), torch.tensor([KEYS - _MASKED] * 2)
    other = keys.clone()
    other[:, -_MASKED:] = draw(2, _MASKED, keys.shape[-1], seed=3)
    one, another = (
        attend(scoring, queries.clone(), each.clone(), values, lengths)[0]
        for each in (keys, other)
    )
    if not equal(one, another):
        raise Broken(
            "a key behind the mask changed attention's output; compute nothing over the keys' "
            "dimension, such as a softmax, a norm or a mean: return raw scores, attend() masks "
            "and normalises them"
        )


@rule("scorings")
def check_keys_are_projected_one_by_one(spec: ScoringSpec) -> None:
    """Keys that join while decoding are projected when they come, and kept."""
    scoring = make(spec)
    queries, keys = inputs(2)
    parts = [scoring.project_keys(part.clone()) for part in keys.split((6, 7), dim=-2)]
    projected = scoring.project_queries(queries.clone())
    try:
        found = scored(scoring, projected, torch.cat(parts, dim=-2))
    except RuntimeError as error:
        shapes = " and ".join(str(tuple(part.shape)) for part in parts)
        raise Broken(
            f"projected keys {shapes} do not go together ({error}); project_keys must return "
            "(..., n_k, h)"
        ) from error
    if not equal(found, scores(scoring, queries, keys)):
        raise Broken(
            "keys projected in two parts score differently than together; let project_keys look "
            "at each key alone, and at nothing over dimension -2"
        )
