"""Multi-head attention over any scoring function."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import linear

from attention_plugins.contract import ContractError, ScoringFactory, Sizes
from attention_plugins.tap import Site, Tap


def split_heads(tensor: Tensor, heads: int) -> Tensor:
    """``(B, n, heads * d)`` to ``(B, heads, n, d)``."""
    return tensor.unflatten(-1, (heads, -1)).transpose(-3, -2)


def merge_heads(tensor: Tensor) -> Tensor:
    """``(B, heads, n, d)`` back to ``(B, n, heads * d)``."""
    return tensor.transpose(-3, -2).flatten(-2)


class MultiHead(nn.Module):
    """Several attentions side by side, each on its own slice of the projections.

    All heads of all three projections lie in one matrix, so that self-attention is one product.
    The scoring is built once, for one head's size, and is shared by the heads.

    Args:
        make_scoring: builds the scoring for one head's sizes.
        size: of queries, keys, values and output.
        heads: must divide ``size``.
        dropout: share of the weights dropped while training.
        bias: whether the projections have biases.

    Raises:
        ContractError: heads that do not divide the size.
    """

    def __init__(
        self,
        make_scoring: ScoringFactory,
        size: int,
        heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if size % heads:
            raise ContractError(f"need heads that divide the hidden size {size}, got {heads}")
        self.heads, self.rate = heads, dropout
        head = size // heads
        self.projections = nn.Linear(size, 3 * size, bias=bias)
        self.scoring = make_scoring(
            Sizes(query=head, key=head, hidden=head, heads=heads, value=head)
        )
        self.output = nn.Linear(size, size, bias=bias)
        self._initialise()

    def _initialise(self) -> None:
        """Glorot & Bengio 2010, each projection as a matrix of its own; biases 0."""
        for matrix in (*self.projections.weight.data.chunk(3), self.output.weight):
            nn.init.xavier_uniform_(matrix)
        for layer in (self.projections, self.output):
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)

    def forward(
        self, tap: Tap, site: Site, queries: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Queries ``(B, n_q, size)`` look at ``memory (B, n_k, size)``: ``(B, n_q, size)``.

        Args:
            mask: boolean, broadcasting to ``(B, heads, n_q, n_k)``, or valid lengths.
        """
        if queries is memory:
            return self.look(tap, site, *self.project(queries), mask)
        return self.look(tap, site, self.project_queries(queries), *self.remember(memory), mask)

    def project(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys ready for the scoring, and values of ``(B, n, size)``, by heads."""
        queries, keys, values = (
            split_heads(part, self.heads) for part in self.projections(inputs).chunk(3, dim=-1)
        )
        return queries, self.scoring.project_keys(keys), values

    def project_queries(self, inputs: Tensor) -> Tensor:
        """Queries ``(B, heads, n, d)``."""
        return split_heads(self._part(inputs, 0, 1), self.heads)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys ready for the scoring and values: made once, looked at in every step."""
        keys, values = (
            split_heads(part, self.heads) for part in self._part(memory, 1, 3).chunk(2, dim=-1)
        )
        return self.scoring.project_keys(keys), values

    def look(
        self,
        tap: Tap,
        site: Site,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Attention of projected queries, ``(B, n_q, size)``."""
        heads = tap.attend(
            site, self.scoring, queries, keys, values, mask,
            dropout=self.rate if self.training else 0.0, keys_projected=True,
        )  # fmt: skip
        return self.output(merge_heads(heads))

    def _part(self, inputs: Tensor, first: int, last: int) -> Tensor:
        """The projections numbered ``first`` to ``last`` of: queries, keys, values."""
        size = self.output.in_features
        rows = slice(first * size, last * size)
        bias = self.projections.bias
        return linear(inputs, self.projections.weight[rows], None if bias is None else bias[rows])
