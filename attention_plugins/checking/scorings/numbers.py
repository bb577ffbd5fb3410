"""Scores and gradients are finite, right, and reach everything that is to learn."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring, attend
from attention_plugins.checking.findings import Broken, rule
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
    scores,
    sound,
    trained_in,
)
from attention_plugins.contract import ScoringSpec, Sizes

# A gradient below this share of its parameter's effect on the scores is rounding, not learning.
_ROUNDING = 1e-9


@rule("scorings")
def check_scores_are_finite(spec: ScoringSpec) -> None:
    """For queries and keys that are 0, of usual size, and 100 times as large.

    Minus infinity is allowed: it rules a key out.
    """
    for what, scoring, queries, keys in _cases(spec):
        if not sound(scores(scoring, queries, keys)):
            raise Broken(
                f"{what} gave scores that are NaN or infinite; bound what grows (clamp, "
                "logsumexp instead of log(exp), eps in a division); minus infinity alone is "
                "allowed, for keys that are ruled out"
            )


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
            raise Broken(
                f"{what} gave gradients that are NaN or infinite; a root, a norm or a logarithm "
                "has none at 0: add an eps inside, compare squares, or rule keys out by "
                "torch.where around a logarithm of what is positive"
            )


@rule("scorings")
def check_gradients_reach_queries_and_keys(spec: ScoringSpec) -> None:
    """What changes the scores can be learned. A scoring that looks at neither is exempt.

    So is one that does no more than rule keys out, which has no slope; and one that compares a
    query with places, not with what stands there.
    """
    scoring = make(spec)
    given = dict(zip(("queries", "keys"), inputs(2), strict=True))
    others = {"queries": draw(2, QUERIES, SIZE, seed=5), "keys": draw(2, KEYS, SIZE, seed=6)}
    before = scores(scoring, *given.values())
    read = [n for n in given if _differ(scoring, before, {**given, n: others[n]})]
    if read and "positions" not in scoring.needs:
        read = [*given]
    for name in read:
        leaves = {key: part.clone().requires_grad_(key == name) for key, part in given.items()}
        found = scores(scoring, *leaves.values())
        if found.requires_grad:
            (found * draw(*found.shape, seed=4)).sum().backward()
        gradient = leaves[name].grad
        if gradient is None or not gradient.any():
            raise Broken(
                f"no gradient reaches the {name}; use them in the formula, and drop detach(), "
                ".data, no_grad(), .item() and rounding on their way"
            )
        output, _ = attended(scoring, *leaves.values())
        new = None
        if output.requires_grad:
            total = (output * draw(*output.shape, seed=4)).sum()
            (new,) = torch.autograd.grad(total, leaves[name], allow_unused=True)
        if new is None or not new.any():
            raise Broken(
                f"a gradient reaches the {name} from the scores, but none from attention's "
                "output; drop detach(), no_grad() and rounding in normalise and pool"
            )


@rule("scorings", unless=("precision_is_that_of_the_inputs",))
def check_every_weight_learns(spec: ScoringSpec) -> None:
    """Each ``nn.Parameter`` gets a gradient, also behind the softmax.

    Some change no score, but what is made of the weights.
    """
    scoring = make(spec)
    for parameter in scoring.parameters():
        parameter.requires_grad_()
    queries, keys = inputs(2)
    plain = _gradients(scoring, scores(scoring, queries, keys))
    output, _ = attend(scoring, queries, keys, draw(2, KEYS, VALUE, seed=2))
    behind = _gradients(scoring, output)
    for name, gradient in plain.items():
        found = behind[name]
        if gradient is None or not gradient.any():
            if found is not None and found.any():
                continue
            raise Broken(
                f"the weight {name} gets no gradient; use it in forward, without detach(), or "
                "take it away"
            )
        if found is None or float(found.abs().max()) < _ROUNDING * float(gradient.abs().max()):
            raise Broken(
                f"the softmax cancels the weight {name}, which adds the same to all keys of a "
                "query; take it away (nn.Linear needs bias=False there)"
            )


@rule("scorings", unless=("scores_are_finite",))
def check_gradients_are_those_of_the_formula(spec: ScoringSpec) -> None:
    """Backward agrees with finite differences in float64."""
    torch.manual_seed(7)
    scoring = spec.create(Sizes(2, 2, 3)).double().eval()
    names = [name for name, _ in scoring.named_parameters()]
    whole = _Whole(scoring)
    queries, keys = draw(1, 2, 2).requires_grad_(), draw(1, 3, 2, seed=1).requires_grad_()
    if scores(scoring, queries, keys).dtype != torch.float64:
        return  # the matter of the rule on precision

    def scored(queries: Tensor, keys: Tensor, *weights: Tensor) -> Tensor:
        renamed = {f"scoring.{name}": w for name, w in zip(names, weights, strict=True)}
        found = _without_ruled_out(torch.func.functional_call(whole, renamed, (queries, keys)))
        return found + 0 * (queries.sum() + keys.sum())  # a constant has gradients too: 0

    given = (queries, keys, *scoring.parameters())
    if not torch.autograd.gradcheck(scored, given, raise_exception=False, fast_mode=True):
        raise Broken(
            "gradients differ from finite differences of the scores; write the formula with "
            "torch's own operations, or mend the backward of your autograd.Function; nothing on "
            "the way may be detached or rounded"
        )


class _Whole(nn.Module):
    """Projections and scores in one call."""

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return scores(self.scoring, queries, keys)


def _cases(spec: ScoringSpec) -> Iterator[tuple[str, Scoring, Tensor, Tensor]]:
    """What it is, a fresh scoring, queries and keys: in the precision that models train in."""
    dtype = trained_in(spec)
    queries, keys = (part.to(dtype) for part in inputs(2))
    for what, scale in (("inputs of 0", 0.0), ("usual inputs", 1.0), ("inputs times 100", 100.0)):
        yield what, make(spec, dtype=dtype), queries * scale, keys * scale
    yield "a key that equals the query", make(spec, dtype=dtype), keys.clone(), keys.clone()


def _differ(scoring: Scoring, before: Tensor, given: dict[str, Tensor]) -> bool:
    found = scores(scoring, *given.values())
    both = ~(before.isneginf() | found.isneginf())
    return not equal(found[both], before[both])


def _without_ruled_out(found: Tensor) -> Tensor:
    """The scores with 0, and no gradient, for keys that are ruled out."""
    return found.masked_fill(found.isneginf(), 0.0)


def _gradients(scoring: Scoring, found: Tensor) -> dict[str, Tensor | None]:
    weights = dict(scoring.named_parameters())
    if not found.requires_grad or not weights:
        return dict.fromkeys(weights)
    total = (found * draw(*found.shape, seed=4)).sum()
    gradients = torch.autograd.grad(total, list(weights.values()), allow_unused=True)
    return dict(zip(weights, gradients, strict=True))
