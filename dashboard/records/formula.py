"""A scoring that is typed, as a page knows it: what it is, or what is wrong with it and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.records.catalogue import Entry
from dashboard.records.request import Request

LONGEST = 300  # characters
LONGEST_NAME = 40  # characters, of a scoring
MOST_COMPLETIONS = 6  # of those that a worker finds
_AROUND = 16  # characters that are shown on each side of what is wrong


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong with a formula: a sentence, the characters it is about, what was meant."""

    sentence: str
    start: int = 0
    end: int = 0
    suggestion: str = ""

    def marked(self, text: str) -> str:
        """Two lines: the formula, or its part around the place, and carets under the place."""
        first = max(0, self.start - _AROUND)
        last = max(self.start + 1, min(self.end, self.start + _AROUND))
        before = "…" * (first > 0)
        after = "…" * (last + _AROUND < len(text))
        carets = " " * (len(before) + self.start - first) + "^" * (last - self.start)
        return f"{before}{text[first : last + _AROUND]}{after}\n{carets}"


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What the word at the end of a formula may become: the word, what is missing, its help."""

    word: str
    insert: str
    help: str


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula that a worker has read.

    Its ``entry`` is named by ``=`` and its one spelling; None with a problem. ``files`` are the
    package that it would be, ``shape`` that of its scores, ``completions`` of what is typed last.
    """

    entry: Entry | None = None
    slug: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    shape: str = ""
    completions: tuple[Completion, ...] = ()
    problem: Problem | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Formula:
        """From what the task ``formula`` gives."""
        found = facts["completions"][:MOST_COMPLETIONS]
        completions = tuple(Completion(**each) for each in found)
        if facts["error"]:
            return cls(problem=Problem(**facts["error"]), completions=completions)
        shapes = facts["shapes"]
        return cls(
            entry=Entry.of(facts), slug=facts["slug"], files=facts["files"],
            shape=shapes[-1][1] if shapes else "", completions=completions,
        )  # fmt: skip


def formula_request(text: str) -> Request:
    """Ask what a formula is."""
    return Request.make("formula", options={"text": text})


def package_request(text: str, name: str) -> Request:
    """Ask for a formula with the package of a name of one's own."""
    return Request.make("formula", options={"text": text, "name": name})
