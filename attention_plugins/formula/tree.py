"""A formula as a tree: numbers, names, and operations on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from attention_plugins.formula.lexer import FormulaError

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
