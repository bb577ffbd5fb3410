"""A device that is none: what runs on it would run on a GPU, and no GPU is needed.

Inside :func:`pretend_device` torch knows a device ``pretend:0``. Its tensors hold their numbers on
the CPU, so that decoding may read them, but torch treats them as those of an accelerator: they
have its dispatch keys, draw from a generator of their own, and refuse what a GPU refuses; also an
index that lies on the CPU, which CUDA would copy at every use without a word. An error that a
tensor's hook raises in the backward pass ends the process there, by torch's doing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import torch
from support.gru_cell import gru_cell, gru_cell_gradient
from torch import Tensor, nn
from torch._C import _acc
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

DEVICE = "pretend:0"
_KIND = "pretend"
_aten = torch.ops.aten
_WIDE = (torch.float64, torch.complex128)


@dataclass
class Traffic:
    """What passed between the CPU and the device, and how often the CPU waited for a number.

    Attributes:
        to: copies from the CPU to the device.
        back: copies from the device to the CPU, ``tolist`` among them.
        read: what the CPU must wait for: ``item``, ``if`` on a tensor, results whose shape
            depends on numbers.
    """

    to: int = 0
    back: int = 0
    read: int = 0


@dataclass
class _State:
    """Of the device, as long as it is there."""

    there: bool = False
    wide: bool = True
    traffic: Traffic = field(default_factory=Traffic)
    generator: torch.Generator = field(default_factory=torch.Generator)


_state = _State()


class _Backend:
    """``torch.pretend``, where torch looks for what it knows of an accelerator."""

    def is_available(self) -> bool:
        return _state.there

    def is_initialized(self) -> bool:
        return _state.there

    def device_count(self) -> int:
        return int(_state.there)

    def current_device(self) -> int:
        return 0

    def _is_in_bad_fork(self) -> bool:
        return False

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    def manual_seed_all(self, seed: int) -> None:
        _state.generator.manual_seed(seed)

    def get_rng_state(self, device: object = None) -> Tensor:
        return _state.generator.get_state()

    def set_rng_state(self, state: Tensor, device: object = None) -> None:
        _state.generator.set_state(state)


class _Hook(_acc.PrivateUse1Hooks):
    def is_available(self) -> bool:
        return _state.there

    def has_primary_context(self, index: int) -> bool:
        return _state.there

    def is_built(self) -> bool:
        return True


# Torch knows one accelerator beside the CPU: on a GPU gradients would look for their streams on
# this one. It must be named before the first gradient of a process.
if not torch.cuda.is_available():
    _setup_privateuseone_for_python_backend(_KIND, _Backend(), _Hook())


class Pretended(Tensor):
    """A tensor of the device; ``inner`` has its numbers, on the CPU."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> Pretended:
        if not _state.wide and inner.dtype in _WIDE:
            raise TypeError(
                f"this device has no {inner.dtype}, as Apple's GPU has none; compute in float32 "
                "there, or move to the CPU first: .cpu().double()"
            )
        made = Tensor._make_wrapper_subclass(
            cls, inner.shape, inner.stride(), inner.storage_offset(), dtype=inner.dtype,
            device=torch.device(DEVICE),
        )  # fmt: skip
        made.inner = inner
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: object, given: Sequence = (), named: Mapping | None = None
    ) -> Any:
        return _run(function, given, named or {})

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"Pretended({self.inner})"

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError(f"a tensor on {DEVICE} is no NumPy array; call .cpu() first")

    __array__ = numpy


class _Mode(TorchDispatchMode):
    def __torch_dispatch__(
        self, function: Any, types: object, given: Sequence = (), named: Mapping | None = None
    ) -> Any:
        return _run(function, given, named or {})

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to skip it, torch would import it: seconds


@contextmanager
def pretend_device(*, wide: bool = True) -> Iterator[Traffic]:
    """Inside, torch has the device ``pretend:0``.

    Args:
        wide: whether it has float64; Apple's GPU has not.
    """
    if torch.cuda.is_available():
        pytest.skip("a GPU is here, and torch knows one accelerator")
    _state.there, _state.wide, _state.traffic = True, wide, Traffic()
    _state.generator.manual_seed(0)
    # torch.tensor then makes its numbers on the CPU and moves them by an operation that is seen.
    torch._C._set_only_lift_cpu_tensors(True)
    try:
        with _Mode(), _weights_stay_themselves():
            yield _state.traffic
    finally:
        torch._C._set_only_lift_cpu_tensors(False)
        _state.there = False


@contextmanager
def _weights_stay_themselves() -> Iterator[None]:
    """A module that moves keeps its weights, tied ones too, as on the way to a GPU.

    For a device that torch was not built with it makes new ones, unless it swaps their insides.
    """
    usual, future = nn.Module._apply, torch.__future__

    def moved(module: nn.Module, function: Callable, recurse: bool = True) -> nn.Module:
        before = future.get_swap_module_params_on_conversion()
        future.set_swap_module_params_on_conversion(True)
        try:
            return usual(module, function, recurse)
        finally:
            future.set_swap_module_params_on_conversion(before)

    nn.Module._apply = moved
    try:
        yield
    finally:
        nn.Module._apply = usual


def _run(function: Any, given: Sequence, named: Mapping[str, Any]) -> Any:
    """One of torch's operations, as a GPU would do it or refuse it."""
    tensors = _tensors([*given, *named.values()])
    ours = [each for each in tensors if isinstance(each, Pretended)]
    wanted = named.get("device")
    if not ours and (wanted is None or torch.device(wanted).type != _KIND):
        return function(*given, **named)
    if function in _COPIES:
        return _copied(function, given, named)
    if len(ours) < len(tensors) and function not in _COUNTED_ON_CPU:
        _refuse_others(function, tensors)
    _state.traffic.read += function in _READS or _chosen_by_mask(function, given)
    wrapped = {id(each.inner): each for each in ours}
    inner = _mapped(given, _bare), {name: _mapped(each, _bare) for name, each in named.items()}
    found = _computed(function)(*inner[0], **inner[1])
    if torch.Tag.inplace_view in function.tags:  # such as transpose_: our shape changes with it
        with torch._C._DisableTorchDispatch():
            function(*given, **named)
    if function is _PACKED:
        return Pretended(found[0]), found[1]
    return _mapped(found, lambda one: wrapped[id(one)] if id(one) in wrapped else Pretended(one))


def _refuse_others(function: Any, tensors: Sequence[Tensor]) -> None:
    """Raise RuntimeError where a tensor is on the CPU; numbers without dimensions may be."""
    for each in tensors:
        if not isinstance(each, Pretended) and each.dim():
            raise RuntimeError(
                f"{function} meets tensors on {DEVICE} and on the CPU, {tuple(each.shape)}; "
                "need all tensors on one device"
            )


_PACKED = _aten._pack_padded_sequence.default
# torch wants the sizes of packed batches on the CPU, also where the batches are on a GPU.
_COUNTED_ON_CPU = {_PACKED, _aten._pack_padded_sequence_backward.default}
_COPIES = {_aten._to_copy.default, _aten.copy_.default}
_READS = {
    _aten._local_scalar_dense.default, _aten.equal.default, _aten.nonzero.default,
    _aten.masked_select.default, _aten._unique2.default, _aten.repeat_interleave.Tensor,
}  # fmt: skip


def _copied(function: Any, given: Sequence, named: Mapping[str, Any]) -> Tensor:
    """A copy, which alone may go from one device to another; such journeys are counted."""
    if function is _aten.copy_.default:
        target, source, *_ = given
        _count(source, isinstance(target, Pretended))
        _bare(target).copy_(_bare(source))
        return target
    source = given[0]
    wanted = torch.device(named.get("device") or source.device)
    there = wanted.type == _KIND
    _count(source, there)
    options = {**named, "device": torch.device("cpu")}
    found = function(_bare(source), **options)
    return Pretended(found) if there else found


def _count(source: Tensor, there: bool) -> None:
    was = isinstance(source, Pretended)
    _state.traffic.to += there and not was
    _state.traffic.back += was and not there


def _chosen_by_mask(function: Any, given: Sequence) -> bool:
    """Whether a tensor is indexed by a mask: how much is chosen is known only to the device."""
    if function not in (_aten.index.Tensor, _aten.index_put_.default, _aten.index_put.default):
        return False
    return any(each is not None and each.dtype == torch.bool for each in given[1])


@cache
def _computed(function: Any) -> Callable[..., Any]:
    """The operation on the CPU; what it draws is drawn from the device's generator."""
    if torch.Tag.nondeterministic_seeded not in function.tags:
        return _CELLS.get(function, function)

    def drawn(*given: Any, **named: Any) -> Any:
        before = torch.default_generator.get_state()
        torch.default_generator.set_state(_state.generator.get_state())
        try:
            return function(*given, **named)
        finally:
            _state.generator.set_state(torch.default_generator.get_state())
            torch.default_generator.set_state(before)

    return drawn


_CELLS: dict[Any, Callable[..., Any]] = {
    _aten._thnn_fused_gru_cell.default: gru_cell,
    _aten._thnn_fused_gru_cell_backward.default: gru_cell_gradient,
}


def _bare(each: Any) -> Any:
    """What computes on the CPU in its place."""
    if isinstance(each, Pretended):
        return each.inner
    if isinstance(each, torch.device) and each.type == _KIND:
        return torch.device("cpu")
    return each


def _tensors(values: Sequence) -> list[Tensor]:
    found: list[Tensor] = []
    for each in values:
        if isinstance(each, Tensor):
            found.append(each)
        elif isinstance(each, list | tuple):
            found += _tensors(each)
    return found


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The value with every tensor in it, and every device, changed."""
    if isinstance(value, Tensor | torch.device):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_mapped(each, change) for each in value)
    return value
