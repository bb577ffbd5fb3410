"""What those layers share that differ from multi-head attention in one step, or by a state."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from attention_plugins.attention import Scoring, as_mask, masked_weights, needs_of, scored
from attention_plugins.contract import LayerSizes, Scalar, ScoringFactory
from attention_plugins.errors import ContractError
from attention_plugins.layers.base import AttentionLayer, Kept
from attention_plugins.layers.multi_head import MultiHead, split_heads
from attention_plugins.tap import Site, Tap

Values = Mapping[str, Scalar]


@dataclass(frozen=True)
class Look:
    """One call of :meth:`AttentionLayer.attend`: ``n_q`` queries look at ``n_k`` keys."""

    tap: Tap
    site: Site
    n_queries: int
    kept: Kept
    mask: Tensor | None
    key_positions: Tensor | None

    def allowed(self) -> Tensor:
        """Which key each query may attend to: ``(..., n_q or 1, n_k)``, with or without heads."""
        values = self.kept["values"]
        shape = torch.Size((*values.shape[:-2], self.n_queries, values.shape[-2]))
        if self.mask is None:
            return torch.ones(1, shape[-1], dtype=torch.bool, device=values.device)
        allowed = as_mask(self.mask, shape)
        return allowed if allowed.dim() > 1 else allowed[None]

    def places(self) -> tuple[Tensor, Tensor]:
        """Where queries ``(n_q,)`` and keys ``(n_k,)`` stand: queries are the last keys.

        ContractError: at a site where they are not.
        """
        if self.site.kind != "decoder":
            raise ContractError(
                "this attention layer looks back at the words before; at a site of the kind "
                f"{self.site.kind} words look elsewhere, or ahead"
            )
        values = self.kept["values"]
        count = torch.arange(values.shape[-2], device=values.device)
        return count[len(count) - self.n_queries :], count

    def before(self, steps: int = 0) -> Tensor:
        """Those of :meth:`allowed` that come no later than so many steps before the query."""
        rows, columns = self.places()
        return self.allowed() & (columns <= rows[:, None] - steps)

    def words(self) -> Tensor:
        """What every query may attend to, ``(..., 1, n_k)``; ContractError if they differ."""
        allowed = self.allowed()
        if allowed.shape[-2] > 1 and bool((allowed != allowed[..., :1, :]).any()):
            raise ContractError(
                "this attention layer mixes all words that it is given; it cannot stand where a "
                "word must not see those after it"
            )
        return allowed[..., :1, :]


class Extended(MultiHead):
    """Multi-head attention whose gates read the layer's inputs, and which may remember more.

    What asks are the inputs themselves. Subclasses say what heads gather in :meth:`look`, and
    what is remembered besides keys and values in :meth:`more`.

    Attributes:
        takes: what the scoring may need, its own pool and normaliser too; None: anything.

    ContractError: the scoring needs anything else.
    """

    takes: tuple[str, ...] | None = ("positions", "its own normaliser")

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(
            lambda site: self._limited(make_scoring(site)), sizes.hidden, sizes.heads,
            dropout=sizes.dropout, kind=sizes.kind,
        )  # fmt: skip
        self.size = sizes.hidden // sizes.heads

    def _limited(self, scoring: Scoring) -> Scoring:
        kind, needed = type(scoring), {*scoring.needs}
        if kind.pool is not Scoring.pool:
            needed.add("its own pool")
        if scoring.normaliser is not None or kind.normalise is not Scoring.normalise:
            needed.add("its own normaliser")
        if self.takes is not None and (refused := needed.difference(self.takes)):
            layer, parts, name = type(self).__name__, " or ".join(sorted(refused)), kind.__name__
            raise ContractError(
                f"{layer} takes no scoring that needs {parts}, as {name}; one that it takes is "
                "scaled_dot"
            )
        return scoring

    ask, read = AttentionLayer.ask, AttentionLayer.read  # not one product with the keys

    def remember(self, inputs: Tensor) -> Kept:
        """Keys and values, and :meth:`more`."""
        return super().remember(inputs) | self.more(inputs)

    def more(self, inputs: Tensor) -> Kept:
        """What is remembered of ``inputs (B, n, hidden)`` besides keys and values."""
        return {}

    def queries(self, inputs: Tensor) -> Tensor:
        """Queries ``(B, heads, n, d)``."""
        return super().ask(inputs)

    def gather(
        self, tap: Tap, site: Site, asked: Tensor, kept: Kept, mask: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """What each head gathers for the inputs ``asked``, ``(B, heads, n_q, d)``."""
        return self.look(Look(tap, site, asked.shape[1], kept, mask, key_positions), asked)

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What each head gathers for ``inputs (B, n_q, hidden)``, ``(B, heads, n_q, d)``."""
        raise NotImplementedError(f"{type(self).__name__} needs look(at, inputs)")

    def scores(
        self, at: Look, queries: Tensor, keys: Tensor | None = None, *, before: int = 0
    ) -> Tensor:
        """Scores ``(B, heads, n, n_k)`` of ``queries (B, heads, n, d)`` and what is kept.

        The first query comes so many places ``before`` the call's first. Other ``keys`` are as
        those kept.
        """
        keys, first = at.kept["keys"] if keys is None else keys, at.tap.answered(at.site) - before
        needs = needs_of(self.scoring, queries.shape[-2], keys, first, None, at.key_positions)
        return scored(self.scoring, self.scoring.project_queries(queries), keys, needs)

    def weights(self, scores: Tensor, allowed: Tensor) -> Tensor:
        """Scores to weights, by the chosen normaliser; 0 on keys that are not allowed."""
        return masked_weights(scores, allowed, self.scoring.normalise)

    def pooled(self, at: Look, weights: Tensor) -> Tensor:
        """What values make under weights ``(B, heads, n_q, n_k)`` that the layer made."""
        return at.tap.pool(at.site, weights, at.kept["values"], at.mask, dropout=self.dropped)

    @property
    def dropped(self) -> float:
        """The share of the weights to drop now."""
        return self.rate if self.training else 0.0


class Recurrent(Extended):
    """Weights of products that no softmax divides; each head's output is normalised instead.

    The weights are those with which the recurrence's output sums up the values. What is
    remembered is every word, not the state: the map has a column for each.

    Attributes:
        gated: whether each head's output is multiplied by ``silu`` of what the inputs become.
    """

    signed, sums_to_one, gated = True, False, False

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(lambda site: Scoring(), sizes, values)
        self.norm = nn.RMSNorm(self.size, eps=1e-5)
        self.gate = nn.Linear(sizes.hidden, sizes.hidden) if self.gated else None

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """The values under :meth:`products`, normalised, and gated if there is a gate."""
        before = at.before()
        products = self.products(at, self.queries(inputs), before) / self.size**0.5
        found = self.norm(self.pooled(at, products.masked_fill(~before, 0.0)))
        if self.gate is None:
            return found
        return found * split_heads(silu(self.gate(inputs)), self.heads)

    def products(self, at: Look, queries: Tensor, before: Tensor) -> Tensor:
        """Weights ``(B, heads, n_q, n_k)`` times ``sqrt(d)``; any number on keys not ``before``.

        ``queries`` are ``(B, heads, n_q, d)``.
        """
        raise NotImplementedError(f"{type(self).__name__} needs products(at, queries, before)")
