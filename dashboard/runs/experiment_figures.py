"""The figures of an experiment, and what several seeds say together about a scoring."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number of every run.

    Args:
        name: as in a link and in the file of all runs.
        title: for its column and axis.
        better: 1 if more is better, -1 if less is, 0 if neither is.
        unit: after the number; empty for none.
        digits: significant digits of a mean.
        help: what it is, for its reader.
    """

    name: str
    title: str
    better: int
    unit: str = ""
    digits: int = 3
    help: str

    @property
    def heading(self) -> str:
        """The title with its unit, and an arrow to the better side."""
        unit = f", {self.unit}" if self.unit else ""
        return f"{self.title}{unit}{ {1: ' ↑', -1: ' ↓'}.get(self.better, '') }"


_SECONDS = "Wall-clock time on this machine, which other work on it makes longer."

FIGURES: dict[str, tuple[Figure, ...]] = {
    "regression": (
        Figure(
            name="truth_mse", title="Error to truth", better=-1,
            help="Mean squared error against the noise-free function.",
        ),
        Figure(
            name="leave_one_out_mse", title="Left out", better=-1,
            help="Mean squared error at training points, each predicted from all others.",
        ),
        Figure(
            name="effective_neighbours", title="Neighbours", better=0,
            help="How many training points a query rests on: the exponential of its weights' "
            "entropy. Neither many nor few is good in itself.",
        ),
        Figure(
            name="seconds", title="Time", unit="s", better=-1, digits=2,
            help=f"Of learning, predicting and measuring. {_SECONDS}",
        ),
    ),
    "translation": (
        Figure(
            name="loss", title="Loss", better=-1, digits=4,
            help="Mean training loss of the last epoch, in nats per target token.",
        ),
        Figure(
            name="bleu", title="BLEU", better=1,
            help="Of the held-out sentences' greedy translations after the last epoch, 0 to 100.",
        ),
        Figure(
            name="alignment_error", title="AER", better=-1,
            help="Alignment error rate on held-out sentences against the corpus's gold "
            "alignments, 0 to 1: the best layer's cross-attention, mean of its heads.",
        ),
        Figure(
            name="relative_entropy", title="Entropy", better=0,
            help="Of the cross-attention's rows on held-out sentences, over the largest possible "
            "one: 0 looks at one word, 1 at all alike. Neither is good in itself.",
        ),
        Figure(
            name="seconds", title="Time", unit="s", better=-1, help=f"Of all steps. {_SECONDS}",
        ),
        Figure(
            name="tokens_per_second", title="Tokens/s", better=1,
            help="Target tokens learned from, over the time of all steps.",
        ),
        Figure(
            name="peak_memory", title="Memory", unit="MB", better=-1,
            help="The most that was held at once: on a GPU by its tensors, else by the whole "
            "worker process, in which Python and torch take a few hundred.",
        ),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """Mean and sample standard deviation (n - 1) of ``count`` seeds.

    ``deviation`` is None for fewer than two seeds, ``mean`` for none.
    """

    mean: float | None
    deviation: float | None
    count: int


def spread(values: Iterable[float | None]) -> Spread:
    """Of what was measured; None and what is not finite was not."""
    found = [value for value in values if value is not None and math.isfinite(value)]
    if not found:
        return Spread(None, None, 0)
    deviation = statistics.stdev(found) if len(found) > 1 else None
    return Spread(statistics.fmean(found), deviation, len(found))


# The rule of `best`, in words for the page.
RULE = (
    "Bold is the best mean of a column where its distance from the next best is larger than the "
    "standard deviation of either."
)


def best(spreads: Mapping[str, Spread], better: int) -> str | None:
    """Whose mean is best beyond doubt, as :data:`RULE` says; None where nobody's is."""
    ranked = sorted(
        (name for name, one in spreads.items() if one.mean is not None),
        key=lambda name: -better * spreads[name].mean,
    )
    if not better or len(ranked) < 2:
        return None
    first, second = spreads[ranked[0]], spreads[ranked[1]]
    if first.deviation is None or second.deviation is None:
        return None
    apart = abs(first.mean - second.mean)
    return ranked[0] if apart > max(first.deviation, second.deviation) else None


def mean_text(one: Spread, digits: int) -> str:
    """``0.43 ± 0.12``; ``0.43 ± –`` for a single seed, ``–`` for none."""
    if one.mean is None:
        return "–"
    mean = number(one.mean, digits)
    # The spread is given to the decimals of the mean, and to two digits at least.
    decimals = len(mean.partition(".")[2])
    if one.deviation is None:
        return f"{mean} ± –"
    told = f"{one.deviation:,.{decimals}f}"
    return f"{mean} ± {told if float(told.replace(',', '')) else number(one.deviation, 1)}"


def number(value: float, digits: int) -> str:
    """To so many significant digits, without exponent where that is readable."""
    if value == 0 or not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"
