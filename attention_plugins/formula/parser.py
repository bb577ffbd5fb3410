"""Tokens to a tree, by recursive descent; what the parts are is settled by ``kinds``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from functools import reduce
from typing import NamedTuple

from attention_plugins.formula.lexer import FormulaError, Token, tokens
from attention_plugins.formula.names import ALIASES, FUNCTIONS, NAMES, NOT_HERE, parameter
from attention_plugins.formula.tree import Call, Name, Node, Number, check_size, wrong_at
from attention_plugins.marking import gettext_noop

_LAST = Call(0, 0, "neg", (Number(0, 0, 1.0),))  # -1, the dimension of the features
_OF_TWO = {"max": "maximum", "min": "minimum"}
_OF_ONE = {"max": "amax", "min": "amin"}


class Arguments(NamedTuple):
    """What a call is given by place and by name; of a method the first stands before the point."""

    given: tuple[Node, ...]
    named: Mapping[str, Node]
    method: bool = False


def _applied(token: Token, start: int, end: int, arguments: Arguments) -> Node:
    """The operation that a call of a known function stands for, from ``start`` to ``end``."""
    name = ALIASES.get(token.text, token.text)
    function = FUNCTIONS[name]
    if name == "clamp":
        return _clamped(token, start, end, arguments)
    given = _without_dimension(name, token, arguments) if function.reduces else arguments.given
    if not function.reduces and arguments.named:
        raise wrong_at(next(iter(arguments.named.values())), f"{name} takes no named argument")
    least, most = function.arguments
    if not least <= len(given) <= most:
        told = gettext_noop(f"{name} takes {most} arguments, got {len(given)}")
        if least < most:
            told = gettext_noop(f"{name} takes {least} to {most} arguments, got {len(given)}")
        elif most == 1:
            told = gettext_noop(f"{name} takes 1 argument, got {len(given)}")
        raise FormulaError(told, token.start, end)
    if name == "square":
        return Call(start, end, "^", (given[0], Number(token.start, token.end, 2.0)))
    if name == "cos" and len(given) == 2:
        return Call(start, end, "cosine", given)
    if name in _OF_ONE and len(given) == 1:
        return Call(start, end, _OF_ONE[name], given)
    if name in _OF_TWO:
        first, *others = given  # of two at least
        return reduce(lambda a, b: Call(start, end, _OF_TWO[name], (a, b)), others, first)
    return Call(start, end, function.core, given)


def _without_dimension(name: str, token: Token, arguments: Arguments) -> tuple[Node, ...]:
    given, named = arguments.given, dict(arguments.named)
    dimension = named.pop("dim", None) or named.pop("axis", None)
    if named:
        raise wrong_at(next(iter(named.values())), f"{name} takes dim=-1 and no other name")
    if dimension is None and len(given) == 2 and (arguments.method or name not in _OF_TWO):
        given, dimension = given[:1], given[1]
    if dimension is not None and dimension != _LAST:
        raise wrong_at(dimension, f"{name} goes over the features alone, dimension -1", "-1")
    if dimension is not None and len(given) != 1:
        raise wrong_at(token, f"{name} over a dimension takes one vector")
    return given


def _clamped(token: Token, start: int, end: int, arguments: Arguments) -> Node:
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
    return node


def unknown(token: Token, offered: Sequence[str]) -> FormulaError:
    """The error of a word that has no meaning, with what was meant if that can be guessed."""
    shown = token.text[:40]
    if reason := NOT_HERE.get(token.text):
        return wrong_at(token, f"there is no {shown} here: {reason}")
    letters = len(token.text) <= 4 and all(c in NAMES or parameter(c) for c in token.text)
    near = get_close_matches(shown.lower(), offered, n=1, cutoff=0.7)
    if letters and not near:
        near = [" * ".join(token.text)]
    return wrong_at(
        token,
        f'nothing is called "{shown}"; parameters are single letters, with a number at most',
        near[0] if near else "",
    )


_DEEPEST = 30  # brackets, powers and signs within each other
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_PREFIXES = ("torch", "math", "np")  # whose functions have the same names
_BARS = {"|": "bars", "‖": "norm"}


def parse(text: str) -> Node:
    """The tree of a formula as it was typed; FormulaError names the characters that are wrong."""
    node = _Parser(tokens(text)).whole()
    check_size(node)
    return node


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens, self._at, self._depth = found, 0, 0
        self._bars: list[str] = [""]  # what would close the innermost bars, by brackets

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._now
        self._at += 1
        return token

    def _is(self, *operators: str) -> bool:
        return self._now.kind == "operator" and self._now.text in operators

    def _fail(self, sentence: str, suggestion: str = "") -> FormulaError:
        return wrong_at(self._now, sentence, suggestion)

    def _close(self, sign: str, opened: Token) -> Token:
        if self._is(sign):
            return self._take()
        if self._now.kind == "end":
            raise wrong_at(opened, f'"{opened.text}" is not closed; "{sign}" is missing')
        raise self._fail(f'need an operator or "{sign}" here, got "{self._now.text}"')

    def whole(self) -> Node:
        """All of it, to the end."""
        if self._now.kind == "end":
            raise self._fail("type a score of the query q and the key k, such as q.k / sqrt(d)")
        node = self._comparison()
        if self._now.kind == "end":
            return node
        if self._is(*_COMPARISONS):
            raise self._fail(
                "comparisons are not chained; multiply them, such as (0 < x) * (x < 1)"
            )
        if self._is("="):
            raise self._fail("a formula has no assignment; compare with ==", "==")
        if self._now.kind == "number":
            raise self._fail('write "*" or "^" before this number')
        raise self._fail(f'"{self._now.text}" cannot stand here')

    def _comparison(self) -> Node:
        left = self._sum()
        if self._is(*_COMPARISONS):
            left = self._binary(left, self._take().text, self._sum())
        return left

    def _binary(self, left: Node, function: str, right: Node) -> Call:
        return Call(left.start, right.end, function, (left, right))

    def _sum(self) -> Node:
        left = self._product()
        while self._is("+", "-"):
            left = self._binary(left, self._take().text, self._product())
        return left

    def _product(self) -> Node:
        if self._is("-"):  # of the whole product: -a / b is -(a / b)
            with self._within(sign := self._take()):
                inner = self._product()
            return Call(sign.start, inner.end, "neg", (inner,))
        left = self._signed()
        while True:
            if self._is("*", "/", "@", "·"):
                left = self._binary(left, self._take().text, self._signed())
            elif self._now.kind == "name" or self._is(
                "(", "√", *("" if self._bars[-1] else _BARS)
            ):
                left = self._binary(left, "beside", self._signed())
            else:
                return left

    def _signed(self) -> Node:
        if not self._is("-", "+"):
            return self._power()
        with self._within(sign := self._take()):
            inner = self._signed()
        return inner if sign.text == "+" else Call(sign.start, inner.end, "neg", (inner,))

    @contextmanager
    def _within(self, token: Token, closing_bar: str | None = None) -> Iterator[None]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise wrong_at(
                token, f"need at most {_DEEPEST} brackets, powers and signs within each other"
            )
        if closing_bar is not None:
            self._bars.append(closing_bar)
        yield
        if closing_bar is not None:
            self._bars.pop()
        self._depth -= 1

    def _power(self) -> Node:
        base = self._root()
        while True:
            if self._is("T") or (self._is("^") and self._tokens[self._at + 1].text == "T"):
                if self._take().text == "^":
                    self._take()
                base = Call(base.start, self._tokens[self._at - 1].end, "T", (base,))
            elif self._is("^"):
                with self._within(self._take()):
                    return self._binary(base, "^", self._signed())
            else:
                return base

    def _root(self) -> Node:
        if self._is("√"):
            with self._within(sign := self._take()):
                inner = self._root()
            return Call(sign.start, inner.end, "sqrt", (inner,))
        node = self._atom()
        while self._is("."):
            self._take()
            node = self._method(node)
        return node

    def _method(self, node: Node) -> Node:
        token = self._now
        if self._is("("):
            return self._binary(node, "·", self._atom())
        if token.kind != "name":
            raise self._fail("need a method after the point, such as .abs() or .sum(-1)")
        self._take()
        if self._is("("):
            self._check_function(token)
            given, end = self._arguments()
            every = Arguments((node, *given.given), given.named, True)
            return _applied(token, node.start, end, every)
        if token.text in ("T", "mT"):
            return Call(node.start, token.end, "T", (node,))
        if token.text in FUNCTIONS or token.text in ALIASES:
            raise wrong_at(token, f'".{token.text}" needs brackets', f".{token.text}()")
        return self._binary(node, "·", self._name(token))

    def _arguments(self) -> tuple[Arguments, int]:
        given: list[Node] = []
        named: dict[str, Node] = {}
        with self._within(opened := self._take(), ""):
            while not self._is(")"):
                if self._now.kind == "name" and self._tokens[self._at + 1].text == "=":
                    key = self._take()
                    self._take()
                    if key.text in named or key.text not in ("dim", "axis", "min", "max"):
                        raise wrong_at(key, "need dim=-1, min= or max= here, each once")
                    named[key.text] = self._comparison()
                else:
                    given.append(self._comparison())
                if not self._is(","):
                    break
                self._take()
        return Arguments(tuple(given), named), self._close(")", opened).end

    def _atom(self) -> Node:
        token = self._now
        if token.kind == "number":
            self._take()
            return Number(token.start, token.end, float(token.text))
        if token.kind == "name":
            self._take()
            return self._named(token)
        if self._is("("):
            return self._bracketed(")")
        if self._is(*_BARS):
            return self._bracketed(token.text)
        if token.kind == "end":
            raise self._fail("the formula ends too early; a number, a name or ( is missing")
        raise self._fail(f'need a number, a name or ( here, got "{token.text}"')

    def _bracketed(self, closing: str) -> Node:
        with self._within(opened := self._take(), closing.strip(")")):
            doubled = closing == "|" and self._is("|") and self._now.start == opened.end
            if doubled:
                self._take()
            inner = self._comparison()
        end = self._close(closing, opened).end
        if doubled:
            end = self._close(closing, opened).end
        if closing == ")":
            return replace(inner, start=opened.start, end=end)
        return Call(opened.start, end, "norm" if doubled else _BARS[closing], (inner,))

    def _named(self, token: Token) -> Node:
        if token.text in _PREFIXES and self._is("."):
            self._take()
            token = self._take()
            if token.kind != "name" or token.text in NAMES or parameter(token.text):
                raise wrong_at(token, "need a function here, such as exp")
        if self._is("(") and not (token.text in NAMES or parameter(token.text)):
            self._check_function(token)
            arguments, end = self._arguments()
            return _applied(token, token.start, end, arguments)
        if token.text in FUNCTIONS or token.text in ALIASES:
            raise wrong_at(
                token, f"{token.text} needs its argument in brackets", f"{token.text}(q - k)"
            )
        return self._name(token)

    def _name(self, token: Token) -> Name:
        if token.text in NAMES or parameter(token.text):
            return Name(token.start, token.end, token.text)
        raise unknown(token, [*NAMES, *FUNCTIONS])

    def _check_function(self, token: Token) -> None:
        if token.text not in FUNCTIONS and token.text not in ALIASES:
            raise unknown(token, [*FUNCTIONS, *ALIASES])
