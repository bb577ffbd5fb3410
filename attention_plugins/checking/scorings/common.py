"""What the rules of scorings share: a scoring to look at, inputs, comparisons.

Sizes are distinct primes, so that a swapped axis shows. Unless a rule is about precision all is
in float64, where rounding hides nothing.
"""

from __future__ import annotations

import random

import torch
from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.checking.findings import Broken
from attention_plugins.contract import ScoringSpec, Sizes

QUERIES, KEYS, SIZE, HIDDEN = 7, 13, 5, 11


def make(
    spec: ScoringSpec,
    query: int = SIZE,
    key: int = SIZE,
    dtype: torch.dtype = torch.float64,
    **values: object,
) -> Scoring:
    """A scoring in evaluation mode, the same at every call with equal arguments."""
    torch.manual_seed(7)
    random.seed(7)
    return spec.create(Sizes(query, key, HIDDEN), values).to(dtype).eval()


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Normal numbers of their own generator."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def inputs(*leading: int, queries: int = QUERIES, keys: int = KEYS) -> tuple[Tensor, Tensor]:
    """Queries ``(*leading, queries, 5)`` and keys ``(*leading, keys, 5)``."""
    return draw(*leading, queries, SIZE), draw(*leading, keys, SIZE, seed=1)


def scores(scoring: Scoring, queries: Tensor, keys: Tensor) -> Tensor:
    """Scores of queries and keys that are not projected yet.

    Both are copied: a scoring that overwrites them is one rule's matter and no other's.
    """
    projected = scoring.project_queries(queries.clone()), scoring.project_keys(keys.clone())
    return scoring(*projected)


def trained_in(spec: ScoringSpec) -> torch.dtype:
    """float32, unless the scoring cannot: then that is the matter of another rule."""
    try:
        scores(make(spec, dtype=torch.float32), *(part.float() for part in inputs(2)))
    except Exception:
        return torch.float64
    return torch.float32


def require_shape(found: object, wanted: tuple[int, ...], what: str, advice: str) -> None:
    """Raise :class:`Broken` unless it is a tensor of that shape."""
    if not isinstance(found, Tensor):
        raise Broken(f"{what} it returned {type(found).__name__}; return a tensor of scores")
    if tuple(found.shape) != wanted:
        raise Broken(f"{what} scores are {tuple(found.shape)}, need {wanted}; {advice}")


def equal(one: Tensor, other: Tensor, tolerance: float = 1e-9) -> bool:
    """Whether two tensors agree up to rounding, relative to the larger one's largest number."""
    if one.shape != other.shape:
        return False
    if one.dtype != torch.float64:  # what is cast down is the matter of the rule on precision
        tolerance = max(tolerance, 1e-4)
    size = max(1.0, float(one.detach().abs().max()), float(other.detach().abs().max()))
    return bool(torch.allclose(one, other, rtol=0.0, atol=tolerance * size, equal_nan=True))
