"""A lowered tree to scores, by the operations of the allow-list and nothing else.

A number is ``(..., n_q or 1, n_k or 1)`` or has no dimension; a vector has the features behind
that. All is computed in float32 at least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import normalize

from attention_plugins.attention import Positions
from attention_plugins.formula.names import CONSTANTS
from attention_plugins.formula.tree import Call, Name, Node, Number, is_vector
from attention_plugins.radial import squared_distances

_SHORTEST = 1e-6  # as in the scoring ``cosine``: shorter vectors have no direction


# A package of a formula has these functions, as they stand here.
def log(x):
    """The logarithm; minus infinity, which rules a key out, and no slope for 0 and below."""
    inside = x > 0
    return torch.where(inside, torch.where(inside, x, 1.0).log(), -torch.inf)


def log1p(x):
    """The logarithm of 1 + x; minus infinity and no slope for -1 and below."""
    inside = x > -1
    return torch.where(inside, torch.where(inside, x, 0.0).log1p(), -torch.inf)


def sqrt(x):
    """The square root with slope 0 at 0, where it has none."""
    zero = x == 0
    return torch.where(zero, 0.0, torch.where(zero, 1.0, x).sqrt())


def norm(x, keepdim=False):
    """The length of vectors, with slope 0 at 0."""
    return sqrt(x.square().sum(-1, keepdim=keepdim))


def _comparison(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda left, right: function(left, right).to(torch.result_type(left, right))


EACH: Mapping[str, Callable[..., Tensor]] = {
    "+": torch.add, "-": torch.sub, "*": torch.mul, "/": torch.div, "^": torch.pow,
    "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "log": log, "log1p": log1p,
    "sqrt": sqrt, "tanh": torch.tanh, "relu": torch.relu, "sigmoid": torch.sigmoid,
    "softplus": functional.softplus, "sin": torch.sin, "cos": torch.cos, "atan": torch.atan,
    "maximum": torch.maximum, "minimum": torch.minimum,
    "<": _comparison(torch.lt), "<=": _comparison(torch.le), ">": _comparison(torch.gt),
    ">=": _comparison(torch.ge), "==": _comparison(torch.eq), "!=": _comparison(torch.ne),
    "unit": lambda x: normalize(x, dim=-1, eps=_SHORTEST), "logaddexp": torch.logaddexp,
    "where": lambda asked, then, other: torch.where(asked != 0, then, other),
}  # fmt: skip

# Of a vector over the features, the last axis, which goes.
REDUCING: Mapping[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda x: x.sum(-1), "mean": lambda x: x.mean(-1), "amax": lambda x: x.amax(-1),
    "amin": lambda x: x.amin(-1), "norm": norm,
}  # fmt: skip


# Of vectors (..., n_q, d) of the queries and (..., n_k, d) of the keys.
OF_PAIRS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "product": lambda queries, keys: queries @ keys.mT, "squares": squared_distances,
}  # fmt: skip


class Given(NamedTuple):
    """What the names of a formula stand for.

    Attributes:
        queries, keys: ``(..., n_q, d)`` and ``(..., n_k, d)``.
        parameters: each without a dimension.
        positions: None where the formula asks for none.
        heads: how many share the scoring, the third axis from last where there are several.
    """

    queries: Tensor
    keys: Tensor
    parameters: Mapping[str, Tensor]
    positions: Positions | None
    heads: int

    def number(self, value: float) -> Tensor:
        """A number in the precision and on the device of the queries."""
        return self.queries.new_full((), value)


def evaluate(node: Node, given: Given) -> Tensor:
    """Scores ``(..., n_q, n_k)`` of a lowered tree.

    Args:
        given: in the precision to compute in.
    """
    scores = _value(node, given)
    leading = torch.broadcast_shapes(given.queries.shape[:-2], given.keys.shape[:-2])
    shape = (*leading, given.queries.shape[-2], given.keys.shape[-2])
    # Written out: what follows may change scores in place, and memory must not be shared then.
    return scores if scores.shape == shape else scores.expand(shape).clone()


def _value(node: Node, given: Given) -> Tensor:
    if isinstance(node, Number):
        return given.number(node.value)
    if isinstance(node, Name):
        return _named(node.name, given)
    assert isinstance(node, Call)
    if node.function in OF_PAIRS:
        queries, keys = (_value(argument, given) for argument in node.arguments)
        return OF_PAIRS[node.function](queries.squeeze(-2), keys.squeeze(-3))
    if node.function in REDUCING:
        return REDUCING[node.function](_value(node.arguments[0], given))
    if node.function == "^":
        return _power(node, given)
    return _each(node.function, node.arguments, given)


def _each(function: str, arguments: tuple[Node, ...], given: Given) -> Tensor:
    values = [_value(argument, given) for argument in arguments]
    vectors = [is_vector(argument) for argument in arguments]
    if any(vectors):
        values = [
            value if vector or not value.dim() else value.unsqueeze(-1)
            for value, vector in zip(values, vectors, strict=True)
        ]
    return EACH[function](*values)


def _power(node: Call, given: Given) -> Tensor:
    base, exponent = node.arguments
    if (known := constant(exponent)) is not None:  # faster, and its gradients stay finite
        value = _value(base, given)
        return EACH["sqrt"](value) if known == 0.5 else value**known
    if base == Name(0, 0, "e"):
        return _value(exponent, given).exp()
    return _each("^", node.arguments, given)


def constant(node: Node) -> float | None:
    """The number that an exponent is, with its sign; None if it is none."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Call) and node.function == "neg" and isinstance(node.arguments[0], Number):
        return -node.arguments[0].value
    return None


def _named(name: str, given: Given) -> Tensor:
    if name in given.parameters:
        return given.parameters[name]
    if name in CONSTANTS:
        return given.number(CONSTANTS[name])
    return _READ[name](given)


def _places(given: Given, axis: int) -> Tensor:
    assert given.positions is not None  # asked for, since the formula names them
    counted = given.positions.queries[:, None] if axis == 0 else given.positions.keys[None, :]
    return counted.to(given.queries.dtype)


def _head(given: Given) -> Tensor:
    if given.heads == 1:
        return given.number(1.0)
    like = given.queries
    counted = torch.arange(1, given.heads + 1, dtype=like.dtype, device=like.device)
    return counted.reshape(-1, 1, 1)


_READ = {
    "q": lambda given: given.queries.unsqueeze(-2),
    "k": lambda given: given.keys.unsqueeze(-3),
    "d": lambda given: given.number(given.queries.shape[-1]),
    "n": lambda given: given.number(given.keys.shape[-2]),
    "H": lambda given: given.number(given.heads),
    "i": lambda given: _places(given, 0),
    "j": lambda given: _places(given, 1),
    "h": _head,
}
