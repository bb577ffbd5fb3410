"""Dot products and squared distances found in a formula, so that no pair needs a vector.

``sum(x)`` where ``x`` is a vector of the query times one of the key is a matrix product, and the
sum of the squares of a difference of the two is
:func:`~attention_plugins.radial.squared_distances`: up to 8 features these are formed one by
one, above they are expanded around the keys' mean, which rounds relative to the spread of the
points (below 1e-6 of it in float32). The length of a difference is not: near 0 its root would
turn that rounding into an error of 1e-3. Such formulas, and others, keep a vector for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from attention_plugins.formula.tree import Call, Name, Node, Number, axes, is_vector

_TWO = Number(0, 0, 2.0)
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
    numbers = vectors = 0
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Call):
            continue
        waiting += part.arguments
        if axes(part) == _BOTH:
            vectors += is_vector(part)
            numbers += not is_vector(part)
    return numbers, vectors


def held_by(node: Node) -> int:
    """How many vectors of each query and key are in memory at once while a part is computed."""
    if not isinstance(node, Call):
        return 0
    most = kept = 0
    for part in node.arguments:
        most = max(most, kept + held_by(part))
        kept += _is_pair_vector(part)
    return max(most, kept + _is_pair_vector(node))


def _is_pair_vector(node: Node) -> bool:
    return isinstance(node, Call) and is_vector(node) and axes(node) == _BOTH


def _rewritten(node: Call) -> Node | None:
    """A node that is a product or a sum of squares, by its functions; None if it is neither."""
    if node.function == "dot":
        products = _call("*", *node.arguments)
        return _summed(products) or _call("sum", lowered(products))
    if node.function == "cosine":
        units = _call("*", *(_call("unit", each) for each in node.arguments))
        return _summed(units) or _call("sum", lowered(units))
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
    if not mixed and of_query and of_key:
        core = _call("product", _product(of_query), _product(of_key))
    elif len(mixed) == 2 and mixed[0] == mixed[1] and not of_query and not of_key:
        core = _squares(mixed[0])
    else:
        return None
    if core is None:
        return None
    return _product([core, *map(lowered, numbers)])


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
            left, right = map(_factors, node.arguments)
            return _Factors(*(one + other for one, other in zip(left, right, strict=True)))
        if node.function == "/" and not is_vector(node.arguments[1]):
            inverse = _call("/", Number(0, 0, 1.0), node.arguments[1])
            return _with_number(_factors(node.arguments[0]), inverse)
        if node.function == "neg":
            return _with_number(_factors(node.arguments[0]), _call("neg", Number(0, 0, 1.0)))
        if node.function == "^" and node.arguments[1] == _TWO:
            return _squared(_factors(node.arguments[0])) or _Factors(mixed=(node,))
    return _Factors(mixed=(node,))


def _with_number(factors: _Factors, number: Node) -> _Factors:
    return factors._replace(numbers=(*factors.numbers, number))


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
    return _call("squares", _total(of_query), _total(of_key))


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
    return reduce(lambda left, right: _call("*", left, right), given)


def _total(given: Sequence[Node]) -> Node:
    return reduce(lambda left, right: _call("+", left, right), given)
