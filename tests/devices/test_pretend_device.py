"""What the pretended device refuses, counts and keeps apart, as a GPU does."""

import copy

import pytest
import torch
from support.pretend_device import DEVICE, Pretended, pretend_device
from torch import nn

LONE = pytest.mark.parametrize(
    "mixed",
    [
        lambda here, there: there + here,
        lambda here, there: here @ there,
        lambda here, there: torch.cat([there, here]),
        lambda here, there: torch.where(there > 0, there, here),
        lambda here, there: there[here[0].long()],
        lambda here, there: there.add_(here),
        lambda here, there: there.index_put_((torch.zeros(3, dtype=torch.long),), there),
        lambda here, there: there.masked_fill(here > 0, 0.0),
        lambda here, there: there.index_select(0, torch.arange(2)),
        lambda here, there: nn.functional.linear(there, here),
    ],
)


class _Careless(torch.autograd.Function):
    @staticmethod
    def forward(ctx, inputs):
        return inputs * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient + torch.ones(3)


@pytest.fixture
def traffic():
    with pretend_device() as found:
        yield found


@LONE
def test_tensors_of_two_devices_do_not_meet(traffic, mixed):
    here, there = torch.ones(3, 3), torch.ones(3, 3, device=DEVICE)
    with pytest.raises(RuntimeError, match=r"meets tensors on pretend:0 and on the CPU"):
        mixed(here, there)


def test_a_number_without_dimensions_meets_any_device(traffic):
    there = torch.ones(3, device=DEVICE)
    assert (there * torch.tensor(2.0) + 1).tolist() == [3.0] * 3
    assert torch.where(there > 0, torch.tensor(5.0), there).device == torch.device(DEVICE)


def test_they_do_not_meet_on_the_way_back_either(traffic):
    there = torch.ones(3, device=DEVICE, requires_grad=True)
    with pytest.raises(RuntimeError, match="meets tensors"):
        _Careless.apply(there).sum().backward()


def test_without_float64_nothing_has_it():
    with pretend_device(wide=False):
        there = torch.ones(3, device=DEVICE)
        for wrong in (
            there.double,
            lambda: there.to(torch.float64),
            lambda: torch.zeros(3, dtype=torch.float64, device=DEVICE),
            lambda: torch.zeros(3, dtype=torch.float64).to(DEVICE),
        ):
            with pytest.raises(TypeError, match=r"no torch.float64.*\.cpu\(\)\.double\(\)"):
                wrong()
        assert there.cpu().double().dtype == torch.float64
    with pretend_device():
        assert torch.ones(3, device=DEVICE).double().dtype == torch.float64


def test_a_tensor_there_is_no_array(traffic):
    there = torch.ones(3, device=DEVICE)
    for wrong in (there.numpy, there.__array__):
        with pytest.raises(TypeError, match=r"no NumPy array; call .cpu\(\) first"):
            wrong()
    assert there.cpu().numpy().tolist() == [1.0] * 3


def test_traffic_is_counted(traffic):
    there = torch.arange(3, device=DEVICE)
    assert (traffic.to, traffic.back, traffic.read) == (0, 0, 0)
    torch.tensor([1, 2], device=DEVICE)
    there[:] = torch.arange(3)
    assert (traffic.to, traffic.back, traffic.read) == (2, 0, 0)
    there.cpu(), there.tolist(), there.to("cpu")
    assert (traffic.to, traffic.back, traffic.read) == (2, 3, 0)
    there.sum().item(), int(there[0]), bool(there.any()), there.nonzero(), there[there > 1]
    assert (traffic.to, traffic.back, traffic.read) == (2, 3, 5)


def test_a_list_as_an_index_is_a_copy(traffic):
    torch.ones(3, 5, device=DEVICE)[:, [1, 2]]
    assert traffic.to == 1


def test_it_draws_from_a_generator_of_its_own(traffic):
    torch.manual_seed(3)  # seeds every device
    here, there = torch.randn(5), torch.randn(5, device=DEVICE)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(5, device=DEVICE).cpu(), there.cpu())
    assert torch.equal(torch.randn(5), here)
    before = torch.get_rng_state()
    nn.functional.dropout(torch.ones(9, device=DEVICE), 0.5)
    torch.rand(3, device=DEVICE).normal_()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_module_moves_there_and_back_as_it_is(traffic):
    model = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
    model["b"].weight = model["a"].weight
    first = model["a"].weight
    wanted = first.detach().clone()
    for place in (DEVICE, "cpu"):
        model.to(place)
        assert model["a"].weight is model["b"].weight is first
        assert {each.device for each in model.parameters()} == {torch.device(place)}
    assert torch.equal(first, wanted)


def test_a_copy_of_a_module_shares_nothing(traffic):
    model = nn.Linear(3, 5).to(DEVICE)
    other = copy.deepcopy(model).to("cpu")
    with torch.no_grad():
        other.weight.zero_()
    assert model.weight.abs().sum() > 0


@pytest.mark.parametrize("both_ways", [False, True])
def test_a_recurrent_layer_is_the_cpus(traffic, both_ways):
    """Accelerators compute a GRU's step by a kernel that a CPU has not."""
    found = []
    for place in ("cpu", DEVICE):
        torch.manual_seed(0)
        layer = nn.GRU(3, 5, batch_first=True, bidirectional=both_ways).to(place)
        x = torch.randn(2, 7, 3).to(place).requires_grad_()
        output, last = layer(x)
        parts = torch.autograd.grad(output.square().sum() + last.sum(), [x, *layer.parameters()])
        found.append([output, *parts])
    for mine, yours in zip(*found, strict=True):
        assert yours.device == torch.device(DEVICE)
        torch.testing.assert_close(yours.cpu(), mine)


def test_a_shape_changed_in_place_is_seen(traffic):
    there = torch.ones(2, 3, device=DEVICE)
    assert there.transpose_(0, 1).shape == there.shape == (3, 2)
    assert (there * 1).shape == (3, 2)


def test_outside_there_is_no_such_device():
    with pretend_device():
        assert torch.accelerator.is_available()
    assert not torch.accelerator.is_available()
    with pytest.raises((NotImplementedError, RuntimeError)):
        torch.ones(3, device=DEVICE)
    assert not isinstance(torch.ones(3), Pretended)
