"""One attention of a model that others wrote, whose rows may begin at different places."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.overrides import handle_torch_function, has_torch_function

from attention_plugins.attention import Inputs, Scoring, attend_with
from attention_plugins.contract import ContractError
from attention_plugins.tap import attend_unseen


@dataclass(frozen=True, eq=False)
class Places:
    """Where the queries and keys of a call stand, counted with the padding of their row.

    Attributes:
        first: of the first query.
        first_key: of the first key, behind those that a window has left behind.
        tokens: True where a token is, False on padding, ``(batch, n)``: of the sequence of the
            keys, from its begin on. None: there is no padding.
        crosses: whether queries and keys are of different sequences.
    """

    first: int = 0
    first_key: int = 0
    tokens: Tensor | None = None
    crosses: bool = False


@dataclass(frozen=True, eq=False)
class Asked:
    """What a module attends with.

    Attributes:
        mask: boolean ``(batch or 1, heads or 1, n_q or 1, n_k)``, True: may attend.
        bias: added to the scores, of a shape like the mask's.
        cap: scores stay between it and minus it, by a hyperbolic tangent, before the bias.
        sink: a score ``(heads,)`` beside those of the keys, of which nothing is pooled.
        places: None where they are not known, which the scoring then may not need.
    """

    scoring: Scoring
    queries: Tensor
    keys: Tensor
    values: Tensor
    mask: Tensor | None = None
    bias: Tensor | None = None
    cap: float | None = None
    sink: Tensor | None = None
    dropout: float = 0.0
    places: Places | None = Places()

    @property
    def in_blocks(self) -> bool:
        """Whether queries may be attended with some at a time."""
        return self.bias is None and self.sink is None

    def whole(self) -> Scoring:
        """What makes all the scores."""
        if self.in_blocks and self.cap is None:
            return self.scoring
        return Within(self.scoring, self.cap, self.bias, self.sink)


class Within(Scoring):
    """A scoring where a model caps its scores, adds a bias, and has a sink beside them."""

    def __init__(
        self, inner: Scoring, cap: float | None, bias: Tensor | None, sink: Tensor | None
    ) -> None:
        super().__init__()
        self.inner, self.cap, self.bias, self.sink = inner, cap, bias, sink
        self.needs, self.elements_per_pair = inner.needs, inner.elements_per_pair
        self.sums_to_one = inner.sums_to_one and sink is None

    def project_queries(self, queries: Tensor) -> Tensor:
        """As the scoring's own."""
        return self.inner.project_queries(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """As the scoring's own."""
        return self.inner.project_keys(keys)

    def forward(self, queries: Tensor, keys: Tensor, **needs: Any) -> Tensor:
        """The scoring's scores, capped, and the bias."""
        scores = self.inner(queries, keys, **needs)
        if self.cap is not None:  # what the scoring rules out stays so
            capped = (scores / self.cap).tanh() * self.cap
            scores = torch.where(torch.isneginf(scores), scores, capped)
        return scores if self.bias is None else scores + self.bias

    def normalise(self, scores: Tensor) -> Tensor:
        """The scoring's weights; the sink takes a part."""
        if self.sink is None:
            return self.inner.normalise(scores)
        sink = self.sink.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)
        return self.inner.normalise(torch.cat([scores, sink], dim=-1))[..., :-1]

    def pool(self, weights: Tensor, values: Tensor, **needs: Any) -> Tensor:
        """As the scoring's own."""
        return self.inner.pool(weights, values, **needs)


def swapped_attention(
    queries: Tensor, asked: Asked, *, weighed: bool
) -> tuple[Tensor, Tensor | None]:
    """Attend by another scoring; a watch sees this function, whatever happens inside.

    Returns the output ``(batch, heads, n_q, d_v)``, and the weights ``(batch, heads, n_q, n_k)``
    before dropout if ``weighed``; 0 for queries of padding before a row's begin, where the scoring
    needs positions.
    """
    if has_torch_function((queries,)):
        given = (queries,)
        return handle_torch_function(swapped_attention, given, queries, asked, weighed=weighed)
    if "positions" not in asked.scoring.needs:
        return _attend(asked, weighed, 0, None)
    if asked.places is None:
        raise ContractError(
            f"{type(asked.scoring).__name__} needs positions, and this call does not say where "
            "its queries stand: it brings a mask of its own, and a cache"
        )
    n_queries, n_keys = queries.shape[-2], asked.keys.shape[-2]
    rows = [*_rows(asked.places, n_queries, n_keys)]
    if len(rows) == 1 and rows[0].is_whole:
        return _attend(asked, weighed, rows[0].first, rows[0].key_positions)
    parts = [_of_rows(asked, part, weighed) for part in rows]
    order = torch.cat([part.rows for part in rows]).argsort()
    outputs, weights = zip(*parts, strict=True)
    return torch.cat(outputs)[order], torch.cat(weights)[order] if weighed else None


def _attend(
    asked: Asked, weighed: bool, first: int, key_positions: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    inputs = Inputs(
        asked.whole(), asked.queries, asked.keys, asked.values, asked.mask, asked.dropout,
        first=first, key_positions=key_positions,
    )  # fmt: skip
    if weighed or not asked.in_blocks:  # a bias fits the scores of all queries, not of a block
        return attend_with(inputs)
    return attend_unseen(inputs), None


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a batch that begin together, and how many queries of padding come before."""

    rows: Tensor
    first: int
    key_positions: Tensor | None
    skipped: int = 0
    is_whole: bool = False


def _of_rows(asked: Asked, part: _Rows, weighed: bool) -> tuple[Tensor, Tensor | None]:
    def rows(whole: Tensor) -> Tensor:
        return whole if len(whole) == 1 < len(asked.queries) else whole[part.rows]

    def cut(whole: Tensor | None) -> Tensor | None:
        if whole is None or whole.shape[-2] == 1:
            return None if whole is None else rows(whole)
        return rows(whole)[..., part.skipped :, :]

    few = replace(
        asked, queries=rows(asked.queries)[..., part.skipped :, :], keys=rows(asked.keys),
        values=rows(asked.values), mask=cut(asked.mask), bias=cut(asked.bias),
    )  # fmt: skip
    output, weights = _attend(few, weighed, part.first, part.key_positions)
    before = 0, 0, part.skipped, 0
    return pad(output, before), None if weights is None else pad(weights, before)


def _rows(places: Places, n_queries: int, n_keys: int) -> Iterator[_Rows]:
    """Rows with the same padding; what stands at the end counts as none."""
    first, first_key, tokens = places.first, places.first_key, places.tokens
    if tokens is None:
        none = torch.zeros(0, dtype=torch.long)
        keys = None if first_key == 0 else torch.arange(first_key, first_key + n_keys)
        yield _Rows(none, first, keys, is_whole=True)
        return
    length = first_key + n_keys if places.crosses else max(first + n_queries, first_key + n_keys)
    tokens = pad(tokens, (0, max(0, length - tokens.shape[1])), value=True)[:, :length].long()
    before_a_token = tokens.flip(1).cummax(1).values.flip(1)
    passed = ((1 - tokens) * before_a_token).cumsum(1)  # (batch, length) columns of padding
    kinds, of_row = passed.unique(dim=0, return_inverse=True)
    begins = tokens.argmax(1)
    for number, columns in enumerate(kinds):
        rows = (of_row == number).nonzero()[:, 0]
        begin = int(begins[rows[0]])
        keys = torch.arange(first_key, first_key + n_keys, device=columns.device)
        keys = (keys - columns[first_key : first_key + n_keys]).clamp_min(0)
        skipped, start = 0, first
        if not places.crosses:
            skipped = min(max(begin - first, 0), n_queries - 1)
            own = columns[first + skipped : first + n_queries]
            if (own != own[0]).any():
                raise ContractError(
                    "a row has padding between its tokens, within one call, where the positions "
                    "that the scoring needs would jump: pad rows at their begin or end"
                )
            start = max(0, first + skipped - int(own[0]))
        yield _Rows(rows, start, keys, skipped, len(kinds) == 1 and not skipped)
