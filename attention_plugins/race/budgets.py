"""Which conclusions of a race hold at other budgets, and which change with them."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attention_plugins.beside import beside
from attention_plugins.marking import gettext_noop
from attention_plugins.race import statistics
from attention_plugins.race.records import Budget, Contestant, Outcome, entries_of, equals_of
from attention_plugins.race.standings import Comparison, comparisons

_SAID = beside(__file__, "words.toml")["budgets"]


class Placing(NamedTuple):
    """A contestant at one budget; ``verdict`` is None of the reference."""

    quality: statistics.Estimate
    rank: int
    verdict: str | None


class Pairs(NamedTuple):
    """Of ``total`` pairs of contestants, at all budgets that were run.

    Attributes:
        same: whose means come in the same order at every budget.
        held: in which the same one leads beyond chance at every budget.
        turned: in which each of the two leads beyond chance at some budget.
        some: in which only one of them does, and not at every budget.
        changed: whose difference itself is another one, beyond chance, at the largest budget than
            at the smallest: so it is tested whether what each gained in quality differs.
    """

    total: int
    same: int
    held: int
    turned: int
    some: int
    changed: int


@dataclass(frozen=True, kw_only=True)
class AtBudgets:
    """A task at several budgets, the smallest first.

    Contestants and seeds are those that all budgets have: so no lead comes or goes with the number
    of seeds, or of comparisons, and the same seeds are the same data.

    Args:
        rows: of each contestant its placing at each budget.
        grown: whether a contestant gained more than the reference from the smallest budget to the
            largest: what each gained in quality is compared as qualities are.
        turned: those pairs whose leader changes, the one that leads first before the other.
        same_rates: whether the same learning rates were tried at all budgets.
    """

    steps: tuple[int, ...]
    seeds: int
    rows: Mapping[Contestant, tuple[Placing, ...]]
    grown: Mapping[Contestant, Comparison]
    pairs: Pairs
    turned: tuple[tuple[Contestant, Contestant], ...]
    same_rates: bool

    def sentences(self) -> Iterator[str]:
        """What holds at every budget, what changes, and whether that could be chance."""
        facts = {
            "steps": " / ".join(f"{each:,}" for each in self.steps), "seeds": self.seeds,
            "count": len(self.rows), **self.pairs._asdict(),
        }  # fmt: skip
        smallest = statistics.smallest_p(self.seeds)
        yield gettext_noop(_SAID["few" if smallest > statistics.LEVEL else "pairs"], **facts)
        # As Benjamini-Hochberg's bound for so many of all pairs is no smaller than that.
        least = math.ceil(smallest * self.pairs.total / statistics.LEVEL)
        if 1 < least <= self.pairs.total:
            yield gettext_noop(_SAID["least"], seeds=self.seeds, least=least)
        if not self.same_rates:
            yield gettext_noop(_SAID["rates"])


def at_budgets(
    found: Sequence[tuple[Budget, Sequence[Outcome]]], task: str, *, reference: Contestant,
    higher_is_better: bool, models: Collection[str] | None = None,
) -> AtBudgets | None:  # fmt: skip
    """Compare races on one task that differ in their budget.

    None where fewer than two budgets have the reference and another contestant in common, or no
    two seeds. Of equal budgets the first counts.
    """
    by_steps: dict[int, tuple[Budget, Sequence[Outcome]]] = {}
    for budget, outcomes in found:
        by_steps.setdefault(budget.steps, (budget, outcomes))
    steps = tuple(sorted(by_steps))
    ran = [_ran(by_steps[each][1], task, models) for each in steps]
    shared = [who for who in ran[0] if all(who in each for each in ran)] if ran else []
    if len(ran) < 2 or reference not in shared:
        return None
    seeds = sorted(set.intersection(*({*each[reference]} for each in ran)))
    shared = [who for who in shared if all({*each[who]} & {*seeds} for each in ran)]
    if min(len(shared), len(seeds)) < 2:
        return None
    own = {
        who: {(i, seed): each[who][seed] for i, each in enumerate(ran) for seed in seeds
              if seed in each[who]}
        for who in shared
    }  # fmt: skip
    alone = [*equals_of(own, reference)]
    values = [
        {who: [each[who][s].quality if s in each[who] else np.nan for s in seeds] for who in alone}
        for each in ran
    ]
    ahead = [statistics.leads([*each.values()], higher_is_better) for each in values]
    verdicts = [
        comparisons(each, reference, higher_is_better=higher_is_better, intervals=False)
        for each in values
    ]
    gained = {who: np.subtract(values[-1][who], values[0][who]).tolist() for who in alone}
    changed = statistics.leads([*gained.values()], higher_is_better)
    pairs, turned = _pairs(ahead, [[*map(np.nanmean, each.values())] for each in values], changed)
    return AtBudgets(
        steps=steps, seeds=len(seeds),
        rows={
            who: tuple(
                Placing(
                    statistics.mean_with_interval(values[i][who]),
                    1 + int(ahead[i][:, place].sum()),
                    verdicts[i][who].verdict if who in verdicts[i] else None,
                )
                for i in range(len(steps))
            )
            for place, who in enumerate(alone)
        },
        grown=comparisons(gained, reference, higher_is_better=higher_is_better, intervals=False),
        pairs=pairs, turned=tuple((alone[i], alone[j]) for i, j in turned),
        same_rates=len({tuple(sorted(budget.rates)) for budget, _ in by_steps.values()}) == 1,
    )  # fmt: skip


def _ran(
    outcomes: Sequence[Outcome], task: str, models: Collection[str] | None
) -> dict[Contestant, dict[int, Outcome]]:
    """By contestant and seed what has a quality, in the order of the race."""
    found = {
        who: {seed: one for seed, one in entry.by_seed.items() if np.isfinite(one.quality)}
        for who, entry in sorted(entries_of(outcomes, task).items(), key=lambda e: e[1].place)
        if models is None or who.model in models
    }
    return {who: own for who, own in found.items() if own}


def _pairs(
    ahead: Sequence[np.ndarray], means: Sequence[Sequence[float]], changed: np.ndarray
) -> tuple[Pairs, list[tuple[int, int]]]:
    """The counts, and by their places the pairs that are turned, who leads first before the other.

    ``ahead`` says of each budget, and ``changed`` of what was gained, who leads whom.
    """
    upper = np.triu_indices(len(means[0]), k=1)
    one, other = (np.array([each[side] for each in ahead]) for side in (upper, upper[::-1]))
    order = np.array([np.sign(np.subtract.outer(each, each))[upper] for each in means])
    same = (order == order[0]).all(axis=0)
    held = one.all(axis=0) | other.all(axis=0)
    turned = one.any(axis=0) & other.any(axis=0)
    some = (one.any(axis=0) | other.any(axis=0)) & ~held & ~turned
    counts = [int(each.sum()) for each in (same, held, turned, some, changed)]
    first = one.argmax(axis=0) < other.argmax(axis=0)  # the budget at which each leads first
    pairs = zip(*(side[turned].tolist() for side in upper), first[turned].tolist(), strict=True)
    places = [(i, j) if leads_first else (j, i) for i, j, leads_first in pairs]
    return Pairs(len(upper[0]), *counts), places
