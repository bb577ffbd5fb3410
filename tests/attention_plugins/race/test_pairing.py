import torch
from torch import nn

from attention_plugins.contract import ModelSizes
from attention_plugins.race.translating import share_weights
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed

SIZES = ModelSizes(12, 14)


def built(scoring, model="transformer", seed=5):
    registry = installed()
    with seeded(seed):
        return registry.model(model).create(
            registry.scoring_factory(scoring), SIZES, {"hidden": 8, "heads": 2}
        )


def test_all_weights_outside_the_scorings_start_alike():
    plain = built("uniform")
    for name in ("additive", "bilinear", "scaled_dot"):
        model = built(name)
        shared = share_weights(model, plain)
        wanted = dict(plain.named_parameters())
        found = {n: w for n, w in model.named_parameters() if n in wanted}
        assert shared == sum(w.numel() for w in wanted.values())
        assert all(torch.equal(found[n], wanted[n]) for n in wanted)


def test_without_it_a_scoring_with_weights_shifts_the_draws_of_later_layers():
    plain, model = dict(built("uniform").named_parameters()), built("additive")
    same = [torch.equal(w, plain[n]) for n, w in model.named_parameters() if n in plain]
    assert not all(same)


def test_a_scorings_own_weights_stay_as_they_were_drawn():
    model, other = built("additive"), built("additive", seed=6)
    own = {n: w.clone() for n, w in model.named_parameters() if "scoring" in n}
    share_weights(model, other)
    assert own
    now = dict(model.named_parameters())
    assert all(torch.equal(now[n], w) for n, w in own.items())


def test_weights_of_another_shape_stay():
    one, other = nn.Linear(3, 2), nn.Linear(4, 2)
    before = one.weight.clone()
    assert share_weights(one, other) == 2  # the bias
    assert torch.equal(one.weight, before)
    assert torch.equal(one.bias, other.bias)
