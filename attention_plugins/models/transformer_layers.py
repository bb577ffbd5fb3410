"""The layers of a Transformer around any attention layer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory, SiteKind
from attention_plugins.layers import MULTI_HEAD, AttentionLayer, Kept
from attention_plugins.models.parts import Part, Stack, tie
from attention_plugins.models.protocols import State
from attention_plugins.randomness import dropout
from attention_plugins.registry import get_layer
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

    ``norm(x + f(x))`` as in the paper, or ``x + f(norm(x))`` (Xiong et al. 2020): no slow start.
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
    layer: str = MULTI_HEAD.name

    def attention(self, make_scoring: ScoringFactory, kind: SiteKind) -> AttentionLayer:
        """One sublayer's attention: the chosen layer, where it can stand."""
        spec = self.chosen()
        sizes = LayerSizes(self.hidden, self.heads, self.dropout, kind)
        made = (spec if kind in spec.kinds else MULTI_HEAD).create(make_scoring, sizes)
        return cast("AttentionLayer", made)  # its methods were looked for

    def chosen(self) -> LayerSpec:
        """The layer's record."""
        return MULTI_HEAD if self.layer == MULTI_HEAD.name else get_layer(self.layer)

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

    def __init__(
        self, make_scoring: ScoringFactory, values: Hyperparameters, kind: SiteKind = "encoder"
    ) -> None:
        super().__init__()
        self.attention = values.attention(make_scoring, kind)
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
        self.attention = values.attention(make_scoring, "decoder")
        self.cross = values.attention(make_scoring, "cross")
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
            site = Site("decoder", layer)
            asked, new = self.attention.read(x)
            joined = {
                name: part if (before := state.get(_name(site, name))) is None
                else torch.cat([before, part], dim=-2)
                for name, part in new.items()
            }  # fmt: skip
            keep(state, site, joined)
            return self.attention.attend(tap, site, asked, joined, causal)

        def look_across(x: Tensor) -> Tensor:
            site = Site("cross", layer)
            kept = kept_in(state, site)
            return self.cross.attend(tap, site, self.cross.ask(x), kept, state["mask"])

        first, second, third = self.residuals
        said = first(inputs, look_back)
        return third(second(said, look_across), self.feed_forward)


def keep(state: State, site: Site, kept: Kept) -> None:
    """Lay what a layer remembers at a site into a state."""
    state |= {_name(site, name): part for name, part in kept.items()}


def kept_in(state: State, site: Site) -> Kept:
    """What a layer remembers at a site, by the layer's own names; nothing before the first."""
    start = _name(site, "")
    return {n.removeprefix(start): part for n, part in state.items() if n.startswith(start)}


def positions_in(kept: Kept) -> int:
    """How many positions were remembered."""
    return next((part.shape[-2] for part in kept.values()), 0)


def _name(site: Site, name: str) -> str:
    return f"{site.kind} {site.layer} {name}"
