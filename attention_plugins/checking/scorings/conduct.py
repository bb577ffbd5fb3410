"""Scores have a right shape and the inputs' precision; scoring changes nothing, and is fast."""

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from attention_plugins import attention
from attention_plugins.beside import beside
from attention_plugins.checking import records
from attention_plugins.checking.findings import ALONE, Broken, attempt, broken, draw, equal, rule
from attention_plugins.checking.scorings.common import (
    KEYS,
    QUERIES,
    SIZE,
    VALUE,
    attended,
    built,
    inputs,
    knows_heads,
    make,
    remembers_nothing,
    require_shape,
    scored,
    scores,
    trained_in,
)
from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.randomness import seed_all

_SAID = beside(__file__, "words.toml")["conduct"]

_LEADING = ((), (3,), (2, 3), (2, 3, 2))


@rule("scorings", decides=True)
def check_it_can_be_built_and_asked(spec: ScoringSpec) -> None:
    """``build`` gives a scoring that takes queries and keys, before anything else is looked at."""
    with attempt("when it was built", ALONE):
        scoring = make(spec)
    shapes = f"{(2, QUERIES, KEYS)} of queries {(2, QUERIES, SIZE)} and keys {(2, KEYS, SIZE)}"
    with attempt(f"when it was asked for scores {shapes}", lambda: _remedy(spec)):
        found = scores(scoring, *inputs(2))
    if isinstance(found, Tensor) and found.shape == (2, QUERIES, KEYS):
        with attempt("when normalise and pool were asked", ALONE):
            attended(scoring, *inputs(2))


def _remedy(spec: ScoringSpec) -> str:
    """What to change in a scoring that raised, found by asking it otherwise."""
    if left := records.left_behind(make(spec)):
        return _SAID["unknown_tensor"].format(left=left)
    if _answers(spec, torch.float32, KEYS):
        return _SAID["float32_only"]
    if _answers(spec, torch.float64, SIZE):
        return _SAID["keys_not_transposed"]
    return ALONE


def _answers(spec: ScoringSpec, dtype: torch.dtype, keys: int) -> bool:
    given = [part.to(dtype) for part in inputs(2, keys=keys)]
    return not broken(lambda spec: scores(make(spec, dtype=dtype), *given), spec)


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
            make(spec, (size, size)), draw(1, n_queries, size), draw(1, n_keys, size, seed=1)
        )
        require_shape(
            found, (1, n_queries, n_keys),
            f"for queries {(1, n_queries, size)} and keys {(1, n_keys, size)}",
            "write squeeze(-1), never squeeze(), which takes every dimension of one away",
        )  # fmt: skip


@rule("scorings")
def check_queries_and_keys_may_differ_in_size(spec: ScoringSpec) -> None:
    """Models may compare queries of one size with keys of another."""
    advice = _SAID["build_for_both_sizes"]
    with attempt("for queries of size 5 and keys of size 3", advice):
        found = scores(make(spec, (5, 3)), draw(2, QUERIES, 5), draw(2, KEYS, 3, seed=1))
    require_shape(found, (2, QUERIES, KEYS), "for queries of size 5 and keys of size 3", advice)


# Small enough for all differences of queries and keys to lie in a core's cache, so that the
# fastest run is arithmetic: a dot product takes about 10 us, additive scoring 60 times that.
_POINTS, _WIDTH, _SLOWEST = 64, 32, 200
_TRIES, _LONGEST = 12, 3.0


@rule("scorings", decides=True)
def check_nothing_is_drawn_at_random(spec: ScoringSpec) -> None:
    """In evaluation mode the generators that everybody shares stay as they are."""
    scoring = make(spec)
    with records.nothing_drawn("scoring"):
        scores(scoring, *inputs(2))
    with records.nothing_drawn("normalise or pool"):
        attended(scoring, *inputs(2))


@rule("scorings", decides=True)
def check_equal_inputs_give_equal_scores(spec: ScoringSpec) -> None:
    """What was scored before changes nothing, and nor does a gradient that somebody wants."""
    scoring = make(spec)
    found = [_again(scoring, *inputs(2)) for _ in range(3)]
    if not all(_same(each, found[0]) for each in found):
        raise Broken(_SAID["differs_when_repeated"])
    with torch.no_grad():
        if not _same(_again(scoring, *inputs(2)), found[0]):
            raise Broken(_SAID["differs_without_gradients"])
    others = draw(2, QUERIES, SIZE, seed=5), draw(2, KEYS, SIZE, seed=6)
    both = [torch.cat(pair) for pair in zip(inputs(2), others, strict=True)]
    first, second = _again(scoring, *both)[0].split(2)
    if _same(_again(scoring, *others), found[0]) and not equal(first, second):
        raise Broken(_SAID["cached"])


def _again(scoring: attention.Scoring, queries: Tensor, keys: Tensor) -> tuple[Tensor, ...]:
    """Scores, output and weights, with torch's generator as it was the last time."""
    seed_all(3)  # draws are the matter of another rule
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
    alone = asked[..., :1, :] if attention.remembers(scoring) else asked
    memory = keys.new_full((2, 2, KEYS), 1 / KEYS)
    needs = attention.needs_of(scoring, alone.shape[-2], kept, 2, memory, scores=memory)
    found = scoring(alone.clone(), kept.clone(), **needs).detach()
    weights = attention.masked_weights(found, None, scoring.normalise).clone()
    values = draw(2, KEYS, VALUE, seed=2, dtype=weights.dtype)
    calls: list[tuple[str, tuple[Tensor, ...], Callable[[], object]]] = [
        ("project_queries", (queries,), lambda: scoring.project_queries(queries)),
        ("project_keys", (keys,), lambda: scoring.project_keys(keys)),
        ("forward", (asked, kept), lambda: scored(scoring, asked, kept)),
        ("forward", _tensors(needs), lambda: scoring(alone.clone(), kept.clone(), **needs)),
        ("normalise", (found,), lambda: scoring.normalise(found)),
        ("pool", (weights, values, alone, *_tensors(needs)),
         lambda: attention.pooled(scoring, weights, values, needs, asked=alone)),
    ]  # fmt: skip
    for what, given, call in calls:
        before = [(each.clone(), each._version) for each in given]
        with torch.no_grad():
            call()
        for each, (copy, version) in zip(given, before, strict=True):
            if each._version != version or not _same((each,), (copy,)):
                raise Broken(_SAID["overwritten"], what=what)


def _tensors(needs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    return tuple(
        part for need in needs.values() for part in ((need,) if isinstance(need, Tensor) else need)
    )


@rule("scorings")
def check_weights_stay_as_they_are(spec: ScoringSpec) -> None:
    """In evaluation mode scoring changes neither a weight nor a buffer."""
    scoring = make(spec)
    before = records.state(scoring)
    scores(scoring, *inputs(2))
    if changed := records.state_changed(scoring, before):
        raise Broken(_SAID["changed_weights"], changed=", ".join(changed))


@rule("scorings")
def check_nothing_is_kept_on_a_module(spec: ScoringSpec) -> None:
    """No attribute of the scoring or of a submodule is new or other after scoring."""
    scoring = make(spec)
    before = records.Snapshot(scoring)
    scores(scoring, *inputs(2))
    if changed := before.changed(scoring):
        raise Broken(_SAID["set_attributes"], changed=", ".join(changed))


@rule("scorings", applies=remembers_nothing)
def check_it_takes_at_most_200_dot_products(spec: ScoringSpec) -> None:
    """The fastest of several runs, beside a plain dot product in the same moments."""
    seed_all(7)
    dtype = trained_in(spec)
    scoring = spec.create(Sizes(_WIDTH, _WIDTH, _WIDTH)).to(dtype).eval()
    queries, keys = (draw(1, _POINTS, _WIDTH, seed=seed, dtype=dtype) for seed in (0, 1))
    best, dot = float("inf"), float("inf")
    began = time.perf_counter()
    advice = "where a table has one entry a position, clamp positions to its end"
    with torch.no_grad():
        with attempt(f"for {_POINTS} queries and {_POINTS} keys", advice):
            scores(scoring, queries, keys)
        for _ in range(_TRIES):  # a busy machine slows some runs, not all
            dot = min(dot, *(_seconds(lambda: queries @ keys.mT) for _ in range(10)))
            best = min(best, _seconds(lambda: scores(scoring, queries, keys)))
            if best <= _SLOWEST * dot:
                return
            if time.perf_counter() - began > _LONGEST:
                break
    raise Broken(
        _SAID["too_slow"], points=_POINTS, milliseconds=best * 1e3, ratio=best / dot,
        slowest=_SLOWEST,
    )  # fmt: skip


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


# Of the largest score: what rounding of inputs and of sums may cost.
_TOLERANCES = {torch.float32: 1e-3, torch.float64: 1e-9, torch.bfloat16: 0.1}


@rule(
    "scorings", applies=lambda spec: isinstance(built(spec), attention.KernelScoring), decides=True
)
def check_a_kernel_is_never_negative(spec: ScoringSpec) -> None:
    """Features of a query times those of a key, of which scores are the logarithm."""
    scoring = make(spec)
    assert isinstance(scoring, attention.KernelScoring)
    queries, keys = inputs(2)
    asked, kept = scoring.project_queries(queries), scoring.project_keys(keys)
    needs = attention.needs_of(scoring, QUERIES, kept)
    features = scoring.query_features(asked, **attention.taken(scoring.query_features, needs))
    others = scoring.key_features(kept, **attention.taken(scoring.key_features, needs))
    kernel = features @ others.mT
    if not (kernel >= -1e-12).all():  # rounded, where features are products of angles
        raise Broken(_SAID["negative_kernel"], least=kernel.min())


@rule("scorings")
def check_precision_is_that_of_the_inputs(spec: ScoringSpec) -> None:
    """float32, float64 and bfloat16 in, the same out, and about the same scores.

    What torch has no bfloat16 kernel for is not held against it.
    """
    for dtype, tolerance in _TOLERANCES.items():
        kind = str(dtype).removeprefix("torch.")
        queries, keys = (part.to(dtype) for part in inputs(2))
        advice = (
            "make new tensors with queries.new_zeros(...) or dtype=queries.dtype, and cast nothing"
        )
        with attempt(f"in {kind}", advice):
            scoring = make(spec, dtype=dtype)
            try:
                found = scores(scoring, queries, keys)
                output, weights = attended(scoring, queries, keys)
            except RuntimeError as error:
                # As ``cdist`` in bfloat16: torch's gap, not the scoring's fault.
                gap = re.search("not implemented for.*BFloat16", str(error))
                if dtype != torch.bfloat16 or not gap:
                    raise
                continue
        for what, part in (("scores", found), ("weights", weights), ("outputs", output)):
            if part.dtype != dtype:
                got = str(part.dtype).removeprefix("torch.")
                raise Broken(f"queries and keys in {kind} gave {what} in {got}; {advice}")
        try:
            exact = scores(make(spec), queries.double(), keys.double())
        except Exception:  # nosec B112  # said when its turn comes
            continue
        if not equal(found.double(), exact.double(), tolerance):
            raise Broken(_SAID["imprecise"], kind=kind)


@rule("scorings")
def check_it_is_built_without_memory(spec: ScoringSpec) -> None:
    """Checkpoints are compared with a model on the ``meta`` device before a weight is read."""
    advice = "read no value of a tensor while building: no .item(), float(tensor) or .numpy()"
    with attempt('while it was built on the device "meta"', advice), torch.device("meta"):
        hollow = spec.create(Sizes(SIZE, SIZE, SIZE)).state_dict()
    real = make(spec, dtype=torch.float32).state_dict()
    if hollow.keys() != real.keys():
        different = sorted(hollow.keys() ^ real.keys())
        raise Broken(_SAID["other_when_hollow"], different=", ".join(different))


@rule("scorings")
def check_it_stays_on_the_device_of_its_inputs(spec: ScoringSpec) -> None:
    """It makes nothing on another device, reads nothing back, and moves as a whole."""
    scoring = make(spec)
    records.require_movable(scoring)
    queries, keys = inputs(2)
    with records.DevicesWatched("scoring"):
        scores(scoring, queries, keys)
