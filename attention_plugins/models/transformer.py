"""The Transformer of Vaswani et al. 2017, attending with any scoring function."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import as_mask
from attention_plugins.contract import (
    ModelSizes,
    ModelSpec,
    Parameter,
    Scalar,
    ScoringFactory,
    as_record,
)
from attention_plugins.models.losses import shifted, target_log_probabilities, target_loss
from attention_plugins.models.protocols import Batch, State
from attention_plugins.models.stack import Stack
from attention_plugins.models.transformer_layers import (
    DecoderLayer,
    EncoderLayer,
    Hyperparameters,
    initialise,
)
from attention_plugins.models.words import placed
from attention_plugins.randomness import pooled_draws
from attention_plugins.tap import Tap


class Transformer(nn.Module):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`.

    Attributes:
        record: what makes its parts of the parameters; variants of the model have others.
    """

    record: type[Hyperparameters] = Hyperparameters

    def __init__(
        self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Mapping[str, Scalar]
    ) -> None:
        super().__init__()
        known = as_record(self.record, values)
        size, self.rate = known.hidden, known.dropout
        self.source_embedding = nn.Embedding(sizes.source, size)
        self.target_embedding = nn.Embedding(sizes.target, size)
        self.encoder: Stack[EncoderLayer] = known.stack(lambda: EncoderLayer(make_scoring, known))
        self.decoder: Stack[DecoderLayer] = known.stack(lambda: DecoderLayer(make_scoring, known))
        self.encoder_norm, self.decoder_norm = known.last_norm(), known.last_norm()
        self.output = nn.Linear(size, sizes.target)
        embeddings = self.source_embedding, self.target_embedding
        initialise(self, self.output, embeddings, known.tied)

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; every layer's cross keys and values are made here, once."""
        shape = torch.Size((len(source), 1, 1, source.shape[1]))
        mask = as_mask(source_lengths, shape)  # (B, 1, 1, n)
        memory = self._embed(self.source_embedding, source, 0)
        for number, layer in enumerate(self.encoder):
            memory = layer(memory, mask, tap, number)
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

    @pooled_draws()
    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy in nats per target token, with the right words forced."""
        features = self.forced(batch.source, batch.source_lengths, batch.target, Tap())
        return target_loss(features, self.output, batch, label_smoothing)

    def forced(self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap) -> Tensor:
        """What the output layer reads when ``target (B, m)`` is forced, all words at once.

        Returns:
            ``(B, m, size)``; row t knows the words before t only.
        """
        state = self.start(source, lengths, tap)
        inputs = self._embed(self.target_embedding, shifted(target), 0)
        words = target.shape[1]
        causal = torch.ones(words, words, dtype=torch.bool, device=target.device).tril()
        return self._decode(inputs, state, causal, tap)

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Of all words of ``target (B, m)`` at once, ``(B, m)``."""
        features = self.forced(source, source_lengths, target, tap)
        return target_log_probabilities(features, self.output, target)

    def _decode(self, inputs: Tensor, state: State, causal: Tensor | None, tap: Tap) -> Tensor:
        for number, layer in enumerate(self.decoder):
            inputs = layer(inputs, state, causal, tap, number)
        return self.decoder_norm(inputs)

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, first: int) -> Tensor:
        places = torch.arange(first, first + tokens.shape[1], device=tokens.device)
        return placed(embedding, tokens, places, self.rate if self.training else 0.0)


TRANSFORMER = ModelSpec(
    name="transformer",
    title="Transformer",
    task="translation",
    build=Transformer,
    parameters=(
        Parameter(name="hidden", title="Hidden size", default=32, low=2, high=1024),
        Parameter(name="heads", title="Heads", default=4, low=1, high=32),
        Parameter(name="layers", title="Layers", default=2, low=1, high=12),
        Parameter(
            name="ffn", title="Feed-forward size", default=64, low=2, high=8192,
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
