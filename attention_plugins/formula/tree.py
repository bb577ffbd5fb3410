"""A formula as a tree: numbers, names, and operations on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from attention_plugins.formula.lexer import FormulaError

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


MOST_NODES, DEEPEST = 120, 40


@dataclass(frozen=True)
class Node:
    """A part of a formula; equal parts are equal wherever they stand.

    Attributes:
        start, end: its characters in the text, from 0, ``end`` not included.
    """

    start: int = field(compare=False, repr=False)
    end: int = field(compare=False, repr=False)


@dataclass(frozen=True)
class Number(Node):
    """A number as it was written; finite and not negative."""

    value: float


@dataclass(frozen=True)
class Name(Node):
    """A letter with a meaning (:data:`~attention_plugins.formula.names.NAMES`) or a parameter."""

    name: str


@dataclass(frozen=True)
class Call(Node):
    """An operator or a function, and what it is applied to."""

    function: str
    arguments: tuple[Node, ...]


def parts(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Call):
            waiting += part.arguments


def names_in(node: Node) -> dict[str, Name]:
    """The names in a formula, each with the first place where it stands, in that order."""
    found = sorted((part for part in parts(node) if isinstance(part, Name)), key=lambda p: p.start)
    first: dict[str, Name] = {}
    for name in found:
        first.setdefault(name.name, name)
    return first


def check_size(node: Node) -> None:
    """Raise :class:`FormulaError` where a tree has too many nodes or levels."""
    if (count := sum(1 for _ in parts(node))) > MOST_NODES:
        raise FormulaError(
            f"need at most {MOST_NODES} numbers, names and operations, got {count}",
            node.start, node.end,
        )  # fmt: skip
    level: list[Node] = [node]
    for _ in range(DEEPEST):
        level = [each for part in level if isinstance(part, Call) for each in part.arguments]
        if not level:
            return
    raise FormulaError(
        f"operations are nested more than {DEEPEST} deep; write it with fewer steps",
        level[0].start, level[0].end,
    )  # fmt: skip
