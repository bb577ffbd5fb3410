"""Scores and gradients are finite, right, and reach everything that is to learn."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from attention_plugins.attention import KernelScoring, Scoring, attend
from attention_plugins.checking.devices import devices_watched, left_behind
from attention_plugins.checking.findings import Broken, attempt, rule
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
from attention_plugins.discovery import let_go

# Of the largest score: what rounding of inputs and of sums may cost.
_TOLERANCES = {torch.float32: 1e-3, torch.float64: 1e-9, torch.bfloat16: 0.1}


def _is_kernel(spec: ScoringSpec) -> bool:
    try:
        return isinstance(make(spec), KernelScoring)
    except BaseException as error:  # said by the rules that build it
        let_go(error)
        return False


@rule("scorings", applies=_is_kernel, decides=True)
def check_a_kernel_is_positive(spec: ScoringSpec) -> None:
    """Features of a query times those of a key, of which scores are the logarithm."""
    scoring = make(spec)
    assert isinstance(scoring, KernelScoring)
    queries, keys = inputs(2)
    asked = scoring.query_features(scoring.project_queries(queries))
    kernel = asked @ scoring.key_features(scoring.project_keys(keys)).mT
    if not (kernel > 0).all():
        raise Broken(
            f"query_features times key_features is {kernel.min():.3g} for some query and key; a "
            "kernel is positive, as its logarithm is the score: make both features so, such as "
            "elu(x) + 1 or exp(x)"
        )


@rule("scorings")
def check_precision_is_that_of_the_inputs(spec: ScoringSpec) -> None:
    """float32, float64 and bfloat16 in, the same out, and about the same scores.

    What torch has no bfloat16 kernel for is not held against it.
    """
    exact = None
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
                if _lacks_a_kernel(error, dtype):
                    continue  # torch's gap, not the scoring's fault
                raise
        for what, part in (("scores", found), ("weights", weights), ("outputs", output)):
            if part.dtype != dtype:
                got = str(part.dtype).removeprefix("torch.")
                raise Broken(f"queries and keys in {kind} gave {what} in {got}; {advice}")
        try:
            exact = scores(make(spec), queries.double(), keys.double())
        except Exception:  # nosec B112  # said when its turn comes
            continue
        if not equal(found.double(), exact.double(), tolerance):
            raise Broken(
                f"scores in {kind} are far from those in float64; keep intermediate results in "
                "the inputs' precision or a higher one, and avoid differences of large numbers"
            )


def _lacks_a_kernel(error: RuntimeError, dtype: torch.dtype) -> bool:
    """Whether torch cannot compute something in this precision, as ``cdist`` in bfloat16."""
    name = {torch.bfloat16: "BFloat16"}.get(dtype, "")
    return bool(name) and "not implemented for" in str(error) and name in str(error)


@rule("scorings")
def check_it_is_built_without_memory(spec: ScoringSpec) -> None:
    """Checkpoints are compared with a model on the ``meta`` device before a weight is read."""
    advice = "read no value of a tensor while building: no .item(), float(tensor) or .numpy()"
    with attempt('while it was built on the device "meta"', advice), torch.device("meta"):
        hollow = spec.create(Sizes(SIZE, SIZE, SIZE)).state_dict()
    real = make(spec, dtype=torch.float32).state_dict()
    if hollow.keys() != real.keys():
        different = sorted(hollow.keys() ^ real.keys())
        raise Broken(
            f'built on the device "meta" it has other tensors ({", ".join(different)}); let '
            "names and shapes follow from the sizes and parameters alone"
        )


@rule("scorings")
def check_it_stays_on_the_device_of_its_inputs(spec: ScoringSpec) -> None:
    """It makes nothing on another device, reads nothing back, and moves as a whole."""
    scoring = make(spec)
    if left := left_behind(scoring):
        raise Broken(
            f"{left} would stay behind when the module moves to another device; keep tensors of "
            "__init__ as nn.Parameter or with register_buffer"
        )
    queries, keys = inputs(2)
    with devices_watched("scoring"):
        scores(scoring, queries, keys)


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
