"""What a plugin yields: frozen, keyword-only records of scorings, models, data sets, checkpoints.

A record describes; it builds nothing until it is asked to. Each one validates itself when it is
made, so that a mistake shows in the plugin's own line, not in a user's chart.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring

CONTRACT_VERSION = (1, 0)

Scalar = bool | int | float | str
Task = Literal["regression", "translation"]
TASKS: tuple[Task, ...] = ("regression", "translation")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")


class ContractError(ValueError):
    """A record, a parameter or a tensor that breaks the contract, in one sentence."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A number, switch or choice that a user may set; it draws its widget and travels in links.

    Args:
        name: a Python identifier, the key in links and in ``build``'s mapping.
        title: what the page shows.
        default: its type (bool, int, float or str) is the parameter's type.
        low, high: bounds, both included; needed for int and float.
        step: the widget's step; by default a hundredth of the range (1 for int).
        unit: shown behind the title, such as ``"epochs"``.
        learnable: whether training may change it; then it starts from the value set.
        choices: the values allowed, for str.
        help: one sentence for the widget's tooltip.

    Raises:
        ContractError: a bad name, a default outside the bounds, a number without bounds.
    """

    name: str
    title: str
    default: Scalar
    low: float | None = None
    high: float | None = None
    step: float | None = None
    unit: str = ""
    learnable: bool = False
    choices: tuple[str, ...] = ()
    help: str = ""

    def __post_init__(self) -> None:
        _check_name("parameter", self.name)
        _check_texts(self, "parameter", ("title", "unit", "help"))
        if self.numeric and not (
            _finite(self.low) and _finite(self.high) and self.low < self.high
        ):
            raise ContractError(
                f"parameter {self.name!r} is a number, so it needs low < high; "
                f"got low={self.low}, high={self.high}"
            )
        if self.step is not None and not (_finite(self.step) and self.step > 0):
            raise ContractError(f"parameter {self.name!r}: need 0 < step, got {self.step!r}")
        if not isinstance(self.choices, tuple) or not all(
            isinstance(choice, str) for choice in self.choices
        ):
            raise ContractError(f"parameter {self.name!r}: choices is a tuple of str")
        if isinstance(self.default, str) and not self.choices:
            raise ContractError(f"parameter {self.name!r} is a str, so it needs choices")
        if self.learnable and not isinstance(self.default, float):
            raise ContractError(f"parameter {self.name!r} is learnable, so it must be a float")
        self.check(self.default)

    @property
    def numeric(self) -> bool:
        """Whether it is an int or a float, with bounds."""
        return isinstance(self.default, int | float) and not isinstance(self.default, bool)

    def check(self, value: object) -> Scalar:
        """``value`` in this parameter's type.

        Raises:
            ContractError: it has another type or is outside the bounds.
        """
        if isinstance(self.default, bool | str):
            allowed: tuple = (False, True) if isinstance(self.default, bool) else self.choices
            if type(value) is not type(self.default) or value not in allowed:
                raise ContractError(
                    f"need {self.name} to be one of {', '.join(map(str, allowed))}, got {value!r}"
                )
            return value
        if isinstance(value, bool) or not _finite(value):
            raise ContractError(f"need {self.name} to be a number, got {value!r}")
        if not self.low <= value <= self.high:
            raise ContractError(
                f"need {self.low:g} <= {self.name} <= {self.high:g}, got {value:g} "
                f"(field {self.title!r})"
            )
        if isinstance(self.default, int):
            if value != int(value):
                raise ContractError(f"need {self.name} to be a whole number, got {value:g}")
            return int(value)
        return float(value)


def settle(parameters: Sequence[Parameter], values: Mapping[str, object]) -> dict[str, Scalar]:
    """Every parameter with its checked value; the default where ``values`` has none.

    Raises:
        ContractError: a value out of bounds, or a name that no parameter has.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in known:
            offered = ", ".join(known) or "it takes none"
            raise ContractError(f"no parameter {name!r}; offered: {offered}")
    return {name: p.check(values.get(name, p.default)) for name, p in known.items()}


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
        _check_record(self, "scoring")
        if not self.formula:
            raise ContractError(f"scoring {self.name!r} needs a formula in LaTeX")

    def create(self, sizes: Sizes, values: Mapping[str, object] | None = None) -> Scoring:
        """A fresh scoring for one site.

        Raises:
            ContractError: a bad parameter value, or ``build`` returned no :class:`Scoring`.
        """
        parameters = settle(self.parameters, values or {})
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


class ModelSizes(NamedTuple):
    """What a model connects: vocabulary sizes in translation, dimensions in regression."""

    source: int
    target: int


ModelBuild = Callable[[ScoringFactory, ModelSizes, Mapping[str, Scalar]], nn.Module]


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """A model that attends: it is given a scoring factory and calls it once per site.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        task: ``"regression"`` or ``"translation"``; the module then follows
            :class:`~attention_plugins.models.protocols.RegressionModel` or
            :class:`~attention_plugins.models.protocols.TranslationModel`.
        build: ``(scoring_factory, sizes, parameters) -> nn.Module``.
        parameters: its hyperparameters.
        reference: paper or section.
        description: one sentence on how it attends.
    """

    name: str
    title: str
    task: Task
    build: ModelBuild
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        _check_record(self, "model")

    def create(
        self,
        factory: ScoringFactory,
        sizes: ModelSizes,
        values: Mapping[str, object] | None = None,
    ) -> nn.Module:
        """A fresh model around the scoring that ``factory`` makes.

        Raises:
            ContractError: a bad parameter value, or ``build`` returned no ``nn.Module``.
        """
        model = self.build(factory, sizes, settle(self.parameters, values or {}))
        if not isinstance(model, nn.Module):
            raise ContractError(
                f"model {self.name!r}: build returned {type(model).__name__}; "
                "it must return an nn.Module"
            )
        return model


class RegressionData(NamedTuple):
    """A regression problem: keys and values to attend to, queries to answer.

    Shapes: ``x (n, d)``, ``y (n,)``, ``queries (m, d)``, ``truth (m,)`` or None where the
    noise-free function is unknown.
    """

    x: Tensor
    y: Tensor
    queries: Tensor
    truth: Tensor | None = None


class SentencePair(NamedTuple):
    """A sentence, its translation, and which token of one stands for which of the other.

    ``alignment`` holds ``(source index, target index)`` pairs, from 0, over the tokens of
    :func:`attention_plugins.text.tokenise_clitics`; empty where no gold alignment is known.
    """

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...] = ()


DatasetLoad = Callable[[Mapping[str, Scalar], int], "RegressionData | Sequence[SentencePair]"]


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """Data for one task.

    Args:
        name: lower-case identifier, the key in links.
        title: what the page shows.
        task: ``"regression"`` or ``"translation"``.
        load: ``(parameters, seed) -> RegressionData`` or a sequence of :class:`SentencePair`.
        parameters: what a user may set, such as the number of points.
        reference: where the data come from.
        formula: LaTeX of the noise-free function, where there is one.
        description: one sentence on what is in it.
    """

    name: str
    title: str
    task: Task
    load: DatasetLoad
    parameters: tuple[Parameter, ...] = ()
    reference: str = ""
    formula: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        _check_record(self, "data set")


@dataclass(frozen=True, kw_only=True)
class CheckpointSpec:
    """A trained translation model at rest: a folder with ``model.safetensors`` and ``card.json``.

    Args:
        name: lower-case identifier, the key in links, unique among checkpoints.
        path: the folder.
    """

    name: str
    path: Path

    def __post_init__(self) -> None:
        _check_name("checkpoint", self.name)
        if not isinstance(self.path, Path):
            got = type(self.path).__name__
            raise ContractError(f"checkpoint {self.name!r}: need path to be a Path, got {got}")


Spec = ScoringSpec | ModelSpec | DatasetSpec | CheckpointSpec


def _check_name(kind: str, name: Any) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise ContractError(
            f"a {kind}'s name is 1 to 40 of a-z, 0-9 and _, starting with a letter; got {name!r}"
        )


def _finite(value: object) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # an int beyond every float
        return False


def _check_texts(record: Any, kind: str, fields: Sequence[str]) -> None:
    # Pages get the records as JSON, all in one: what does not fit there would cost them all.
    for field in fields:
        if not isinstance(getattr(record, field, ""), str):
            got = type(getattr(record, field)).__name__
            raise ContractError(f"{kind} {record.name!r}: need {field} to be a str, got {got}")
    if not record.title:
        raise ContractError(f"{kind} {record.name!r} needs a title")


def _check_record(record: Any, kind: str) -> None:
    _check_name(kind, record.name)
    _check_texts(record, kind, ("title", "formula", "reference", "description"))
    make = "load" if isinstance(record, DatasetSpec) else "build"
    if not callable(getattr(record, make)):
        raise ContractError(f"{kind} {record.name!r}: {make} must be callable")
    if not isinstance(getattr(record, "same_size", False), bool):
        raise ContractError(f"{kind} {record.name!r}: same_size is True or False")
    if not isinstance(record.parameters, tuple) or not all(
        isinstance(parameter, Parameter) for parameter in record.parameters
    ):
        raise ContractError(f"{kind} {record.name!r}: parameters is a tuple of Parameter")
    if getattr(record, "task", TASKS[0]) not in TASKS:
        raise ContractError(
            f"{kind} {record.name!r}: need task to be one of {', '.join(TASKS)}, "
            f"got {record.task!r}"
        )
    names = [parameter.name for parameter in record.parameters]
    if len(set(names)) != len(names):
        raise ContractError(f"{kind} {record.name!r} has two parameters of one name: {names}")
