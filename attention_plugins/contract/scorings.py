"""Scorings as records: any module or plain function, ready to be placed in any model."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from attention_plugins.attention import NEEDS, Need, Scoring
from attention_plugins.contract.normalisers import FunctionModule, MakeNormaliser, check_arguments
from attention_plugins.contract.parameters import (
    TASKS,
    ContractError,
    Parameter,
    Scalar,
    Task,
    check_record,
    settle,
)
from attention_plugins.contract.sizes import Sizes

ScoringFactory = Callable[[Sizes], Scoring]


@dataclass(frozen=True, kw_only=True)
class ScoringSpec:
    """A scoring function ``a(q, k)``, ready to be placed in any model.

    Args:
        name: lower-case identifier, the key in links; of a formula that was typed ``=`` and the
            formula, which no plugin may take.
        title: what the page shows.
        formula: LaTeX, without dollars, in ``q`` and ``k``.
        build: ``(sizes, parameters) -> Scoring``, called once per attention site.
        parameters: what a user may set.
        reference: paper or section the formula comes from.
        description: one sentence on what it favours.
        same_size: queries and keys must have equal last dimensions. Where a model's differ,
            :meth:`create` puts a learned projection in front of the keys.
        tasks: where it makes sense. A distance in tokens has none between unordered points.
        own_normaliser: its weights are not made by a normaliser that could be another.
        needs: what its scorings read besides, where their class does not say it: see
            :class:`~attention_plugins.attention.Scoring`.
    """

    name: str
    title: str
    formula: str
    build: Callable[[Sizes, Mapping[str, Any]], Scoring]
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""
    same_size: bool = False
    tasks: tuple[Task, ...] = TASKS
    own_normaliser: bool = False
    needs: tuple[Need, ...] = ()

    def __post_init__(self) -> None:
        check_record(self, "scoring")
        if not self.formula:
            raise ContractError(f"scoring {self.name!r} needs a formula in LaTeX")
        if not isinstance(self.own_normaliser, bool):
            raise ContractError(f"scoring {self.name!r}: own_normaliser is True or False")

    def create(
        self, sizes: Sizes, values: Mapping[str, object] | None = None,
        normaliser: MakeNormaliser | None = None,
    ) -> Scoring:  # fmt: skip
        """A fresh scoring for one site.

        Args:
            normaliser: makes what turns its scores into weights; None: the scoring's own way.

        Raises:
            ContractError: a bad parameter value, ``build`` returned no :class:`Scoring`, or a
                normaliser for a scoring that brings its own.
        """
        if normaliser is not None and self.own_normaliser:
            raise ContractError(
                f"scoring {self.name!r} makes its weights in its own way; choose no normaliser"
            )
        parameters = settle(self.parameters, values or {}, on_step=True)
        matched = sizes
        if self.same_size and sizes.key != sizes.query:  # values stay as large as the keys were
            matched = sizes._replace(key=sizes.query, value=sizes.value or sizes.key)
        scoring = self.build(matched, parameters)
        if not isinstance(scoring, Scoring):
            raise ContractError(
                f"scoring {self.name!r}: build returned {type(scoring).__name__}; "
                "it must return a Scoring (an nn.Module with forward(queries, keys))"
            )
        if self.needs:
            scoring.needs = (*dict.fromkeys((*scoring.needs, *self.needs)),)
        if unknown := [need for need in scoring.needs if need not in NEEDS]:
            raise ContractError(
                f"scoring {self.name!r}: nothing is called {unknown[0]!r}; "
                f"needs may name {' and '.join(NEEDS)}"
            )
        _check_elements(self.name, scoring.elements_per_pair)
        if not isinstance(scoring.signed, bool):
            raise ContractError(f"scoring {self.name!r}: signed is True or False")
        for method, all_of_them in _GIVEN.items():
            if function := getattr(scoring, method, None):
                _check_method(self.name, scoring, function, all_of_them)
        if normaliser is not None:
            chosen = normaliser(sizes)
            scoring.normaliser = chosen.module
            scoring.sums_to_one = scoring.sums_to_one and chosen.sums_to_one
            scoring.signed = scoring.signed or chosen.signed
        return scoring if matched == sizes else _KeysToQuerySize(scoring, sizes)

    def factory(
        self, values: Mapping[str, object] | None = None, normaliser: MakeNormaliser | None = None,
    ) -> ScoringFactory:  # fmt: skip
        """What a model is given: ``sizes -> Scoring`` with parameters and normaliser chosen."""
        return lambda sizes: self.create(sizes, values, normaliser)


def _check_elements(name: str, elements: object) -> None:
    if elements is not None and (type(elements) is not int or elements < 1):
        raise ContractError(
            f"scoring {name!r}: elements_per_pair is how many numbers forward makes of a query "
            f"and a key: 1 for a matrix product, None for a vector of the key's size; "
            f"got {elements!r}"
        )


# What is given to each method by name; those of features take what they like.
_GIVEN = {
    "forward": True, "factors": True, "pool": True, "query_features": False, "key_features": False,
}  # fmt: skip


def _check_method(
    name: str, scoring: Scoring, function: Callable[..., Tensor], all_of_them: bool
) -> None:
    method = getattr(function, "__name__", "forward")
    try:
        arguments = inspect.signature(function).parameters.values()
    except ValueError:  # written in C, without a signature to look at
        return
    given = [need for need in NEEDS if need != "queries" or method == "pool"]
    taken = {a.name for a in arguments if a.kind in (a.KEYWORD_ONLY, a.POSITIONAL_OR_KEYWORD)}
    for need in (a.name for a in arguments if a.default is a.empty and a.name in given):
        if need not in scoring.needs:
            raise ContractError(
                f"scoring {name!r}: its {method} takes {need}, but it does not ask for them; "
                f'write needs = ("{need}",) in the class'
            )
    takes_any = not all_of_them or any(a.kind is a.VAR_KEYWORD for a in arguments)
    for need in (need for need in scoring.needs if need in given):
        if need not in taken and not takes_any:
            first = "weights, values" if method == "pool" else "queries, keys"
            raise ContractError(
                f"scoring {name!r} needs {need}, but its {method} does not take them; "
                f"write {method}(self, {first}, {need})"
            )


class _KeysToQuerySize(Scoring):
    """A scoring that needs equal sizes, behind a learned projection of the keys."""

    def __init__(self, inner: Scoring, sizes: Sizes) -> None:
        super().__init__()
        self.inner = inner
        self.needs, self.sums_to_one = inner.needs, inner.sums_to_one
        self.signed = inner.signed
        self.elements_per_pair = inner.elements_per_pair
        self.resize = nn.Linear(sizes.key, sizes.query, bias=False)

    def project_queries(self, queries: Tensor) -> Tensor:
        return self.inner.project_queries(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        return self.inner.project_keys(self.resize(keys))

    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        return self.inner(queries, keys, **needs)

    def normalise(self, scores: Tensor) -> Tensor:
        return self.inner.normalise(scores)

    def pool(self, weights: Tensor, values: Tensor, **needs: Any) -> Tensor:
        return self.inner.pool(weights, values, **needs)


class _FunctionScoring(FunctionModule, Scoring):
    def __init__(
        self, function: Callable[..., Tensor], parameters: Sequence[Parameter],
        values: Mapping[str, Scalar], needs: tuple[Need, ...], elements_per_pair: int | None,
    ) -> None:  # fmt: skip
        super().__init__(function, parameters, values)
        self.needs, self.elements_per_pair = needs, elements_per_pair

    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        return self.function(queries, keys, **self.fixed, **self.learned, **needs)


def scoring(
    name: str, *, formula: str, title: str | None = None, parameters: tuple[Parameter, ...] = (),
    reference: str = "", description: str = "", same_size: bool = False,
    tasks: tuple[Task, ...] = TASKS, needs: tuple[Need, ...] = (),
    elements_per_pair: int | None = None,
) -> Callable[[Callable[..., Tensor]], ScoringSpec]:  # fmt: skip
    """Turn ``function(queries, keys, **parameters) -> scores`` into a :class:`ScoringSpec`.

    The function gets queries ``(..., n_q, d_q)`` and keys ``(..., n_k, d_k)`` and returns raw
    scores ``(..., n_q, n_k)``; a learnable parameter arrives as a tensor of one element, and what
    ``needs`` names as a keyword argument. A function that makes no more than matrix products says
    ``elements_per_pair=1``; see :class:`~attention_plugins.attention.Scoring` for both.
    Scorings with weight matrices write a :class:`Scoring` and a :class:`ScoringSpec` instead.

    >>> @scoring("taxicab", formula=r"-|q - k|_1", same_size=True)
    ... def taxicab(queries, keys):
    ...     return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)
    >>> taxicab.title
    'Taxicab'

    Raises:
        ContractError: the function takes other arguments than these.
    """

    def wrap(function: Callable[..., Tensor]) -> ScoringSpec:
        check_arguments("scoring", name, function, ("queries", "keys"), parameters, needs)
        return ScoringSpec(
            name=name, title=title or name.replace("_", " ").capitalize(), formula=formula,
            build=lambda sizes, values: _FunctionScoring(
                function, parameters, values, needs, elements_per_pair
            ),
            parameters=parameters, reference=reference, description=description,
            same_size=same_size, tasks=tasks,
        )  # fmt: skip

    return wrap
