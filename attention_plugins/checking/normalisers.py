"""Rules of normalisers. Importing this registers them, in the order in which they run."""

import random

import torch
from torch import Tensor, nn

from attention_plugins.attention import masked_weights
from attention_plugins.beside import beside
from attention_plugins.checking import records
from attention_plugins.checking.findings import Broken, attempt, draw, equal, rule
from attention_plugins.contract import NormaliserSpec, Sizes
from attention_plugins.randomness import seed_all

_SAID = beside(__file__, "words.toml")["normalisers"]

_SHAPE = (2, 3, 7, 13)
_MASKED = 8  # keys, of 13
_SIZES = Sizes(query=5, key=5, hidden=11, heads=_SHAPE[1], value=3)


def _make(spec: NormaliserSpec, **values: object) -> nn.Module:
    seed_all(7)
    random.seed(7)
    with attempt("while it was built", "let build take the parameters and return an nn.Module"):
        return spec.create(values, _SIZES).double().eval()


def _weights(made: nn.Module, scores: Tensor) -> Tensor:
    found = made(scores.clone())
    if not isinstance(found, Tensor) or found.shape != scores.shape:
        got = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise Broken(
            f"scores {tuple(scores.shape)} gave {got}; return weights of the scores' shape"
        )
    return found


def _cases() -> list[tuple[str, Tensor]]:
    usual = draw(*_SHAPE)
    cases = [("scores of 0", 0.0), ("usual scores", 1.0), ("scores times 1,000", 1000.0)]
    return [(what, usual * scale) for what, scale in cases]


rule("normalisers")(records.check_the_record_explains_itself)


@rule("normalisers")
def check_weights_are_finite_and_not_negative(spec: NormaliserSpec) -> None:
    """For scores that are 0, of usual size, and large, also in single precision.

    A record that says ``signed=True`` may give negative ones.
    """
    for what, scores in _cases():
        for kind in (scores, scores.float()):
            found = _weights(_make(spec).to(kind.dtype), kind)
            if not found.isfinite().all():
                raise Broken(_SAID["not_finite"], what=what)
            if not spec.signed and (found < 0).any():
                raise Broken(_SAID["negative"], what=what)


@rule("normalisers")
def check_rows_sum_to_what_the_record_says(spec: NormaliserSpec) -> None:
    """To 1 where ``sums_to_one``; else some row does not."""
    sums = torch.cat([_weights(_make(spec), scores).sum(dim=-1) for _, scores in _cases()])
    apart = (sums - 1).detach().flatten()
    off = float(apart[apart.abs().argmax()])
    if spec.sums_to_one and abs(off) > 1e-6:
        raise Broken(
            f"a row of weights sums to 1 {off:+.3g}; divide by the sum, or say sums_to_one=False"
        )
    if not spec.sums_to_one and abs(off) < 1e-6:
        raise Broken("every row of weights sums to 1; say sums_to_one=True")


@rule("normalisers")
def check_a_masked_key_changes_nothing(spec: NormaliserSpec) -> None:
    """Keys that are ruled out change no other weight, however many there are."""
    made, scores = _make(spec), draw(*_SHAPE)
    allowed = torch.arange(_SHAPE[-1]) < _SHAPE[-1] - _MASKED
    hidden = masked_weights(scores, allowed, made)
    if not equal(hidden[..., allowed], _weights(made, scores[..., allowed])):
        raise Broken(_SAID["masked_key_counts"])


@rule("normalisers")
def check_rows_do_not_meet(spec: NormaliserSpec) -> None:
    """A query's weights are the same alone and among others."""
    made, scores = _make(spec), draw(*_SHAPE)
    together = _weights(made, scores)
    head = slice(None) if spec.takes_sizes else slice(1, 2)  # heads may have their own weights
    if not equal(together[1:, head, 4:5], _weights(made, scores[1:, head, 4:5])):
        raise Broken("a row's weights depend on other rows; work on the last dimension only")


@rule("normalisers")
def check_moving_a_key_moves_its_weight(spec: NormaliserSpec) -> None:
    """Keys in another order get the same weights in that order."""
    made, scores = _make(spec), draw(*_SHAPE)
    order = draw(_SHAPE[-1], seed=2).argsort()
    if not equal(_weights(made, scores[..., order]), _weights(made, scores)[..., order]):
        raise Broken("weights depend on the order of the keys; look at their scores only")


@rule("normalisers")
def check_gradients_are_finite(spec: NormaliserSpec) -> None:
    """Of scores and of the normaliser's own weights; behind a mask too, and where it hides all."""
    seen = torch.full(_SHAPE[-2:-1], _SHAPE[-1] - _MASKED)
    seen[-1] = 0
    allowed = torch.arange(_SHAPE[-1]) < seen[:, None]
    for what, scores in _cases():
        made = _make(spec)
        scores.requires_grad_()
        found = masked_weights(scores, allowed, made)
        if not found.requires_grad:
            raise Broken("no gradient reaches the scores; do not detach them")
        (found * draw(*_SHAPE, seed=3)).sum().backward()
        grown = (scores, *made.parameters())
        if not all(part.grad is None or part.grad.isfinite().all() for part in grown):
            raise Broken(f"{what} gave gradients that are NaN or infinite; look at 0 and at masks")


@rule("normalisers")
def check_every_parameter_is_used(spec: NormaliserSpec) -> None:
    """It builds at both bounds and at the default, and not all of them weigh alike."""
    scores = draw(*_SHAPE)
    for parameter in spec.parameters:
        found = []
        for value in records.values_of(parameter, on_step=True):
            made = _make(spec, **{parameter.name: value}).train()
            for weight in made.parameters():
                weight.requires_grad_(False)
            asked = scores.clone().requires_grad_()
            seed_all(8)
            weights = _weights(made, asked)
            (slope,) = torch.autograd.grad((weights * draw(*_SHAPE, seed=3)).sum(), asked)
            found.append(torch.stack([weights.detach(), slope]))
        if all(equal(one, found[0]) for one in found):
            raise Broken(f"the parameter {parameter.name} changes nothing; use it or take it away")


@rule("normalisers")
def check_scores_stay_as_they_are(spec: NormaliserSpec) -> None:
    """Its input is not overwritten."""
    scores = draw(*_SHAPE)
    before, version = scores.clone(), scores._version
    _make(spec)(scores)
    if scores._version != version or not scores.equal(before):
        raise Broken("it overwrote the scores; compute a new tensor instead")


@rule("normalisers")
def check_nothing_is_kept_on_a_module(spec: NormaliserSpec) -> None:
    """No attribute is new or other afterwards; evaluation draws nothing at random."""
    made, scores = _make(spec), draw(*_SHAPE)
    before = records.Snapshot(made)
    one, another = _weights(made, scores), _weights(made, scores)
    if changed := before.changed(made):
        raise Broken(f"it set {', '.join(changed)}; several users share one module")
    if not one.equal(another):
        raise Broken("the same scores gave other weights; in evaluation mode draw nothing")
