"""A task's standings as cells of text, the same for every format that people read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from attention_plugins.race.floors import Floor
from attention_plugins.race.heading import PARTS, Heading
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate
from attention_plugins.race.wording import NOTHING, estimate_text, number_text


class Column(NamedTuple):
    """A column of the table: its title, its cell in every line, whether these are numbers."""

    title: str
    cells: tuple[str, ...]
    numeric: bool


def columns(rows: Sequence[Standing], heading: Heading) -> list[Column]:
    """The columns of a table of text, the rows of the floors last; none that would be empty."""
    floors = heading.floors

    def column(
        title: str,
        cell: Callable[[Standing], str],
        below: Callable[[Floor], str] = lambda _: NOTHING,
        *,
        numeric: bool = True,
    ) -> Column:
        return Column(title, (*map(cell, rows), *map(below, floors)), numeric)

    several = len({row.contestant.model for row in rows}) > 1
    found = [
        column("rank", lambda row: str(row.rank or NOTHING)),
        column("contestant", lambda row: row.name, lambda one: one.name, numeric=False),
        column("model", lambda row: row.contestant.model, numeric=False),
        column(heading.measured, lambda row: estimate_text(row.quality),
               lambda one: estimate_text(one.value)),
        column("difference", _difference),
        column("corrected p", lambda row: number_text(row.corrected_p)),
        column("verdict", _verdict, lambda one: "floor", numeric=False),
        *(
            column(name, lambda row, name=name: _part(row.parts.get(name)))
            for name in PARTS
            if any(name in row.parts for row in rows)
        ),
        column("parameters", lambda row: f"{row.parameters:,}" if row.seeds else NOTHING),
        column("operations", lambda row: f"{row.operations:,}" if row.seeds else NOTHING),
        column("ms a step", lambda row: number_text(row.milliseconds)),
        column("learning rate", _rate),
        column("seeds", lambda row: str(row.seeds), lambda one: str(one.value.count)),
    ]  # fmt: skip
    return [one for one in found if several or one.title != "model"]


def notes(rows: Sequence[Standing]) -> list[str]:
    """Which contestants are equal, which rates lie at an edge, and which trainings failed."""
    found = [
        f"{row.name}: equal outcomes in every seed, counted once." for row in rows if row.equals
    ]
    if any(row.edge for row in rows):
        found.append(
            "↑ the highest learning rate tried, ↓ the lowest: a better one may lie beyond."
        )
    return found + [
        f"{row.contestant.name} in {row.contestant.model}: {row.problem}"
        for row in rows
        if row.problem
    ]


def _rate(row: Standing) -> str:
    mark = {"highest": "↑", "lowest": "↓", "": ""}[row.edge]
    return NOTHING if row.rate is None else f"{row.rate:g}{mark}"


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
