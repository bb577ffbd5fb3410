"""The allow-list: every operation of torch that a formula can reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import normalize

from attention_plugins.distances import squared_distances

_SHORTEST = 1e-6  # as in the scoring ``cosine``: shorter vectors have no direction


def _log(x: Tensor) -> Tensor:
    inside = x > 0
    # Outside, 1 stands in before the logarithm: its gradient would not be a number there.
    return torch.where(inside, torch.where(inside, x, 1.0).log(), -torch.inf)


def _log1p(x: Tensor) -> Tensor:
    inside = x > -1
    return torch.where(inside, torch.where(inside, x, 0.0).log1p(), -torch.inf)


def _sqrt(x: Tensor) -> Tensor:
    """The square root with slope 0 at 0, where it has none."""
    zero = x == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, x).sqrt())


def _norm(x: Tensor) -> Tensor:
    return _sqrt(x.square().sum(-1))


def _unit(vectors: Tensor) -> Tensor:
    """Vectors of length 1."""
    return normalize(vectors, dim=-1, eps=_SHORTEST)


def _comparison(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda left, right: function(left, right).to(torch.result_type(left, right))


EACH: Mapping[str, Callable[..., Tensor]] = {
    "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div, "^": torch.pow,
    "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "log": _log, "log1p": _log1p,
    "sqrt": _sqrt, "tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid,
    "softplus": functional.softplus, "sin": torch.sin, "cos": torch.cos, "atan": torch.atan,
    "maximum": torch.maximum, "minimum": torch.minimum,
    "<": _comparison(torch.lt), "<=": _comparison(torch.le), ">": _comparison(torch.gt),
    ">=": _comparison(torch.ge), "==": _comparison(torch.eq), "!=": _comparison(torch.ne),
    "unit": _unit, "logaddexp": torch.logaddexp,
    "where": lambda asked, then, other: torch.where(asked != 0, then, other),
}  # fmt: skip

# Of a vector over the features, the last axis, which goes.
REDUCING: Mapping[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "amax": lambda x: x.amax(-1),
    "amin": lambda x: x.amin(-1), "norm": _norm,
}  # fmt: skip


# Of vectors (..., n_q, d) of the queries and (..., n_k, d) of the keys.
OF_PAIRS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "product": lambda queries, keys: queries @ keys.mT, "squares": squared_distances,
}  # fmt: skip
