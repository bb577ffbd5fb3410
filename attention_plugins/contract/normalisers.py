"""Normalisers as records, and what decorators make of plain functions."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins.attention import NEEDS
from attention_plugins.contract.parameters import (
    ContractError,
    Parameter,
    Scalar,
    check_record,
    settle,
)
from attention_plugins.contract.sizes import Sizes


class FunctionModule(nn.Module):
    """A plain function as a module; its learnable parameters become weights of one element.

    Attributes:
        function: what was decorated.
        fixed: the values of its other parameters, by name.
    """

    def __init__(
        self, function: Callable[..., Tensor], parameters: Sequence[Parameter],
        values: Mapping[str, Scalar],
    ) -> None:  # fmt: skip
        super().__init__()
        self.function = function
        self.fixed = {p.name: values[p.name] for p in parameters if not p.learnable}
        self._learnable = [p.name for p in parameters if p.learnable]
        # With a prefix, because a parameter may have the name of a module's method, such as half.
        for name in self._learnable:
            self.register_parameter(f"learned_{name}", nn.Parameter(torch.tensor(values[name])))

    @property
    def learned(self) -> dict[str, nn.Parameter]:
        """The learnable parameters by name, each of one element."""
        return {name: getattr(self, f"learned_{name}") for name in self._learnable}


def check_arguments(
    kind: str, name: str, function: Callable[..., Tensor], positional: Sequence[str],
    parameters: Iterable[Parameter], needs: Iterable[str] = (),
) -> None:  # fmt: skip
    """See that a function takes what it will be given, else raise :class:`ContractError`.

    Args:
        kind: what messages call it, such as ``"scoring"``.
        positional: names of the arguments that are passed by position, for the message.
        needs: what is passed by name besides the parameters.
    """
    needed = [need for need in NEEDS if need != "queries"]  # which a function is given anyway
    names = [*(parameter.name for parameter in parameters), *(n for n in needs if n in needed)]
    try:
        inspect.signature(function).bind(*positional, **dict.fromkeys(names))
    except ValueError:
        return  # written in C, without a signature to look at
    except TypeError as error:
        takes = ", ".join((*positional, *names))
        taken = inspect.signature(function).parameters if callable(function) else ()
        unasked = [need for need in needed if need in taken]
        if kind == "scoring" and unasked and unasked[0] not in names:
            raise ContractError(
                f"scoring {name!r}: its function takes {unasked[0]}, but it does not ask for "
                f'them; write needs=("{unasked[0]}",) in @scoring'
            ) from None
        raise ContractError(f"{kind} {name!r}: need a function of ({takes}): {error}") from None


class ChosenNormaliser(NamedTuple):
    """What turns one site's scores into weights, and what is known of these."""

    module: nn.Module
    sums_to_one: bool
    signed: bool = False


MakeNormaliser = Callable[[Sizes], ChosenNormaliser]
_ANYWHERE = Sizes(query=1, key=1, hidden=1)


@dataclass(frozen=True, kw_only=True)
class NormaliserSpec:
    """A normaliser: scores ``(..., n_q, n_k)`` to weights of the same shape, row by row.

    It never masks: keys that are ruled out have the lowest finite score, and get weight 0
    afterwards, whatever it returns for them. Other keys' weights must not depend on their number.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        formula: LaTeX, without dollars, in the scores ``s``.
        build: ``parameters -> nn.Module`` with ``forward(scores) -> weights``; or ``(sizes,
            parameters)``, for one that has weights for each of the ``sizes.heads``.
        parameters: what a user may set.
        reference: paper or section the formula comes from.
        description: one sentence on what it does to weights.
        sums_to_one: whether every row of weights sums to 1.
        signed: whether weights may be negative.
    """

    name: str
    title: str
    formula: str
    build: Callable[..., nn.Module]
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""
    sums_to_one: bool = True
    signed: bool = False

    def __post_init__(self) -> None:
        check_record(self, "normaliser")
        if not self.formula:
            raise ContractError(f"normaliser {self.name!r} needs a formula in LaTeX")
        for field in ("sums_to_one", "signed"):
            if not isinstance(getattr(self, field), bool):
                raise ContractError(f"normaliser {self.name!r}: {field} is True or False")

    @property
    def takes_sizes(self) -> bool:
        """Whether ``build`` takes sizes before the parameters."""
        return _binds(self.build, 2) and not _binds(self.build, 1)

    def create(
        self, values: Mapping[str, object] | None = None, sizes: Sizes = _ANYWHERE
    ) -> nn.Module:
        """A fresh normaliser for one site; ContractError if a value or what is built is none."""
        settled = settle(self.parameters, values or {}, on_step=True)
        made = self.build(sizes, settled) if self.takes_sizes else self.build(settled)
        if not isinstance(made, nn.Module):
            raise ContractError(
                f"normaliser {self.name!r}: build returned {type(made).__name__}; "
                "it must return an nn.Module with forward(scores)"
            )
        return made

    def factory(self, values: Mapping[str, object] | None = None) -> MakeNormaliser:
        """What :meth:`ScoringSpec.create` is given: makes one for each site."""
        return lambda sizes=_ANYWHERE: ChosenNormaliser(
            self.create(values, sizes), self.sums_to_one, self.signed
        )


def _binds(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments, as far as it tells."""
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


class _FunctionNormaliser(FunctionModule):
    def forward(self, scores: Tensor) -> Tensor:
        return self.function(scores, **self.fixed, **self.learned)


def normaliser(
    name: str, *, formula: str, title: str | None = None, parameters: tuple[Parameter, ...] = (),
    reference: str = "", description: str = "", sums_to_one: bool = True, signed: bool = False,
) -> Callable[[Callable[..., Tensor]], NormaliserSpec]:  # fmt: skip
    """Turn ``function(scores, **parameters) -> weights`` into a :class:`NormaliserSpec`.

    A learnable parameter arrives as a tensor of one element.

    ContractError: the function takes other arguments than these.
    """

    def wrap(function: Callable[..., Tensor]) -> NormaliserSpec:
        check_arguments("normaliser", name, function, ("scores",), parameters)
        return NormaliserSpec(
            name=name, title=title or name.replace("_", " ").capitalize(), formula=formula,
            build=lambda values: _FunctionNormaliser(function, parameters, values),
            parameters=parameters, reference=reference, description=description,
            sums_to_one=sums_to_one, signed=signed,
        )  # fmt: skip

    return wrap
