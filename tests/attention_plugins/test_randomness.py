"""Draws that are seeded, undone and gone on with, on the CPU and on a device."""

from contextlib import suppress

import pytest
import torch
from support.pretend_device import DEVICE, pretend_device

from attention_plugins.randomness import restore, seed_all, seeded, states, undisturbed

CPU, THERE = "cpu", DEVICE


@pytest.fixture
def _there():
    with pretend_device():
        yield


def draws(device):
    return torch.rand(5, device=device).tolist()


@pytest.mark.usefixtures("_there")
def test_seeded_draws_are_those_of_manual_seed():
    torch.manual_seed(17)
    expected = draws(CPU)
    torch.manual_seed(3)
    with seeded(17):
        assert draws(CPU) == expected
    after = draws(CPU)
    torch.manual_seed(3)
    assert draws(CPU) == after


@pytest.mark.parametrize("there", [True, False])
def test_all_generators_are_seeded_and_no_stack_is_kept_without_a_device(there, monkeypatch):
    seeds, seed = [], torch.manual_seed
    seed(17)
    expected = draws(CPU)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: there)
    monkeypatch.setattr(torch, "manual_seed", lambda one: (seeds.append(one), seed(one)))
    seed_all(17)
    assert draws(CPU) == expected
    assert seeds == [17] * there


@pytest.mark.usefixtures("_there")
def test_seeding_leaves_devices_alone():
    """What torch.manual_seed does to them, no fork of the CPU's draws undoes."""
    torch.manual_seed(3)
    expected = draws(THERE)
    torch.manual_seed(3)
    with seeded(17):
        pass
    assert draws(THERE) == expected


@pytest.mark.usefixtures("_there")
@pytest.mark.parametrize("device", [CPU, THERE])
def test_what_is_drawn_in_between_is_not_noticed(device):
    torch.manual_seed(3)
    expected = [draws(place) for place in (CPU, device)]
    torch.manual_seed(3)
    with suppress(KeyError), undisturbed(torch.device(device)):
        draws(CPU)
        draws(device)
        raise KeyError
    assert [draws(place) for place in (CPU, device)] == expected


@pytest.mark.usefixtures("_there")
def test_states_go_on_where_they_were_taken():
    torch.manual_seed(3)
    kept = states(torch.device(THERE))
    assert kept.keys() == {"cpu", "pretend"}
    expected = draws(CPU), draws(THERE)
    torch.manual_seed(99)
    restore(kept, torch.device(THERE))
    assert (draws(CPU), draws(THERE)) == expected


@pytest.mark.usefixtures("_there")
def test_a_state_without_the_devices_leaves_it_as_it_is():
    torch.manual_seed(3)
    kept, expected = states(torch.device(CPU)), draws(THERE)
    torch.manual_seed(3)
    restore(kept, torch.device(THERE))
    assert draws(THERE) == expected
