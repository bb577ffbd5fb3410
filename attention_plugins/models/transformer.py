"""The Transformer of Vaswani et al. 2017, attending with any scoring function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from attention_plugins.attention import as_mask
from attention_plugins.contract import ModelSizes, ModelSpec, Parameter, Scalar, ScoringFactory
from attention_plugins.models.losses import projected_cross_entropy, valid_positions
from attention_plugins.models.multi_head import MultiHead
from attention_plugins.models.positions import sinusoidal_positions
from attention_plugins.models.protocols import Batch, State
from attention_plugins.tap import Site, Tap
from attention_plugins.text import BOS_ID


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
        if self.pre_norm:
            return inputs + dropout(sublayer(self.norm(inputs)), self.rate, self.training)
        return self.norm(inputs + dropout(sublayer(inputs), self.rate, self.training))


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(
        self, make_scoring: ScoringFactory, values: Mapping[str, Scalar], layer: int
    ) -> None:
        super().__init__()
        size, rate = values["hidden"], values["dropout"]
        self.site = Site("encoder", layer)
        self.attention = MultiHead(make_scoring, size, values["heads"], dropout=rate)
        self.feed_forward = FeedForward(size, values["ffn"], rate)
        self.residuals = nn.ModuleList(AddNorm(size, rate, values["pre_norm"]) for _ in range(2))

    def forward(self, inputs: Tensor, mask: Tensor, tap: Tap) -> Tensor:
        """``(B, n, size)`` to the same; ``mask (B, 1, 1, n)``."""
        seen = self.residuals[0](inputs, lambda x: self.attention(tap, self.site, x, x, mask))
        return self.residuals[1](seen, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention over the words so far, attention to the source, feed-forward network."""

    def __init__(
        self, make_scoring: ScoringFactory, values: Mapping[str, Scalar], layer: int
    ) -> None:
        super().__init__()
        size, heads, rate = values["hidden"], values["heads"], values["dropout"]
        self.layer = layer
        self.attention = MultiHead(make_scoring, size, heads, dropout=rate)
        self.cross = MultiHead(make_scoring, size, heads, dropout=rate)
        self.feed_forward = FeedForward(size, values["ffn"], rate)
        self.residuals = nn.ModuleList(AddNorm(size, rate, values["pre_norm"]) for _ in range(3))

    def forward(self, inputs: Tensor, state: State, causal: Tensor | None, tap: Tap) -> Tensor:
        """``(B, m, size)`` to the same. Keys and values of the inputs join those in ``state``.

        Args:
            causal: ``(m, m)``, True where a word may look; None for one word, which may look at
                everything so far.
        """

        def look_back(x: Tensor) -> Tensor:
            queries, keys, values = self.attention.project(x)
            keys = self._append(state, "keys", keys)
            values = self._append(state, "values", values)
            return self.attention.look(
                tap, Site("decoder", self.layer), queries, keys, values, causal
            )

        def look_across(x: Tensor) -> Tensor:
            keys, values = (state[f"cross {what} {self.layer}"] for what in ("keys", "values"))
            queries = self.cross.project_queries(x)
            site = Site("cross", self.layer)
            return self.cross.look(tap, site, queries, keys, values, state["mask"])

        said = self.residuals[0](inputs, look_back)
        seen = self.residuals[1](said, look_across)
        return self.residuals[2](seen, self.feed_forward)

    def _append(self, state: State, what: str, new: Tensor) -> Tensor:
        name = f"{what} {self.layer}"
        state[name] = torch.cat([state[name], new], dim=-2) if name in state else new
        return state[name]


class Transformer(nn.Module):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`."""

    def __init__(
        self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Mapping[str, Scalar]
    ) -> None:
        super().__init__()
        size, layers = values["hidden"], range(values["layers"])
        self.rate = values["dropout"]
        self.source_embedding = nn.Embedding(sizes.source, size)
        self.target_embedding = nn.Embedding(sizes.target, size)
        self.encoder = nn.ModuleList(EncoderLayer(make_scoring, values, i) for i in layers)
        self.decoder = nn.ModuleList(DecoderLayer(make_scoring, values, i) for i in layers)
        last_norm = nn.LayerNorm if values["pre_norm"] else _nothing
        self.encoder_norm, self.decoder_norm = last_norm(size), last_norm(size)
        self.output = nn.Linear(size, sizes.target)
        self._initialise(values["tied"])

    def _initialise(self, tied: bool) -> None:
        """Glorot & Bengio 2010 for every matrix, as d2l.ai does; tied embeddings small."""
        feed_forwards = (layer.feed_forward for layer in (*self.encoder, *self.decoder))
        for matrix in (*(m for f in feed_forwards for m in (f.rise, f.fall)), self.output):
            nn.init.xavier_uniform_(matrix.weight)
        if tied:
            self.output.weight = self.target_embedding.weight
            # One matrix reads words and scores them: unit rows as input would give huge logits.
            for embedding in (self.source_embedding, self.target_embedding):
                nn.init.normal_(embedding.weight, std=embedding.embedding_dim**-0.5)
            nn.init.zeros_(self.output.bias)

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; every layer's cross keys and values are made here, once."""
        shape = torch.Size((len(source), 1, 1, source.shape[1]))
        mask = as_mask(source_lengths, shape)  # (B, 1, 1, n)
        memory = self._embed(self.source_embedding, source, 0)
        for layer in self.encoder:
            memory = layer(memory, mask, tap)
        memory = self.encoder_norm(memory)
        state = {"mask": mask}
        for number, layer in enumerate(self.decoder):
            keys, values = layer.cross.remember(memory)  # (B, heads, n, d)
            state[f"cross keys {number}"], state[f"cross values {number}"] = keys, values
        return state

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """One word further: ``(B, vocabulary)`` log-probabilities, and the next state."""
        new = dict(state)
        so_far = state["keys 0"].shape[-2] if "keys 0" in state else 0
        inputs = self._embed(self.target_embedding, tokens[:, None], so_far)
        features = self._decode(inputs, new, None, tap)[:, 0]
        return self.output(features).log_softmax(dim=-1), new

    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy in nats per target token, with the right words forced."""
        features = self.forced(batch.source, batch.source_lengths, batch.target, Tap())
        counts = valid_positions(batch.target_lengths, batch.target.shape[1])  # (B, m)
        return projected_cross_entropy(
            features[counts], self.output.weight, self.output.bias, batch.target[counts],
            label_smoothing,
        )  # fmt: skip

    def forced(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What the output layer reads when ``target (B, m)`` is forced, all words at once.

        Returns:
            ``(B, m, size)``; row t knows the words before t only.
        """
        state = self.start(source, lengths, tap)
        begin = torch.full_like(target[:, :1], BOS_ID)
        inputs = self._embed(self.target_embedding, torch.cat([begin, target[:, :-1]], dim=1), 0)
        words = target.shape[1]
        causal = torch.ones(words, words, dtype=torch.bool, device=target.device).tril()
        return self._decode(inputs, state, causal, tap)

    def _decode(self, inputs: Tensor, state: State, causal: Tensor | None, tap: Tap) -> Tensor:
        for layer in self.decoder:
            inputs = layer(inputs, state, causal, tap)
        return self.decoder_norm(inputs)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, first: int) -> Tensor:
        """Scaled embeddings plus positions, which are counted from ``first``."""
        words = embedding(tokens) * math.sqrt(embedding.embedding_dim)
        places = torch.arange(first, first + tokens.shape[1], device=tokens.device)
        positions = sinusoidal_positions(places, embedding.embedding_dim, words.dtype)
        return dropout(words + positions, self.rate, self.training)


def _nothing(size: int) -> nn.Module:
    return nn.Identity()


TRANSFORMER = ModelSpec(
    name="transformer",
    title="Transformer",
    task="translation",
    build=Transformer,
    parameters=(
        Parameter(name="hidden", title="Hidden size", default=32, low=2, high=1024, step=2),
        Parameter(name="heads", title="Heads", default=4, low=1, high=32),
        Parameter(name="layers", title="Layers", default=2, low=1, high=12),
        Parameter(
            name="ffn", title="Feed-forward size", default=64, low=2, high=8192, step=2,
            help="Hidden units of the network that each position passes after attending.",
        ),
        Parameter(name="dropout", title="Dropout", default=0.1, low=0.0, high=0.9, step=0.05),
        Parameter(
            name="pre_norm",
            title="Normalise first",
            default=False,
            help="Layer norm before each sublayer instead of after the residual sum.",
        ),
        Parameter(
            name="tied",
            title="Tied output",
            default=False,
            help="The output layer shares its matrix with the target embedding.",
        ),
    ),
    reference="Vaswani et al. 2017, Attention is all you need",
    description="Every word looks at every other: source words at each other, target words at "
    "those before them and at the source, with several heads per layer.",
)  # fmt: skip
