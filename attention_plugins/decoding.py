"""From a model's steps to sentences: greedy, beam and forced decoding, all in batches.

Any :class:`~attention_plugins.models.protocols.StepModel` decodes here; it knows nothing
of how. Weights are recorded by decoding the finished sentence once more with its words forced,
so that every way of searching records alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_plugins.models.protocols import State, StepModel
from attention_plugins.tap import Intervention, Recorder, Site, Tap
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID, UNK_ID

# What no translation should contain; a forced target may.
_NEVER_CHOSEN = (UNK_ID, PAD_ID, BOS_ID)

# Wu et al. 2016, equation 14: 0 prefers short outputs, 1 the best mean per token.
LENGTH_PENALTY = 0.6


@dataclass(frozen=True)
class Decoded:
    """Token ids ending in ``<eos>`` (unless cut at the limit) and their summed log-probability."""

    ids: list[int]
    log_probability: float


def pick(state: State, rows: Tensor) -> State:
    """The state of the chosen batch rows, in that order."""
    return {name: tensor.index_select(0, rows) for name, tensor in state.items()}


@torch.no_grad()
def greedy(
    model: StepModel,
    source: Tensor,
    lengths: Tensor,
    *,
    limit: int,
    interventions: Sequence[Intervention] = (),
) -> list[Decoded]:
    """The likeliest word at every step, for each row of ``source (B, n)``.

    Args:
        lengths: valid lengths ``(B,)``.
        limit: most tokens of a translation, with ``<eos>``.
    """
    tap = Tap(interventions=interventions)
    state = model.start(source, lengths, tap)
    tokens = torch.full_like(lengths, BOS_ID)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    totals = torch.zeros((), device=source.device)
    columns = []
    for _ in range(limit):
        scores, state = model.step(state, tokens, tap)
        scores[:, _NEVER_CHOSEN] = -torch.inf
        best, tokens = scores.max(dim=-1)
        tokens = tokens.masked_fill(finished, PAD_ID)
        totals = totals + best.masked_fill(finished, 0.0)
        columns.append(tokens)
        finished |= tokens == EOS_ID
        if finished.all():
            break
    rows = torch.stack(columns, dim=1).tolist()
    return [
        Decoded([i for i in row if i != PAD_ID], total)
        for row, total in zip(rows, totals.tolist(), strict=True)
    ]


@torch.no_grad()
def beam(
    model: StepModel,
    source: Tensor,
    lengths: Tensor,
    *,
    width: int,
    limit: int,
    interventions: Sequence[Intervention] = (),
) -> list[list[Decoded]]:
    """The ``width`` best hypotheses found for each row of ``source (B, n)``, best first.

    Hypotheses are compared by log-probability over ``((5 + length) / 6) ** LENGTH_PENALTY``.
    A row's search ends when its finished hypotheses beat whatever its open ones could reach.
    """
    tap = Tap(interventions=interventions)
    n, device = len(source), source.device
    state = model.start(source, lengths, tap)
    copies = torch.arange(n, device=device).repeat_interleave(width)
    state = pick(state, copies)
    tap.reorder(copies)
    # At first all hypotheses of a row are equal: only one may go on.
    totals = torch.full((n, width), -torch.inf, device=device)
    totals[:, 0] = 0.0
    tokens = torch.full((n * width,), BOS_ID, device=device)
    histories = torch.empty((n * width, 0), dtype=torch.long, device=device)
    found: list[list[tuple[float, Decoded]]] = [[] for _ in range(n)]
    for length in range(1, limit + 1):
        scores, state = model.step(state, tokens, tap)  # (n * width, words)
        scores[:, _NEVER_CHOSEN] = -torch.inf
        words = scores.shape[-1]
        candidates = (totals.view(-1, 1) + scores).view(n, -1)
        # Twice the width: at most one candidate per hypothesis ends, so enough stay open.
        best, where = candidates.topk(2 * width, dim=-1)
        parents = (
            where.div(words, rounding_mode="floor")
            + torch.arange(n, device=device)[:, None] * width
        )
        chosen = where % words
        ends = (chosen == EOS_ID) | (length == limit)
        _collect(found, best, parents, chosen, ends, histories, length)
        best = best.masked_fill(chosen == EOS_ID, -torch.inf)
        totals, kept = best.topk(width, dim=-1)  # (n, width)
        rows, tokens = parents.gather(1, kept).flatten(), chosen.gather(1, kept).flatten()
        state = pick(state, rows)
        tap.reorder(rows)
        histories = torch.cat([histories[rows], tokens[:, None]], dim=1)
        if all(
            len(hypotheses) >= width and hypotheses[0][0] >= _normalised(open_total, limit)
            for hypotheses, open_total in zip(found, totals[:, 0].tolist(), strict=True)
        ):
            break
    return [[decoded for _, decoded in hypotheses[:width]] for hypotheses in found]


def _normalised(total: float, length: int) -> float:
    return total / ((5 + length) / 6) ** LENGTH_PENALTY


def _collect(
    found: list[list[tuple[float, Decoded]]],
    best: Tensor,
    parents: Tensor,
    chosen: Tensor,
    ends: Tensor,
    histories: Tensor,
    length: int,
) -> None:
    """Move the candidates that end into ``found``, which stays sorted, best first."""
    for row, place in ends.nonzero().tolist():
        total = best[row, place].item()
        if total == -torch.inf:  # a row with fewer open hypotheses than the width
            continue
        ids = [*histories[parents[row, place]].tolist(), chosen[row, place].item()]
        found[row].append((_normalised(total, length), Decoded(ids, total)))
    for hypotheses in found:
        hypotheses.sort(key=lambda item: -item[0])


@torch.no_grad()
def force(
    model: StepModel,
    source: Tensor,
    lengths: Tensor,
    target: Tensor,
    *,
    interventions: Sequence[Intervention] = (),
) -> tuple[Tensor, dict[Site, Tensor]]:
    """Decode given words and record every site.

    Args:
        source, lengths: ``(B, n)`` and ``(B,)``.
        target: ``(B, m)`` ids, padded.

    Returns:
        Log-probabilities of the given words ``(B, m)``, and each site's weights
        ``(B, [heads,] queries, keys)``.
    """
    recorder = Recorder()
    tap = Tap(recorder, interventions)
    state = model.start(source, lengths, tap)
    begin = torch.full_like(target[:, :1], BOS_ID)
    columns = []
    for tokens, wanted in zip(torch.cat([begin, target[:, :-1]], dim=1).T, target.T, strict=True):
        scores, state = model.step(state, tokens, tap)
        columns.append(scores.gather(1, wanted[:, None]))
    return torch.cat(columns, dim=1), recorder.weights()
