"""What records of all kinds are asked for: texts that explain, parameters within their bounds."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from attention_plugins.checking.findings import Broken
from attention_plugins.contract import Parameter, Scalar

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


# Of those that come with the workbench, different ones.
_ALWAYS_THERE = {"scorings": ("scaled_dot", "gaussian"), "normalisers": ("softmax", "sparsemax")}
_ESCAPED = re.compile(r"\\[{}\\]")


def require_explained(spec: Any, formula: str = "", *, formula_is_enough: bool = False) -> None:
    """Raise :class:`Broken` unless a reader learns what it is and where it comes from."""
    if not spec.title.strip():
        raise Broken("the title is blank; give the name that a reader of the pages knows it by")
    if problem := formula_problem(formula):
        raise Broken(f"the formula {formula!r} {problem}")
    if not spec.reference.strip() and not (formula_is_enough and formula):
        raise Broken(
            'the record has no reference; add reference="..." with the paper or page that it '
            "comes from, or who thought of it"
        )


def formula_problem(formula: str) -> str:
    """What keeps LaTeX from being set, and what to change; empty if nothing does."""
    if "$" in formula:
        return "has dollars; write the LaTeX between them only"
    depth = 0
    for mark in re.findall("[{}]", _ESCAPED.sub("", formula)):
        depth += 1 if mark == "{" else -1
        if depth < 0:
            break
    if depth:
        return "has braces that do not match; close every { with one }"
    if formula.count(r"\left") - formula.count(r"\leftarrow") != (
        formula.count(r"\right") - formula.count(r"\rightarrow")
    ):
        return r"has a \left without \right, or the other way round; write both"
    return ""


def values_of(parameter: Parameter, *, on_step: bool = False) -> list[Scalar]:
    """The values to try: both bounds and the default, every choice, or some that it may name.

    Args:
        on_step: whether only values on the parameter's step are taken.
    """
    if parameter.numeric:
        low, high = parameter.bounds
        if on_step and parameter.stride > 1:
            high -= (high - low) % parameter.stride
        kind = type(parameter.default)
        return [kind(low), parameter.default, kind(high)]
    if parameter.names:
        return list(dict.fromkeys((parameter.default, *_ALWAYS_THERE[parameter.names])))
    return list(parameter.choices) or [False, True]
