"""Takes a link apart, believing nothing: every parameter once, every fault in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.runs.offers import Knob, shown
from dashboard.runs.request import Scalar

LONGEST_TEXT = 200
_LEFT_SHOWN = 3

Query = Mapping[str, str | Sequence[str]]


def tidy(text: str) -> str:
    """One line without invisible characters, at most ``LONGEST_TEXT`` long."""
    seen = "".join(c if c.isprintable() else " " for c in text[:LONGEST_TEXT])
    return seen.strip()


class Reader:
    """Takes a link's parameters one by one, and remembers what was wrong and what is left."""

    def __init__(self, query: Query) -> None:
        self._left: dict[str, str] = {}
        self._problems: list[str] = []
        for key, given in query.items():
            values = [given] if isinstance(given, str) else list(given)
            if len(values) > 1:
                self.problem(f"{shown(key)} is given {len(values)} times; the last one counts")
            if values:
                self._left[key] = values[-1]

    def has(self, key: str) -> bool:
        """Whether the link names this parameter."""
        return key in self._left

    def take(self, key: str) -> str | None:
        """What stands there, once; None where there is nothing."""
        return self._left.pop(key, None)

    def below(self, prefix: str) -> dict[str, str]:
        """Everything whose key starts with ``prefix``, by the rest of its key."""
        keys = [key for key in self._left if key.startswith(prefix)]
        return {key.removeprefix(prefix): self._left.pop(key) for key in keys}

    def problem(self, sentence: str) -> None:
        """Remember a sentence on what was wrong."""
        if sentence:
            self._problems.append(sentence)

    def knob(self, knob: Knob, key: str) -> Scalar:
        """The parameter's value, mended where need be; its default where there is none."""
        given = self.take(key)
        if given is None:
            return knob.default
        value, problem = knob.read(given, key)
        self.problem(problem)
        return value

    def text(self, key: str, default: str) -> str:
        """One tidy line, or ``default`` where there is none."""
        given = self.take(key)
        if given is None:
            return default
        if len(given) > LONGEST_TEXT:
            self.problem(f"{key} has {len(given):,} characters; the first {LONGEST_TEXT} are used")
        return tidy(given)

    def finish(self) -> list[str]:
        """Every problem, what was left over as the last one."""
        left = [shown(key) for key in self._left]
        if left:
            more = f" and {len(left) - _LEFT_SHOWN:,} more" if len(left) > _LEFT_SHOWN else ""
            word = "parameters" if len(left) > 1 else "parameter"
            self.problem(f"unknown {word} {', '.join(left[:_LEFT_SHOWN])}{more}: ignored")
        return self._problems
