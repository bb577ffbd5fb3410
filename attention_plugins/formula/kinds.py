"""What the parts of a formula are, numbers or vectors, and what a typed operator means then.

A part is a number for each query and key, or a vector over the features. Operators go element by
element; a number goes with each element of a vector. A product sign between two vectors with a
transposed one, ``@`` and ``·`` are the dot product. What remains must be a number.
"""

from dataclasses import replace
from typing import NamedTuple

from attention_plugins.formula import tree
from attention_plugins.formula.lexer import FormulaError
from attention_plugins.formula.tree import wrong_at
from attention_plugins.marking import gettext_noop

_ELEMENTWISE = ("neg", "+", "-", "*", "/", "exp", "log", "sqrt")


class _Part(NamedTuple):
    node: tree.Node
    vector: bool
    row: bool = False  # a transposed vector, which waits for its product


def resolve(typed: tree.Node) -> tree.Node:
    """The operations that are computed, from the tree as typed; FormulaError if it is no score."""
    part = _resolved(typed)
    if part.row:
        raise wrong_at(typed, "a transposed vector needs a vector behind it", "q^T k")
    if part.vector:
        place = _to_reduce(part.node)
        raise wrong_at(
            place,
            "this is a vector of d numbers for a query and a key, and a score is one number; "
            "take its sum, sum(x), or its length, |x|",
            _reduced(place),
        )
    tree.check_size(part.node)
    return part.node


def _to_reduce(node: tree.Node) -> tree.Node:
    """The innermost part that must become a number so that all of a formula is one."""
    while isinstance(node, tree.Call) and node.function in _ELEMENTWISE:
        vectors = [argument for argument in node.arguments if tree.is_vector(argument)]
        if len(vectors) != 1:
            break
        (node,) = vectors
    return node


def _reduced(node: tree.Node) -> str:
    """The number that was most likely meant by a vector: a length, a dot product, or the sum."""
    if isinstance(node, tree.Call):
        if node.function in ("+", "-"):
            return f"|{tree.spelled(node)}|"
        first, *others = node.arguments
        if node.function == "^" and others == [tree.Number(0, 0, 2.0)]:
            return f"|{tree.spelled(first)}|^2"
        if node.function == "*" and all(map(tree.is_vector, node.arguments)):
            return tree.spelled(replace(node, function="dot"))
    return f"sum({tree.spelled(node)})"


def _resolved(node: tree.Node) -> _Part:
    if not isinstance(node, tree.Call):
        return _Part(node, tree.is_vector(node))
    given = [_resolved(argument) for argument in node.arguments]
    if node.function in _RULES:
        return _RULES[node.function](node, given)
    for part in given:
        if part.row and node.function != "neg":
            raise _misplaced(part)
    if node.function in ("sum", "mean", "amax", "amin", "norm") and not given[0].vector:
        name = {"amax": "max", "amin": "min"}.get(node.function, node.function)
        already, length = gettext_noop("it is one number already"), gettext_noop("take abs(x)")
        advice = length if node.function == "norm" else already
        raise wrong_at(
            given[0].node,
            f"{name} goes over the features of a vector, and this is one number; {advice}",
        )
    if node.function in ("dot", "cosine"):
        return _dotted(node, given, node.function)
    vector = node.function not in tree.REDUCING and any(part.vector for part in given)
    return _Part(_again(node, node.function, given), vector, any(part.row for part in given))


def _again(node: tree.Call, function: str, given: list[_Part]) -> tree.Call:
    return tree.Call(node.start, node.end, function, tuple(part.node for part in given))


def _misplaced(part: _Part) -> FormulaError:
    return wrong_at(
        part.node, "a transposed vector stands only in a product of two vectors", "q @ k.T"
    )


def _dotted(node: tree.Call, given: list[_Part], function: str = "dot") -> _Part:
    for part in given:
        if not part.vector:
            raise wrong_at(
                part.node, "a dot product is of two vectors, and this is one number; multiply by *"
            )
    return _Part(_again(node, function, given), False)


def _centred(node: tree.Call, given: list[_Part]) -> _Part:
    return _dotted(node, given) if all(part.vector for part in given) else _times(node, given)


def _beside(node: tree.Call, given: list[_Part]) -> _Part:
    if all(part.vector for part in given) and not given[0].row:
        raise wrong_at(
            node,
            "two vectors stand side by side; write q.k for their dot product, or q * k to "
            "multiply element by element",
        )
    return _times(node, given)


def _times(node: tree.Call, given: list[_Part]) -> _Part:
    left, right = given
    if left.row and right.vector:
        return _dotted(node, given)
    if right.row and left.vector:
        raise wrong_at(node, "write the product with a transposed vector with @", "q @ k.T")
    return _Part(_again(node, "*", given), left.vector or right.vector, left.row or right.row)


def _divided(node: tree.Call, given: list[_Part]) -> _Part:
    left, right = given
    if right.row or (left.row and right.vector):
        raise _misplaced(right if right.row else left)
    return _Part(_again(node, "/", given), left.vector or right.vector, left.row)


def _transposed(node: tree.Call, given: list[_Part]) -> _Part:
    (inner,) = given
    if not inner.vector:
        raise wrong_at(node, "only a vector can be transposed, and this is one number")
    return _Part(replace(inner.node, start=node.start, end=node.end), True, not inner.row)


def _bars(node: tree.Call, given: list[_Part]) -> _Part:
    (inner,) = given
    if inner.row:
        raise _misplaced(inner)
    return _Part(_again(node, "norm" if inner.vector else "abs", given), False)


_RULES = {
    "*": _times, "beside": _beside, "·": _centred, "@": _dotted, "/": _divided,
    "T": _transposed, "bars": _bars,
}  # fmt: skip
