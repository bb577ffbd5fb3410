"""Swaps are measured beside the original, from the same draws, and a model is left as it is."""

import copy
import math

import pytest
import torch

from attention_plugins.huggingface.numbers import Numbers
from attention_plugins.huggingface.translator import Pieces
from attention_plugins.price.records import Swap
from attention_plugins.price.tuning import shown, trial
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
    found = shown(model, text, Pieces(Numbers(model.config.to_dict())))
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
