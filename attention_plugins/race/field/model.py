"""The models that MQAR and MAD are learned with, around any scoring."""

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from attention_plugins.contract import LayerSizes, ScoringFactory
from attention_plugins.layers import MULTI_HEAD, MultiHead
from attention_plugins.models.losses import projected_cross_entropy
from attention_plugins.models.parts import Stack, sinusoidal_positions
from attention_plugins.race.field.tasks import MODELS, FieldTask, Labelled
from attention_plugins.randomness import dropout, pooled_draws
from attention_plugins.tap import Site, Tap

_SPREAD = 0.02  # of initial weights
_TOGETHER = 128  # sequences that go through the layers at a time
# Of a scoring that asks for these each query must know its place among all.
_PLACES = {"positions", "memory", "scores"}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What tells the models of two papers apart.

    Zoology's blocks have no feed-forward network: what its second norm makes is added as it is.
    """

    hidden: int
    heads: int
    dropout: float = 0.0
    positions: bool = False  # learned ones
    tied: bool = False
    feed_forward: bool = False  # and norms by the root mean square
    blocks: int = 2

    def norm(self) -> nn.Module:
        """One of the model's norms."""
        return (nn.RMSNorm if self.feed_forward else nn.LayerNorm)(self.hidden, eps=1e-5)


SHAPES = {name: Shape(**given) for name, given in MODELS.items()}


class GatedFeedForward(nn.Module):
    """``W3 (silu(W1 x) * W2 x)``; Shazeer 2020, GLU variants improve Transformer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        inner = -(-int(2 * size * 4 / 3) // 16) * 16
        self.rise = nn.Linear(size, 2 * inner, bias=False)
        self.fall = nn.Linear(inner, size, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        """``(..., size)`` to ``(..., size)``."""
        gate, value = self.rise(inputs).chunk(2, dim=-1)
        return self.fall(silu(gate) * value)


class Block(nn.Module):
    """Causal self-attention and a network, each behind a norm and added to what it reads."""

    def __init__(self, make_scoring: ScoringFactory, shape: Shape) -> None:
        super().__init__()
        self.norms = Stack(shape.norm() for _ in range(2))
        sizes = LayerSizes(shape.hidden, shape.heads, shape.dropout, "decoder")
        self.attention: MultiHead = MULTI_HEAD.create(make_scoring, sizes)  # type: ignore[assignment]
        self.network = GatedFeedForward(shape.hidden) if shape.feed_forward else nn.Identity()

    @property
    def picks(self) -> bool:
        """Whether some of the queries can be asked without the others."""
        return not _PLACES & {*self.attention.scoring.needs}

    def forward(self, inputs: Tensor, causal: Tensor, site: Site, places: Tensor | None) -> Tensor:
        """``(B, T, size)``; of ``places (B, k)`` alone, ``(B, k, size)``, where they are given."""
        first, second = self.norms
        normed = first(inputs)
        asked, mask = normed, causal
        if places is not None:
            asked, inputs, mask = _at(normed, places), _at(inputs, places), causal[places][:, None]
        inputs = inputs + self.attention(Tap(), site, asked, normed, mask)
        return inputs + self.network(second(inputs))


class FieldModel(nn.Module):
    """Tokens to logits at some places. Every token sees itself and those before it.

    In the last block only those places are queries: nobody reads what the others gather.
    """

    def __init__(self, make_scoring: ScoringFactory, shape: Shape, task: FieldTask) -> None:
        super().__init__()
        self.rate, self.compresses = shape.dropout, task.draw == "compression"
        self.embedding = nn.Embedding(task.vocabulary, shape.hidden)
        self.positions = nn.Embedding(task.length, shape.hidden) if shape.positions else None
        self.blocks = Stack(Block(make_scoring, shape) for _ in range(shape.blocks))
        self.norm = shape.norm()
        self.decoder = _decoder(shape) if self.compresses else None
        self.output = nn.Linear(shape.hidden, task.vocabulary, bias=not shape.tied)
        self._initialise(shape)

    def features(self, batch: Labelled) -> Tensor:
        """What ``output`` reads at the places of a batch, ``(B, k, size)``.

        On a CPU sequences end at their last place, some of about one length at a time: nobody
        reads on, and what lies between two layers stays in cache. A GPU is never waited for.
        """
        lasts = batch.places.amax(dim=1)
        order = lasts.argsort()
        groups = [(batch.rows(order), batch.inputs.shape[1])]
        if lasts.device.type == "cpu":
            parts = order.split(_TOGETHER)
            groups = [(batch.rows(rows), int(lasts[rows[-1]]) + 1) for rows in parts]
        tokens = [one.inputs[:, :length] for one, length in groups]
        looked_up = self.embedding(torch.cat([part.flatten() for part in tokens]))
        found = [
            self._read(hidden.view(*part.shape, -1), one.places)
            for hidden, part, (one, _) in zip(
                looked_up.split([part.numel() for part in tokens]), tokens, groups, strict=True
            )
        ]
        return self.norm(torch.cat(found)[order.argsort()])

    def _read(self, hidden: Tensor, places: Tensor) -> Tensor:
        length = hidden.shape[1]
        if self.positions is not None:
            hidden = hidden + self.positions.weight[:length]
        hidden = dropout(hidden, self.rate, self.training)
        causal = torch.ones(length, length, dtype=torch.bool, device=hidden.device).tril()
        read = places.new_full((len(places), 1), length - 1) if self.compresses else places
        *_, last = self.blocks
        for number, block in enumerate(self.blocks):
            picked = read if block is last and block.picks else None
            hidden = block(hidden, causal, Site("decoder", number), picked)
        hidden = hidden if last.picks else _at(hidden, read)
        if self.decoder is not None:
            hidden = self.decoder(hidden + sinusoidal_positions(places, hidden.shape[-1]))
        return hidden

    def forward(self, batch: Labelled) -> Tensor:
        """Logits ``(B, k, vocabulary)``."""
        return self.output(self.features(batch))

    @pooled_draws()
    def loss(self, batch: Labelled) -> Tensor:
        """Mean cross-entropy in nats; ``batch`` has a label at each of its places."""
        features, target = self.features(batch).flatten(0, 1), batch.labels.flatten()
        return projected_cross_entropy(features, self.output.weight, self.output.bias, target)

    @torch.no_grad()
    def _initialise(self, shape: Shape) -> None:
        """As the authors do, but for the scoring's own weights; MAD's attention as anywhere."""
        for part in filter(None, (self.embedding, self.positions)):
            part.weight.normal_(std=_SPREAD)
        for layer in (block.attention for block in self.blocks if shape.tied):
            layer.projections.weight.normal_(std=_SPREAD)
            layer.output.weight.normal_(std=_SPREAD / math.sqrt(2 * shape.blocks))
        if shape.tied:
            self.output.weight = self.embedding.weight


def _decoder(shape: Shape) -> nn.Sequential:
    wide = partial(nn.Linear, shape.hidden, shape.hidden)
    return nn.Sequential(shape.norm(), wide(), nn.GELU(), shape.norm(), wide(), nn.GELU())


def _at(hidden: Tensor, places: Tensor) -> Tensor:
    return hidden.gather(1, places[..., None].expand(-1, -1, hidden.shape[-1]))
