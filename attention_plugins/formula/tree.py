"""A formula as a tree: numbers, names, and operations on them; spelled, and as LaTeX."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from attention_plugins.formula.lexer import FormulaError, Token
from attention_plugins.formula.names import NAMES, parameter_latex

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


def wrong_at(place: Node | Token, sentence: str, suggestion: str = "") -> FormulaError:
    """The error of a part of a formula, or of a word of it."""
    return FormulaError(sentence, place.start, place.end, suggestion)


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
        raise wrong_at(
            node, f"need at most {MOST_NODES} numbers, names and operations, got {count}"
        )
    level: list[Node] = [node]
    for _ in range(DEEPEST):
        level = [each for part in level if isinstance(part, Call) for each in part.arguments]
        if not level:
            return
    raise wrong_at(
        level[0], f"operations are nested more than {DEEPEST} deep; write it with fewer steps"
    )


REDUCING = ("sum", "mean", "amax", "amin", "norm", "dot", "cosine", "product", "squares")


def is_vector(node: Node) -> bool:
    """Whether a part of a resolved tree is a vector over the features."""
    if isinstance(node, Name):
        return node.name in NAMES and NAMES[node.name].vector
    if isinstance(node, Call) and node.function not in REDUCING:
        return any(is_vector(argument) for argument in node.arguments)
    return False


def axes(node: Node) -> frozenset[str]:
    """Which axes a part differs along: ``"q"`` over queries, ``"k"`` over keys."""
    if isinstance(node, Name):
        return frozenset(NAMES[node.name].axis if node.name in NAMES else "")
    if isinstance(node, Call):
        return frozenset().union(*(axes(argument) for argument in node.arguments))
    return frozenset()


_LEVELS = {
    "<": 1, "<=": 1, ">": 1, ">=": 1, "==": 1, "!=": 1, "+": 2, "-": 2, "neg": 3, "*": 4, "/": 4,
    "^": 5,
}  # fmt: skip
_PRODUCT, _POWER, _ATOM = 4, 5, 6
_NAMES = {"amax": "max", "amin": "min", "maximum": "max", "minimum": "min"}


def _level(node: Node) -> int:
    return _LEVELS.get(node.function, _ATOM) if isinstance(node, Call) else _ATOM


def spelled(node: Node) -> str:
    """A resolved tree as text, which is read as the same tree again."""
    if isinstance(node, Number):
        return number(node.value)
    if isinstance(node, Name):
        return node.name
    assert isinstance(node, Call)
    own, (first, *others) = _level(node), node.arguments
    if own == _ATOM:
        name = _NAMES.get(node.function, node.function)
        return f"{name}({', '.join(map(spelled, node.arguments))})"
    if node.function == "neg":
        return f"-{_within(first, own)}"
    if node.function == "^":
        sign, exponent = "", others[0]
        if isinstance(exponent, Call) and exponent.function == "neg":
            sign, exponent = "-", exponent.arguments[0]
        return f"{_within(first, _ATOM)}^{sign}{_within(exponent, _POWER)}"
    # Comparisons are not chained; the others go from left to right.
    left, right = _within(first, own + (own == 1)), _within(others[0], own + 1)
    return f"{left} {node.function} {right}"


def _within(node: Node, least: int) -> str:
    return spelled(node) if _level(node) >= least else f"({spelled(node)})"


def number(value: float) -> str:
    """The shortest digits that are read as this number again."""
    return repr(value).removesuffix(".0")


_SIGNS = {
    "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne", "+": "+", "-": "-",
    "*": r"\,",
}  # fmt: skip
_WRITTEN = {
    "log": r"\ln", "exp": r"\exp", "tanh": r"\tanh", "sin": r"\sin", "cos": r"\cos",
    "atan": r"\arctan", "maximum": r"\max", "minimum": r"\min", "amax": r"\max", "amin": r"\min",
    "sum": r"\textstyle\sum", "cosine": r"\cos",
}  # fmt: skip
_FORMS = {
    "/": r"\frac{{{}}}{{{}}}", "sqrt": r"\sqrt{{{}}}", "sigmoid": r"\sigma\left({}\right)",
    "abs": r"\lvert {}\rvert", "norm": r"\lVert {}\rVert_2",
    "where": r"\begin{{cases}}{1} & {0}\\{2} & \text{{else}}\end{{cases}}",
}  # fmt: skip
# The sum and the largest of absolute values are norms of their own.
_NORMS = {"sum": "1", "amax": r"\infty"}


def latex(node: Node) -> str:
    """A resolved tree as LaTeX, without dollars."""
    if isinstance(node, Number):
        mantissa, _, exponent = number(node.value).partition("e")
        return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa
    if isinstance(node, Name):
        return NAMES[node.name].latex if node.name in NAMES else parameter_latex(node.name)
    assert isinstance(node, Call)
    name, inner = node.function, node.arguments[0]
    if name in _FORMS:
        return _FORMS[name].format(*map(latex, node.arguments))
    if name in _LEVELS or name == "dot":
        return _operator(node)
    if name in _NORMS and isinstance(inner, Call) and inner.function == "abs":
        return rf"\lVert {latex(inner.arguments[0])}\rVert_{{{_NORMS[name]}}}"
    written = _WRITTEN.get(name, rf"\operatorname{{{name}}}")
    return rf"{written}\left({', '.join(map(latex, node.arguments))}\right)"


def _operator(node: Call) -> str:
    if node.function == "neg":
        return f"-{_drawn(node.arguments[0], _PRODUCT)}"
    own, (left, right) = _level(node), node.arguments
    if node.function == "dot":
        sign = r"^\top" if isinstance(left, Name) else r" \cdot"
        return f"{_drawn(left, _ATOM)}{sign} {_drawn(right, _ATOM)}"
    if node.function == "^":
        simple = not isinstance(left, Call) or left.function in ("abs", "norm")
        return f"{latex(left) if simple else _bracketed(left)}^{{{latex(right)}}}"
    sign = _SIGNS[node.function]
    if node.function == "*" and is_vector(left) and is_vector(right):
        sign = r"\odot"
    elif node.function == "*" and isinstance(right, Number):
        sign = r"\cdot"
    return f"{_drawn(left, own + (own == 1))} {sign} {_drawn(right, own + 1)}"


def _drawn(node: Node, least: int) -> str:
    binds = _ATOM if isinstance(node, Call) and node.function == "/" else _level(node)
    return latex(node) if binds >= least else _bracketed(node)


def _bracketed(node: Node) -> str:
    return rf"\left({latex(node)}\right)"
