"""A score is made of one query and one key; it is finite, and so are its right gradients."""

from collections.abc import Iterator, Sequence
from itertools import product

import torch
from torch import Tensor

from attention_plugins import attention
from attention_plugins.beside import beside
from attention_plugins.checking.findings import Broken, draw, equal, rule
from attention_plugins.checking.scorings.common import (
    KEYS,
    QUERIES,
    SIZE,
    VALUE,
    attended,
    inputs,
    knows_heads,
    make,
    remembers_nothing,
    scored,
    scores,
    sound,
    trained_in,
)
from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.randomness import seed_all

_SAID = beside(__file__, "words.toml")["independence"]

_BEFORE = ("inputs_stay_as_they_are", "precision_is_that_of_the_inputs")
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
    for place in product(range(2), *([] if heads > 1 else [range(3)])):
        if not equal(together[place], scores(scoring, queries[place], keys[place])):
            raise Broken(_SAID["batch_rows_meet"])


@rule("scorings")
def check_queries_do_not_meet(spec: ScoringSpec) -> None:
    """A decoder asks one query at a time and must get what all at once would get."""
    scoring = make(spec)
    queries, keys = inputs(2)
    together = scoring.project_queries(queries.clone())
    parts = [scoring.project_queries(part.clone()) for part in queries.split((2, 5), dim=-2)]
    if not _joined_equal(together, parts):
        raise Broken(_SAID["projected_queries_meet"])
    found = scores(scoring, queries, keys)
    projected = scoring.project_keys(keys.clone())
    asked = [
        scored(scoring, part.clone(), projected.clone(), first)
        for part, first in zip(parts, (0, 2), strict=True)
    ]
    if not _joined_equal(found, asked):
        raise Broken(_SAID["queries_meet"])


def _joined_equal(together: Tensor, parts: list[Tensor]) -> bool:
    try:
        return equal(together, torch.cat(parts, dim=-2))
    except RuntimeError:  # the parts do not even go together
        return False


@rule("scorings", applies=remembers_nothing)
def check_moving_a_key_moves_its_scores(spec: ScoringSpec) -> None:
    """Keys in another order, with their positions, give the same scores in that order."""
    scoring, order = make(spec), draw(KEYS, seed=2).argsort()
    queries, keys = inputs(2)
    asked, projected = scoring.project_queries(queries), scoring.project_keys(keys[:, order])
    one = scored(scoring, asked.clone(), scoring.project_keys(keys.clone()))
    needs = attention.needs_of(scoring, QUERIES, projected, 0, None, order)
    if equal(scoring(asked.clone(), projected, **needs), one[..., order]):
        return
    if "positions" in scoring.needs:
        raise Broken(_SAID["moved_with_position"])
    raise Broken(_SAID["order_of_keys"])


@rule("scorings", unless=_BEFORE)
def check_a_masked_key_changes_nothing(spec: ScoringSpec) -> None:
    """Attention's output does not depend on keys that the mask hides, such as padding."""
    scoring = make(spec)
    queries, keys = inputs(2)
    values, lengths = draw(2, KEYS, VALUE, seed=2), torch.tensor([KEYS - _MASKED] * 2)
    other = keys.clone()
    other[:, -_MASKED:] = 3 * draw(2, _MASKED, keys.shape[-1], seed=3)  # a maximum shows too
    one, another = (
        attention.attend(scoring, queries.clone(), each.clone(), values, lengths)[0]
        for each in (keys, other)
    )
    if not equal(one, another):
        raise Broken(_SAID["masked_key_counts"])


@rule("scorings", unless=(*_BEFORE, "a_masked_key_changes_nothing"))
def check_padding_changes_nothing(spec: ScoringSpec) -> None:
    """Keys behind the mask might as well not be there: padding, and words to be written."""
    scoring = make(spec)
    queries, keys = inputs(2)
    few = KEYS - _MASKED
    allowed = torch.arange(KEYS) < few
    drawn, values = draw(2, QUERIES, KEYS, seed=4), draw(2, KEYS, VALUE, seed=2)
    hidden = attention.masked_weights(drawn, allowed, scoring.normalise)
    alone = attention.masked_weights(drawn[..., :few], None, scoring.normalise)
    if not equal(hidden[..., :few], alone):
        raise Broken(_SAID["normalise_counts_masked_keys"])
    asked = scoring.project_queries(queries)
    row = slice(0, 1) if attention.remembers(scoring) else slice(None)
    found = []
    for number in (KEYS, few):
        needs = attention.needs_of(
            scoring, asked[..., row, :].shape[-2], keys[..., :number, :], mask=allowed[:number]
        )
        weights = hidden[..., row, :number]
        found.append(
            attention.pooled(scoring, weights, values[:, :number], needs, asked=asked[..., row, :])
        )
    if not equal(*found):
        raise Broken(_SAID["pool_reads_masked_values"])
    if "translation" not in spec.tasks:
        return  # a sequence alone is not padded, and nor are points
    keys[:, few:] *= 3  # a maximum over keys shows too
    projected = scoring.project_keys(keys.clone())
    many = scored(scoring, asked.clone(), projected.clone(), seen=few)[..., :few]
    if not equal(many, scored(scoring, asked.clone(), projected[..., :few, :].clone())):
        raise Broken(_SAID["number_of_keys_counts"])


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
        raise Broken(_SAID["keys_do_not_join"], shapes=shapes, error=error) from error
    if not equal(found, scores(scoring, queries, keys)):
        raise Broken(_SAID["projected_keys_meet"])


# A gradient below this share of its parameter's effect on the scores is rounding, not learning.
_ROUNDING = 1e-9


@rule("scorings")
def check_scores_are_finite(spec: ScoringSpec) -> None:
    """For queries and keys that are 0, of usual size, and 100 times as large.

    Minus infinity is allowed: it rules a key out.
    """
    for what, scoring, queries, keys in _cases(spec):
        if not sound(scores(scoring, queries, keys)):
            raise Broken(_SAID["not_finite"], what=what)


@rule("scorings", unless=("scores_are_finite",))
def check_gradients_are_finite(spec: ScoringSpec) -> None:
    """For queries and keys that are 0, equal, of usual size, and 100 times as large."""
    for what, scoring, queries, keys in _cases(spec):
        queries.requires_grad_()
        keys.requires_grad_()
        found = scores(scoring, queries, keys)
        if not sound(found) or not found.requires_grad:
            continue  # the matter of other rules
        _without_ruled_out(found).sum().backward()
        grown = (queries, keys, *scoring.parameters())
        if not all(part.grad is None or part.grad.isfinite().all() for part in grown):
            raise Broken(_SAID["gradients_not_finite"], what=what)


@rule("scorings")
def check_gradients_reach_queries_and_keys(spec: ScoringSpec) -> None:
    """What changes the scores can be learned. A scoring that looks at neither is exempt.

    So is one that does no more than rule keys out, which has no slope; and one that compares a
    query with places, not with what stands there.
    """
    scoring = make(spec)
    given = dict(zip(("queries", "keys"), inputs(2), strict=True))
    others = {"queries": draw(2, QUERIES, SIZE, seed=5), "keys": draw(2, KEYS, SIZE, seed=6)}
    before, read = scores(scoring, *given.values()), []
    for name in given:
        found = scores(scoring, *{**given, name: others[name]}.values())
        both = ~(before.isneginf() | found.isneginf())
        if not equal(found[both], before[both]):
            read.append(name)
    if read and "positions" not in scoring.needs:
        read = [*given]
    for name in read:
        leaves = {key: part.clone().requires_grad_(key == name) for key, part in given.items()}
        (gradient,) = _gradients(scores(scoring, *leaves.values()), [leaves[name]])
        if gradient is None or not gradient.any():
            raise Broken(_SAID["no_gradient_to_inputs"], name=name)
        (gradient,) = _gradients(attended(scoring, *leaves.values())[0], [leaves[name]])
        if gradient is None or not gradient.any():
            raise Broken(_SAID["no_gradient_behind"], name=name)


@rule("scorings", unless=("precision_is_that_of_the_inputs",))
def check_every_weight_learns(spec: ScoringSpec) -> None:
    """Each ``nn.Parameter`` gets a gradient, also behind the softmax.

    Some change no score, but what is made of the weights.
    """
    scoring = make(spec)
    for parameter in scoring.parameters():
        parameter.requires_grad_()
    queries, keys = inputs(2)
    plain = _gradients(scores(scoring, queries, keys), [*scoring.parameters()])
    output, _ = attention.attend(scoring, queries, keys, draw(2, KEYS, VALUE, seed=2))
    behind = _gradients(output, [*scoring.parameters()])
    names = [name for name, _ in scoring.named_parameters()]
    for name, gradient, found in zip(names, plain, behind, strict=True):
        if gradient is None or not gradient.any():
            if found is not None and found.any():
                continue
            raise Broken(_SAID["no_gradient_to_weight"], name=name)
        if found is None or float(found.abs().max()) < _ROUNDING * float(gradient.abs().max()):
            raise Broken(_SAID["cancelled_weight"], name=name)


@rule("scorings", unless=("scores_are_finite",))
def check_gradients_are_those_of_the_formula(spec: ScoringSpec) -> None:
    """Backward agrees with finite differences in float64."""
    seed_all(7)
    scoring = spec.create(Sizes(2, 2, 3)).double().eval()
    queries, keys = draw(1, 2, 2).requires_grad_(), draw(1, 3, 2, seed=1).requires_grad_()
    if scores(scoring, queries, keys).dtype != torch.float64:
        return  # the matter of the rule on precision

    def scored(queries: Tensor, keys: Tensor, *weights: Tensor) -> Tensor:
        found = _without_ruled_out(scores(scoring, queries, keys))  # weights are moved in place
        return found + 0 * (queries.sum() + keys.sum())  # a constant has gradients too: 0

    given = (queries, keys, *scoring.parameters())
    if not torch.autograd.gradcheck(scored, given, raise_exception=False, fast_mode=True):
        raise Broken(_SAID["other_gradients"])


def _cases(spec: ScoringSpec) -> Iterator[tuple[str, attention.Scoring, Tensor, Tensor]]:
    dtype = trained_in(spec)
    queries, keys = (part.to(dtype) for part in inputs(2))
    for what, scale in (("inputs of 0", 0.0), ("usual inputs", 1.0), ("inputs times 100", 100.0)):
        yield what, make(spec, dtype=dtype), queries * scale, keys * scale
    yield "a key that equals the query", make(spec, dtype=dtype), keys.clone(), keys.clone()


def _without_ruled_out(found: Tensor) -> Tensor:
    """The scores with 0, and no gradient, for keys that are ruled out."""
    return found.masked_fill(found.isneginf(), 0.0)


def _gradients(found: Tensor, given: Sequence[Tensor]) -> Sequence[Tensor | None]:
    """Of a sum of what was found, each number with a weight of its own."""
    if not found.requires_grad or not given:
        return [None] * len(given)
    total = (found * draw(*found.shape, seed=4)).sum()
    return torch.autograd.grad(total, given, allow_unused=True)
