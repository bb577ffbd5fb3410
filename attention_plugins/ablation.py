"""What a model loses without some of its heads, in a sentence's likelihood."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor

from attention_plugins.decoding import force
from attention_plugins.tap import Intervention, Site
from attention_plugins.translator import Pair, Translator

_PER_PASS = 24  # heads; more at once save little time and cost a reader's patience


class Head(NamedTuple):
    """One head of a model, both counted from 0."""

    site: Site
    head: int


class Loss(NamedTuple):
    """What switching one head off does to the log-probability of given words, in nats."""

    head: Head
    change: float


def heads_of(sites: Mapping[Site, Tensor]) -> list[Head]:
    """Every head of recorded sites ``([heads,] queries, keys)``, each after a batch dimension."""
    return [
        Head(site, head)
        for site, weights in sites.items()
        for head in range(weights.shape[1] if weights.dim() == 4 else 1)
    ]


def leave_one_out(translator: Translator, pair: Pair) -> Iterator[Loss]:
    """Switch every head off alone while the pair's target is forced.

    Yields:
        Each head's change of the target's log-probability; below 0 where the model is less sure
        of these words without it. A pass serves several heads: whoever stops listening between
        two of them ends the work.
    """
    source, lengths, target = pair
    heads = heads_of(force(translator.model, *pair)[1])
    for start in range(0, len(heads), _PER_PASS):
        chosen = heads[start : start + _PER_PASS]
        rows = len(chosen) + 1  # the last one keeps all its heads
        changed, _ = force(
            translator.model,
            source.expand(rows, -1), lengths.expand(rows), target.expand(rows, -1),
            interventions=_each_off(chosen),
        )  # fmt: skip
        totals = changed.cpu().double().sum(dim=-1)  # Apple's GPU has no float64
        for head, total in zip(chosen, (totals[:-1] - totals[-1]).tolist(), strict=True):
            yield Loss(head, total)


@dataclass(frozen=True)
class _Off(Intervention):
    """Switches another head off in each of some rows of the batch."""

    heads: tuple[tuple[int, int], ...] = ()  # (row of the batch, head)

    def apply(
        self, weights: Tensor, mask: Tensor | None, first_row: int, ahead: Tensor | None = None
    ) -> Tensor:
        changed = weights.clone()
        for row, head in self.heads:
            changed[(row, head) if weights.dim() == 4 else row] = 0.0
        return changed


def _each_off(heads: Sequence[Head]) -> list[Intervention]:
    """Interventions that leave head i out of row i of a batch."""
    by_site: dict[Site, list[tuple[int, int]]] = defaultdict(list)
    for row, (site, head) in enumerate(heads):
        by_site[site].append((row, head))
    return [_Off(site=site, action="off", heads=tuple(own)) for site, own in by_site.items()]
