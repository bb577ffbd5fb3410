"""Figures of a map that tell a bug from a finding.

A row that does not sum to 1, or weight on padding, is a bug of whoever made the weights. That a
head always looks at one key or at all alike is a finding, and may be just what was learned.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention_plugins.comparison import entropy, jensen_shannon
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
    return [Head(site, head) for site, weights in sites.items()
            for head in range(weights.shape[1] if weights.dim() == 4 else 1)]  # fmt: skip


def leave_one_out(
    translator: Translator, pair: Pair, heads: Sequence[Head] = ()
) -> Iterator[Loss]:
    """Switch every head, or each of these, off alone while the pair's target is forced.

    Each head's change of the target's log-probability is below 0 where the model is less sure of
    these words without it. Whoever stops listening between two passes ends the work.
    """
    source, lengths, target = pair
    heads = heads or heads_of(force(translator.model, *pair)[1])
    for start in range(0, len(heads), _PER_PASS):
        chosen = heads[start : start + _PER_PASS]
        rows = len(chosen) + 1  # the last one keeps all its heads
        off: dict[Site, list[tuple[int, int]]] = defaultdict(list)
        for row, (site, head) in enumerate(chosen):
            off[site].append((row, head))
        changed, _ = force(
            translator.model,
            source.expand(rows, -1), lengths.expand(rows), target.expand(rows, -1),
            interventions=[_Off(site=s, action="off", heads=tuple(own)) for s, own in off.items()],
        )  # fmt: skip
        totals = changed.cpu().double().sum(dim=-1)  # Apple's GPU has no float64
        for head, total in zip(chosen, (totals[:-1] - totals[-1]).tolist(), strict=True):
            yield Loss(head, total)


@dataclass(frozen=True)
class _Off(Intervention):
    heads: tuple[tuple[int, int], ...] = ()  # (row of the batch, head)

    def apply(
        self, weights: Tensor, mask: Tensor | None, first_row: int, ahead: Tensor | None = None
    ) -> Tensor:
        changed = weights.clone()
        for row, head in self.heads:
            changed[(row, head) if weights.dim() == 4 else row] = 0.0
        return changed


ROW_ERROR = 1e-3  # what single precision leaves of a softmax stays far below
PADDING = 1e-6
# Where a finding begins; chosen so that none says it of what a reader would not see in the map.
ON_EOS, STUCK, UNIFORM, UNTRAINED = 0.5, 0.75, 0.9, 0.05

BUGS = ("row_sums", "padding")
FINDINGS = ("eos", "stuck", "uniform", "untrained")


def figures(
    weights: Tensor, untrained: Tensor, *, causal: bool, eos: int | None, sums_to_one: bool = True
) -> dict:
    """Every figure of one map's heads, each ``(heads,)``, by name, on the CPU in float64.

    Weights are ``(heads, queries, keys)`` of a model and of itself before training. Query q of a
    causal one may look at the keys up to q alone; ``eos`` is a key, or None. Rows not meant to sum
    to 1 are divided by their sum for what a distribution alone has. A head with a weight below 0
    has none of that: all but ``row_error`` is NaN.
    """
    # On the CPU, as Apple's GPU has no float64.
    weights, untrained = weights.cpu().double(), untrained.cpu().double()
    shares, before = (weights, untrained) if sums_to_one else map(_shares, (weights, untrained))
    allowed = torch.ones_like(weights[0], dtype=torch.bool)
    ends = torch.arange(weights.shape[-1], device=weights.device) == eos
    nowhere = torch.full_like(weights[:, 0, 0], torch.nan)
    signed = ((weights < 0) | (untrained < 0)).flatten(1).any(dim=1)
    found = {
        "eos": nowhere if eos is None else share(shares, ends),
        "entropy": relative_entropy(shares, allowed.tril() if causal else allowed),
        "concentration": column_concentration(shares), "diagonality": diagonality(shares),
        "distance": jensen_shannon(shares, before).mean(dim=-1),
    }  # fmt: skip
    error = row_error(weights) if sums_to_one else 0 * row_error(weights)
    return {"row_error": error, **{n: f.masked_fill(signed, torch.nan) for n, f in found.items()}}


def verdicts(one: Mapping[str, float]) -> list[str]:
    """What is to be said of a head: some of :data:`BUGS` and :data:`FINDINGS`.

    Of its :func:`figures` and its ``padding``, weight on padded keys, NaN says nothing but for the
    rows' error: weights that are no numbers are a bug.
    """
    said = {
        "row_sums": not one["row_error"] <= ROW_ERROR, "padding": one["padding"] > PADDING,
        "eos": one["eos"] >= ON_EOS,
        "stuck": one["concentration"] >= STUCK and not one["eos"] >= ON_EOS,
        "uniform": one["entropy"] >= UNIFORM, "untrained": one["distance"] <= UNTRAINED,
    }  # fmt: skip
    return [name for name in (*BUGS, *FINDINGS) if said[name]]


def relative_entropy(weights: Tensor, allowed: Tensor) -> Tensor:
    """Mean over the rows of entropy over the largest possible one: 0 one key, 1 all alike.

    Rows of ``weights (heads, queries, keys)`` with fewer than two ``allowed`` keys have no choice
    and do not count. Where none has, the mean is NaN.
    """
    choices = allowed.sum(dim=-1)
    rows = choices > 1
    return (entropy(weights)[:, rows] / choices[rows].log()).mean(dim=-1)


def _shares(weights: Tensor) -> Tensor:
    sums = weights.sum(dim=-1, keepdim=True)
    alike = torch.full_like(weights, 1 / weights.shape[-1])
    return torch.where(sums > 0, weights / sums.clamp_min(torch.finfo(weights.dtype).tiny), alike)


def row_error(weights: Tensor) -> Tensor:
    """The largest distance of a row's sum from 1, ``(heads,)``."""
    return (weights.sum(dim=-1) - 1).abs().amax(dim=-1)


def share(weights: Tensor, columns: Tensor) -> Tensor:
    """Mean weight of the rows on columns ``(keys,)`` or ``(queries, keys)``, ``(heads,)``."""
    return (weights * columns).sum(dim=-1).mean(dim=-1)


def column_concentration(weights: Tensor) -> Tensor:
    """The mean weight on the key that gets most of it, ``(heads,)``: 1 if all look at one."""
    return weights.mean(dim=-2).amax(dim=-1)


def diagonality(weights: Tensor) -> Tensor:
    """Correlation of the query's and the key's position under the weights, ``(heads,)``.

    1 on a diagonal, -1 on an anti-diagonal, 0 where the position of a query says nothing about
    where it looks, or where there is but one position.
    """
    _, queries, keys = weights.shape
    joint = weights / weights.sum(dim=(-2, -1), keepdim=True)
    rows, columns = (torch.arange(n).to(weights) for n in (queries, keys))
    by_row, by_column = joint.sum(dim=-1), joint.sum(dim=-2)
    row_mean, column_mean = by_row @ rows, by_column @ columns
    row_spread = by_row @ rows.square() - row_mean.square()
    column_spread = by_column @ columns.square() - column_mean.square()
    together = torch.einsum("hqk,q,k->h", joint, rows, columns) - row_mean * column_mean
    scale = (row_spread * column_spread).clamp(min=0).sqrt()
    defined = scale > 1e-9 * max(queries, keys) ** 2
    return torch.where(defined, together / scale.clamp(min=1e-30), torch.zeros_like(scale))
