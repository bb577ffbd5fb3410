"""What the record says, what its parameters do, and what attention makes of the scores."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attention_plugins.attention import (
    Inputs,
    Scoring,
    attend,
    attend_with,
    masked_weights,
    needs_of,
    pooled,
    remembers,
)
from attention_plugins.beside import beside
from attention_plugins.blocks import attend_fused, attend_in_blocks, runs_fused
from attention_plugins.checking.findings import Broken, attempt, draw, equal, move, rule
from attention_plugins.checking.records import check_the_record_explains_itself, values_of
from attention_plugins.checking.scorings.common import (
    HIDDEN,
    KEYS,
    QUERIES,
    SIZE,
    VALUE,
    attended,
    inputs,
    make,
    remembers_nothing,
    require_shape,
    scores,
    sound,
)
from attention_plugins.contract import Parameter, ScoringSpec, Sizes
from attention_plugins.fitting import learned_values
from attention_plugins.linear_time import attend_in_linear_time, runs_in_linear_time
from attention_plugins.randomness import seed_all
from attention_plugins.sums import pool_without_weights, pools_without_weights

_SAID = beside(__file__, "words.toml")["weights"]

rule("scorings")(check_the_record_explains_itself)


@rule("scorings")
def check_every_parameter_is_used(spec: ScoringSpec) -> None:
    """It builds at both bounds and at the default, and not all of them attend alike.

    Weights of other names or shapes are a difference too: a kernel may start as the identity.
    """
    for parameter in spec.parameters:
        found = []
        for value in values_of(parameter, on_step=True):
            what = f"with {parameter.name}={value!r}"
            with attempt(what, "let it take every value that the parameter allows, or allow less"):
                scoring = make(spec, values={parameter.name: value}).train()
                seed_all(8)
                found.append(scores(scoring, *inputs(2)))
            require_shape(found[-1], (2, QUERIES, KEYS), what, "keep the shape at every value")
            if not sound(found[-1]):
                raise Broken(_SAID["not_finite"], what=what)
        if all(equal(one, found[0]) for one in found) and not _used_besides(spec, parameter):
            raise Broken(_SAID["unused_parameter"], name=parameter.name)


def _used_besides(spec: ScoringSpec, parameter: Parameter) -> bool:
    """Whether what is made of the scores, or the weights themselves, follow its value.

    What training moves away from where it starts is asked a second time, moved.
    """
    made = [
        make(spec, values={parameter.name: value}).train()
        for value in values_of(parameter, on_step=True)
    ]
    shapes = [{n: t.shape for n, t in each.state_dict().items()} for each in made]
    if any(each != shapes[0] for each in shapes):
        return True
    for moved in (False, True):
        found = []
        for each in made:
            if moved:
                move(each)
            seed_all(8)
            found.append(attended(each, *inputs(2)))
        if not all(equal(a, b) for each in found for a, b in zip(each, found[0], strict=True)):
            return True
    return False


@rule("scorings", applies=lambda spec: any(p.learnable for p in spec.parameters))
def check_learnable_parameters_are_weights(spec: ScoringSpec) -> None:
    """One starts at the value set, can be read by its name, and training may change it."""
    for parameter in (p for p in spec.parameters if p.learnable):
        name = parameter.name
        for value in map(float, values_of(parameter, on_step=True)):
            scoring = make(spec, values={name: value})
            shown = learned_values(scoring, [parameter]).get(name)
            if shown is None:
                raise Broken(_SAID["unreadable_parameter"], name=name)
            if abs(shown - value) > 1e-4 * max(1.0, abs(value)):
                raise Broken(_SAID["starts_elsewhere"], name=name, value=value, shown=shown)
        if not any(weight.requires_grad for weight in scoring.parameters()):
            raise Broken(_SAID["no_weight"], name=name)


@rule("scorings")
def check_a_checkpoint_restores_it(spec: ScoringSpec) -> None:
    """Another instance with the same ``state_dict`` scores alike."""
    scoring = make(spec)
    seed_all(99)
    random.seed(99)
    other = spec.create(Sizes(SIZE, SIZE, HIDDEN, value=VALUE)).double().eval()
    advice = "keep what was drawn in __init__ as nn.Parameter or with register_buffer"
    with attempt("while its state_dict was loaded into another instance", advice):
        other.load_state_dict(scoring.state_dict())
    if not equal(scores(scoring, *inputs(2)), scores(other, *inputs(2))):
        raise Broken(f"another instance with the same state_dict scores differently; {advice}")


# Causes of much else.
_BEFORE = ("inputs_stay_as_they_are", "precision_is_that_of_the_inputs", "dimensions_of_one_stay")
_HEADS = (1, 2, 3, 4)
_LENGTHS = (KEYS, 6)  # keys that the two rows of a batch may see


@rule("scorings", applies=remembers_nothing, unless=_BEFORE)
def check_rows_do_not_meet(spec: ScoringSpec) -> None:
    """``normalise`` and ``pool`` make of a query alone what they make of it among others."""
    for heads in (1, 3):
        scoring = make(spec, heads=heads)
        scores = draw(*_shape(heads, QUERIES, KEYS), seed=4)
        keys, values = (draw(*_shape(heads, KEYS, size), seed=size) for size in (SIZE, VALUE))
        allowed = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril(KEYS - QUERIES)
        weights = masked_weights(scores, allowed, scoring.normalise)
        asked = draw(*_shape(heads, QUERIES, SIZE), seed=6)
        needs = needs_of(scoring, QUERIES, keys, mask=allowed)
        output = pooled(scoring, weights, values, needs, asked=asked)
        for row in (0, 4):
            one = slice(row, row + 1)
            alone = masked_weights(scores[..., one, :], allowed[one], scoring.normalise)
            if not equal(alone, weights[..., one, :]):
                raise Broken(_met("normalise makes other weights", "scores"))
            needs = needs_of(scoring, 1, keys, row, mask=allowed[one])
            found = pooled(scoring, weights[..., one, :], values, needs, asked=asked[..., one, :])
            if not equal(found, output[..., one, :]):
                raise Broken(_met("pool makes another output", "weights"))


def _met(what: str, given: str) -> str:
    return _SAID["meets_others"].format(what=what, given=given)


@rule(
    "scorings",
    unless=(
        *_BEFORE, "queries_do_not_meet", "a_masked_key_changes_nothing", "padding_changes_nothing",
        "batch_rows_do_not_meet", "rows_do_not_meet",
    ),
)  # fmt: skip
def check_unwatched_attention_is_the_same(spec: ScoringSpec) -> None:
    """In blocks, fused or in linear time, where nobody looks, the output is that of the weights.

    So are its gradients.
    """
    scoring = make(spec)
    mask = torch.arange(KEYS) < torch.tensor(_LENGTHS)[:, None, None]
    usual = _learned(scoring, mask, lambda inputs: attend_with(inputs)[0])
    ways: list[tuple[str, Callable[[Inputs[Any]], Tensor]]] = []
    drawn = Inputs(scoring, draw(2, QUERIES, SIZE), draw(2, KEYS, SIZE), draw(2, KEYS, SIZE), mask)
    if runs_in_linear_time(drawn):
        ways.append((_SAID["linear_time"], attend_in_linear_time))
    if runs_fused(drawn):
        ways.append((_SAID["fused_kernels"], attend_fused))
    if not remembers(scoring):
        ways.append((_SAID["blocks"], partial(attend_in_blocks, block=3)))
    for how, way in ways:
        with attempt(f"while it was computed {how.partition(';')[0]}", "mend that"):
            found = _learned(scoring, mask, way)
        if not all(equal(a, b, 1e-7) for a, b in zip(usual, found, strict=True)):
            raise Broken(f"where nobody looks at the weights, output or gradients differ {how}")
    _require_sums(spec)


def _learned(
    scoring: Scoring, mask: Tensor, way: Callable[[Inputs[Any]], Tensor]
) -> tuple[Tensor, ...]:
    queries, keys, values = (part.requires_grad_() for part in _drawn(1))
    learning = [queries, keys, values, *scoring.parameters()]
    output = way(Inputs(scoring, queries, keys, values, mask))
    total = (output * draw(*output.shape, seed=5)).sum()
    return output.detach(), *torch.autograd.grad(total, learning, materialize_grads=True)


def _require_sums(spec: ScoringSpec) -> None:
    """Of a scoring of a distance: that its sums without weights are those with weights."""
    if "regression" not in spec.tasks:
        return
    for size in (1, 2):
        scoring = make(spec, (size, size))
        queries, keys = draw(QUERIES, size), draw(KEYS, size, seed=1)
        values = draw(KEYS, VALUE, seed=2)
        if not pools_without_weights(scoring):
            return
        found = pool_without_weights(scoring, queries, keys, values).values
        if not equal(found, attend(scoring, queries, keys, values)[0], 1e-6):
            raise Broken(_SAID["sums_differ"])


@rule("scorings", unless=(*_BEFORE, "scores_are_finite"))
def check_weights_are_sound_with_every_number_of_heads(spec: ScoringSpec) -> None:
    """Weights have the shape of queries by keys, and are 0 behind the mask.

    None is negative unless the scoring says ``signed = True``, and each row sums to 1 unless it
    says ``sums_to_one = False``.
    """
    for heads in _HEADS:
        scoring = make(spec, heads=heads)
        output, weights = _attended(scoring, heads)
        where = f"with {heads} head{'s' * (heads > 1)}"
        wanted = _shape(heads, QUERIES, KEYS), _shape(heads, QUERIES, VALUE)
        if (tuple(weights.shape), tuple(output.shape)) != wanted:
            raise Broken(
                _SAID["other_shapes"], where=where, weights=tuple(weights.shape),
                outputs=tuple(output.shape), wanted=wanted[0], needed=wanted[1],
            )  # fmt: skip
        if not (weights.isfinite().all() and output.isfinite().all()):
            raise Broken(f"{where} weights or outputs are NaN or infinite; look at normalise")
        if not scoring.signed and (weights < 0).any():
            raise Broken(_SAID["negative"], where=where)
        for row, seen in enumerate(_LENGTHS):
            if weights[row, ..., seen:].any():
                raise Broken(f"{where} a masked key has weight; normalise each row for itself")
        sums = weights.sum(dim=-1)
        off = torch.minimum((sums - 1).abs(), sums.abs())  # 0 where every key is ruled out
        if scoring.sums_to_one and not equal(off, torch.zeros_like(off)):
            raise Broken(_SAID["not_1"], where=where, least=sums.min(), most=sums.max())


@rule("scorings", unless=(*_BEFORE, "batch_rows_do_not_meet", "rows_do_not_meet"))
def check_a_sentence_attends_alone_as_among_others(spec: ScoringSpec) -> None:
    """Weights and outputs of a batch row do not follow from the other rows."""
    for heads in (1, 3):
        scoring = make(spec, heads=heads)
        together = _attended(scoring, heads)
        for row in range(2):
            alone = _attended(scoring, heads, row)
            if not all(equal(a[0], b[row]) for a, b in zip(alone, together, strict=True)):
                raise Broken(
                    _SAID["batch_row_attends_otherwise"], heads=heads, s="s" * (heads > 1)
                )


def _attended(scoring: Scoring, heads: int, row: int | None = None) -> tuple[Tensor, Tensor]:
    rows = slice(None) if row is None else slice(row, row + 1)
    queries, keys, values = (part[rows] for part in _drawn(heads))
    advice = "let every part follow sizes.heads; with one head there is no axis of heads"
    with attempt(f"with {heads} head{'s' * (heads > 1)}", advice):
        return attend(scoring, queries, keys, values, torch.tensor(_LENGTHS)[rows])


def _drawn(heads: int) -> list[Tensor]:
    sizes = (QUERIES, SIZE), (KEYS, SIZE), (KEYS, VALUE)
    return [draw(*_shape(heads, *size), seed=seed) for seed, size in enumerate(sizes)]


def _shape(heads: int, *last: int) -> tuple[int, ...]:
    return (2, heads, *last) if heads > 1 else (2, *last)
