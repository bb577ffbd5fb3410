"""The layers of a Transformer, attending with any scoring function."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attention_plugins.contract import ScoringFactory
from attention_plugins.models.multi_head import MultiHead
from attention_plugins.models.parts import Part, Stack, tie
from attention_plugins.models.protocols import State
from attention_plugins.randomness import dropout
from attention_plugins.tap import Site, Tap


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

    Args:
        embeddings: of source and target; ``output`` may be tied to the latter.
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

    def forward(self, inputs: Tensor, mask: Tensor, tap: Tap, layer: int) -> Tensor:
        """``(B, n, size)`` to the same.

        Args:
            mask: ``(B, 1, 1, n)``.
            layer: its number in the stack, from 0.
        """
        site = Site("encoder", layer)
        return self.around(inputs, lambda x: self.attention(tap, site, x, x, mask))

    def around(self, inputs: Tensor, look: Callable[[Tensor], Tensor]) -> Tensor:
        """The sublayers around any attention, ``(B, n, size)`` to the same.

        Args:
            look: what the layer sees of others, by way of its ``attention``; shapes alike.
        """
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
            layer: its number in the stack, from 0.
            causal: ``(m, m)``, True where a word may look; None for one word, which may look at
                everything so far.
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
