"""A scoring that is typed, as a page knows it: what it is, or what is wrong with it and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.records.catalogue import Entry
from dashboard.records.request import Request

LONGEST = 300  # characters
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
class Formula:
    """A formula that a worker has read.

    Args:
        entry: the scoring, named by ``=`` and the formula's one spelling; None with a problem.
        slug: its name in files and widgets.
        files: by file name, the package that it would be.
    """

    entry: Entry | None = None
    slug: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    problem: Problem | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Formula:
        """From what the task ``formula`` gives."""
        if facts["error"]:
            return cls(problem=Problem(**facts["error"]))
        return cls(entry=Entry.of(facts), slug=facts["slug"], files=facts["files"])


def formula_request(text: str) -> Request:
    """Ask what a formula is."""
    return Request.make("formula", options={"text": text})
