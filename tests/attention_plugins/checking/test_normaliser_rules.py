"""Each rule of normalisers catches the fault that it is there for."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attention_plugins import NormaliserSpec, Parameter
from attention_plugins.checking import Broken, rules

POWER = Parameter(name="power", title="Power", default=1.0, low=0.5, high=2.0, step=0.5)


class Powered(nn.Module):
    """A softmax of scores times a power: without fault."""

    def __init__(self, values):
        super().__init__()
        self.power = float(values["power"])

    def forward(self, scores):
        best = scores.amax(dim=-1, keepdim=True).detach()
        return ((scores - best).clamp_min(-1e4) * self.power).softmax(dim=-1)


class Learned(Powered):
    """What a row that sees no key divides by is 0: its weights learn NaN."""

    def __init__(self, values):
        super().__init__(values)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, scores):
        some = (scores > torch.finfo(scores.dtype).min).any(dim=-1, keepdim=True)
        return super().forward(scores * self.scale) / some


def normaliser(forward=None, **fields):
    """The same with another forward."""
    kind = type("Mine", (Powered,), {"forward": forward} if forward else {})
    return NormaliserSpec(**{
        "name": "mine", "title": "Mine", "formula": "s^p", "reference": "nobody", "build": kind,
        "parameters": (POWER,), **fields,
    })  # fmt: skip


def after(change, **fields):
    """The weights changed, by a function of weights and scores."""
    return normaliser(lambda self, s: change(Powered.forward(self, s), s), **fields)


def only(dtype, scale):
    """Scores so large in one precision alone make the weights NaN."""

    def change(weights, scores):
        found = scores.dtype == dtype and scores.abs().nan_to_num(posinf=0).amax() >= scale
        return weights * torch.nan if found else weights

    return after(change)


def overflows(self, scores):
    parts = scores.exp()
    return parts / parts.sum(dim=-1, keepdim=True)


def with_a_root(self, scores):
    return (Powered.forward(self, scores) + 0 * (scores * 0).sqrt()).nan_to_num()


def kept(self, scores):
    self.last = scores.sum()
    return Powered.forward(self, scores)


def drawn(self, scores):
    return Powered.forward(self, scores + 1e-3 * torch.randn_like(scores))


FAULTS = {
    "texts": (normaliser(reference=""), "the_record_explains_itself", "add reference="),
    "formula": (normaliser(formula="s^{p"), "the_record_explains_itself", "braces"),
    "overflow": (
        normaliser(overflows), "weights_are_finite_and_not_negative", "scores times 1,000 gave",
    ),
    "overflow in single precision": (
        only(torch.float32, 100), "weights_are_finite_and_not_negative", "scores times 1,000 gave",
    ),
    "single precision": (
        only(torch.float32, 1e-9), "weights_are_finite_and_not_negative", "usual scores gave",
    ),
    "scores of 0": (
        normaliser(lambda self, s: s / s.sum(dim=-1, keepdim=True)),
        "weights_are_finite_and_not_negative", "scores of 0 gave",
    ),
    "negative": (
        after(lambda w, s: w - 1e-3), "weights_are_finite_and_not_negative", "negative weights",
    ),
    "another shape": (
        after(lambda w, s: w[..., 1:]), "weights_are_finite_and_not_negative", "scores' shape",
    ),
    "no tensor": (
        after(lambda w, s: [w]), "weights_are_finite_and_not_negative", "gave list",
    ),
    "sums to less": (
        after(lambda w, s: 0.9 * w), "rows_sum_to_what_the_record_says", "sums to 1 -0.1",
    ),
    "sums to 1 after all": (
        normaliser(sums_to_one=False), "rows_sum_to_what_the_record_says", "say sums_to_one=True",
    ),
    "counts masked keys": (
        after(lambda w, s: w / s.shape[-1], sums_to_one=False), "a_masked_key_changes_nothing",
        "do not count them",
    ),
    "columns": (
        after(lambda w, s: w / w.sum(dim=-2, keepdim=True)), "rows_do_not_meet",
        "last dimension only",
    ),
    "heads": (
        after(lambda w, s: w + w.mean(dim=-3, keepdim=True)), "rows_do_not_meet",
        "last dimension only",
    ),
    "batch": (
        after(lambda w, s: w + w.mean(dim=0)), "rows_do_not_meet", "last dimension only",
    ),
    "order": (
        after(lambda w, s: w.cumsum(dim=-1)), "moving_a_key_moves_its_weight", "order of the keys",
    ),
    "detached": (
        after(lambda w, s: w.detach()), "gradients_are_finite", "do not detach",
    ),
    "masked everywhere": (
        normaliser(build=Learned), "gradients_are_finite", "scores of 0 gave gradients",
    ),
    "root": (normaliser(with_a_root), "gradients_are_finite", "scores of 0 gave gradients"),
    "unused": (
        normaliser(lambda self, s: s.softmax(dim=-1)), "every_parameter_is_used",
        "the parameter power changes nothing",
    ),
    "overwrites": (
        normaliser(lambda self, s: Powered.forward(self, s.mul_(1.0))), "scores_stay_as_they_are",
        "compute a new tensor",
    ),
    "keeps": (normaliser(kept), "nothing_is_kept_on_a_module", "it set Mine.last"),
    "draws": (normaliser(drawn), "nothing_is_kept_on_a_module", "draw nothing"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_breaks_its_rule_which_says_what_to_change(fault):
    planted, rule, phrase = FAULTS[fault]
    with pytest.raises(Broken) as caught:
        rules("normalisers", planted)[rule](planted)
    assert phrase in str(caught.value)


def test_every_rule_has_a_fault_and_what_they_are_planted_in_has_none():
    found = rules("normalisers", normaliser())
    assert set(found) == {rule for _, rule, _ in FAULTS.values()}
    for rule in found.values():
        rule(normaliser())
