"""What hangs on a module and its submodules, so that a forward pass can be caught changing it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

# Values of these are a state's matter, see ``state`` below.
_REGISTERED = ("_parameters", "_buffers")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_DEEPEST = 4


class Snapshot:
    """Every attribute of a module and its submodules, but for weights and buffers."""

    def __init__(self, module: nn.Module) -> None:
        self._alive: list[Any] = []  # an id is an identity only while its object lives
        self._seen = {
            (type(part).__name__, path, name): self._print(value, _DEEPEST)
            for path, part in module.named_modules()
            for name, value in vars(part).items()
            if name not in _REGISTERED
        }

    def changed(self, module: nn.Module) -> list[str]:
        """What is no longer as it was, as ``Class.attribute``."""
        now = Snapshot(module)._seen
        keys = [key for key in {**self._seen, **now} if self._seen.get(key) != now.get(key)]
        return [f"{kind}.{name}" for kind, _, name in keys]

    def _print(self, value: Any, depth: int) -> Any:
        if isinstance(value, _PLAIN):
            return repr(value)
        self._alive.append(value)
        if isinstance(value, Tensor):
            return id(value), value._version
        if isinstance(value, nn.Module | type) or not depth:
            return id(value)
        if isinstance(value, Mapping):
            return tuple((repr(k), self._print(v, depth - 1)) for k, v in value.items())
        if isinstance(value, list | tuple | set | frozenset | deque):
            return tuple(self._print(v, depth - 1) for v in value)
        return id(value), self._print(getattr(value, "__dict__", {}), depth - 1)


def state(module: nn.Module) -> dict[str, Tensor]:
    """Copies of all weights and buffers, also of those that no checkpoint stores."""
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {name: tensor.detach().clone() for name, tensor in named.items()}


def state_changed(module: nn.Module, before: Mapping[str, Tensor]) -> list[str]:
    """Names of weights and buffers that are new, gone or of other values."""
    now = state(module)
    return [
        name
        for name in {**before, **now}
        if name not in now
        or name not in before
        or now[name].shape != before[name].shape
        or not now[name].equal(before[name])
    ]
