"""Normalisers as records: what makes weights of scores, chosen beside the scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from attention_plugins.contract.checks import check_record
from attention_plugins.contract.functions import FunctionModule, check_arguments
from attention_plugins.contract.parameters import ContractError, Parameter, settle
from attention_plugins.contract.scorings import ChosenNormaliser, MakeNormaliser

NormaliserBuild = Callable[[Mapping[str, Any]], nn.Module]


@dataclass(frozen=True, kw_only=True)
class NormaliserSpec:
    """A normaliser: scores ``(..., n_q, n_k)`` to weights of the same shape, row by row.

    It never masks: keys that are ruled out have the lowest finite score, and get weight 0
    afterwards, whatever it returns for them. Other keys' weights must not depend on how many
    such keys there are.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        formula: LaTeX, without dollars, in the scores ``s``.
        build: ``parameters -> nn.Module`` with ``forward(scores) -> weights``.
        parameters: what a user may set.
        reference: paper or section the formula comes from.
        description: one sentence on what it does to weights.
        sums_to_one: whether every row of weights sums to 1.
    """

    name: str
    title: str
    formula: str
    build: NormaliserBuild
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""
    sums_to_one: bool = True

    def __post_init__(self) -> None:
        check_record(self, "normaliser")
        if not self.formula:
            raise ContractError(f"normaliser {self.name!r} needs a formula in LaTeX")
        if not isinstance(self.sums_to_one, bool):
            raise ContractError(f"normaliser {self.name!r}: sums_to_one is True or False")

    def create(self, values: Mapping[str, object] | None = None) -> nn.Module:
        """A fresh normaliser for one site.

        Raises:
            ContractError: a bad parameter value, or ``build`` returned no ``nn.Module``.
        """
        made = self.build(settle(self.parameters, values or {}, on_step=True))
        if not isinstance(made, nn.Module):
            raise ContractError(
                f"normaliser {self.name!r}: build returned {type(made).__name__}; "
                "it must return an nn.Module with forward(scores)"
            )
        return made

    def factory(self, values: Mapping[str, object] | None = None) -> MakeNormaliser:
        """What :meth:`ScoringSpec.create` is given: makes one for each site."""
        return lambda: ChosenNormaliser(self.create(values), self.sums_to_one)


class _FunctionNormaliser(FunctionModule):
    def forward(self, scores: Tensor) -> Tensor:
        return self.function(scores, **self.fixed, **self.learned)


def normaliser(
    name: str,
    *,
    formula: str,
    title: str | None = None,
    parameters: tuple[Parameter, ...] = (),
    reference: str = "",
    description: str = "",
    sums_to_one: bool = True,
) -> Callable[[Callable[..., Tensor]], NormaliserSpec]:
    """Turn ``function(scores, **parameters) -> weights`` into a :class:`NormaliserSpec`.

    A learnable parameter arrives as a tensor of one element.

    Raises:
        ContractError: the function takes other arguments than these.
    """

    def wrap(function: Callable[..., Tensor]) -> NormaliserSpec:
        check_arguments("normaliser", name, function, ("scores",), parameters)
        return NormaliserSpec(
            name=name,
            title=title or name.replace("_", " ").capitalize(),
            formula=formula,
            build=lambda values: _FunctionNormaliser(function, parameters, values),
            parameters=parameters,
            reference=reference,
            description=description,
            sums_to_one=sums_to_one,
        )

    return wrap
