"""A formula as it is printed in a paper."""

from __future__ import annotations

from attention_plugins.formula.kinds import is_vector
from attention_plugins.formula.names import NAMES, parameter_latex
from attention_plugins.formula.tree import Call, Name, Node, Number, level, number

_SIGNS = {
    "<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne", "+": "+", "-": "-",
    "*": r"\,",
}  # fmt: skip
_WRITTEN = {
    "log": r"\ln", "exp": r"\exp", "tanh": r"\tanh", "sin": r"\sin", "cos": r"\cos",
    "atan": r"\arctan", "maximum": r"\max", "minimum": r"\min", "amax": r"\max", "amin": r"\min",
    "sum": r"\textstyle\sum", "cosine": r"\cos",
}  # fmt: skip
_AROUND = {"abs": (r"\lvert ", r"\rvert"), "norm": (r"\lVert ", r"\rVert")}
_PRODUCT, _ATOM = 4, 6


def latex(node: Node) -> str:
    """A resolved tree as LaTeX, without dollars."""
    if isinstance(node, Number):
        mantissa, _, exponent = number(node.value).partition("e")
        return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa
    if isinstance(node, Name):
        return NAMES[node.name].latex if node.name in NAMES else parameter_latex(node.name)
    assert isinstance(node, Call)
    if node.function in _DRAWN:
        return _DRAWN[node.function](node)
    if node.function in _SIGNS:
        return _between(node)
    written = _WRITTEN.get(node.function, rf"\operatorname{{{node.function}}}")
    return rf"{written}\left({', '.join(map(latex, node.arguments))}\right)"


def _between(node: Call) -> str:
    left, right = node.arguments
    own, sign = level(node), _SIGNS[node.function]
    if node.function == "*":
        if is_vector(left) and is_vector(right):
            sign = r"\odot"
        elif isinstance(right, Number):
            sign = r"\cdot"
        return f"{_within(left, own)} {sign} {_within(right, own + 1)}"
    return f"{_within(left, own + (own == 1))} {sign} {_within(right, own + 1)}"


def _within(node: Node, least: int) -> str:
    drawn = latex(node)
    binds = _ATOM if isinstance(node, Call) and node.function == "/" else level(node)
    return drawn if binds >= least else rf"\left({drawn}\right)"


def _dot(node: Call) -> str:
    left, right = (_within(argument, _ATOM) for argument in node.arguments)
    if isinstance(node.arguments[0], Name):
        return rf"{left}^\top {right}"
    return rf"{left} \cdot {right}"


def _power(node: Call) -> str:
    base, exponent = node.arguments
    drawn = latex(base)
    simple = isinstance(base, Name | Number) or (
        isinstance(base, Call) and base.function in _AROUND
    )
    around = drawn if simple else rf"\left({drawn}\right)"
    return rf"{around}^{{{latex(exponent)}}}"


def _of_absolutes(node: Call, index: str) -> str:
    """The sum and the largest of absolute values are norms of their own."""
    (inner,) = node.arguments
    if isinstance(inner, Call) and inner.function == "abs":
        return rf"\lVert {latex(inner.arguments[0])}\rVert_{{{index}}}"
    return rf"{_WRITTEN[node.function]}\left({latex(inner)}\right)"


def _around(node: Call) -> str:
    before, after = _AROUND[node.function]
    return f"{before}{latex(node.arguments[0])}{after}"


def _where(node: Call) -> str:
    asked, then, other = map(latex, node.arguments)
    return rf"\begin{{cases}}{then} & {asked}\\{other} & \text{{else}}\end{{cases}}"


_DRAWN = {
    "/": lambda node: rf"\frac{{{latex(node.arguments[0])}}}{{{latex(node.arguments[1])}}}",
    "neg": lambda node: f"-{_within(node.arguments[0], _PRODUCT)}",
    "^": _power,
    "dot": _dot,
    "sqrt": lambda node: rf"\sqrt{{{latex(node.arguments[0])}}}",
    "sigmoid": lambda node: rf"\sigma\left({latex(node.arguments[0])}\right)",
    "abs": _around,
    "norm": lambda node: f"{_around(node)}_2",
    "sum": lambda node: _of_absolutes(node, "1"),
    "amax": lambda node: _of_absolutes(node, r"\infty"),
    "where": _where,
}
