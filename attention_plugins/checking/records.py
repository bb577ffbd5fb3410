"""What rules of all kinds share: what modules keep, draw and compute where, what records say."""

import random
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention_plugins.beside import beside
from attention_plugins.checking.findings import Broken
from attention_plugins.contract import Parameter, Scalar
from attention_plugins.randomness import seed_all

_SAID = beside(__file__, "words.toml")["records"]

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
    both = now.keys() & before.keys()
    return [name for name in {**before, **now}
            if name not in both or not now[name].equal(before[name])]  # fmt: skip


# Of those that come with the workbench, different ones.
_ALWAYS_THERE = {"scorings": ("scaled_dot", "gaussian"), "normalisers": ("softmax", "sparsemax"),
                 "layers": ("multi_head",)}  # fmt: skip
_ESCAPED = re.compile(r"\\[{}\\]")


def require_explained(spec: Any, formula: str = "", *, formula_is_enough: bool = False) -> None:
    """Raise :class:`Broken` unless a reader learns what it is and where it comes from."""
    if not spec.title.strip():
        raise Broken("the title is blank; give the name that a reader of the pages knows it by")
    if problem := formula_problem(formula):
        raise Broken(f"the formula {formula!r} {problem}")
    if not spec.reference.strip() and not (formula_is_enough and formula):
        raise Broken(_SAID["no_reference"])


def check_the_record_explains_itself(spec: Any) -> None:
    """A title, a formula that can be set if there is one, and where it comes from."""
    require_explained(spec, getattr(spec, "formula", ""))


def formula_problem(formula: str) -> str:
    """What keeps LaTeX from being set, and what to change; empty if nothing does."""
    if "$" in formula:
        return "has dollars; write the LaTeX between them only"
    marks = re.findall("[{}]", _ESCAPED.sub("", formula))
    depths = [0, *accumulate(1 if mark == "{" else -1 for mark in marks)]
    if depths[-1] or min(depths) < 0:
        return "has braces that do not match; close every { with one }"
    if formula.count(r"\left") - formula.count(r"\leftarrow") != (
        formula.count(r"\right") - formula.count(r"\rightarrow")
    ):
        return r"has a \left without \right, or the other way round; write both"
    return ""


def values_of(parameter: Parameter, *, on_step: bool = False) -> list[Scalar]:
    """The values to try: both bounds and the default, every choice, or some that it may name.

    ``on_step`` takes only values on the parameter's step.
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


Made = TypeVar("Made")


@contextmanager
def nothing_drawn(what: str) -> Iterator[None]:
    """Raise :class:`Broken` if torch's, Python's or NumPy's generator moved inside."""
    before = _generators()
    yield
    for name, state in _generators().items():
        if state != before.get(name, state):
            raise Broken(_SAID["drew"], what=what, name=name)


def twice(what: str, make: Callable[[], Made]) -> tuple[Made, Made]:
    """What is made from two states of the generators; :class:`Broken` where it draws of them."""
    made = []
    for seed in (1, 2):
        seed_all(seed)
        random.seed(seed)
        with nothing_drawn(what):
            made.append(make())
    return made[0], made[1]


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


class DevicesWatched(TorchFunctionMode):
    """Raises :class:`Broken` where ``what`` makes a tensor elsewhere, moves or reads one back."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def __torch_function__(
        self, function: Callable, types: object, given: Sequence = (), named: Mapping | None = None
    ) -> Any:
        named = named or {}
        places = (*given[1:], named.get("device"))
        placed = any(isinstance(each, torch.device | str) for each in places)
        if function in _MOVERS or (function is Tensor.to and placed):
            name = _MOVERS.get(function, "to(device)")
            raise Broken(f"{self._what} calls .{name}; compute where the inputs are")
        if function in _READERS:
            raise Broken(_SAID["reads_number"], what=self._what, how=_READERS[function])
        result = function(*given, **named)
        # A number without dimensions may meet tensors of any device.
        if function in _MAKERS and named.get("device") is None and result.dim():
            raise Broken(_SAID["on_default_device"], what=self._what, name=_MAKERS[function])
        return result


def require_movable(module: nn.Module) -> None:
    """Raise :class:`Broken` if a tensor would not move with the module."""
    if left := left_behind(module):
        raise Broken(_SAID["stays_behind"], left=left)


def left_behind(module: nn.Module) -> str:
    """A tensor that would not move with the module, as ``Class.attribute``; empty if none."""
    ours = {id(each) for each in (*module.parameters(), *module.buffers())}
    for part in module.modules():
        for name, value in vars(part).items():
            if name in _REGISTERED:
                continue
            inside = value.values() if isinstance(value, dict) else value
            held = inside if isinstance(value, list | tuple | dict) else [value]
            if any(isinstance(t, Tensor) and t.dim() and id(t) not in ours for t in held):
                return f"{type(part).__name__}.{name}"
    return ""
