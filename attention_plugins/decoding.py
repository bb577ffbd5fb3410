"""From a model's steps to sentences: greedy, beam and forced decoding, all in batches.

Weights are recorded by decoding the finished sentence once more with its words forced, so that
every way of searching records alike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention_plugins.devices import widest
from attention_plugins.models.protocols import ForcedModel, State, StepModel
from attention_plugins.tap import Intervention, Recorder, Site, Tap
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID, UNK_ID

# What no translation should contain; a forced target may.
_NEVER_CHOSEN = (UNK_ID, PAD_ID, BOS_ID)

# Wu et al. 2016, equation 14: 0 prefers short outputs, 1 the best mean per token.
LENGTH_PENALTY = 0.6

# Greedy search drops finished rows once so many are left: copying a state costs about a step.
_FEW_LEFT = 0.75


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
    model: StepModel, source: Tensor, lengths: Tensor, *, limit: int,
    interventions: Sequence[Intervention] = (),
) -> list[Decoded]:  # fmt: skip
    """The likeliest word at every step, for each row of ``source (B, n)`` of ``lengths (B,)``.

    ``limit`` is how many tokens a translation has at most, with ``<eos>``.
    """
    tap = Tap(interventions=interventions)
    state = model.start(source, lengths, tap)
    rows = torch.arange(len(source), device=source.device)  # those still being written
    tokens = torch.full_like(lengths, BOS_ID)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    written = torch.full((len(source), limit), PAD_ID, device=source.device)
    totals = torch.zeros(len(source), device=source.device)
    never = torch.tensor(_NEVER_CHOSEN, device=source.device)
    for place in range(limit):
        scores, state = model.step(state, tokens, tap)
        scores.index_fill_(1, never, -torch.inf)
        best, tokens = scores.max(dim=-1)
        tokens = tokens.masked_fill(finished, PAD_ID)
        written[rows, place] = tokens
        totals = totals.to(best.dtype).index_add(0, rows, best.masked_fill(finished, 0.0))
        finished |= tokens == EOS_ID
        going = int((~finished).sum())
        if not going:
            break
        if going <= _FEW_LEFT * len(rows):
            left = (~finished).nonzero()[:, 0]
            state = pick(state, left)
            tap.reorder(left)
            rows, tokens, finished = rows[left], tokens[left], finished[left]
    return [
        Decoded(_without_padding(row), total)
        for row, total in zip(written.tolist(), totals.tolist(), strict=True)
    ]


@torch.no_grad()
def beam(
    model: StepModel, source: Tensor, lengths: Tensor, *, width: int, limit: int,
    interventions: Sequence[Intervention] = (),
) -> list[list[Decoded]]:  # fmt: skip
    """The ``width`` best hypotheses found for each row of ``source (B, n)``, best first.

    What a step hands on as the very tensor that it was given is alike for all hypotheses of a
    sentence, as the source's keys are, and is not reordered with them.

    Hypotheses are compared by log-probability over ``((5 + length) / 6) ** LENGTH_PENALTY``.
    A row's search ends when its finished hypotheses beat whatever its open ones could reach.
    """
    tap = Tap(interventions=interventions)
    device = source.device
    state = model.start(source, lengths, tap)
    same = set(state)  # parts that are alike for all hypotheses of a sentence
    searching = torch.arange(len(source), device=device)  # sentences
    tokens = torch.full((len(source),), BOS_ID, device=device)
    # At first all hypotheses of a sentence would be equal: there is one, of nothing.
    totals = torch.zeros((len(source), 1), device=device)
    histories = torch.empty((len(source), 1, 0), dtype=torch.long, device=device)
    finished = _Finished.none(len(source), width, device)
    never = torch.tensor(_NEVER_CHOSEN, device=device)
    results: list[list[Decoded]] = [[] for _ in range(len(source))]
    for length in range(1, limit + 1):
        before = state
        scores, state = model.step(state, tokens, tap)  # (sentences * hypotheses, words)
        same = {name for name in same if state.get(name) is before[name]}
        scores.index_fill_(1, never, -torch.inf)
        best, parents, chosen = _candidates(totals, scores, width)
        longer = torch.cat([_picked(histories, parents), chosen[..., None]], dim=-1)
        ends = (chosen == EOS_ID) | (length == limit)
        finished = finished.joined_by(best.masked_fill(~ends, -torch.inf), longer)
        totals, kept = best.masked_fill(chosen == EOS_ID, -torch.inf).topk(width, dim=-1)
        histories, tokens = _picked(longer, kept), chosen.gather(1, kept)
        rows = parents.gather(1, kept)  # the rows of the batch that go on, (sentences, width)
        rows = rows + torch.arange(len(rows), device=device)[:, None] * (len(scores) // len(rows))
        done = finished.beat(totals[:, 0], limit)
        dropped = bool(done.any())
        if dropped:
            finished.at(done).write(results, searching[done])
            if done.all():
                return results
            left = (~done).nonzero()[:, 0]
            searching, finished = searching[left], finished.at(left)
            totals, histories, tokens, rows = (t[left] for t in (totals, histories, tokens, rows))
        rows, tokens = rows.flatten(), tokens.flatten()
        # Hypotheses change places with those of their sentence alone.
        stays = set() if dropped or length == 1 else same
        state = {n: t if n in stays else t.index_select(0, rows) for n, t in state.items()}
        tap.reorder(rows)
    finished.write(results, searching)
    return results


def _candidates(totals: Tensor, scores: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """The ``2 * width`` best words to go on with, of all hypotheses of each sentence.

    At most one candidate per hypothesis ends, so enough stay open. Of log-probabilities of the
    hypotheses ``(sentences, hypotheses)`` and of their next words ``(sentences * hypotheses,
    words)``
    they are log-probabilities, hypotheses and words, each ``(sentences, 2 * width)``, best first.
    """
    words = scores.shape[-1]
    candidates = (totals.view(-1, 1) + scores).view(len(totals), -1)
    if (missing := 2 * width - candidates.shape[-1]) > 0:
        candidates = pad(candidates, (0, missing), value=-torch.inf)
    best, where = candidates.topk(2 * width, dim=-1)
    parents = where.div(words, rounding_mode="floor").clamp_max(totals.shape[-1] - 1)
    return best, parents, where % words


def _picked(histories: Tensor, places: Tensor) -> Tensor:
    return histories.gather(1, places[..., None].expand(-1, -1, histories.shape[-1]))


class _Finished(NamedTuple):
    """The best finished hypotheses of each sentence, best first: what a search has found so far.

    ``ranks`` are ``totals``, their log-probabilities, by length: both ``(sentences, width)``,
    minus infinity where there are fewer. ``ids (sentences, width, length)``.
    """

    ranks: Tensor
    totals: Tensor
    ids: Tensor

    @classmethod
    def none(cls, sentences: int, width: int, device: torch.device) -> "_Finished":
        nothing = torch.full((sentences, width), -torch.inf, dtype=widest(device), device=device)
        ids = torch.empty((sentences, width, 0), dtype=torch.long, device=device)
        return cls(nothing, nothing, ids)

    def joined_by(self, totals: Tensor, ids: Tensor) -> "_Finished":
        """The best of these and of ``ids (sentences, k, length)``; those of no rank do not end."""
        known = pad(self.ids, (0, ids.shape[-1] - self.ids.shape[-1]), value=PAD_ID)
        if not (totals > -torch.inf).any():
            return self._replace(ids=known)
        totals = totals.to(self.totals.dtype)
        ranks = torch.cat([self.ranks, _normalised(totals, ids.shape[-1])], dim=1)
        order = ranks.argsort(dim=1, descending=True, stable=True)[:, : self.ranks.shape[1]]
        totals = torch.cat([self.totals, totals], dim=1)
        return _Finished(
            ranks.gather(1, order), totals.gather(1, order),
            _picked(torch.cat([known, ids], dim=1), order),
        )  # fmt: skip

    def beat(self, best_open: Tensor, limit: int) -> Tensor:
        """Which sentences need no further search, by their best open log-probability."""
        reachable = _normalised(best_open.to(self.ranks.dtype), limit)
        return (self.ranks[:, -1] > -torch.inf) & (self.ranks[:, 0] >= reachable)

    def at(self, sentences: Tensor) -> "_Finished":
        return _Finished(*(part[sentences] for part in self))

    def write(self, results: list[list[Decoded]], sentences: Tensor) -> None:
        found = zip(self.totals.tolist(), self.ids.tolist(), strict=True)
        for sentence, (totals, ids) in zip(sentences.tolist(), found, strict=True):
            pairs = zip(totals, ids, strict=True)
            results[sentence] = [Decoded(_without_padding(row), total)
                                 for total, row in pairs if total > -math.inf]  # fmt: skip


def _without_padding(ids: list[int]) -> list[int]:
    return [i for i in ids if i != PAD_ID]


def _normalised(totals: Tensor, length: int) -> Tensor:
    return totals / ((5 + length) / 6) ** LENGTH_PENALTY


@torch.no_grad()
def force(
    model: StepModel, source: Tensor, lengths: Tensor, target: Tensor, *,
    interventions: Sequence[Intervention] = (), by_steps: bool = False,
    recorder: Recorder | None = None,
) -> tuple[Tensor, dict[Site, Tensor]]:  # fmt: skip
    """Decode given words ``target (B, m)`` and record every site.

    A :class:`~attention_plugins.models.protocols.ForcedModel` is given all words at once, unless
    ``by_steps`` asks for one by one, as when it searches. Another ``recorder`` may keep less.

    Returns log-probabilities of the given words ``(B, m)``, and each site's weights
    ``(B, [heads,] queries, keys)``.
    """
    recorder = Recorder() if recorder is None else recorder
    given = source, lengths, target, Tap(recorder, interventions)
    return forced_through(model, *given, by_steps=by_steps), recorder.weights()


def forced_through(
    model: StepModel, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap, *,
    by_steps: bool = False,
) -> Tensor:  # fmt: skip
    """The log-probabilities of :func:`force`, with their gradients where these are enabled."""
    if not by_steps and isinstance(model, ForcedModel):
        return model.forced_log_probabilities(source, lengths, target, tap)
    state = model.start(source, lengths, tap)
    begin = torch.full_like(target[:, :1], BOS_ID)
    columns = []
    for tokens, wanted in zip(torch.cat([begin, target[:, :-1]], dim=1).T, target.T, strict=True):
        scores, state = model.step(state, tokens, tap)
        columns.append(scores.gather(1, wanted[:, None]))
    return torch.cat(columns, dim=1)
