"""Scorings as somebody writes them in a notebook, made known in this process."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from attention_plugins.checking.findings import Broken
from attention_plugins.checking.scorings.common import require_shape, scores
from attention_plugins.contract import ContractError, ScoringSpec, Sizes, scoring
from attention_plugins.registry import define, installed

AnyScoring = str | ScoringSpec | Callable[..., Any]
_EACH = (
    "compare each query with each key, as queries.unsqueeze(-2) - keys.unsqueeze(-3) does, or "
    "multiply by keys.mT"
)


def scoring_named(given: AnyScoring, *leading: int) -> str:
    """The name of a scoring, once it is tried, with ``leading`` dimensions, and defined here.

    Args:
        given: a name; a formula, with or without ``=``; a record; a function of queries
            ``(..., n_q, d)`` and keys ``(..., n_k, d)`` that returns scores ``(..., n_q, n_k)``; a
            class derived from :class:`~attention_plugins.attention.Scoring`, made of its sizes or
            of nothing; or a function of sizes.

    Raises:
        ContractError: an unknown name, or scores of a wrong shape.
    """
    if isinstance(given, str):
        name = given if given.isidentifier() or given.startswith("=") else f"={given}"
        return installed().scoring(name).name
    spec = given if isinstance(given, ScoringSpec) else _spec(given)
    _try(spec, leading)
    if installed().scorings.get(spec.name) is not spec:
        define(spec)
    return spec.name


def _try(spec: ScoringSpec, leading: tuple[int, ...]) -> None:
    """Ask for scores once: ContractError where their shape is not ``(..., n_q, n_k)``."""
    wanted = (*leading, 2, 5)
    asked = f"{spec.name}: for queries {(*leading, 2, 4)} and keys {(*leading, 5, 4)}"
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        built = spec.create(Sizes(4, 4, 4)).eval()
        try:
            found = scores(built, *(torch.randn(*leading, n, 4) for n in (2, 5)))
            require_shape(found, wanted, asked, _EACH)
        except Broken as error:
            raise ContractError(str(error)) from None
        except Exception as error:
            if [*built.parameters()]:
                return  # it may be made for the sizes of one model
            said = f"{asked} it raised {type(error).__name__}: {error}"
            raise ContractError(f"{said}; return scores {wanted}: {_EACH}") from error


def _spec(given: Callable[..., Any]) -> ScoringSpec:
    if isinstance(given, nn.Module) or not callable(given):
        raise ContractError(
            "need a scoring's name, a formula, a record such as a ScoringSpec, a function of "
            f"queries and keys, or a class derived from Scoring, got {type(given).__name__}"
        )
    title = getattr(given, "__name__", "")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", title).lower()
    if not name.isidentifier():
        raise ContractError("a scoring needs a name: write it with def, not as a lambda")
    formula = rf"\mathrm{{{name.replace('_', ' ')}}}(q, k)"
    arguments = inspect.signature(given).parameters.values()
    needed = [x.name for x in arguments if x.default is x.empty and "VAR" not in x.kind.name]
    if isinstance(given, type) and len(needed) > 1:
        raise ContractError(
            f"{title} is made of {', '.join(needed)}; a class is taken if it is made of its sizes "
            "or of nothing: give the others a default, or pass the ScoringSpec that builds it"
        )
    if len(needed) < 2:
        return ScoringSpec(
            name=name, title=title, formula=formula,
            build=lambda sizes, values: given(sizes) if needed else given(),
        )  # fmt: skip
    return scoring(name, formula=formula, same_size=True)(given)
