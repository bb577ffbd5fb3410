"""What hangs on a module whose scoring was swapped, and sees to it that it is used."""

import inspect
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract import ContractError, Scalar

NAME = "swapped"  # of the module that it hangs on, so a part of its weights' names
_ROTATION = "position_embeddings"  # cosines and sines, as the library's modules are given them
Kind = Literal["encoder", "decoder", "cross", ""]


@dataclass(frozen=True)
class Recipe:
    """What was swapped in, by names and values.

    Attributes:
        scoring, values: its name, or its formula with ``=`` before it, and its parameters.
        normaliser, normaliser_values: empty for the scoring's own.
        positions: ``"keep"`` or ``"remove"``.
    """

    scoring: str
    values: Mapping[str, Scalar]
    normaliser: str = ""
    normaliser_values: Mapping[str, Scalar] | None = None
    positions: Literal["keep", "remove"] = "keep"


class Swapped(nn.Module):
    """The scoring of a module that attends, in place of its own.

    ``own`` is its name: ``"dot"`` where the model does not scale products, else ``"scaled_dot"``.
    """

    def __init__(self, scoring: Scoring, recipe: Recipe, kind: Kind, own: str) -> None:
        super().__init__()
        self.scoring, self.recipe, self.kind, self.own = scoring, recipe, kind, own
        self.handles: list[Any] = []
        self.rotates = False  # whether something in the model makes rotations
        self.before: list[tuple[Any, str]] = []  # configurations, and how they said to attend

    def hang(self, module: nn.Module) -> None:
        """Make it a part of a module, in place of an earlier one."""
        take_down(module)
        module.add_module(NAME, self)
        self.handles = [
            module.register_forward_pre_hook(_before, with_kwargs=True),
            module.register_forward_hook(_after, always_call=True),
        ]


def swapped_of(module: nn.Module) -> Swapped | None:
    """What was swapped in there, if anything."""
    found = module._modules.get(NAME)
    return found if isinstance(found, Swapped) else None


def take_down(module: nn.Module) -> None:
    """Let a module attend by its own scoring again."""
    if (found := swapped_of(module)) is not None:
        for handle in found.handles:
            handle.remove()
        found.handles = []
        delattr(module, NAME)


def named_in_code(module: nn.Module) -> frozenset[str]:
    """The names of functions and others that the methods of a module's classes use."""
    kinds = [kind for kind in type(module).__mro__ if issubclass(kind, nn.Module)]
    methods = [each for kind in kinds if kind is not nn.Module for each in vars(kind).values()]
    codes = [getattr(inspect.unwrap(each), "__code__", None) for each in methods if callable(each)]
    return frozenset(name for code in codes if code is not None for name in code.co_names)


@dataclass(eq=False)
class Call:
    """A call of a swapped module; ``cache`` is the library's that it was given."""

    module: nn.Module
    cache: Any = None
    is_served: bool = False


_calls: ContextVar[tuple[Call, ...]] = ContextVar("calls", default=())


def served(module: nn.Module) -> Call:
    """Note that a swapped module attends by what was swapped in: its call."""
    for call in reversed(_calls.get()):
        if call.module is module:
            call.is_served = True
            return call
    return Call(module)


def _before(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    given = (*args, *kwargs.values())
    cache = next((each for each in given if hasattr(each, "get_seq_length")), None)
    _calls.set((*_calls.get(), Call(module, cache)))
    found = swapped_of(module)
    if found is not None and found.recipe.positions == "remove":
        return _without_rotation(module, args, kwargs)
    return None


def _after(module: nn.Module, args: Any, output: Any) -> None:
    calls = _calls.get()
    while calls:
        calls, call = calls[:-1], calls[-1]
        if call.module is module:
            _calls.set(calls)
            if output is not None and not call.is_served:
                raise ContractError(
                    f"{type(module).__name__} attended by itself, so the scoring that was swapped "
                    "in was ignored: its attention was set to another one after the swap, or this "
                    "call has an attention of its own; undo the swap by unswap(model) first"
                )
            return


def _without_rotation(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    names = [*inspect.signature(module.forward).parameters]
    given: Any = kwargs.get(_ROTATION)
    place = names.index(_ROTATION) if _ROTATION in names else len(args)
    if given is None and place < len(args):
        given = args[place]
    if given is None:
        found = swapped_of(module)
        if found is not None and found.rotates and found.kind != "cross":
            raise ContractError(
                f"{type(module).__name__} rotates queries and keys in a way of its own, so their "
                'positions cannot be removed: use positions="keep"'
            )
        return args, kwargs
    if not (isinstance(given, tuple) and len(given) == 2 and _are_angles(given)):
        raise ContractError(
            f"{type(module).__name__} is given its rotation as {type(given).__name__}, and not as "
            'cosines and sines, so it cannot be removed: use positions="keep"'
        )
    still = torch.ones_like(given[0]), torch.zeros_like(given[1])
    if _ROTATION in kwargs:
        return args, kwargs | {_ROTATION: still}
    return (*args[:place], still, *args[place + 1 :]), kwargs


def _are_angles(given: tuple[Any, ...]) -> bool:
    return all(isinstance(each, Tensor) and each.is_floating_point() for each in given)
