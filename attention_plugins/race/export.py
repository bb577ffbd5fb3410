"""A task's standings as a table for a paper, a page of text or a notebook.

Every table names the number of seeds, the test and the correction in its caption.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attention_plugins.race.data import DECIDES, UNIFORM, Floor, Limits
from attention_plugins.race.records import Budget
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import CONFIDENCE, LEVEL, Difference, Estimate

FEW_RATES = 2  # with no more every choice is at an edge
NOTHING = "–"
_EDGES = {"highest": "↑", "lowest": "↓", "": ""}
_POINT = 1e-9  # an interval this narrow, as a share of the mean, is one point and rounding
_DECIMALS = 7  # numbers that need more are written with an exponent
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
        "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
        "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''",
        "[": "{[}", "]": "{]}",  # after \\ a bracket would begin an argument
        "·": r"$\cdot$", "√": r"$\surd$", "²": "$^2$", "³": "$^3$", "−": "$-$", "×": r"$\times$",
        "–": r"\textendash{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
        "\n": " ", "\r": " ",
    }
)  # fmt: skip
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&#])")


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What a table is about.

    Args:
        metric: its title, such as ``exact match``, with its ``unit``, such as ``%``.
        limits: the task's floors, a row each, and its ceiling; None leaves them out.
        budget: what every contestant was given; None where that is not known.
        at_budgets: what holds at other budgets too, in sentences.
    """

    task: str
    metric: str
    unit: str = ""
    higher_is_better: bool = True
    limits: Limits | None = None
    budget: Budget | None = None
    at_budgets: str = ""

    @property
    def measured(self) -> str:
        """The metric with its unit."""
        return f"{self.metric} ({self.unit})" if self.unit else self.metric

    @property
    def floors(self) -> list[Floor]:
        """Those that are no contestants' rows."""
        return [f for f in (self.limits.floors if self.limits else ()) if f.name != UNIFORM]


def caption(rows: Sequence[Standing], heading: Heading) -> str:
    """What was measured, after which budget, over how many seeds, between which limits, and by
    which interval, test and correction.
    """
    better = "higher" if heading.higher_is_better else "lower"
    counts = sorted({row.seeds for row in rows if row.seeds}) or [0]
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    seeds = f"{number} seed{'' if counts == [1] else 's'}"
    said = [
        f"{heading.task}: {heading.measured}, {better} is better, on data that nobody learned.",
        _budget(heading.budget),
        f"Mean over {seeds} with {CONFIDENCE * 100:g}% bootstrap intervals.",
        _limits(heading.limits),
    ]
    compared = sum(row.difference is not None and row.difference.pairs > 0 for row in rows)
    reference = next((row for row in rows if row.verdict == "reference"), None)
    if reference is not None and compared:
        name = f"{reference.name} in {reference.contestant.model}"
        said.append(
            f"Difference to {name}, paired by seed, positive where better; p of a two-sided "
            f"paired permutation test, corrected by Holm over the {compared} "
            f"comparison{'' if compared == 1 else 's'} with it on this task."
        )
    ranked = sum(row.rank is not None for row in rows)
    said.append(
        "Rank: 1 + the contestants that are better beyond chance (paired permutation tests, "
        f"Benjamini-Hochberg at {LEVEL * 100:g}% over all {ranked * (ranked - 1) // 2:,} pairs); "
        "ties share one."
    )
    said.append(heading.at_budgets)
    return " ".join(" ".join(said).split())


def _budget(found: Budget | None) -> str:
    """Effects are those of this budget, and may be others with another one."""
    if found is None:
        return ""
    rates = len(found.rates)
    edge = ""
    if rates == FEW_RATES:
        edge = "; each choice is an edge of that grid, unless both came out alike"
    if found.widen:
        edge = f"; where that was at their edge, of up to {found.widen} more beyond it"
    return (
        f"After {found.steps:,} steps on {found.examples:,} examples, at the best of {rates} "
        f"learning rate{'' if rates == 1 else 's'}{edge}."
    )


def _limits(found: Limits | None) -> str:
    if found is None:
        return ""
    floor = found.floors[0]
    said = (
        f"Floor {floor.value.mean:.4g} ({floor.name}), ceiling {found.ceiling:.4g} ({found.top}); "
        f"the best contestant, {found.best:.4g}, covers {100 * found.share:.1f}% of the way."
    )
    if found.decides:
        return said
    return f"{said} That is at most {100 * DECIDES:g}%: this task decides nothing."


def estimate_text(found: Estimate | Difference | None, *, signed: bool = False) -> str:
    """Mean and interval, such as ``0.953 [0.941, 0.962]``: two digits of the interval's half.

    Three digits of the mean where there is no interval, or one of a single point; a plus before
    positive numbers that are signed.
    """
    if found is None or not math.isfinite(found.mean):
        return NOTHING
    half = (found.high - found.low) / 2
    if not half > _POINT * abs(found.mean):  # nor if it is NaN
        half = abs(found.mean) / 10
    decimals = max(0, 1 - math.floor(math.log10(half))) if half > 0 else 0
    form = f"{'+' if signed else ''}.{f'{decimals}f' if decimals <= _DECIMALS else '2e'}"
    if not math.isfinite(found.low):
        return f"{found.mean:{form}}"
    return f"{found.mean:{form}} [{found.low:{form}}, {found.high:{form}}]"


def number_text(value: float | None) -> str:
    """Two digits, as of a p or of milliseconds; whole from 100 on."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}"


def for_latex(text: str) -> str:
    """The text with all that LaTeX would read as a command written out."""
    return re.sub("-(?=-)", "-{}", text.translate(_LATEX))  # two would make a dash


def math_for_latex(text: str) -> str:
    """Numbers with their interval as LaTeX formula; ``text`` as this module writes them."""
    if text == NOTHING:
        return "--"
    found = re.sub(r"e(?:\+|(-))0*(\d+)", r"\\cdot 10^{\1\2}", text)
    found = re.sub(r",(?=\d)", "{,}", found)  # of thousands
    found = found.replace(", ", r",\,").replace(" [", r"\;[")
    found = found.replace("↑", r"^{\uparrow}").replace("↓", r"^{\downarrow}")
    return f"${found}$"


def for_markdown(text: str) -> str:
    """The text with all that Markdown would read as a mark escaped, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


Cell = float | str | None


class Column(NamedTuple):
    """A column of the table: its title, its cell in every line, whether these are numbers."""

    title: str
    cells: tuple[str, ...]
    numeric: bool


def columns(rows: Sequence[Standing], heading: Heading) -> list[Column]:
    """The columns of a table of text, the rows of the floors last; none that would be empty."""
    floors = heading.floors

    def column(
        title: str, cell: Callable[[Standing], str],
        below: Callable[[Floor], str] = lambda _: NOTHING, *, numeric: bool = True,
    ) -> Column:  # fmt: skip
        return Column(title, (*map(cell, rows), *map(below, floors)), numeric)

    def verdict(row: Standing) -> str:
        more = row.seeds_needed if row.verdict == "too few seeds" else None
        return f"{row.verdict}: {more} would do" if more else row.verdict

    several = len({row.contestant.model for row in rows}) > 1
    found = [
        column("rank", lambda row: str(row.rank or NOTHING)),
        column("contestant", lambda row: row.name, lambda one: one.name, numeric=False),
        column("model", lambda row: row.contestant.model, numeric=False),
        column(heading.measured, lambda row: estimate_text(row.quality),
               lambda one: estimate_text(one.value)),
        column("difference", lambda row: estimate_text(row.difference, signed=True)),
        column("corrected p", lambda row: number_text(row.corrected_p)),
        column("verdict", verdict, lambda one: "floor", numeric=False),
        *(
            column(name, lambda row, name=name: estimate_text(row.parts.get(name)))
            for name in ("near", "far")
            if any(name in row.parts for row in rows)
        ),
        column("parameters", lambda row: f"{row.parameters:,}" if row.seeds else NOTHING),
        column("operations", lambda row: f"{row.operations:,}" if row.seeds else NOTHING),
        column("ms a step", lambda row: number_text(row.milliseconds)),
        column("learning rate", lambda row: f"{row.rate:g}{_EDGES[row.edge]}"
               if row.rate is not None else NOTHING),
        column("seeds", lambda row: str(row.seeds), lambda one: str(one.value.count)),
    ]  # fmt: skip
    return [one for one in found if several or one.title != "model"]


def notes(rows: Sequence[Standing]) -> list[str]:
    """Which contestants are equal, which rates lie at an edge, and which trainings failed."""
    found = [f"{r.name}: equal outcomes in every seed, counted once." for r in rows if r.equals]
    if any(row.edge for row in rows):
        said = "↑ the highest learning rate tried, ↓ the lowest: a better one may lie beyond."
        found.append(said)
    return found + [f"{row.contestant.name} in {row.contestant.model}: {row.problem}"
                    for row in rows if row.problem]  # fmt: skip


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


def facts(row: Standing, heading: Heading) -> dict[str, Cell]:
    """One contestant's numbers and texts by column; means have columns of their interval's ends.

    None stands for what there is not.
    """
    who, gain, ran = row.contestant, row.difference, row.seeds > 0
    return {
        "rank": row.rank, "contestant": who.name,
        "equal": ", ".join(one.name for one in row.equals), "model": who.model,
        "scoring": who.scoring, "normaliser": who.normaliser,
        **_spread(heading.measured, row.quality), **_spread("difference", gain),
        "p": gain and gain.p, "corrected p": row.corrected_p, "verdict": row.verdict,
        "seeds needed": row.seeds_needed, "seeds to decide": row.decides,
        **_spread("near", row.parts.get("near")), **_spread("far", row.parts.get("far")),
        "parameters": row.parameters if ran else None,
        "operations": row.operations if ran else None, "milliseconds a step": row.milliseconds,
        "learning rate": row.rate, "edge": row.edge, "seeds": row.seeds, "problem": row.problem,
    }  # fmt: skip


def _spread(name: str, found: Estimate | Difference | None) -> dict[str, Cell]:
    ends = (None, None, None) if found is None else (found.mean, found.low, found.high)
    return dict(zip((name, f"{name} low", f"{name} high"), ends, strict=True))
