"""A task's standings as a table for a spreadsheet, a paper or a page of text.

Every table names the number of seeds, the test and the correction in its caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What a table is about.

    Args:
        task: its title.
        metric: its title, such as ``exact match``.
        unit: of the metric, such as ``%``; empty if it has none.
        higher_is_better: of the metric.
        baseline: what copying the nearest learned example is worth, a row of its own; None
            leaves that row out.
    """

    task: str
    metric: str
    unit: str = ""
    higher_is_better: bool = True
    baseline: Estimate | None = None


def caption(rows: Sequence[Standing], heading: Heading) -> str:
    """What was measured, over how many seeds, by which interval, test and correction."""
    raise NotImplementedError


def as_csv(rows: Sequence[Standing], heading: Heading) -> str:
    """Comma-separated values: the caption in a first line that starts with ``#``, then a header.

    One column a number, units in the header, an empty cell where there is none. A name that a
    spreadsheet would run as a formula gets an apostrophe before it.
    """
    raise NotImplementedError


def as_latex(rows: Sequence[Standing], heading: Heading) -> str:
    """A ``table`` with its caption, for a document that loads the package ``booktabs``."""
    raise NotImplementedError


def as_markdown(rows: Sequence[Standing], heading: Heading) -> str:
    """A table as GitHub draws it, with its caption below."""
    raise NotImplementedError
