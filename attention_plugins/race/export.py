"""A task's standings as a table for a spreadsheet, a paper or a page of text.

Every table names the number of seeds, the test and the correction in its caption.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from attention_plugins.race.floors import Floor
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate
from attention_plugins.race.wording import (
    NOTHING,
    PARTS,
    Heading,
    caption,
    estimate_text,
    for_latex,
    for_markdown,
    for_spreadsheet,
    math_for_latex,
    number_text,
)


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


Cell = float | str | None


def as_csv(rows: Sequence[Standing], heading: Heading) -> str:
    """Comma-separated values: the caption in a first line that starts with ``#``, then a header.

    One column a number, the unit in the header, an empty cell where there is none. Texts stand
    in quotes; one that a spreadsheet would run as a formula has an apostrophe before it.
    """
    text = io.StringIO()
    text.write(f"# {caption(rows, heading)}\n")
    lines = [_facts(row, heading) for row in rows]
    lines += (
        {
            "contestant": name, **_spread(heading.measured, value), "verdict": "floor",
            "seeds": value.count,
        }
        for name, value in heading.floors
    )  # fmt: skip
    writer = csv.DictWriter(
        text, list(lines[0]), quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in line.items()} for line in lines)
    return text.getvalue()


def as_latex(rows: Sequence[Standing], heading: Heading) -> str:
    """A ``table*`` with its caption, for a document that loads the package ``booktabs``."""
    found = columns(rows, heading)
    cells = [
        [math_for_latex(cell) if column.numeric else for_latex(cell) for cell in column.cells]
        for column in found
    ]
    said = for_latex(" ".join((caption(rows, heading), *notes(rows))))
    return "\n".join(
        (
            r"\begin{table*}", r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{said}}}",
            rf"\begin{{tabular}}{{{''.join('r' if one.numeric else 'l' for one in found)}}}",
            r"\toprule", rf"{' & '.join(for_latex(one.title) for one in found)} \\", r"\midrule",
            *(rf"{' & '.join(line)} \\" for line in zip(*cells, strict=True)),
            r"\bottomrule", r"\end{tabular}", r"\end{table*}", "",
        )
    )  # fmt: skip


def as_markdown(rows: Sequence[Standing], heading: Heading) -> str:
    """A table as GitHub draws it, with its caption and what did not run below."""
    found = columns(rows, heading)
    cells = [
        column.cells if column.numeric else [for_markdown(cell) for cell in column.cells]
        for column in found
    ]
    lines = [
        [for_markdown(one.title) for one in found],
        ["---:" if one.numeric else "---" for one in found],
        *zip(*cells, strict=True),
    ]
    below = [caption(rows, heading), *notes(rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join((table, *map(for_markdown, below))) + "\n"


def _facts(row: Standing, heading: Heading) -> dict[str, Cell]:
    who, gain, ran = row.contestant, row.difference, row.seeds > 0
    return {
        "rank": row.rank,
        "contestant": who.name,
        "equal": ", ".join(one.name for one in row.equals),
        "model": who.model,
        "scoring": who.scoring,
        "normaliser": who.normaliser,
        **_spread(heading.measured, row.quality),
        **_spread("difference", gain and Estimate(gain.mean, gain.low, gain.high, gain.pairs)),
        "p": gain and gain.p,
        "corrected p": row.corrected_p,
        "verdict": row.verdict,
        "seeds needed": row.seeds_needed,
        **_spread("near", row.parts.get("near")),
        **_spread("far", row.parts.get("far")),
        "parameters": row.parameters if ran else None,
        "operations": row.operations if ran else None,
        "milliseconds a step": row.milliseconds,
        "learning rate": row.rate,
        "edge": row.edge,
        "seeds": row.seeds,
        "problem": row.problem,
    }


def _spread(name: str, found: Estimate | None) -> dict[str, Cell]:
    ends = (None, None, None) if found is None else (found.mean, found.low, found.high)
    return dict(zip((name, f"{name} low", f"{name} high"), ends, strict=True))


def _cell(value: Cell) -> float | str:
    if isinstance(value, str):
        return for_spreadsheet(value)
    return "" if value is None or not math.isfinite(value) else value
