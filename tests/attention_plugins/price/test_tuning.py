"""Swaps are measured beside the original, from the same draws, and a model is left as it is."""

import copy
import math
from dataclasses import replace

import pytest
import torch

from attention_plugins.huggingface.numbers import Numbers
from attention_plugins.huggingface.translator import Pieces
from attention_plugins.price.records import Shown, Swap
from attention_plugins.price.tuning import Text, batches, cut, loss, nats, shown, trial, tune
from attention_plugins.randomness import seeded
from attention_plugins.swaps.swapping import swap as put
from tests.attention_plugins.price.conftest import BUDGET


def measured(model, swap, texts, seed=0, **more):
    return trial(model, swap, seed, texts, BUDGET, **more)


@pytest.mark.parametrize("name", ["llama", "bart"])
def test_the_models_own_scoring_swapped_in_costs_nothing_untuned_and_tuned(name, texts, request):
    model = request.getfixturevalue(name)
    own = measured(model, Swap(), texts)
    same = measured(model, Swap(scoring="scaled_dot"), texts)
    assert same.before == pytest.approx(own.before, abs=1e-5)
    assert same.after == pytest.approx(own.after, abs=1e-3)
    assert all(math.isfinite(loss) and loss != own.before for loss in own.after)
    assert own.parameters == same.parameters == 0
    other = measured(model, Swap(), texts, seed=1)
    assert other.before != own.before


def test_a_model_is_left_as_it_was(llama, texts):
    before = copy.deepcopy(llama.state_dict())
    outcome = measured(llama, Swap(scoring="additive"), texts)
    assert outcome.parameters > 0
    assert outcome.problem == ""
    assert llama.state_dict().keys() == before.keys()
    assert all(torch.equal(weight, before[name]) for name, weight in llama.state_dict().items())
    assert llama.config._attn_implementation == "eager"


def test_new_weights_are_drawn_by_the_seed_and_disturb_no_others(llama, texts):
    swap = Swap(scoring="additive")
    state = torch.get_rng_state()
    one, same = (measured(llama, swap, texts) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert (one.before, one.after) == (same.before, same.after)


def test_a_scoring_that_cannot_be_right_costs_its_own_trial(llama, texts):
    outcome = measured(llama, Swap(scoring="coverage"), texts)
    assert "coverage" in outcome.problem
    assert math.isnan(outcome.before)
    assert outcome.after == ()


def test_of_a_loss_that_is_not_finite_or_a_rate_that_fails_only_the_problem_stays(
    llama, texts, monkeypatch
):
    losses = iter([math.nan, 1.0, 2.0, "none"])
    monkeypatch.setattr("attention_plugins.price.tuning.nats", lambda *given: float(next(losses)))
    monkeypatch.setattr("attention_plugins.price.tuning.tune", lambda *given: ())
    assert measured(llama, Swap(), texts).problem == "the loss is not finite"
    failed = measured(llama, Swap(), texts)  # at the second rate
    assert (failed.problem[:17], failed.after) == ("could not convert", ())
    assert math.isnan(failed.before)


def test_whoever_watches_is_told_all_shares_and_may_stop(llama, texts):
    shares = []
    measured(llama, Swap(), texts, watch=shares.append)
    steps = 2 * BUDGET.steps
    assert shares == pytest.approx([n / steps for n in range(1, steps + 1)])

    class Stopped(Exception):
        pass

    def stop(share):
        raise Stopped

    with pytest.raises(Stopped):
        measured(llama, Swap(), texts, watch=stop)


@pytest.mark.parametrize("name", ["llama", "bart"])
def test_what_is_shown_are_the_maps_that_the_library_gives(name, texts, request):
    model, text = request.getfixturevalue(name), max(texts, key=lambda text: len(text.counted))
    text = text._replace(given=text.given * 3)
    fused = copy.deepcopy(model)
    fused.set_attn_implementation("sdpa")
    found = shown(fused, text, Pieces(Numbers(model.config.to_dict())))
    with torch.no_grad():
        if name == "bart":
            row = [model.config.decoder_start_token_id, *text.counted[:-1]]
            known = model(input_ids=torch.tensor([text.given]), output_attentions=True,
                          decoder_input_ids=torch.tensor([row])).cross_attentions  # fmt: skip
            keys, queries = text.given, text.counted
        else:
            keys = queries = text.given + text.counted
            known = model(input_ids=torch.tensor([keys]), output_attentions=True).attentions
    assert (found.queries, found.keys) == ([*map(str, queries)], [*map(str, keys)])
    for one, weights in zip(found.maps, known, strict=True):
        torch.testing.assert_close(torch.tensor(one), weights[0].mean(0), rtol=0, atol=6e-5)


def test_tuning_is_adam_with_a_clipped_gradient_and_a_rate_that_falls_to_0(llama, texts):
    budget, rate = replace(BUDGET, steps=3), 0.03
    made = copy.deepcopy(llama).requires_grad_()
    with torch.no_grad():
        made.get_output_embeddings().weight.mul_(30)  # so that the gradient is clipped
    known = copy.deepcopy(made)
    assert [*tune(made, texts, budget, rate, 5)] == pytest.approx([1 / 3, 2 / 3, 1])
    weights = [*known.parameters()]
    means, squares = ([torch.zeros_like(w) for w in weights] for _ in range(2))
    for step, batch in enumerate(batches(texts, budget.batch_size, 3, 5)):
        total, tokens = loss(known, batch)
        found = torch.autograd.grad(total / tokens, weights)
        norm = torch.stack([one.square().sum() for one in found]).sum().sqrt()
        assert norm > 1.5
        now = rate * (1 + math.cos(math.pi * step / 3)) / 2
        for weight, one, mean, square in zip(weights, found, means, squares, strict=True):
            gradient = one / norm
            mean.lerp_(gradient, 0.1)
            square.lerp_(gradient.square(), 0.001)
            moved = mean / (1 - 0.9 ** (step + 1))
            spread = (square / (1 - 0.999 ** (step + 1))).sqrt() + 1e-8
            weight.data -= now * moved / spread
    for ours, theirs in zip(made.parameters(), weights, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)


def test_a_seed_cuts_the_texts_draws_the_weights_and_orders_the_batches(llama, texts):
    swap = Swap(scoring="additive", normaliser="sparsemax", positions="remove")
    outcome = measured(llama, swap, texts, seed=1)
    tuned, held_out = cut(texts, BUDGET.held_out, 1)
    after = []
    for rate in BUDGET.rates:
        made = copy.deepcopy(llama)
        with seeded(1):
            new = put(made, "additive", normaliser="sparsemax", positions="remove")
        if not after:
            assert outcome.before == nats(made, held_out, BUDGET.batch_size)
            assert outcome.parameters == sum(weight.numel() for weight in new.parameters())
        [*tune(made.requires_grad_(), tuned, BUDGET, rate, 1)]
        after.append(nats(made, held_out, BUDGET.batch_size))
    assert outcome.after == tuple(after)
    assert outcome.seconds > 0


@pytest.mark.parametrize("rates", [(0.01, 1.0), (1.0, 0.01)])
def test_shown_are_the_untuned_model_and_the_one_tuned_at_the_better_rate(llama, texts, rates):
    losses = []

    def show(model):
        losses.append(nats(model, held_out, 5))
        return Shown(text=f"{losses[-1]}")

    held_out = cut(texts, BUDGET.held_out, 0)[1]
    outcome = trial(llama, Swap(), 0, texts, replace(BUDGET, rates=rates), show=show)
    assert outcome.shown_before.text == f"{outcome.before}"
    assert outcome.shown_after.text == f"{min(outcome.after)}"


def test_a_frozen_model_is_tuned_as_any_other(llama, texts):
    frozen = copy.deepcopy(llama).requires_grad_(False)
    assert measured(frozen, Swap(), texts).after == measured(llama, Swap(), texts).after
    assert not any(weight.requires_grad for weight in frozen.parameters())


def test_no_more_tokens_are_shown_than_a_reader_can_take_in(bart, llama, monkeypatch):
    monkeypatch.setattr("attention_plugins.price.tuning._SHOWN_TOKENS", 3)
    found = shown(
        bart, Text((5, 6, 7, 8), (9, 10, 11, 12)), Pieces(Numbers(bart.config.to_dict()))
    )
    assert (found.keys, found.queries) == (["5", "6", "7"], ["9", "10", "11"])
    short = copy.deepcopy(llama)
    short.config.max_position_embeddings = 2
    found = shown(short, Text((5,), (6, 7, 8)), Pieces(Numbers(bart.config.to_dict())))
    assert found.keys == ["5", "6"]
