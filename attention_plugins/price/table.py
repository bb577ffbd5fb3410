"""What the seeds say together: each swap's loss, and its difference from the original's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from attention_plugins.price.records import Budget, Outcome, Swap
from attention_plugins.race.standings import Comparison, comparisons
from attention_plugins.race.statistics import mean_with_interval


@dataclass(frozen=True, kw_only=True)
class Prices:
    """The outcomes of one model's swaps, with their budget and where they come from.

    Args:
        model: its name.
        texts: which they were, in a sentence.
        facts: versions, commit, command, as texts.
    """

    model: str
    texts: str
    budget: Budget
    outcomes: Sequence[Outcome] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """A row for each swap, a column untuned and one for each rate, and what was measured."""
        found, rates = rows(self), self.budget.rates
        names = {one.swap.key: one.swap.name or "the original" for one in self.outcomes}
        cells: dict[str, dict[float, str]] = {}
        for row in found:
            cells.setdefault(row["swap"], {})[row["rate"]] = _cell(row)
        width = max((len(names[key]) for key in cells), default=8)
        heads = ["untuned", *(f"tuned at {rate:g}" for rate in rates)]
        text = [f"{'':{width}}  " + "  ".join(f"{head:>32}" for head in heads)]
        for key, own in cells.items():
            line = "  ".join(f"{own.get(rate, ''):>32}" for rate in (UNTUNED, *rates))
            text.append(f"{names[key]:{width}}  {line}")
        text += [f"{swap.name}: {problem}" for swap, problem in problems(self).items()]
        needed = next((row["needed"] for row in found if "needed" in row), None)
        return "\n".join([*text, _caption(self, needed)])


UNTUNED = 0.0  # in place of a rate
ENDS = ("", "_low", "_high")  # behind ``loss`` and ``cost``


def rows(prices: Prices) -> list[dict[str, Any]]:
    """A row for each swap and rate, the original first, then in the order of the outcomes.

    ``swap`` is its key, ``rate`` :data:`UNTUNED` where nobody tuned. ``loss`` is in nats a token
    of texts that nobody tuned on, a mean over ``seeds``. ``cost`` is that less the loss of the
    original, which was tuned at the same rate. Both have the ends of their intervals, ``cost``
    over the paired seeds. ``p`` and ``verdict`` are corrected for all swaps at this rate, of which
    ``needed`` seeds would be enough. None stands for what is not known; the original has no
    ``cost`` and what follows. What cannot run has no row; :func:`problems` says why.
    """
    columns = (UNTUNED, *prices.budget.rates)
    nothing = [math.nan] * len(columns)
    by_swap: dict[Swap, dict[int, list[float]]] = {Swap(): {}}
    for one in prices.outcomes:
        losses = nothing if one.problem else [one.before, *one.after, *nothing]
        by_swap.setdefault(one.swap, {})[one.seed] = losses
    found: dict[Swap, list[dict[str, Any]]] = {swap: [] for swap in by_swap}
    for place, rate in enumerate(columns):
        values = {
            swap: [seeds.get(seed, nothing)[place] for seed in range(prices.budget.seeds)]
            for swap, seeds in by_swap.items()
        }
        values = {swap: row for swap, row in values.items() if any(map(math.isfinite, row))}
        if Swap() not in values:
            continue
        compared = comparisons(values, Swap(), higher_is_better=False)
        for swap, row in values.items():
            loss = mean_with_interval(row)
            found[swap].append(
                {"swap": swap.key, **asdict(swap), "rate": rate, "seeds": loss.count,
                 **_spread("loss", *loss[:3]), **_compared(compared.get(swap))}
            )  # fmt: skip
    return [row for own in found.values() for row in own]


def _compared(found: Comparison | None) -> dict[str, Any]:
    if found is None:
        return {}
    gain, p = found.difference, found.corrected_p
    return {
        **_spread("cost", -gain.mean, -gain.high, -gain.low), "p": p if math.isfinite(p) else None,
        "verdict": found.verdict, "needed": found.seeds_needed,
    }  # fmt: skip


def _spread(name: str, *values: float) -> dict[str, float | None]:
    ends = zip(ENDS, values, strict=True)
    return {f"{name}{end}": value if math.isfinite(value) else None for end, value in ends}


def problems(prices: Prices) -> dict[Swap, str]:
    """Why swaps have no result, in a sentence each; of several seeds the first one's."""
    found: dict[Swap, str] = {}
    for one in prices.outcomes:
        if one.problem:
            found.setdefault(one.swap, one.problem)
    return found


def _cell(row: Mapping[str, Any]) -> str:
    loss = f"{row['loss']:.3f}"
    if row.get("cost") is None:
        return loss
    low, high = (
        "?" if row[name] is None else f"{row[name]:+.3f}" for name in ("cost_low", "cost_high")
    )
    star = " *" if row["verdict"] in ("better", "worse") else ""
    return f"{loss} ({row['cost']:+.3f}, {low} to {high}){star}"


def _caption(prices: Prices, needed: int | None) -> str:
    budget = prices.budget
    few = needed is not None and budget.seeds < needed
    return (
        f"{prices.model}: nats a token on {budget.held_out} texts that nobody tuned on "
        f"({prices.texts}), mean over {budget.seeds} paired seeds; in brackets the difference "
        f"from the original, tuned equally, with its 95% bootstrap interval. {budget.steps} "
        f"steps of {budget.batch_size} texts, AdamW. * beyond chance: paired permutation test, "
        "Holm's correction at each rate, p at most 0.05"
        f"{f'; with fewer than {needed} none can be' if few else ''}."
    )
