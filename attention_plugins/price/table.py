"""What the seeds say together: each swap's loss, and its difference from the original's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from attention_plugins.price.records import Budget, Outcome, Swap
from attention_plugins.race.standings import Comparison, comparisons
from attention_plugins.race.statistics import Estimate, mean_with_interval


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
        return "\n".join(lines(self))


UNTUNED = 0.0  # in place of a rate


class Price(NamedTuple):
    """What a swap costs after tuning at one rate, or untuned.

    Args:
        rate: :data:`UNTUNED` where nobody tuned.
        loss: nats a token, on texts that nobody tuned on.
        cost: the loss less that of the original, which was tuned at the same rate; with its
            interval over the paired seeds. None of the original itself.
        compared: p and verdict, corrected for all swaps at this rate. None as above.
    """

    swap: Swap
    rate: float
    loss: Estimate
    cost: Estimate | None
    compared: Comparison | None


def columns(prices: Prices) -> list[float]:
    """Untuned, then the rates."""
    return [UNTUNED, *prices.budget.rates]


def table(prices: Prices) -> list[Price]:
    """A price for each swap and column, the original first, then in the order of the outcomes.

    What cannot run has no row; :func:`problems` says why.
    """
    found: list[Price] = []
    by_swap: dict[Swap, dict[int, Outcome]] = {}
    for one in prices.outcomes:
        by_swap.setdefault(one.swap, {})[one.seed] = one
    for place, rate in enumerate(columns(prices)):
        values = {
            swap: [_loss(seeds.get(seed), place) for seed in range(prices.budget.seeds)]
            for swap, seeds in by_swap.items()
        }
        values = {swap: row for swap, row in values.items() if any(map(math.isfinite, row))}
        if Swap() not in values:
            continue
        compared = comparisons(values, Swap(), higher_is_better=False)
        for swap, row in values.items():
            one = compared.get(swap)
            gain = one.difference if one else None
            cost = Estimate(-gain.mean, -gain.high, -gain.low, gain.pairs) if gain else None
            found.append(Price(swap, rate, mean_with_interval(row), cost, one))
    order = [Swap(), *(swap for swap in by_swap if swap.scoring)]
    return sorted(found, key=lambda one: order.index(one.swap))


ENDS = ("", "_low", "_high")  # behind ``loss`` and ``cost``


def rows(prices: Prices) -> list[dict[str, Any]]:
    """The table as JSON has it, a row for each price; None for what is not known."""
    found = []
    for one in table(prices):
        row: dict[str, Any] = {
            "swap": one.swap.key, **asdict(one.swap), "rate": one.rate, "seeds": one.loss.count,
        }  # fmt: skip
        for name, estimate in (("loss", one.loss), ("cost", one.cost)):
            for end, value in zip(ENDS, (estimate or ())[:3], strict=False):
                row[f"{name}{end}"] = value if math.isfinite(value) else None
        if one.compared:
            p = one.compared.corrected_p
            row |= {"p": p if math.isfinite(p) else None, "verdict": one.compared.verdict,
                    "needed": one.compared.seeds_needed}  # fmt: skip
        found.append(row)
    return found


def _loss(outcome: Outcome | None, place: int) -> float:
    if outcome is None or outcome.problem:
        return math.nan
    losses = (outcome.before, *outcome.after)
    return losses[place] if place < len(losses) else math.nan


def problems(prices: Prices) -> dict[Swap, str]:
    """Why swaps have no result, in a sentence each; of several seeds the first one's."""
    found: dict[Swap, str] = {}
    for one in prices.outcomes:
        if one.problem:
            found.setdefault(one.swap, one.problem)
    return found


def lines(prices: Prices) -> list[str]:
    """The table as text: a row for each swap, a column untuned and one for each rate."""
    found = table(prices)
    heads = ["untuned", *(f"tuned at {rate:g}" for rate in prices.budget.rates)]
    names = {one.swap: one.swap.name or "the original" for one in found}
    width = max(map(len, names.values()), default=8)
    text = [f"{'':{width}}  " + "  ".join(f"{head:>32}" for head in heads)]
    for swap, name in names.items():
        cells = {one.rate: _cell(one) for one in found if one.swap == swap}
        own = "  ".join(f"{cells.get(rate, ''):>32}" for rate in columns(prices))
        text.append(f"{name:{width}}  {own}")
    text += [f"{swap.name}: {problem}" for swap, problem in problems(prices).items()]
    return [*text, caption(prices)]


def _cell(price: Price) -> str:
    loss = f"{price.loss.mean:.3f}"
    if price.cost is None or price.compared is None:
        return loss
    low, high = (f"{end:+.3f}" if math.isfinite(end) else "?" for end in price.cost[1:3])
    star = {"better": " *", "worse": " *"}.get(price.compared.verdict, "")
    return f"{loss} ({price.cost.mean:+.3f}, {low} to {high}){star}"


def caption(prices: Prices) -> str:
    """What was measured, after which budget, and by which test."""
    budget = prices.budget
    need = next((one.compared.seeds_needed for one in table(prices) if one.compared), None)
    few = "" if need is None or budget.seeds >= need else f"; with fewer than {need} none can be"
    return (
        f"{prices.model}: nats a token on {budget.held_out} texts that nobody tuned on "
        f"({prices.texts}), mean over {budget.seeds} paired seeds; in brackets the difference "
        f"from the original, tuned equally, with its 95 % bootstrap interval. {budget.steps} "
        f"steps of {budget.batch_size} texts, AdamW. * beyond chance: paired permutation test, "
        f"Holm's correction at each rate, p at most 0.05{few}."
    )
