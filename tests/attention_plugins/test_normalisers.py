"""Normalisers against the entmax package and against their formulas, also behind a mask."""

from __future__ import annotations

import math
from functools import partial

import entmax as reference
import mechanisms
import pytest
import torch

from attention_plugins import Scoring, attend, normalisers, registry
from attention_plugins.attention import masked_weights
from attention_plugins.checking import check

SPECS = {spec.name: spec for spec in normalisers.attention_normalisers()}
every_normaliser = pytest.mark.parametrize("name", SPECS)


def draw(*shape, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64) * scale


def make(name, **values):
    return SPECS[name].create(values).double().eval()


PUBLISHED = {
    "sparsemax": ({}, partial(reference.sparsemax, dim=-1)),
    "entmax15": ({}, partial(reference.entmax15, dim=-1)),
    "entmax-1.05": ({"alpha": 1.05}, partial(reference.entmax_bisect, alpha=1.05, n_iter=100)),
    "entmax-1.3": ({"alpha": 1.3}, partial(reference.entmax_bisect, alpha=1.3, n_iter=100)),
    "entmax-2": ({"alpha": 2.0}, partial(reference.sparsemax, dim=-1)),
    "entmax-3": ({"alpha": 3.0}, partial(reference.entmax_bisect, alpha=3.0, n_iter=100)),
}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("name", PUBLISHED)
def test_weights_and_gradients_are_those_of_the_published_code(name, scale, masked):
    values, published = PUBLISHED[name]
    normalise = make(name.partition("-")[0], **values)
    mine, theirs = (draw(2, 7, 13, scale=scale).requires_grad_() for _ in range(2))
    mask = torch.tensor([13, 5]) if masked else None
    found = masked_weights(mine, mask, normalise)
    if masked:
        rows = [published(theirs[0]), published(theirs[1, :, :5])]
        expected = torch.stack([rows[0], torch.nn.functional.pad(rows[1], (0, 8))])
    else:
        expected = published(theirs)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
    (found * draw(2, 7, 13, seed=1)).sum().backward()
    (expected * draw(2, 7, 13, seed=1)).sum().backward()
    torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-5, rtol=0)


@pytest.mark.parametrize("alpha", [1.3, 2.5])
def test_the_gradient_of_alpha_is_that_of_the_published_code(alpha):
    scores, outer = draw(7, 13), draw(7, 13, seed=1)
    normalise = make("entmax", alpha=alpha)
    (normalise(scores) * outer).sum().backward()
    theirs = torch.tensor(alpha, dtype=torch.float64).requires_grad_()
    (reference.entmax_bisect(scores, theirs, n_iter=100) * outer).sum().backward()
    torch.testing.assert_close(normalise.learned_alpha.grad, theirs.grad, atol=1e-5, rtol=0)


def off_by_one(row):
    total = 1 + sum(math.exp(score) for score in row)
    return [math.exp(score) / total for score in row]


def sigmoid(row):
    return [1 / (1 + math.exp(-score + math.log(len(row)))) for score in row]


def relu(row):
    return [max(score, 0) / len(row) for score in row]


def softmax(row, temperature=1.0):
    total = sum(math.exp(score / temperature) for score in row)
    return [math.exp(score / temperature) / total for score in row]


def top_k(row, k):
    last = sorted(row)[-min(k, len(row))]
    total = sum(math.exp(score) for score in row if score >= last)
    return [math.exp(score) / total if score >= last else 0.0 for score in row]


def hard(row):
    return [float(place == row.index(max(row))) for place in range(len(row))]


def scalable_softmax(row, scale):
    total = sum(len(row) ** (scale * score) for score in row)
    return [len(row) ** (scale * score) / total for score in row]


def softpick(row):
    total = 1e-8 + sum(abs(math.exp(score) - 1) for score in row)
    return [max(math.exp(score) - 1, 0) / total for score in row]


def stick_breaking(row):
    found, left = [], 1.0
    for score in reversed(row):
        found.append(left / (1 + math.exp(-score)))
        left /= 1 + math.exp(score)
    return found[::-1]


FORMULAS = {
    "softmax": ({}, softmax),
    "temperature": ({"temperature": 0.25}, partial(softmax, temperature=0.25)),
    "off_by_one": ({}, off_by_one),
    "sigmoid": ({}, sigmoid),
    "relu": ({}, relu),
    "top_k": ({"k": 3}, partial(top_k, k=3)),
    "hard": ({}, hard),
    "gumbel": ({}, hard),
    "gumbel_softmax": ({"temperature": 0.5}, partial(softmax, temperature=0.5)),
    "scalable_softmax": ({"scale": 0.5}, partial(scalable_softmax, scale=0.5)),
    "softpick": ({}, softpick),
    "stick_breaking": ({}, stick_breaking),
}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("name", FORMULAS)
def test_weights_are_those_of_the_formula(name, scale, masked):
    values, formula = FORMULAS[name]
    scores = draw(2, 7, 13, scale=scale)
    lengths = [13, 5] if masked else [13, 13]
    found = masked_weights(scores, torch.tensor(lengths) if masked else None, make(name, **values))
    expected = torch.zeros(2, 7, 13, dtype=torch.float64)
    for batch, length in enumerate(lengths):
        for query in range(7):
            row = formula(scores[batch, query, :length].tolist())
            expected[batch, query, :length] = torch.tensor(row, dtype=torch.float64)
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


def test_every_normaliser_is_held_against_a_formula_or_published_code():
    assert SPECS.keys() == FORMULAS.keys() | {name.partition("-")[0] for name in PUBLISHED}


@every_normaliser
def test_it_keeps_every_rule_of_the_kit_or_says_why_not(name):
    waived = normalisers.ATTENTION_EXPECTED_FAILURES.get(name, {})
    findings = check("normalisers", SPECS[name], expected_failures=waived)
    assert [finding for finding in findings if not finding.passed] == []
    assert mechanisms.rules_kept(findings) == mechanisms.table()[name].rules


@pytest.mark.parametrize("temperature", [0.05, 1.0, 20.0])
def test_a_temperature_divides_scores_however_far_apart(temperature):
    scores = torch.tensor([[0.0, 5.0, 40.0, 300.0], [-300.0, -290.0, -280.0, -299.0]]).double()
    expected = (scores / temperature).softmax(dim=-1)
    found = make("temperature", temperature=temperature)(scores)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0.0)
    usual = make("temperature")(scores)
    torch.testing.assert_close(usual, (scores / 0.5).softmax(dim=-1), rtol=1e-5, atol=0.0)


def test_top_k_of_more_keys_than_there_are_is_the_softmax():
    scores = draw(7, 13)
    torch.testing.assert_close(make("top_k", k=1000)(scores), scores.softmax(dim=-1))


@pytest.mark.parametrize("scale", [1e3, 1e30])
@every_normaliser
def test_large_scores_overflow_nowhere(name, scale):
    scores = draw(7, 13, scale=scale).float().requires_grad_()
    weights = SPECS[name].create().eval()(scores)
    assert (weights >= 0).all()
    assert weights.isfinite().all()
    (weights * draw(7, 13, seed=1)).sum().backward()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize(
    ("name", "values"),
    [("hard", {}), *(("gumbel", {"temperature": degree}) for degree in (0.25, 1.0, 4.0))],
)
def test_the_gradient_of_a_hard_choice_is_the_softmaxs_at_its_temperature(name, values):
    one, other = (draw(7, 13).requires_grad_() for _ in range(2))
    (make(name, **values)(one) * draw(7, 13, seed=1)).sum().backward()
    soft = (other / values.get("temperature", 1.0)).softmax(dim=-1)
    (soft * draw(7, 13, seed=1)).sum().backward()
    torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, each.name) for name, spec in SPECS.items() for each in spec.parameters],
)
def test_every_parameter_changes_weights_or_their_gradient(name, parameter, training):
    """What a user sets must reach the numbers: of equal draws, in work and in training."""

    def outcome(value):
        normalise = make(name, **{parameter: value}).train(training)
        scores = draw(7, 13).requires_grad_()
        torch.manual_seed(0)
        weights = normalise(scores)
        (weights * draw(7, 13, seed=1)).sum().backward()
        return torch.stack([weights.detach(), scores.grad])

    own = next(each for each in SPECS[name].parameters if each.name == parameter)
    assert not torch.allclose(outcome(own.default), outcome(own.default * 2))


def test_gumbel_draws_in_training_as_often_as_the_softmax_says():
    normalise, row = make("gumbel").train(), torch.tensor([0.0, 1.0, 2.0, -1.0]).double()
    torch.manual_seed(0)
    drawn = normalise(row.expand(40_000, 4)).mean(dim=0)
    torch.testing.assert_close(drawn, row.softmax(dim=-1), atol=0.01, rtol=0)


def test_soft_gumbel_weighs_most_what_the_hard_one_draws():
    """Of equal noise; and towards temperature 0 nearly all weight lies there."""
    scores, found = draw(50, 13), {}
    for name, degree in (("gumbel", 1.0), ("gumbel_softmax", 1.0), ("gumbel_softmax", 0.1)):
        torch.manual_seed(0)
        found[name, degree] = make(name, temperature=degree).train()(scores)
    drawn = found["gumbel", 1.0].bool()
    assert not drawn[0].equal(scores[0] == scores[0].max()) or drawn.any(0).sum() > 1
    for degree, least in ((1.0, 0.3), (0.1, 0.9)):
        soft = found["gumbel_softmax", degree]
        torch.testing.assert_close(soft.sum(dim=-1), torch.ones(50).double())
        assert soft.argmax(dim=-1).equal(drawn.double().argmax(dim=-1))
        assert soft[drawn].mean() > least


def test_scalable_softmax_does_not_fade_with_length():
    """Figure 1 of the paper: all scores are -2 but one, which is 3; s is 0.43."""
    largest = {}
    for n in (16, 64, 256, 1024, 4096):
        row = torch.full((1, n), -2.0).double()
        row[0, -1] = 3.0
        largest[n] = [make(name)(row).max().item() for name in ("softmax", "scalable_softmax")]
    fading, kept = zip(*largest.values(), strict=True)
    assert fading == tuple(sorted(fading, reverse=True))
    assert [round(fading[place], 2) for place in (0, -1)] == [0.91, 0.03]
    assert kept == tuple(sorted(kept))
    assert kept[0] > 0.96


@pytest.mark.parametrize("n", [2, 100, 10_000])
@pytest.mark.parametrize("scale", [0.1, 0.43, 3.0])
def test_a_key_that_leads_by_one_over_the_scale_keeps_half_of_the_weight(n, scale):
    row = torch.zeros(1, n).double()
    row[0, 0] = 1 / scale
    assert 0.5 < make("scalable_softmax", scale=scale)(row)[0, 0] < 0.67


def test_softpick_may_look_nowhere():
    """Exact zeros at negative scores, and a row of them reads nothing, which no softmax does."""
    scores = draw(40, 13)
    scores[0] = -scores[0].abs()
    weights = make("softpick")(scores)
    assert torch.equal(weights == 0, scores <= 0)
    assert not weights[0].any()
    assert (weights[1:].sum(dim=-1) < 1).all()
    torch.testing.assert_close(make("softpick")(scores.abs()).sum(-1), torch.ones(40).double())


def test_stick_breaking_prefers_recent_keys_and_forgets_that_there_are_older_ones():
    even = make("stick_breaking")(torch.zeros(1, 10).double())[0]
    torch.testing.assert_close(even, 0.5 ** torch.arange(10, 0, -1).double())
    scores = draw(7, 60)
    late = make("stick_breaking")(scores)
    torch.testing.assert_close(make("stick_breaking")(scores[:, 40:]), late[:, 40:])
    assert not torch.allclose(make("softmax")(scores[:, 40:]), make("softmax")(scores)[:, 40:])


@pytest.mark.parametrize("masked", [False, True])
@every_normaliser
def test_scores_of_minus_infinity_weigh_nothing(name, masked):
    """As a mask does: the other keys' weights are those without such keys."""
    normalise = make(name)
    scores = draw(2, 7, 13)
    scores[:, :, 4:6] = -torch.inf
    scores[1, 3] = -torch.inf
    scores.requires_grad_()
    mask = torch.tensor([13, 9]) if masked else None
    found = masked_weights(scores, mask, normalise)
    assert found.isfinite().all()
    assert not found[:, :, 4:6].any()
    assert not found[1, 3].any()
    for batch, length in enumerate([13, 9] if masked else [13, 13]):
        kept = [key for key in range(length) if key not in (4, 5)]
        rows = [row for row in range(7) if (batch, row) != (1, 3)]
        expected = normalise(scores[batch][rows][:, kept])
        torch.testing.assert_close(found[batch][rows][:, kept], expected)
        assert not found[batch, :, length:].any()
    found.sum().backward()
    assert scores.grad.isfinite().all()
    assert not scores.grad[:, :, 4:6].any()


@every_normaliser
def test_rows_of_minus_infinity_alone_are_zeros_without_any_mask(name):
    scores = torch.full((2, 7, 13), -torch.inf, dtype=torch.float64)
    assert torch.equal(masked_weights(scores, None, make(name)), torch.zeros_like(scores))


def test_attention_gives_nothing_where_every_key_is_ruled_out():
    class Nowhere(Scoring):
        def forward(self, queries, keys):
            return (queries @ keys.mT).masked_fill(queries[..., :1] > 0, -torch.inf)

    queries, keys = draw(7, 5).requires_grad_(), draw(13, 5, seed=1)
    output, weights = attend(Nowhere(), queries, keys, keys)
    nowhere = queries[:, 0] > 0
    assert nowhere.any()
    assert not nowhere.all()
    assert not output[nowhere].any()
    torch.testing.assert_close(weights.sum(dim=-1), (~nowhere).double())
    output.sum().backward()
    assert queries.grad.isfinite().all()


@pytest.mark.parametrize(("name", "weight", "used"), [
    ("temperature", -0.5, 0.5), ("temperature", 0.0, 1e-3), ("entmax", 0.25, 1.01),
    ("scalable_softmax", -0.5, 0.5),
])  # fmt: skip
def test_a_learned_parameter_says_what_is_used_where_descent_carried_its_weight_too_far(
    name, weight, used
):
    spec = registry.installed().normaliser(name)
    (parameter,) = spec.parameters
    normalise = spec.create()
    with torch.no_grad():
        next(normalise.parameters()).fill_(weight)
    assert float(getattr(normalise, parameter.name).detach()) == pytest.approx(used)
    weights = normalise(torch.tensor([[0.5, 0.25, -1.0]])).detach()
    assert weights.sum().item() == pytest.approx(1)
    assert weights[0].tolist() == sorted(weights[0].tolist(), reverse=True)
    if name == "temperature" and used == 0.5:
        torch.testing.assert_close(weights, torch.tensor([softmax([0.5, 0.25, -1.0], 0.5)]))
