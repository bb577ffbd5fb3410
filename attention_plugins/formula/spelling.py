"""The one spelling that a tree has: plain ASCII, and as few brackets as it needs."""

from __future__ import annotations

from attention_plugins.formula.tree import Call, Name, Node, Number

_LEVELS = {
    "<": 1, "<=": 1, ">": 1, ">=": 1, "==": 1, "!=": 1, "+": 2, "-": 2, "neg": 3, "*": 4, "/": 4,
    "^": 5,
}  # fmt: skip
_POWER, _ATOM = 5, 6
_NAMES = {"amax": "max", "amin": "min", "maximum": "max", "minimum": "min"}


def level(node: Node) -> int:
    """How tightly its outermost operator binds."""
    return _LEVELS.get(node.function, _ATOM) if isinstance(node, Call) else _ATOM


def spelled(node: Node) -> str:
    """A resolved tree as text, which is read as the same tree again."""
    if isinstance(node, Number):
        return number(node.value)
    if isinstance(node, Name):
        return node.name
    assert isinstance(node, Call)
    own, given = level(node), node.arguments
    if own == _ATOM:
        arguments = ", ".join(spelled(argument) for argument in given)
        return f"{_NAMES.get(node.function, node.function)}({arguments})"
    if node.function == "neg":
        return f"-{_within(given[0], own)}"
    if node.function == "^":
        return f"{_within(given[0], _ATOM)}^{_exponent(given[1])}"
    # Comparisons are not chained; the others go from left to right.
    left, right = _within(given[0], own + (own == 1)), _within(given[1], own + 1)
    return f"{left} {node.function} {right}"


def number(value: float) -> str:
    """The shortest digits that are read as this number again."""
    return repr(value).removesuffix(".0")


def _exponent(node: Node) -> str:
    if isinstance(node, Call) and node.function == "neg":
        return f"-{_within(node.arguments[0], _POWER)}"
    return _within(node, _POWER)


def _within(node: Node, least: int) -> str:
    text = spelled(node)
    return text if level(node) >= least else f"({text})"
