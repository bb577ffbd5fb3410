"""Calls as they are typed, by torch's and by mathematics' habits, to operations of the tree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import NamedTuple

from attention_plugins.formula.lexer import FormulaError, Token
from attention_plugins.formula.names import ALIASES, FUNCTIONS
from attention_plugins.formula.tree import Call, Node, Number
from attention_plugins.marking import gettext_noop

_LAST = Call(0, 0, "neg", (Number(0, 0, 1.0),))  # -1, the dimension of the features
_OF_TWO = {"max": "maximum", "min": "minimum"}
_OF_ONE = {"max": "amax", "min": "amin"}


class Arguments(NamedTuple):
    """What stands between the brackets of a call.

    Attributes:
        given, named: by place and by name.
        method: whether the first stands before the point.
    """

    given: tuple[Node, ...]
    named: Mapping[str, Node]
    method: bool = False

    def behind(self, node: Node) -> Arguments:
        """These arguments of a method of ``node``."""
        return Arguments((node, *self.given), self.named, True)


def applied(token: Token, start: int, end: int, arguments: Arguments) -> Call:
    """The operation that a call stands for.

    Args:
        token: the function's name, which is known.
        start, end: the characters of the whole call.

    Raises:
        FormulaError: other arguments than it takes.
    """
    name = ALIASES.get(token.text, token.text)
    function = FUNCTIONS[name]
    if name == "clamp":
        return _clamped(token, start, end, arguments)
    given = _without_dimension(name, token, arguments) if function.reduces else arguments.given
    if not function.reduces and arguments.named:
        raise _wrong(next(iter(arguments.named.values())), f"{name} takes no named argument")
    least, most = function.arguments
    if not least <= len(given) <= most:
        if least < most:
            told = gettext_noop(f"{name} takes {least} to {most} arguments, got {len(given)}")
        elif most > 1:
            told = gettext_noop(f"{name} takes {most} arguments, got {len(given)}")
        else:
            told = gettext_noop(f"{name} takes 1 argument, got {len(given)}")
        raise FormulaError(told, token.start, end)
    if name == "square":
        return Call(start, end, "^", (given[0], Number(token.start, token.end, 2.0)))
    if name == "cos" and len(given) == 2:
        return Call(start, end, "cosine", given)
    if name in _OF_ONE and len(given) == 1:
        return Call(start, end, _OF_ONE[name], given)
    if name in _OF_TWO:
        node = reduce(lambda a, b: Call(start, end, _OF_TWO[name], (a, b)), given)
        assert isinstance(node, Call)  # of two at least
        return node
    return Call(start, end, function.core, given)


def _without_dimension(name: str, token: Token, arguments: Arguments) -> tuple[Node, ...]:
    """The arguments of a function over the features, less the dimension, which is the last."""
    given, named = arguments.given, dict(arguments.named)
    dimension = named.pop("dim", None) or named.pop("axis", None)
    if named:
        raise _wrong(next(iter(named.values())), f"{name} takes dim=-1 and no other name")
    if dimension is None and len(given) == 2 and (arguments.method or name not in _OF_TWO):
        *rest, dimension = given
        given = tuple(rest)
    if dimension is not None and dimension != _LAST:
        raise _wrong(dimension, f"{name} goes over the features alone, dimension -1", "-1")
    if dimension is not None and len(given) != 1:
        raise FormulaError(f"{name} over a dimension takes one vector", token.start, token.end)
    return given


def _clamped(token: Token, start: int, end: int, arguments: Arguments) -> Call:
    given = list(arguments.given)
    bounds = {
        name: arguments.named.get(name, given[place] if len(given) > place else None)
        for place, name in ((1, "min"), (2, "max"))
    }
    if not 1 <= len(given) <= 3 or not any(bounds.values()) or arguments.named.keys() - bounds:
        raise FormulaError("write clamp(x, low, high), min=low or max=high", token.start, end)
    node = given[0]
    for name, function in (("min", "maximum"), ("max", "minimum")):
        if bound := bounds[name]:
            node = Call(start, end, function, (node, bound))
    assert isinstance(node, Call)  # there is a bound
    return node


def _wrong(node: Node, sentence: str, suggestion: str = "") -> FormulaError:
    return FormulaError(sentence, node.start, node.end, suggestion)
