"""What the rules of scorings share: a scoring to look at, inputs, comparisons.

Sizes are distinct primes, so that a swapped axis shows. Unless a rule is about precision all is
in float64, where rounding hides nothing.
"""

import random
from collections.abc import Mapping

import torch
from torch import Tensor

from attention_plugins.attention import Scoring, attend, needs_of, remembers
from attention_plugins.checking.findings import Broken, draw
from attention_plugins.contract import ScoringSpec, Sizes
from attention_plugins.discovery import let_go
from attention_plugins.randomness import seed_all

QUERIES, KEYS, SIZE, HIDDEN, VALUE = 7, 13, 5, 11, 3


def make(
    spec: ScoringSpec, sizes: tuple[int, int] = (SIZE, SIZE), dtype: torch.dtype = torch.float64,
    values: Mapping[str, object] | None = None, heads: int = 1,
) -> Scoring:  # fmt: skip
    """A scoring in evaluation mode, the same at every call with equal arguments.

    ``sizes`` are a query's and a key's. Tables that start at 0 are moved off it, as training does:
    they would hide what they do.
    """
    seed_all(7)
    random.seed(7)
    scoring = spec.create(Sizes(*sizes, HIDDEN, heads, VALUE), values).to(dtype).eval()
    with torch.no_grad():
        for number, weight in enumerate(scoring.parameters()):
            if weight.numel() > 1 and not weight.any():
                weight.copy_(draw(*weight.shape, seed=100 + number) / 2)
    return scoring


def inputs(*leading: int, keys: int = KEYS) -> tuple[Tensor, Tensor]:
    """Queries ``(*leading, 7, 5)`` and keys ``(*leading, keys, 5)``."""
    return draw(*leading, QUERIES, SIZE), draw(*leading, keys, SIZE, seed=1)


def scores(scoring: Scoring, queries: Tensor, keys: Tensor) -> Tensor:
    """Scores of queries and keys that are not projected yet.

    Both are copied: a scoring that overwrites them is one rule's matter and no other's.
    """
    projected = scoring.project_queries(queries.clone()), scoring.project_keys(keys.clone())
    return scored(scoring, *projected)


def scored(
    scoring: Scoring, queries: Tensor, keys: Tensor, first: int = 0, seen: int | None = None
) -> Tensor:
    """Scores of projected queries and keys, with whatever the scoring needs besides.

    A scoring with memory is told that each query before, of which there were ``first``, looked at
    the ``seen`` keys alike, or at all, and scored them 0.
    """
    seen = seen or keys.shape[-2]
    allowed = torch.arange(keys.shape[-2], device=keys.device) < seen
    if not remembers(scoring):
        needs = needs_of(scoring, queries.shape[-2], keys, first, mask=allowed)
        return scoring(queries, keys, **needs)
    rows = []
    for number, query in enumerate(queries.split(1, dim=-2), first):
        alike = keys.new_zeros((*keys.shape[:-2], number, keys.shape[-2]))
        marks = alike.masked_fill(~allowed, -torch.inf)
        alike[..., :seen] = 1 / seen
        needs = needs_of(scoring, 1, keys, number, alike, mask=allowed, scores=marks)
        rows.append(scoring(query, keys, **needs))
    return torch.cat(rows, dim=-2)


def attended(scoring: Scoring, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Output and weights of queries and keys, whose last three keys are masked.

    Values have the precision of the scores: another than that of the inputs is one rule's matter.
    """
    dtype = scores(scoring, queries[..., :1, :], keys).dtype
    values = draw(*keys.shape[:-1], VALUE, seed=2, dtype=dtype)
    mask = torch.arange(keys.shape[-2]) < keys.shape[-2] - 3
    return attend(scoring, queries.clone(), keys.clone(), values, mask)


def built(spec: ScoringSpec) -> Scoring | None:
    """A scoring; None where it raises, which the rules that build it say."""
    try:
        return make(spec)
    except BaseException as error:
        let_go(error)
        return None


def remembers_nothing(spec: ScoringSpec) -> bool:
    """Whether it can meet several queries at once."""
    scoring = built(spec)
    return scoring is None or not remembers(scoring)


def knows_heads(spec: ScoringSpec) -> bool:
    """Whether its weights follow from the number of heads."""
    one, three = (make(spec, heads=heads).state_dict() for heads in (1, 3))
    return {n: t.shape for n, t in one.items()} != {n: t.shape for n, t in three.items()}


def sound(found: Tensor) -> bool:
    """Whether scores are numbers; minus infinity is one, for a key that is ruled out."""
    return bool((found.isfinite() | found.isneginf()).all())


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
