"""What a scoring must not do while it scores: draw, remember, overwrite, dawdle."""

from __future__ import annotations

import time

import torch
from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.checking.attributes import Snapshot, state, state_changed
from attention_plugins.checking.findings import Broken, rule
from attention_plugins.checking.randomness import nothing_drawn
from attention_plugins.checking.scorings.common import (
    draw,
    inputs,
    make,
    remembers_nothing,
    scored,
    scores,
    trained_in,
)
from attention_plugins.contract import ScoringSpec, Sizes

# Small enough for all differences of queries and keys to lie in a core's cache, so that the
# fastest run is arithmetic: a dot product takes about 10 us, additive scoring 60 times that.
_POINTS, _WIDTH, _SLOWEST = 64, 32, 200
_TRIES, _LONGEST = 12, 3.0


@rule("scorings", decides=True)
def check_nothing_is_drawn_at_random(spec: ScoringSpec) -> None:
    """In evaluation mode the generators that everybody shares stay as they are."""
    scoring = make(spec)
    queries, keys = inputs(2)
    with nothing_drawn("scoring"):
        scores(scoring, queries, keys)


@rule("scorings")
def check_equal_inputs_give_equal_scores(spec: ScoringSpec) -> None:
    """What was scored before changes nothing."""
    scoring = make(spec)
    found = []
    for _ in range(3):
        torch.manual_seed(3)  # draws are the matter of another rule
        found.append(scores(scoring, *inputs(2)))
    if not all(each.equal(found[0]) for each in found):
        raise Broken(
            "the same queries and keys scored differently the second time; let scores depend on "
            "nothing but queries, keys and weights: no counter, no clock, no cache"
        )


@rule("scorings")
def check_inputs_stay_as_they_are(spec: ScoringSpec) -> None:
    """Queries and keys are read again after scoring, and so are projected keys."""
    scoring = make(spec)
    queries, keys = inputs(2)
    projected = scoring.project_queries(queries), scoring.project_keys(keys)
    for what, given, call in (
        ("project_queries", queries, lambda: scoring.project_queries(queries)),
        ("project_keys", keys, lambda: scoring.project_keys(keys)),
        ("forward", projected[0], lambda: scored(scoring, *projected)),
        ("forward", projected[1], lambda: scored(scoring, *projected)),
    ):
        before, version = given.clone(), given._version
        call()
        if given._version != version or not given.equal(before):
            raise Broken(
                f"{what} overwrote its input; compute a new tensor instead: queries * 2, not "
                "queries.mul_(2), queries *= 2 or queries[...] = 2"
            )


@rule("scorings")
def check_weights_stay_as_they_are(spec: ScoringSpec) -> None:
    """In evaluation mode scoring changes neither a weight nor a buffer."""
    scoring = make(spec)
    before = state(scoring)
    scores(scoring, *inputs(2))
    if changed := state_changed(scoring, before):
        raise Broken(
            f"scoring changed {', '.join(changed)}; in evaluation mode leave weights and buffers "
            "alone, as several users share one module"
        )


@rule("scorings")
def check_nothing_is_kept_on_a_module(spec: ScoringSpec) -> None:
    """No attribute of the scoring or of a submodule is new or other after scoring."""
    scoring = make(spec)
    before = Snapshot(scoring)
    scores(scoring, *inputs(2))
    if changed := before.changed(scoring):
        raise Broken(
            f"scoring set {', '.join(changed)}; several users share one module, so return what "
            "you computed and set attributes in __init__ only (weights leave through the tap)"
        )


@rule("scorings", applies=remembers_nothing)
def check_it_takes_at_most_200_dot_products(spec: ScoringSpec) -> None:
    """The fastest of several runs, beside a plain dot product in the same moments."""
    torch.manual_seed(7)
    dtype = trained_in(spec)
    scoring = spec.create(Sizes(_WIDTH, _WIDTH, _WIDTH)).to(dtype).eval()
    queries, keys = (draw(1, _POINTS, _WIDTH, seed=seed, dtype=dtype) for seed in (0, 1))
    best, dot = float("inf"), float("inf")
    began = time.perf_counter()
    with torch.no_grad():
        for _ in range(_TRIES):  # a busy machine slows some runs, not all
            dot = min(dot, *(_seconds(None, queries, keys) for _ in range(10)))
            best = min(best, _seconds(scoring, queries, keys))
            if best <= _SLOWEST * dot:
                return
            if time.perf_counter() - began > _LONGEST:
                break
    raise Broken(
        f"{_POINTS} queries by {_POINTS} keys took {best * 1e3:.1f} ms, {best / dot:,.0f} times a "
        f"dot product; need at most {_SLOWEST} times: replace loops over queries or keys by "
        "operations on whole tensors (queries.unsqueeze(-2), keys.unsqueeze(-3))"
    )


def _seconds(scoring: Scoring | None, queries: Tensor, keys: Tensor) -> float:
    began = time.perf_counter()
    if scoring is None:
        torch.matmul(queries, keys.mT)
    else:
        scores(scoring, queries, keys)
    return time.perf_counter() - began
