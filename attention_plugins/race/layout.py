"""A task's standings as cells of text, the same for every format that people read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from attention_plugins.race.heading import BASELINE, PARTS, Heading
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate
from attention_plugins.race.wording import NOTHING, estimate_text, number_text


class Column(NamedTuple):
    """A column of the table: its title, its cell in every line, whether these are numbers."""

    title: str
    cells: tuple[str, ...]
    numeric: bool


def columns(rows: Sequence[Standing], heading: Heading) -> list[Column]:
    """The columns of a table of text, the row of the baseline last; none that would be empty."""

    def column(
        title: str, cell: Callable[[Standing], str], below: str = NOTHING, *, numeric: bool = True
    ) -> Column:
        last = () if heading.baseline is None else (below,)
        return Column(title, (*map(cell, rows), *last), numeric)

    copied = "" if heading.baseline is None else estimate_text(heading.baseline)
    seeds = "" if heading.baseline is None else str(heading.baseline.count)
    several = len({row.contestant.model for row in rows}) > 1
    found = [
        column("rank", lambda row: str(row.rank or NOTHING)),
        column("contestant", lambda row: row.contestant.name, BASELINE, numeric=False),
        column("model", lambda row: row.contestant.model, numeric=False),
        column(heading.measured, lambda row: estimate_text(row.quality), copied),
        column("difference", _difference),
        column("corrected p", lambda row: number_text(row.corrected_p)),
        column("verdict", _verdict, "", numeric=False),
        *(
            column(name, lambda row, name=name: _part(row.parts.get(name)))
            for name in PARTS
            if any(name in row.parts for row in rows)
        ),
        column("parameters", lambda row: f"{row.parameters:,}" if row.seeds else NOTHING),
        column("operations", lambda row: f"{row.operations:,}" if row.seeds else NOTHING),
        column("ms a step", lambda row: number_text(row.milliseconds)),
        column("learning rate", lambda row: NOTHING if row.rate is None else f"{row.rate:g}"),
        column("seeds", lambda row: str(row.seeds), seeds),
    ]
    return [one for one in found if several or one.title != "model"]


def notes(rows: Sequence[Standing]) -> list[str]:
    """Which trainings had a problem, a sentence for each contestant."""
    return [
        f"{row.contestant.name} in {row.contestant.model}: {row.problem}"
        for row in rows
        if row.problem
    ]


def _difference(row: Standing) -> str:
    if row.difference is None:
        return NOTHING
    mean, low, high, _, pairs = row.difference
    return estimate_text(Estimate(mean, low, high, pairs), signed=True)


def _verdict(row: Standing) -> str:
    if row.verdict == "too few seeds" and row.seeds_needed:
        return f"too few seeds: {row.seeds_needed} would do"
    return row.verdict


def _part(found: Estimate | None) -> str:
    return NOTHING if found is None else estimate_text(found)
