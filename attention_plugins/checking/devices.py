"""Whether a computation leaves the device of its inputs, found out without a second device."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention_plugins.checking.findings import Broken


@contextmanager
def nothing_drawn(what: str) -> Iterator[None]:
    """Raise :class:`Broken` if torch's, Python's or NumPy's generator moved inside."""
    before = _generators()
    yield
    for name, state in _generators().items():
        if state != before.get(name, state):
            raise Broken(
                f"{what} in evaluation mode drew from {name}'s random generator; draw only where "
                "self.training is true (functional.dropout needs training=self.training)"
            )


def _generators() -> dict[str, str]:
    states = {"torch": torch.get_rng_state().numpy().tobytes().hex()}
    states["Python"] = repr(random.getstate())
    if (numpy := sys.modules.get("numpy")) is not None:
        _, keys, *rest = numpy.random.get_state()
        states["NumPy"] = f"{keys.tobytes().hex()} {rest}"
    return states


_MAKERS = {
    getattr(torch, name): name
    for name in (
        "arange", "as_tensor", "empty", "eye", "from_numpy", "full", "linspace", "logspace",
        "ones", "rand", "randint", "randn", "randperm", "tensor", "tril_indices", "triu_indices",
        "zeros",
    )
}  # fmt: skip
_MOVERS = {getattr(Tensor, name): name for name in ("cpu", "cuda", "numpy", "tolist")}
_READERS = {
    Tensor.item: "item()", Tensor.__bool__: "if or while on a tensor", Tensor.__float__: "float()",
    Tensor.__int__: "int()",
}  # fmt: skip


class _Watch(TorchFunctionMode):
    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def __torch_function__(
        self, function: Callable, types: object, given: Sequence = (), named: Mapping | None = None
    ) -> Any:
        named = named or {}
        if function in _MOVERS or (function is Tensor.to and _names_device(given[1:], named)):
            name = _MOVERS.get(function, "to(device)")
            raise Broken(f"{self._what} calls .{name}; compute where the inputs are")
        if function in _READERS:
            raise Broken(
                f"{self._what} reads a number out of a tensor ({_READERS[function]}), for which a "
                "GPU must stop and wait; compute with tensors, such as torch.where or clamp"
            )
        result = function(*given, **named)
        # A number without dimensions may meet tensors of any device.
        if function in _MAKERS and named.get("device") is None and result.dim():
            raise Broken(
                f"{self._what} makes a tensor with torch.{_MAKERS[function]} on the default "
                "device; say device=queries.device, or use queries.new_zeros(...) and the like"
            )
        return result


@contextmanager
def devices_watched(what: str) -> Iterator[None]:
    """Raise :class:`Broken` where a tensor is made elsewhere, moved, or read back."""
    with _Watch(what):
        yield


def left_behind(module: nn.Module) -> str:
    """A tensor that would not move with the module, as ``Class.attribute``; empty if none."""
    ours = {id(each) for each in (*module.parameters(), *module.buffers())}
    for part in module.modules():
        for name, value in vars(part).items():
            if name in ("_parameters", "_buffers"):
                continue
            inside = value.values() if isinstance(value, dict) else value
            held = inside if isinstance(value, list | tuple | dict) else [value]
            if any(isinstance(t, Tensor) and t.dim() and id(t) not in ours for t in held):
                return f"{type(part).__name__}.{name}"
    return ""


def _names_device(given: Sequence, named: Mapping[str, Any]) -> bool:
    devices = (torch.device, str)
    return any(isinstance(each, devices) for each in (*given, named.get("device")))
