"""Numbers of a race as text, and texts as the formats of its tables want them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from attention_plugins.race.floors import DECIDES, UNIFORM, Floor, Limits
from attention_plugins.race.records import Budget
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import CONFIDENCE, LEVEL, Estimate

PARTS = ("near", "far")  # of the data, as columns
FEW_RATES = 2  # with no more every choice is at an edge


@dataclass(frozen=True, kw_only=True)
class Heading:
    """What a table is about.

    Args:
        task: its title.
        metric: its title, such as ``exact match``.
        unit: of the metric, such as ``%``; empty if it has none.
        higher_is_better: of the metric.
        limits: the task's floors, a row each, and its ceiling; None leaves them out.
        budget: what every contestant was given; None where that is not known.
    """

    task: str
    metric: str
    unit: str = ""
    higher_is_better: bool = True
    limits: Limits | None = None
    budget: Budget | None = None

    @property
    def measured(self) -> str:
        """The metric with its unit."""
        return f"{self.metric} ({self.unit})" if self.unit else self.metric

    @property
    def floors(self) -> tuple[Floor, ...]:
        """Those that are no contestants' rows."""
        found = self.limits.floors if self.limits else ()
        return tuple(one for one in found if one.name != UNIFORM)


def caption(rows: Sequence[Standing], heading: Heading) -> str:
    """What was measured, after which budget, over how many seeds, between which limits, and by
    which interval, test and correction.

    Args:
        rows: of :func:`~attention_plugins.race.standings.standings`.
    """
    better = "higher" if heading.higher_is_better else "lower"
    said = [
        f"{heading.task}: {heading.measured}, {better} is better, on data that nobody learned.",
        _budget(heading.budget),
        f"Mean over {_seeds(rows)} with {CONFIDENCE * 100:g} % bootstrap intervals.",
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
        f"Benjamini-Hochberg at {LEVEL * 100:g} % over all {ranked * (ranked - 1) // 2:,} pairs); "
        "ties share one."
    )
    return " ".join(" ".join(said).split())


def _budget(found: Budget | None) -> str:
    """Effects are those of this budget, and may be others with another one."""
    if found is None:
        return ""
    rates = len(found.rates)
    edge = "; each choice is an edge of that grid" if rates == FEW_RATES else ""
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
        f"the best contestant, {found.best:.4g}, covers {100 * found.share:.1f} % of the way."
    )
    if found.decides:
        return said
    return f"{said} That is at most {100 * DECIDES:g} %: this task decides nothing."


def _seeds(rows: Sequence[Standing]) -> str:
    counts = sorted({row.seeds for row in rows if row.seeds}) or [0]
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{number} seed{'' if counts == [1] else 's'}"


NOTHING = "–"
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
# What a spreadsheet would run as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def estimate_text(found: Estimate, *, signed: bool = False) -> str:
    """Mean and interval, such as ``0.953 [0.941, 0.962]``: two digits of the interval's half.

    Three digits of the mean where there is no interval, or one of a single point.

    Args:
        signed: whether positive numbers have a plus.
    """
    if not math.isfinite(found.mean):
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
    found = re.sub(r"e([+-])0*(\d+)", _power, text)
    found = re.sub(r",(?=\d)", "{,}", found)  # of thousands
    found = found.replace(", ", r",\,").replace(" [", r"\;[")
    found = found.replace("↑", r"^{\uparrow}").replace("↓", r"^{\downarrow}")
    return f"${found}$"


def for_markdown(text: str) -> str:
    """The text with all that Markdown would read as a mark escaped, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def for_spreadsheet(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _power(found: re.Match[str]) -> str:
    sign = "-" if found[1] == "-" else ""
    return rf"\cdot 10^{{{sign}{found[2]}}}"
