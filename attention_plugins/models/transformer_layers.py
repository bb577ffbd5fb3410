"""The layers of a Transformer, attending with any scoring function."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attention_plugins.contract import ContractError, ScoringFactory, Sizes
from attention_plugins.models.parts import Part, Stack, tie
from attention_plugins.models.protocols import State
from attention_plugins.randomness import dropout
from attention_plugins.tap import Site, Tap


def split_heads(tensor: Tensor, heads: int) -> Tensor:
    """``(B, n, heads * d)`` to ``(B, heads, n, d)``, each head's rows in one stretch of memory."""
    return tensor.unflatten(-1, (heads, -1)).transpose(-3, -2).contiguous()


def merge_heads(tensor: Tensor) -> Tensor:
    """``(B, heads, n, d)`` back to ``(B, n, heads * d)``."""
    return tensor.transpose(-3, -2).flatten(-2)


class MultiHead(nn.Module):
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

    Raises:
        ContractError: heads that do not divide the size, or key heads that do not divide them.
    """

    def __init__(
        self,
        make_scoring: ScoringFactory,
        size: int,
        heads: int,
        *,
        key_heads: int | None = None,
        dropout: float = 0.0,
    ) -> None:
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
            Sizes(query=head, key=head, hidden=head, heads=heads, value=head)
        )
        self.output = nn.Linear(size, size)
        # Glorot & Bengio 2010, each projection as a matrix of its own; biases 0.
        for matrix in (*self.projections.weight.data.split(self._widths), self.output.weight):
            nn.init.xavier_uniform_(matrix)
        for layer in (self.projections, self.output):
            nn.init.zeros_(layer.bias)

    def forward(
        self, tap: Tap, site: Site, queries: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """Queries ``(B, n_q, size)`` look at ``memory (B, n_k, size)``: ``(B, n_q, size)``.

        ``mask``: boolean, broadcasting to ``(B, heads, n_q, n_k)``, or valid lengths.
        """
        if queries is memory:
            return self.look(tap, site, *self.project(queries), mask)
        return self.look(tap, site, self.project_queries(queries), *self.remember(memory), mask)

    def project(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries of ``(B, n, size)``, and keys and values as :meth:`remember` gives them."""
        queries, keys, values = self.projections(inputs).split(self._widths, dim=-1)
        return split_heads(queries, self.heads), *self._keep(keys, values)

    def project_queries(self, inputs: Tensor) -> Tensor:
        """Queries ``(B, heads, n, d)``."""
        return split_heads(self._part(inputs, slice(None, self._widths[0])), self.heads)

    def remember(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values ``(B, key_heads, n, d)``: made once, looked at in every step.

        Keys are ready for the scoring, unless heads share them.
        """
        kept = self._part(memory, slice(self._widths[0], None))
        return self._keep(*kept.split(self._widths[1:], dim=-1))

    def _keep(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = (split_heads(part, self.key_heads) for part in (keys, values))
        return (keys if self._shares else self.scoring.project_keys(keys)), values

    @property
    def _shares(self) -> bool:
        return self.key_heads < self.heads

    def look(
        self,
        tap: Tap,
        site: Site,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:
        """Attention of projected queries, ``(B, n_q, size)``; see :meth:`Tap.attend`."""
        if self._shares:
            times = self.heads // self.key_heads
            keys, values = (part.repeat_interleave(times, dim=-3) for part in (keys, values))
        heads = tap.attend(
            site, self.scoring, queries, keys, values, mask,
            dropout=self.rate if self.training else 0.0, keys_projected=not self._shares,
            key_positions=key_positions,
        )  # fmt: skip
        return self.output(merge_heads(heads))

    def _part(self, inputs: Tensor, columns: slice) -> Tensor:
        """Some columns of the three projections, which lie side by side."""
        return linear(inputs, self.projections.weight[columns], self.projections.bias[columns])


class FeedForward(nn.Module):
    """The same two-layer network at every position."""

    def __init__(self, size: int, inner: int, rate: float) -> None:
        super().__init__()
        self.rise, self.fall, self.rate = nn.Linear(size, inner), nn.Linear(inner, size), rate

    def forward(self, inputs: Tensor) -> Tensor:
        """``(..., size)`` to ``(..., size)``."""
        return self.fall(dropout(self.rise(inputs).relu_(), self.rate, self.training))


class AddNorm(nn.Module):
    """A residual connection around a sublayer, with layer norm over the features.

    ``norm(x + f(x))`` as in the paper, or ``x + f(norm(x))`` (Xiong et al. 2020), which trains
    without a slow start.
    """

    def __init__(self, size: int, rate: float, pre_norm: bool) -> None:
        super().__init__()
        self.norm, self.rate, self.pre_norm = nn.LayerNorm(size), rate, pre_norm

    def forward(self, inputs: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """``(..., size)`` to ``(..., size)``."""
        total = inputs + dropout(sublayer(self.before(inputs)), self.rate, self.training)
        return total if self.pre_norm else self.norm(total)

    def before(self, inputs: Tensor) -> Tensor:
        """What the sublayer is given."""
        return self.norm(inputs) if self.pre_norm else inputs


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """The model's parameters, see ``TRANSFORMER``, and the parts that follow from them.

    A variant of the model is another record of this kind, which makes other parts.
    """

    hidden: int
    heads: int
    layers: int
    ffn: int
    dropout: float
    pre_norm: bool
    tied: bool

    def attention(self, make_scoring: ScoringFactory) -> MultiHead:
        """One sublayer's attention."""
        return MultiHead(make_scoring, self.hidden, self.heads, dropout=self.dropout)

    def feed_forward(self) -> FeedForward:
        """One sublayer's network."""
        return FeedForward(self.hidden, self.ffn, self.dropout)

    def stack(self, make_layer: Callable[[], Part]) -> Stack[Part]:
        """The layers of the encoder or of the decoder, in their order."""
        return Stack(make_layer() for _ in range(self.layers))

    def last_norm(self) -> nn.Module:
        """What follows the last layer of a stack: without it nothing bounds a sum of residuals."""
        return nn.LayerNorm(self.hidden) if self.pre_norm else nn.Identity()

    def residuals(self, sublayers: int) -> Stack[AddNorm]:
        """A residual connection for each sublayer."""
        return Stack(AddNorm(self.hidden, self.dropout, self.pre_norm) for _ in range(sublayers))


def initialise(
    model: nn.Module, output: nn.Linear, embeddings: tuple[nn.Embedding, nn.Embedding], tied: bool
) -> None:
    """Glorot & Bengio 2010 for every matrix, as d2l.ai does; tied embeddings small.

    The ``embeddings`` are of source and target; ``output`` may be tied to the latter.
    """
    networks = [part for part in model.modules() if isinstance(part, FeedForward)]
    for weight in (*(weight for each in networks for weight in each.parameters()), output.weight):
        if weight.dim() > 1:
            nn.init.xavier_uniform_(weight)
    if tied:
        tie(output, embeddings[1], embeddings)


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(self, make_scoring: ScoringFactory, values: Hyperparameters) -> None:
        super().__init__()
        self.attention = values.attention(make_scoring)
        self.feed_forward = values.feed_forward()
        self.residuals = values.residuals(2)

    def forward(self, inputs: Tensor, mask: Tensor, tap: Tap, site: Site) -> Tensor:
        """``(B, n, size)`` to the same, with a mask that broadcasts to ``(B, heads, n, n)``."""
        return self.around(inputs, lambda x: self.attention(tap, site, x, x, mask))

    def around(self, inputs: Tensor, look: Callable[[Tensor], Tensor]) -> Tensor:
        """The sublayers around ``look``, any attention: ``(B, n, size)`` to the same."""
        first, second = self.residuals
        return second(first(inputs, look), self.feed_forward)

    def before(self, inputs: Tensor) -> Tensor:
        """What ``look`` is given."""
        return next(iter(self.residuals)).before(inputs)


class DecoderLayer(nn.Module):
    """Self-attention over the words so far, attention to the source, feed-forward network."""

    def __init__(self, make_scoring: ScoringFactory, values: Hyperparameters) -> None:
        super().__init__()
        self.attention = values.attention(make_scoring)
        self.cross = values.attention(make_scoring)
        self.feed_forward = values.feed_forward()
        self.residuals = values.residuals(3)

    def forward(
        self, inputs: Tensor, state: State, causal: Tensor | None, tap: Tap, layer: int
    ) -> Tensor:
        """``(B, m, size)`` to the same. Keys and values of the inputs join those in ``state``.

        Args:
            causal: ``(m, m)``, True where a word may look; None for one, which may look at all.
            layer: its number in the stack, from 0.
        """

        def look_back(x: Tensor) -> Tensor:
            queries, keys, values = self.attention.project(x)
            keys = _append(state, f"keys {layer}", keys)
            values = _append(state, f"values {layer}", values)
            return self.attention.look(tap, Site("decoder", layer), queries, keys, values, causal)

        def look_across(x: Tensor) -> Tensor:
            keys, values = (state[f"cross {what} {layer}"] for what in ("keys", "values"))
            queries = self.cross.project_queries(x)
            site = Site("cross", layer)
            return self.cross.look(tap, site, queries, keys, values, state["mask"])

        first, second, third = self.residuals
        said = first(inputs, look_back)
        seen = second(said, look_across)
        return third(seen, self.feed_forward)


def _append(state: State, name: str, new: Tensor) -> Tensor:
    state[name] = torch.cat([state[name], new], dim=-2) if name in state else new
    return state[name]
