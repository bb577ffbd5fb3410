"""What an attention layer is: it remembers a sequence, and lets queries attend to it."""

from torch import Tensor, nn

from attention_plugins.tap import Site, Tap

Kept = dict[str, Tensor]


class AttentionLayer(nn.Module):
    """Attention with its projections, at one site of a Transformer.

    Only :meth:`remember` and :meth:`attend` are a must. A Transformer keeps what was remembered,
    joins it along the positions while it writes, and picks rows of the batch in a search: so
    each position is remembered for itself, and nothing stays on the module.

    Attributes:
        signed: whether its weights may be negative.
        sums_to_one: whether each row of its weights sums to 1, as far as it is not its scoring's.
    """

    signed: bool = False
    sums_to_one: bool = True

    def remember(self, inputs: Tensor) -> Kept:
        """What queries are to read of ``inputs (B, n, hidden)``, by names of the layer's own.

        Returns tensors ``(B, n, d)`` or ``(B, heads, n, d)``: positions are next to last.
        """
        raise NotImplementedError(f"{type(self).__name__} needs remember(inputs)")

    def attend(
        self, tap: Tap, site: Site, asked: Tensor, kept: Kept, mask: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """What queries gather, ``(B, n_q, hidden)``; weights leave through ``tap``.

        That is :meth:`Tap.attend` with a scoring that the layer built, or :meth:`Tap.pool` with
        weights that it made itself.

        Args:
            asked: what :meth:`ask` made of the inputs: themselves ``(B, n_q, hidden)``, as a rule.
            kept: what :meth:`remember` made of all positions so far, ``n_k`` of them.
            mask: boolean, broadcasting to ``(B, heads, n_q, n_k)``, or valid lengths ``(B,)``;
                None: every query may attend to every key.
            key_positions: where the keys stand ``(n_k,)``; None: in their order, from 0.
        """
        raise NotImplementedError(f"{type(self).__name__} needs attend(tap, site, asked, kept)")

    def ask(self, inputs: Tensor) -> Tensor:
        """What :meth:`attend` is to get of ``inputs (B, n_q, hidden)``."""
        return inputs

    def read(self, inputs: Tensor) -> tuple[Tensor, Kept]:
        """Both :meth:`ask` and :meth:`remember`, for self-attention: one product may do both."""
        return self.ask(inputs), self.remember(inputs)

    def forward(
        self, tap: Tap, site: Site, queries: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Queries ``(B, n_q, hidden)`` look at ``memory (B, n_k, hidden)``: ``(B, n_q, hidden)``.

        ``mask`` is as in :meth:`attend`.
        """
        asked, kept = (
            self.read(queries) if queries is memory else (self.ask(queries), self.remember(memory))
        )
        return self.attend(tap, site, asked, kept, mask)
