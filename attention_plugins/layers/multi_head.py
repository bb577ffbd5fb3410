"""Multi-head attention, with any scoring function."""

from typing import Literal

from torch import Tensor, nn
from torch.nn.functional import linear

from attention_plugins.contract import ContractError, LayerSpec, ScoringFactory, SiteKind, Sizes
from attention_plugins.layers.base import AttentionLayer, Kept
from attention_plugins.tap import Site, Tap


def split_heads(tensor: Tensor, heads: int) -> Tensor:
    """``(B, n, heads * d)`` to ``(B, heads, n, d)``, each head's rows in one stretch of memory."""
    if heads == 1:
        return tensor.unsqueeze(-3)
    return tensor.unflatten(-1, (heads, -1)).transpose(-3, -2).contiguous()


def merge_heads(tensor: Tensor) -> Tensor:
    """``(B, heads, n, d)`` back to ``(B, n, heads * d)``."""
    return tensor.transpose(-3, -2).flatten(-2)


class MultiHead(AttentionLayer):
    """Several attentions side by side, each on its own slice of the projections.

    All heads of all three projections lie in one matrix, so that self-attention is one product.
    The scoring is built once, for one head's size, and is shared by the heads.

    With fewer heads of keys and values than of queries, neighbouring query heads share one
    (Ainslie et al. 2023; with a single one, Shazeer 2019). What is kept while decoding is then
    as much smaller; the scoring still meets every head, as it may have weights for each.

    Args:
        make_scoring: builds the scoring for one head's sizes.
        size: of queries, keys, values and output.
        heads: must divide ``size``.
        key_heads: heads of keys and values, must divide ``heads``; None: as many.
        dropout: share of the weights dropped while training.
        kind: of the site, see :class:`~attention_plugins.contract.Sizes`.

    Raises:
        ContractError: heads that do not divide the size, or key heads that do not divide them.
    """

    def __init__(
        self, make_scoring: ScoringFactory, size: int, heads: int, *, key_heads: int | None = None,
        dropout: float = 0.0, kind: SiteKind | Literal[""] = "",
    ) -> None:  # fmt: skip
        super().__init__()
        if size % heads:
            raise ContractError(f"need heads that divide the hidden size {size}, got {heads}")
        self.heads, self.key_heads, self.rate = heads, key_heads or heads, dropout
        if heads % self.key_heads:
            raise ContractError(
                f"need key heads that divide the {heads} heads, got {self.key_heads}"
            )
        head = size // heads
        kept = self.key_heads * head
        self._widths = size, kept, kept  # of queries, keys and values
        self.projections = nn.Linear(size, sum(self._widths))
        self.scoring = make_scoring(
            Sizes(query=head, key=head, hidden=head, heads=heads, value=head, kind=kind)
        )
        self.output = nn.Linear(size, size)
        # Glorot & Bengio 2010, each projection as a matrix of its own; biases 0.
        for matrix in (*self.projections.weight.data.split(self._widths), self.output.weight):
            nn.init.xavier_uniform_(matrix)
        for layer in (self.projections, self.output):
            nn.init.zeros_(layer.bias)

    def read(self, inputs: Tensor) -> tuple[Tensor, Kept]:
        """Queries ``(B, heads, n, d)``, and what :meth:`remember` gives, in one product."""
        queries, keys, values = self.projections(inputs).split(self._widths, dim=-1)
        return split_heads(queries, self.heads), self._keep(keys, values)

    def ask(self, inputs: Tensor) -> Tensor:
        """Queries ``(B, heads, n, d)``."""
        return split_heads(self._part(inputs, slice(None, self._widths[0])), self.heads)

    def remember(self, inputs: Tensor) -> Kept:
        """``keys`` and ``values (B, key_heads, n, d)``: made once, looked at in every step.

        Keys are ready for the scoring, unless heads share them.
        """
        kept = self._part(inputs, slice(self._widths[0], None))
        return self._keep(*kept.split(self._widths[1:], dim=-1))

    def _keep(self, keys: Tensor, values: Tensor) -> Kept:
        keys, values = (split_heads(part, self.key_heads) for part in (keys, values))
        return {
            "keys": keys if self._shares else self.scoring.project_keys(keys), "values": values
        }  # fmt: skip

    @property
    def _shares(self) -> bool:
        return self.key_heads < self.heads

    def attend(
        self, tap: Tap, site: Site, asked: Tensor, kept: Kept, mask: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Attention of projected queries, ``(B, n_q, size)``; see :meth:`Tap.attend`."""
        return self.output(merge_heads(self.gather(tap, site, asked, kept, mask, key_positions)))

    def gather(
        self, tap: Tap, site: Site, asked: Tensor, kept: Kept, mask: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """What each head gathers ``(B, heads, n_q, d)``, before the output's projection."""
        keys, values = kept["keys"], kept["values"]
        if self._shares:
            times = self.heads // self.key_heads
            keys, values = (part.repeat_interleave(times, dim=-3) for part in (keys, values))
        return tap.attend(
            site, self.scoring, asked, keys, values, mask,
            dropout=self.rate if self.training else 0.0, keys_projected=not self._shares,
            key_positions=key_positions,
        )  # fmt: skip

    def _part(self, inputs: Tensor, columns: slice) -> Tensor:
        """Some columns of the three projections, which lie side by side."""
        return linear(inputs, self.projections.weight[columns], self.projections.bias[columns])


MULTI_HEAD = LayerSpec(
    name="multi_head",
    title="Multi-head attention",
    formula=r"\operatorname{Concat}(\text{head}_1, \dots, \text{head}_H)\,W^O",
    build=lambda make_scoring, sizes, values: MultiHead(
        make_scoring, sizes.hidden, sizes.heads, dropout=sizes.dropout, kind=sizes.kind
    ),
    reference="Vaswani et al. 2017, Attention is all you need, section 3.2.2",
    description="Heads side by side, each with projections of its own, share one scoring.",
)
