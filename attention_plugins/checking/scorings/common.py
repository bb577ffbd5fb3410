"""What the rules of scorings share: a scoring to look at, inputs, comparisons.

Sizes are distinct primes, so that a swapped axis shows. Unless a rule is about precision all is
in float64, where rounding hides nothing.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.checking.comparing import draw, equal
from attention_plugins.checking.findings import Broken
from attention_plugins.contract import ScoringSpec, Sizes

__all__ = [
    "HIDDEN", "KEYS", "QUERIES", "SIZE", "draw", "equal", "inputs", "make", "require_shape",
    "scores", "trained_in",
]  # fmt: skip

QUERIES, KEYS, SIZE, HIDDEN = 7, 13, 5, 11


def make(
    spec: ScoringSpec,
    query: int = SIZE,
    key: int = SIZE,
    dtype: torch.dtype = torch.float64,
    values: Mapping[str, object] | None = None,
) -> Scoring:
    """A scoring in evaluation mode, the same at every call with equal arguments."""
    torch.manual_seed(7)
    random.seed(7)
    return spec.create(Sizes(query, key, HIDDEN), values).to(dtype).eval()


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
