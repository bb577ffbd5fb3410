"""What requests of the anatomy hold, read into tensors and scorings; always float64 on the CPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from attention_plugins import registry
from attention_plugins.attention import Scoring, needs_of
from attention_plugins.contract import ContractError, Scalar, ScoringFactory
from dashboard.features.anatomy import tensors
from dashboard.records.attending import normaliser_of, without_normaliser
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request

DTYPE = torch.float64


def options(request: Request, *names: str) -> dict[str, Scalar]:
    """The request's options but the normaliser's.

    Raises:
        ContractError: one that is not among ``names``.
    """
    given = without_normaliser(dict(request.options))
    for name in given.keys() - {"part", *names}:
        raise ContractError(f"no option {name!r}; offered: {', '.join(names)}")
    return given


def number(given: dict[str, Scalar], parameter: Parameter) -> int | float:
    """The option that a parameter sets, checked against its bounds.

    Raises:
        ContractError: something else than a number within the bounds.
    """
    value = given.get(parameter.name, parameter.default)
    kinds = (int,) if parameter.whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise ContractError(f"need {parameter.name} to be a number, got {value!r}")
    low = -math.inf if parameter.low is None else parameter.low
    high = math.inf if parameter.high is None else parameter.high
    if not low <= value <= high:
        raise ContractError(
            f"need {low:.10g} <= {parameter.name} <= {high:.10g}, got {value:.10g} "
            f"(field {parameter.title!r})"
        )
    return value


def whole(given: dict[str, Scalar], parameter: Parameter) -> int:
    """The option of a parameter that takes whole numbers, as :func:`number` gives it."""
    return int(number(given, parameter))


def tensor(given: dict[str, Scalar], name: str) -> Tensor:
    """The option's numbers as ``(B, n, d)``.

    Raises:
        ContractError: a text that is no tensor.
    """
    text = given.get(name)
    if not isinstance(text, str) or not text:
        raise ContractError(f"need numbers for {name}, got {text!r}")
    try:
        return torch.tensor(tensors.read(text, tensors.shape_of(text)), dtype=DTYPE)
    except tensors.TensorError as error:
        raise ContractError(f"{name}: {error}") from error


def lengths(given: dict[str, Scalar], batch: int, queries: int) -> Tensor | None:
    """Valid lengths ``(B,)`` or ``(B, n_q)``, or None.

    Raises:
        ContractError: a text that is none of these.
    """
    text = given.get("lengths", "")
    try:
        read = tensors.lengths(tensors.read_lengths(str(text), batch, queries))
    except tensors.TensorError as error:
        raise ContractError(f"lengths: {error}") from error
    if not read:
        return None
    per_row = len(read) == 1 and len(read[0]) == batch
    return torch.tensor(read[0] if per_row else read)


def scoring_factory(request: Request) -> ScoringFactory:
    """What builds the request's scoring with its normaliser, the parameters of both set.

    Raises:
        ContractError: an unknown name, a parameter out of bounds, or a normaliser for a scoring
            that takes no other.
    """
    return registry.installed().scoring_factory(
        request.scoring, dict(request.parameters), *normaliser_of(dict(request.options))
    )


def scores_of(
    scoring: Scoring,
    queries: Tensor,
    keys: Tensor,
    first: int = 0,
    memory: Tensor | None = None,
) -> Tensor:
    """Scores ``(..., n_q, n_k)`` of projected queries and keys.

    Args:
        first, memory: see :func:`~attention_plugins.attention.attend`.

    Raises:
        ContractError: the scoring gave another shape.
    """
    scores = scoring(queries, keys, **needs_of(scoring, queries.shape[-2], keys, first, memory))
    wanted = (*queries.shape[:-1], keys.shape[-2])
    if not isinstance(scores, Tensor) or tuple(scores.shape) != wanted:
        got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise ContractError(f"the scoring must give scores of shape {wanted}, got {got}")
    return scores


@contextmanager
def double() -> Iterator[None]:
    """Modules built inside have weights of float64, and nothing keeps a graph."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(DTYPE)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(before)
