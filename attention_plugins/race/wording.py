"""Numbers of a race as text, and texts as the formats of its tables want them."""

from __future__ import annotations

import math
import re

from attention_plugins.race.statistics import Estimate

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
