"""Reads the parameters of a link one by one, and collects a sentence on each that is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.records.parameter import Parameter
from dashboard.records.request import Scalar
from dashboard.records.text import LONGEST_LINE, one_line, shown

_UNKNOWN_SHOWN = 3

Query = Mapping[str, str | Sequence[str]]


class Reader:
    """The parameters of one link. Each can be taken once; nothing here raises."""

    def __init__(self, query: Query) -> None:
        self._given: dict[str, str] = {}
        self._problems: list[str] = []
        for key, given in query.items():
            values = [given] if isinstance(given, str) else list(given)
            if len(values) > 1:
                self.problem(f"{shown(key)} is given {len(values)} times; the last one counts")
            if values:
                self._given[key] = values[-1]
        self._left = dict(self._given)

    def has(self, key: str) -> bool:
        """Whether the link names this parameter and nobody took it yet."""
        return key in self._left

    def given(self, key: str) -> str | None:
        """The value of a parameter, whether or not it was taken; None where there is none."""
        return self._given.get(key)

    def take(self, key: str) -> str | None:
        """The value of a parameter, once; None where there is none."""
        return self._left.pop(key, None)

    def below(self, prefix: str) -> dict[str, str]:
        """Every parameter whose key starts with ``prefix``, by the rest of its key."""
        keys = [key for key in self._left if key.startswith(prefix)]
        return {key.removeprefix(prefix): self._left.pop(key) for key in keys}

    def problem(self, sentence: str) -> None:
        """Note what was wrong with a parameter, unless the sentence is empty."""
        if sentence:
            self._problems.append(sentence)

    def parameter(self, parameter: Parameter, key: str) -> Scalar:
        """The value of a parameter, moved inside its bounds; its default where there is none."""
        given = self.take(key)
        if given is None:
            return parameter.default
        value, problem = parameter.read(given, key)
        self.problem(problem)
        return value

    def text(self, key: str, default: str) -> str:
        """One line of text without invisible characters; ``default`` where there is none."""
        given = self.take(key)
        if given is None:
            return default
        if len(given) > LONGEST_LINE:
            self.problem(f"{key} has {len(given):,} characters; the first {LONGEST_LINE} are used")
        return one_line(given)

    def finish(self) -> list[str]:
        """Every problem; the last one names the parameters that nobody took."""
        left = [shown(key) for key in self._left]
        if left:
            more = f" and {len(left) - _UNKNOWN_SHOWN:,} more"
            rest = more if len(left) > _UNKNOWN_SHOWN else ""
            word = "parameters" if len(left) > 1 else "parameter"
            self.problem(f"unknown {word} {', '.join(left[:_UNKNOWN_SHOWN])}{rest}: ignored")
        return self._problems
