"""The tap that models call wherever they attend, and what it carries: recorder, interventions.

Nothing is kept on a module: weights leave through the tap, so two users may share one model.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention_plugins.attention import (
    Earlier,
    Inputs,
    Scoring,
    as_mask,
    attend_in_turn,
    attend_to_one,
    attend_with,
    masked_softmax,
    pooled,
    remembers,
)
from attention_plugins.blocks import attend_fused, attend_in_blocks, runs_fused
from attention_plugins.linear_time import attend_in_linear_time, runs_in_linear_time
from attention_plugins.randomness import dropout as drop
from attention_plugins.record import Site
from attention_plugins.sums import pool_without_weights, runs_without_weights

# Above this many scores a tap that nobody watches attends in blocks: far less memory, for up to a
# quarter more time in training; from 4 x 1,500 x 1,500 on blocks are the faster way too.
_MOST_SCORES = 1 << 21
# Kinds of sites whose keys may join word by word.
_JOINING = ("decoder", "cross")


@dataclass(frozen=True, kw_only=True)
class Intervention:
    """A change to the weights at a site, before they meet the values.

    Args:
        action: ``"off"`` (weights 0: the head says nothing), ``"uniform"`` (equal weights on
            every allowed key) or ``"pin"`` (all weight on ``key``).
        head: which head; None for all.
        row: which query, counted from 0 through the whole decoding; None for all.
        key: the key that ``"pin"`` puts all weight on.

    Raises:
        ValueError: an unknown action, or ``"pin"`` without a key.
    """

    site: Site
    action: Literal["off", "uniform", "pin", "patch"]
    head: int | None = None
    row: int | None = None
    key: int | None = None

    def __post_init__(self) -> None:
        if self.action not in ("off", "uniform", "pin"):
            raise ValueError(f"need action to be off, uniform or pin, got {self.action!r}")
        if self.action == "pin" and self.key is None:
            raise ValueError("an intervention that pins needs the key to pin to")

    def apply(
        self, weights: Tensor, mask: Tensor | None, first_row: int, ahead: Tensor | None = None
    ) -> Tensor:
        """The changed weights ``(batch, [heads,] n_q, n_k)``, as a new tensor.

        ``ahead`` is the boolean mask of these queries and of all that come in the same call, where
        these are not all of them. Keys in a decoder may join word by word: a row older than the
        key stays as it is, also where all rows come at once and a mask keeps it from the key.

        IndexError: a head or a key that the site does not have.
        """
        n_queries, n_keys = weights.shape[-2:]
        joins = self.site.kind in _JOINING
        if joins and self.key is not None and self.key >= n_keys:
            return weights  # the key has not come yet
        heads = weights.shape[-3] if weights.dim() > 3 else 1
        if self.head is not None and not 0 <= self.head < heads:
            raise IndexError(f"site {self.site} has {heads} heads, no head {self.head}")
        if self.key is not None and not 0 <= self.key < n_keys:
            raise IndexError(f"site {self.site} has {n_keys} keys, no key {self.key}")
        chosen = torch.ones(weights.shape[-2:], dtype=torch.bool, device=weights.device)
        if self.row is not None:
            row_numbers = torch.arange(first_row, first_row + n_queries, device=weights.device)
            chosen &= (row_numbers == self.row)[:, None]
        if self.head is not None and weights.dim() > 3:
            head_numbers = torch.arange(heads, device=weights.device)
            chosen = chosen & (head_numbers == self.head)[:, None, None]
        if self.key is not None and mask is not None and joins:
            allowed = as_mask(mask, weights.shape) if ahead is None else ahead
            chosen = chosen & ~_older(allowed, self.key)[..., :n_queries, :]
        return torch.where(chosen, self._replacement(weights, mask), weights)

    def patched(self, output: Tensor, first_row: int) -> Tensor:
        """What leaves the site ``(batch, [heads,] n_q, d_v)``; changed weights leave it as is."""
        return output

    def _replacement(self, weights: Tensor, mask: Tensor | None) -> Tensor:
        replaced = torch.zeros_like(weights)
        if self.action == "uniform":
            return masked_softmax(replaced, mask)
        if self.action == "pin":
            replaced[..., self.key] = 1.0
        return replaced


def _older(allowed: Tensor, key: int) -> Tensor:
    """Rows ``(..., n_q or 1, 1)`` that may not look at a key that a later row may look at."""
    if allowed.dim() < 2 or allowed.shape[-2] == 1:
        return torch.zeros((1, 1), dtype=torch.bool, device=allowed.device)
    column = allowed[..., key if allowed.shape[-1] > 1 else 0, None].long()
    return column.flip(-2).cummax(dim=-2).values.flip(-2) > column


def attend_unseen(inputs: Inputs[Scoring]) -> Tensor:
    """Attention whose weights nobody asks for, in the cheapest way: ``(..., n_q, d_v)``.

    The scoring must not need the weights of earlier queries.
    """
    scoring, queries, keys, values = inputs.scoring, inputs.queries, inputs.keys, inputs.values
    if runs_in_linear_time(inputs):
        return attend_in_linear_time(inputs)
    if runs_without_weights(scoring, queries, keys, values, inputs.mask, inputs.dropout):
        return pool_without_weights(scoring, queries, keys, values).values
    if runs_fused(inputs):
        return attend_fused(inputs)
    if queries.shape[:-1].numel() * keys.shape[-2] > _MOST_SCORES:
        return attend_in_blocks(inputs)
    return attend_with(inputs)[0]


class Recorder:
    """Keeps the weights of the sites that a tap passes, in the order of the queries.

    ``sites``: which; None for all.
    """

    def __init__(self, sites: Collection[Site] | None = None) -> None:
        self._sites = sites
        self._parts: dict[Site, list[Tensor]] = defaultdict(list)

    def wants(self, site: Site) -> bool:
        """Whether the weights of ``site`` are kept."""
        return self._sites is None or site in self._sites

    def add(self, site: Site, weights: Tensor) -> None:
        """Weights ``(..., n_q, n_k)`` of the next queries of ``site``."""
        self._parts[site].append(weights.detach())

    def pooled(self, site: Site, values: Tensor, output: Tensor, patched: Tensor) -> None:
        """That they met values and gave an output, which goes on as ``patched``."""

    def weights(self) -> dict[Site, Tensor]:
        """Every site's weights so far, all queries in one tensor ``(..., n_q, n_k)``.

        Where keys joined while decoding, queries before them have weight 0 on them.
        """
        return {
            site: torch.cat([pad(p, (0, parts[-1].shape[-1] - p.shape[-1])) for p in parts], -2)
            for site, parts in self._parts.items()
        }


class Tap:
    """What a model calls wherever it attends. One tap serves one pass of one user.

    It counts the queries that each site has answered, for scorings that need positions, and
    keeps the weights of sites whose scorings need those of earlier queries.

    Args:
        recorder: gets the weights; None when nobody looks.
        interventions: changes to apply, in order.
    """

    def __init__(
        self, recorder: Recorder | None = None, interventions: Iterable[Intervention] = ()
    ) -> None:
        self.recorder = recorder
        self._interventions: dict[Site, list[Intervention]] = defaultdict(list)
        for intervention in interventions:
            self._interventions[intervention.site].append(intervention)
        self._answered: dict[Site, int] = defaultdict(int)
        self._earlier: dict[Site, Earlier] = {}

    def attend(
        self, site: Site, scoring: Scoring, queries: Tensor, keys: Tensor, values: Tensor,
        mask: Tensor | None = None, *, dropout: float = 0.0, keys_projected: bool = False,
        key_positions: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Attention at ``site``; see :func:`attend` for the arguments.

        A site that is asked again goes on counting: its queries follow those before.

        Returns the output ``(..., n_q, d_v)``.
        """
        inputs = Inputs(
            scoring, queries, keys, values, mask, dropout, keys_projected,
            self._count(site, queries), None, key_positions,
        )  # fmt: skip
        changes = self._interventions.get(site, ())
        if not self._records(site) and not changes and not remembers(scoring):
            return attend_unseen(inputs)
        return self._attend_with_weights(site, inputs)[0]

    def attend_with_weights(
        self, site: Site, scoring: Scoring, queries: Tensor, keys: Tensor, values: Tensor,
        mask: Tensor | None = None, *, dropout: float = 0.0, keys_projected: bool = False,
        key_positions: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Attention at ``site`` for a model that computes with the weights, as a copying one does.

        Returns the output ``(..., n_q, d_v)`` and the weights ``(..., n_q, n_k)``: those that met
        the values, interventions included, but before dropout.
        """
        return self._attend_with_weights(site, Inputs(
            scoring, queries, keys, values, mask, dropout, keys_projected,
            self._count(site, queries), None, key_positions,
        ))  # fmt: skip

    def _attend_with_weights(self, site: Site, inputs: Inputs[Scoring]) -> tuple[Tensor, Tensor]:
        inputs = inputs.with_projected_keys()
        if remembers(inputs.scoring):
            return self._attend_in_turn(site, inputs)
        return self._attend_at_once(site, inputs)[:2]

    def pool(
        self, site: Site, weights: Tensor, values: Tensor, mask: Tensor | None = None, *,
        dropout: float = 0.0,
    ) -> Tensor:  # fmt: skip
        """Values ``(..., n_k, d_v)`` under weights ``(..., n_q, n_k)`` that the caller made.

        For attention layers and models whose weights no scoring makes. The weights are recorded
        and changed as others are; ``mask`` is as in :func:`attend`, ``dropout`` the share dropped.

        Returns the output ``(..., n_q, d_v)``.
        """
        first = self._count(site, weights)
        weights = self._changed(site, weights, mask, first, None)
        output = (drop(weights, dropout) if dropout else weights) @ values
        return self._passed_on(site, weights, values, output, first)

    def watches(self, site: Site) -> bool:
        """Whether the weights of ``site`` are recorded or changed."""
        return self._records(site) or site in self._interventions

    def answered(self, site: Site) -> int:
        """How many queries ``site`` has answered: the number of its next one."""
        return self._answered[site]

    def anew(self, recorder: Recorder | None) -> "Tap":
        """A tap with the same interventions, before its first query: for one that reads again."""
        return Tap(recorder, chain.from_iterable(self._interventions.values()))

    def reorder(self, rows: Tensor) -> None:
        """Go on with these rows of the batch ``(batch,)``, as a search does with hypotheses."""
        for site, (weights, scores) in self._earlier.items():
            picked = None if scores is None else scores.index_select(0, rows)
            self._earlier[site] = Earlier(weights.index_select(0, rows), picked)

    def _count(self, site: Site, queries: Tensor) -> int:
        first = self._answered[site]
        self._answered[site] += queries.shape[-2]
        return first

    def _attend_at_once(
        self, site: Site, inputs: Inputs[Scoring], ahead: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        output, weights, scores = attend_to_one(inputs)
        if self._interventions.get(site):
            weights = self._changed(site, weights, inputs.mask, inputs.first, ahead)
            scoring, values, dropout = inputs.scoring, inputs.values, inputs.dropout
            asked = scoring.project_queries(inputs.queries)
            output = pooled(scoring, weights, values, inputs.needs(), asked=asked, dropout=dropout)
        output = self._passed_on(site, weights, inputs.values, output, inputs.first)
        return output, weights, scores

    def _changed(
        self, site: Site, weights: Tensor, mask: Tensor | None, first: int, ahead: Tensor | None
    ) -> Tensor:
        for change in self._interventions.get(site, ()):
            weights = change.apply(weights, mask, first, ahead)
        return weights

    def _passed_on(
        self, site: Site, weights: Tensor, values: Tensor, output: Tensor, first: int
    ) -> Tensor:
        """Record what was computed; the output as the interventions leave it."""
        patched = output
        for change in self._interventions.get(site, ()):
            patched = change.patched(patched, first)
        if self.recorder is not None and self._records(site):
            self.recorder.add(site, weights)
            self.recorder.pooled(site, values, output, patched)
        return patched

    def _records(self, site: Site) -> bool:
        return self.recorder is not None and self.recorder.wants(site)

    def _attend_in_turn(self, site: Site, inputs: Inputs[Scoring]) -> tuple[Tensor, Tensor]:
        """One query after the other; remembered weights include interventions, scores do not."""
        if before := self._earlier.get(site):
            joined = 0, inputs.keys.shape[-2] - before.weights.shape[-1]
            known = before.scores
            inputs = replace(
                inputs, memory=pad(before.weights, joined),
                scores=None if known is None else pad(known, joined, value=-torch.inf),
            )  # fmt: skip
        output, self._earlier[site] = attend_in_turn(
            inputs, lambda one, ahead: self._attend_at_once(site, one, ahead)
        )
        return output, self._earlier[site].weights[..., -inputs.queries.shape[-2] :, :]
