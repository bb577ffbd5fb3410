"""Scorings as records: any module or plain function, ready to be placed in any model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring
from attention_plugins.contract.checks import check_record
from attention_plugins.contract.parameters import ContractError, Parameter, Scalar, settle


class Sizes(NamedTuple):
    """The last dimensions a scoring meets: of queries, of keys, and of its own hidden space."""

    query: int
    key: int
    hidden: int


ScoringBuild = Callable[[Sizes, Mapping[str, Scalar]], Scoring]
ScoringFactory = Callable[[Sizes], Scoring]


@dataclass(frozen=True, kw_only=True)
class ScoringSpec:
    """A scoring function ``a(q, k)``, ready to be placed in any model.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        formula: LaTeX, without dollars, in ``q`` and ``k``.
        build: ``(sizes, parameters) -> Scoring``, called once per attention site.
        parameters: what a user may set.
        reference: paper or section the formula comes from.
        description: one sentence on what it favours.
        same_size: queries and keys must have equal last dimensions. Where a model's differ,
            :meth:`create` puts a learned projection in front of the keys.
    """

    name: str
    title: str
    formula: str
    build: ScoringBuild
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""
    same_size: bool = False

    def __post_init__(self) -> None:
        check_record(self, "scoring")
        if not self.formula:
            raise ContractError(f"scoring {self.name!r} needs a formula in LaTeX")

    def create(self, sizes: Sizes, values: Mapping[str, object] | None = None) -> Scoring:
        """A fresh scoring for one site.

        Raises:
            ContractError: a bad parameter value, or ``build`` returned no :class:`Scoring`.
        """
        parameters = settle(self.parameters, values or {}, on_step=True)
        matched = sizes._replace(key=sizes.query) if self.same_size else sizes
        scoring = self.build(matched, parameters)
        if not isinstance(scoring, Scoring):
            raise ContractError(
                f"scoring {self.name!r}: build returned {type(scoring).__name__}; "
                "it must return a Scoring (an nn.Module with forward(queries, keys))"
            )
        return scoring if matched == sizes else _KeysToQuerySize(scoring, sizes)

    def factory(self, values: Mapping[str, object] | None = None) -> ScoringFactory:
        """What a model is given: ``sizes -> Scoring`` with the parameters already set."""
        return lambda sizes: self.create(sizes, values)


class _KeysToQuerySize(Scoring):
    """A scoring that needs equal sizes, behind a learned projection of the keys."""

    def __init__(self, inner: Scoring, sizes: Sizes) -> None:
        super().__init__()
        self.inner = inner
        self.resize = nn.Linear(sizes.key, sizes.query, bias=False)

    def project_queries(self, queries: Tensor) -> Tensor:
        return self.inner.project_queries(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        return self.inner.project_keys(self.resize(keys))

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.inner(queries, keys)


class _FunctionScoring(Scoring):
    """A plain function as a scoring; its learnable parameters become weights of one element."""

    def __init__(
        self,
        function: Callable[..., Tensor],
        parameters: Sequence[Parameter],
        values: Mapping[str, Scalar],
    ) -> None:
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

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return self.function(queries, keys, **self.fixed, **self.learned)


def _check_arguments(
    name: str, function: Callable[..., Tensor], parameters: Sequence[Parameter]
) -> None:
    names = {parameter.name: None for parameter in parameters}
    try:
        inspect.signature(function).bind(None, None, **names)
    except ValueError:
        return  # written in C, without a signature to look at
    except TypeError as error:
        takes = ", ".join(("queries", "keys", *names))
        raise ContractError(f"scoring {name!r}: need a function of ({takes}): {error}") from None


def scoring(
    name: str,
    *,
    formula: str,
    title: str | None = None,
    parameters: tuple[Parameter, ...] = (),
    reference: str = "",
    description: str = "",
    same_size: bool = False,
) -> Callable[[Callable[..., Tensor]], ScoringSpec]:
    """Turn ``function(queries, keys, **parameters) -> scores`` into a :class:`ScoringSpec`.

    The function gets queries ``(..., n_q, d_q)`` and keys ``(..., n_k, d_k)`` and returns raw
    scores ``(..., n_q, n_k)``; a learnable parameter arrives as a tensor of one element.
    Scorings with weight matrices write a :class:`Scoring` and a :class:`ScoringSpec` instead.

    Raises:
        ContractError: the function takes other arguments than these.
    """

    def wrap(function: Callable[..., Tensor]) -> ScoringSpec:
        _check_arguments(name, function, parameters)
        return ScoringSpec(
            name=name,
            title=title or name.replace("_", " ").capitalize(),
            formula=formula,
            build=lambda sizes, values: _FunctionScoring(function, parameters, values),
            parameters=parameters,
            reference=reference,
            description=description,
            same_size=same_size,
        )

    return wrap
