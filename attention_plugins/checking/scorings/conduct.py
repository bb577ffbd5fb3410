"""What a scoring must not do while it scores: draw, remember, overwrite, dawdle."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from attention_plugins.attention import Scoring, masked_weights, needs_of
from attention_plugins.checking.devices import nothing_drawn
from attention_plugins.checking.findings import Broken, attempt, rule
from attention_plugins.checking.records import Snapshot, state, state_changed
from attention_plugins.checking.scorings.common import (
    KEYS,
    QUERIES,
    SIZE,
    VALUE,
    attended,
    draw,
    equal,
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
    with nothing_drawn("scoring"):
        scores(scoring, *inputs(2))
    with nothing_drawn("normalise or pool"):
        attended(scoring, *inputs(2))


@rule("scorings", decides=True)
def check_equal_inputs_give_equal_scores(spec: ScoringSpec) -> None:
    """What was scored before changes nothing, and nor does a gradient that somebody wants."""
    scoring = make(spec)
    found = [_again(scoring, *inputs(2)) for _ in range(3)]
    if not all(_same(each, found[0]) for each in found):
        raise Broken(
            "the same queries and keys scored or attended differently the second time; let "
            "scores, normalise and pool depend on nothing but their inputs and weights: no "
            "counter, no clock, no cache, no generator"
        )
    with torch.no_grad():
        if not _same(_again(scoring, *inputs(2)), found[0]):
            raise Broken(
                "under torch.no_grad() the same queries and keys scored or attended differently; "
                "training and translating would differ: ask neither torch.is_grad_enabled() nor "
                "a tensor's requires_grad"
            )
    others = draw(2, QUERIES, SIZE, seed=5), draw(2, KEYS, SIZE, seed=6)
    both = [torch.cat(pair) for pair in zip(inputs(2), others, strict=True)]
    first, second = _again(scoring, *both)[0].split(2)
    if _same(_again(scoring, *others), found[0]) and not equal(first, second):
        raise Broken(
            "other queries and keys of the same shape got the scores of those before; keep no "
            "cache between calls, not even by shape"
        )


def _again(scoring: Scoring, queries: Tensor, keys: Tensor) -> tuple[Tensor, ...]:
    """Scores, output and weights, with torch's generator as it was the last time."""
    torch.manual_seed(3)  # draws are the matter of another rule
    return scores(scoring, queries, keys), *attended(scoring, queries, keys)


def _same(one: tuple[Tensor, ...], other: tuple[Tensor, ...]) -> bool:
    """Whether all are equal to the last bit; NaN is the matter of another rule."""
    return all(
        a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all())
        for a, b in zip(one, other, strict=True)
    )


@rule("scorings")
def check_inputs_stay_as_they_are(spec: ScoringSpec) -> None:
    """Queries, keys, weights and values are read again after a call, and so is what it needs."""
    scoring = make(spec)
    queries, keys = inputs(2)
    asked, kept = scoring.project_queries(queries), scoring.project_keys(keys)
    alone = asked[..., :1, :] if "memory" in scoring.needs else asked
    memory = keys.new_full((2, 2, KEYS), 1 / KEYS)
    needs = needs_of(scoring, alone.shape[-2], kept, 2, memory)
    found = scoring(alone.clone(), kept.clone(), **needs).detach()
    weights = masked_weights(found, None, scoring.normalise).clone()
    values = draw(2, KEYS, VALUE, seed=2, dtype=weights.dtype)
    calls: list[tuple[str, tuple[Tensor, ...], Callable[[], object]]] = [
        ("project_queries", (queries,), lambda: scoring.project_queries(queries)),
        ("project_keys", (keys,), lambda: scoring.project_keys(keys)),
        ("forward", (asked, kept), lambda: scored(scoring, asked, kept)),
        ("forward", _tensors(needs), lambda: scoring(alone.clone(), kept.clone(), **needs)),
        ("normalise", (found,), lambda: scoring.normalise(found)),
        ("pool", (weights, values, *_tensors(needs)),
         lambda: scoring.pool(weights, values, **needs)),
    ]  # fmt: skip
    for what, given, call in calls:
        before = [(each.clone(), each._version) for each in given]
        with torch.no_grad():
            call()
        for each, (copy, version) in zip(given, before, strict=True):
            if each._version != version or not _same((each,), (copy,)):
                raise Broken(
                    f"{what} overwrote its input; compute a new tensor instead: queries * 2, not "
                    "queries.mul_(2), queries *= 2 or queries[...] = 2"
                )


def _tensors(needs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Those that a scoring asked for."""
    return tuple(
        part for need in needs.values() for part in ((need,) if isinstance(need, Tensor) else need)
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
    with (
        attempt(
            f"for {_POINTS} queries and {_POINTS} keys",
            "where a table has one entry a position, clamp positions to its end",
        ),
        torch.no_grad(),
    ):
        scores(scoring, queries, keys)
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
