"""A task's standings as a table for a spreadsheet, a paper or a page of text.

Every table names the number of seeds, the test and the correction in its caption.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from attention_plugins.race.heading import Heading, caption
from attention_plugins.race.layout import columns, notes
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate
from attention_plugins.race.wording import (
    for_latex,
    for_markdown,
    for_spreadsheet,
    math_for_latex,
)

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
