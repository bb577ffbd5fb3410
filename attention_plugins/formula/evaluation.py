"""A formula's scores: what is computed for them, and the allow-list of operations that does it.

``sum(x)`` where ``x`` is a vector of the query times one of the key is a matrix product, and the
sum of the squares of a difference of the two is
:func:`~attention_plugins.radial.squared_distances`: up to 8 features these are formed one by
one, above they are expanded around the keys' mean, which rounds relative to the spread of the
points (below 1e-6 of it in float32). The length of a difference is not: near 0 its root would
turn that rounding into an error of 1e-3. Such formulas, and others, keep a vector for each pair.

A number is ``(..., n_q or 1, n_k or 1)`` or has no dimension; a vector has the features behind
that. All is computed in float32 at least.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import normalize

from attention_plugins.attention import Positions, together
from attention_plugins.formula.names import CONSTANTS
from attention_plugins.formula.tree import Call, Name, Node, Number, axes, is_vector, parts
from attention_plugins.radial import squared_distances

_ONE, _TWO = Number(0, 0, 1.0), Number(0, 0, 2.0)
_BOTH = frozenset("qk")


def lowered(node: Node) -> Node:
    """The same scores, with ``product(a, b)`` and ``squares(a, b)`` where that is possible.

    In both ``a`` is a vector of the query alone, ``b`` one of the key alone: their dot product,
    and the squared length of ``a - b``.
    """
    if not isinstance(node, Call):
        return node
    found = _rewritten(node)
    if found is not None:
        return found
    return Call(node.start, node.end, node.function, tuple(map(lowered, node.arguments)))


def pairs_of(node: Node) -> tuple[int, int]:
    """How many operations make a number, and how many a vector, for each query and key."""
    calls = [part for part in parts(node) if isinstance(part, Call) and axes(part) == _BOTH]
    vectors = sum(map(is_vector, calls))
    return len(calls) - vectors, vectors


def held_by(node: Node) -> int:
    """How many vectors of each query and key are in memory at once while a part is computed."""
    most = kept = 0
    for part in node.arguments if isinstance(node, Call) else ():
        most = max(most, kept + held_by(part))
        kept += is_vector(part) and axes(part) == _BOTH
    return max(most, kept + (is_vector(node) and axes(node) == _BOTH))


def _rewritten(node: Call) -> Node | None:
    """A node that is a product or a sum of squares, by its functions; None if it is neither."""
    if node.function == "dot":
        products = _call("*", *node.arguments)
        return _summed(products) or _call("sum", lowered(products))
    if node.function == "cosine":
        return lowered(_call("dot", *(_call("unit", each) for each in node.arguments)))
    if node.function == "sum":
        return _summed(node.arguments[0])
    if node.function == "mean":
        found = _summed(node.arguments[0])
        return found and _call("/", found, Name(0, 0, "d"))
    if node.function == "^" and node.arguments[1] == _TWO:
        base = node.arguments[0]
        if isinstance(base, Call) and base.function == "norm":
            return _summed(_call("^", base.arguments[0], _TWO))
    return None


def _summed(vector: Node) -> Node | None:
    """The sum over the features of a vector of both query and key, without that vector."""
    if axes(vector) != _BOTH:
        return None
    numbers, of_query, of_key, mixed = _factors(vector)
    core = None
    if not mixed and of_query and of_key:
        core = _call("product", _product(of_query), _product(of_key))
    elif len(mixed) == 2 and mixed[0] == mixed[1] and not of_query and not of_key:
        core = _squares(mixed[0])
    return core and _product([core, *map(lowered, numbers)])


class _Factors(NamedTuple):
    """What a vector is the product of: numbers, and vectors of the query, of the key, of both."""

    numbers: tuple[Node, ...] = ()
    of_query: tuple[Node, ...] = ()
    of_key: tuple[Node, ...] = ()
    mixed: tuple[Node, ...] = ()


def _factors(node: Node) -> _Factors:
    """A vector's factors; their tree is at most a few times as large as the vector's own."""
    if not is_vector(node):
        return _Factors(numbers=(node,))
    if axes(node) != _BOTH:  # (q / sqrt(d)).k scales the queries, as it is written: fewer numbers
        return _Factors(of_key=(node,)) if "k" in axes(node) else _Factors(of_query=(node,))
    if isinstance(node, Call):
        if node.function == "*":
            return _product_of(*map(_factors, node.arguments))
        if node.function == "/" and not is_vector(node.arguments[1]):
            inverse = _call("/", _ONE, node.arguments[1])
            return _product_of(_factors(node.arguments[0]), _Factors((inverse,)))
        if node.function == "neg":
            return _product_of(_factors(node.arguments[0]), _Factors((_call("neg", _ONE),)))
        if node.function == "^" and node.arguments[1] == _TWO:
            return _squared(_factors(node.arguments[0])) or _Factors(mixed=(node,))
    return _Factors(mixed=(node,))


def _product_of(left: _Factors, right: _Factors) -> _Factors:
    return _Factors(*(one + other for one, other in zip(left, right, strict=True)))


def _squared(factors: _Factors) -> _Factors | None:
    """The factors of a square: each kind's product squared, so that squares do not multiply them.

    What is of both query and key is written twice, since two equal ones make a squared distance.
    More of these make nothing: None.
    """
    if len(factors.mixed) > 1:
        return None
    once = (factors.numbers, factors.of_query, factors.of_key)
    return _Factors(
        *((_call("^", _product(each), _TWO),) if each else () for each in once),
        mixed=factors.mixed * 2,
    )


def _squares(node: Node) -> Node | None:
    """``|a - b|^2`` of a sum whose terms are each of the query or of the key alone."""
    of_query: list[Node] = []
    of_key: list[Node] = []
    for term, sign in _terms(node, 1):
        own = axes(term)
        if own == _BOTH:
            return None
        # The key's terms change their sign: the difference is formed by what is called.
        wanted = sign if "k" not in own else -sign
        (of_key if "k" in own else of_query).append(term if wanted > 0 else _call("neg", term))
    if not any(map(is_vector, of_query)) or not any(map(is_vector, of_key)):
        return None
    return _call("squares", *(reduce(partial(_call, "+"), own) for own in (of_query, of_key)))


def _terms(node: Node, sign: int) -> list[tuple[Node, int]]:
    if isinstance(node, Call) and node.function in ("+", "-"):
        left, right = node.arguments
        return _terms(left, sign) + _terms(right, sign if node.function == "+" else -sign)
    if isinstance(node, Call) and node.function == "neg":
        return _terms(node.arguments[0], -sign)
    return [(node, sign)]


def _call(function: str, *arguments: Node) -> Call:
    return Call(0, 0, function, arguments)


def _product(given: Sequence[Node]) -> Node:
    return reduce(partial(_call, "*"), given)


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

    def of_queries(self, part: slice) -> Self:
        """The same for some of the queries."""
        places = self.positions
        if places is not None:
            places = places._replace(queries=places.queries[part])
        return self._replace(queries=self.queries[..., part, :], positions=places)


def evaluate(node: Node, given: Given) -> Tensor:
    """Scores ``(..., n_q, n_k)`` of a lowered tree, in the precision of what is given."""
    scores = _value(node, given)
    leading = together(given.queries.shape[:-2], given.keys.shape[:-2])
    shape = (*leading, given.queries.shape[-2], given.keys.shape[-2])
    # Written out: what follows may change scores in place, and memory must not be shared then.
    return scores if scores.shape == shape else scores.expand(shape).clone()


def _value(node: Node, given: Given) -> Tensor:
    if isinstance(node, Number):
        return given.number(node.value)
    if isinstance(node, Name):
        if node.name in given.parameters:
            return given.parameters[node.name]
        constant = CONSTANTS.get(node.name)
        return _READ[node.name](given) if constant is None else given.number(constant)
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
    if any(map(is_vector, arguments)):  # a number goes with each feature
        values = [
            value if is_vector(part) or not value.dim() else value.unsqueeze(-1)
            for value, part in zip(values, arguments, strict=True)
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


def _places(given: Given, axis: int) -> Tensor:
    assert given.positions is not None  # asked for, since the formula names them
    counted = given.positions.queries[:, None] if axis == 0 else given.positions.keys[None, :]
    return counted.to(given.queries.dtype)


def _head(given: Given) -> Tensor:
    if given.heads == 1:
        return given.number(1.0)
    like = given.queries
    return torch.arange(1, given.heads + 1, dtype=like.dtype, device=like.device).reshape(-1, 1, 1)


_READ = {
    "q": lambda given: given.queries.unsqueeze(-2), "k": lambda given: given.keys.unsqueeze(-3),
    "d": lambda given: given.number(given.queries.shape[-1]),
    "n": lambda given: given.number(given.keys.shape[-2]),
    "H": lambda given: given.number(given.heads), "i": lambda given: _places(given, 0),
    "j": lambda given: _places(given, 1), "h": _head,
}  # fmt: skip
