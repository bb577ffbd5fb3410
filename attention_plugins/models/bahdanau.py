"""Bahdanau's encoder-decoder, attending with any scoring function.

The query is the decoder's last state, keys and values are the encoder's states: what a step looks
at is decided before its word is known. Keys are projected once per sentence; the part of the
first GRU layer that reads the target words is computed for all steps at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_plugins.attention import as_mask
from attention_plugins.contract import (
    ContractError,
    ModelSizes,
    ModelSpec,
    Parameter,
    Scalar,
    ScoringFactory,
    Sizes,
    as_record,
)
from attention_plugins.models.losses import (
    projected_cross_entropy,
    shifted,
    target_log_probabilities,
    valid_positions,
)
from attention_plugins.models.protocols import Batch, State
from attention_plugins.models.stack import Stack
from attention_plugins.models.words import tie
from attention_plugins.randomness import dropout, pooled_draws
from attention_plugins.tap import Site, Tap

CROSS = Site("cross", 0)


class Encoder(nn.Module):
    """Embedding and GRU layers; the first may read both ways, half of the units each way."""

    def __init__(
        self, vocabulary: int, embed: int, hidden: int, layers: int, rate: float, both_ways: bool
    ) -> None:
        super().__init__()
        self.rate = rate
        self.embedding = nn.Embedding(vocabulary, embed)
        self.first = nn.GRU(
            embed, hidden // (1 + both_ways), batch_first=True, bidirectional=both_ways
        )
        inner = dropout_between(layers - 1, rate)
        self.rest = (
            nn.GRU(hidden, hidden, layers - 1, batch_first=True, dropout=inner)
            if layers > 1
            else None
        )

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """States ``(B, n, hidden)``, 0 on padding, and last states ``(B, layers, hidden)``."""
        words = dropout(self.embedding(source), self.rate, self.training)
        # Packed, so that neither the backward reading nor the last state depends on padding.
        packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.first(packed)
        lasts = [last.transpose(0, 1).flatten(1)[:, None]]  # both ways side by side
        if self.rest is not None:
            between = dropout(states.data, self.rate, self.training)
            states, last = self.rest(states._replace(data=between))
            lasts.append(last.transpose(0, 1))
        padded, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return padded, torch.cat(lasts, dim=1)


def dropout_between(layers: int, rate: float) -> float:
    """The rate for ``nn.GRU``, which warns about dropout when there is nothing between layers."""
    return rate if layers > 1 else 0.0


def gru_step(from_input: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The next hidden state ``(B, h)`` of a GRU whose input projection is already done.

    ``from_input`` is ``(B, 3 h)``: reset, update and new gate, in the order of ``nn.GRUCell``.
    """
    size = hidden.shape[-1]
    parts = (2 * size, size)  # split, not sliced: one gradient then joins both parts
    gates, candidate = from_input.split(parts, dim=-1)
    own_gates, own_candidate = linear(hidden, weight, bias).split(parts, dim=-1)
    reset, update = torch.sigmoid(gates + own_gates).chunk(2, dim=-1)
    new = torch.tanh(torch.addcmul(candidate, reset, own_candidate))
    return torch.lerp(new, hidden, update)


class Hyperparameters(NamedTuple):
    """The model's parameters; see :data:`BAHDANAU`."""

    embed: int
    hidden: int
    layers: int
    dropout: float
    bidirectional: bool
    deep_readout: bool


class Bahdanau(nn.Module):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`."""

    def __init__(
        self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Mapping[str, Scalar]
    ) -> None:
        super().__init__()
        known = as_record(Hyperparameters, values)
        embed, hidden, layers = known.embed, known.hidden, known.layers
        self.rate, self.deep, both_ways = known.dropout, known.deep_readout, known.bidirectional
        if both_ways and hidden % 2:
            raise ContractError(f"reading both ways needs an even hidden size, got {hidden}")
        self.encoder = Encoder(sizes.source, embed, hidden, layers, self.rate, both_ways)
        self.scoring = make_scoring(Sizes(query=hidden, key=hidden, hidden=hidden, value=hidden))
        self.embedding = nn.Embedding(sizes.target, embed)
        inputs = [embed + hidden] + [hidden] * (layers - 1)
        self.cells: Stack[nn.GRUCell] = Stack(nn.GRUCell(size, hidden) for size in inputs)
        if self.deep:
            self.readout = nn.Linear(hidden + hidden + embed, embed)
        self.output = nn.Linear(embed if self.deep else hidden, sizes.target)
        self._initialise()

    def _initialise(self) -> None:
        """Glorot & Bengio 2010 for every matrix, as d2l.ai does; tied embeddings small."""
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and "embedding" not in name and "scoring" not in name:
                nn.init.xavier_uniform_(parameter)
        if self.deep:
            tie(self.output, self.embedding, (self.embedding, self.encoder.embedding))

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; keys are projected here, once."""
        memory, hidden = self.encoder(source, source_lengths)
        mask = as_mask(source_lengths, torch.Size((len(source), 1, source.shape[1])))
        return {
            "hidden": hidden,  # (B, layers, h)
            "memory": memory,  # (B, n, h)
            "keys": self.scoring.project_keys(memory),  # (B, n, h or what the scoring makes)
            "mask": mask,  # (B, 1, n)
        }

    def step(self, state: State, tokens: Tensor, tap: Tap) -> tuple[Tensor, State]:
        """One word further: ``(B, vocabulary)`` log-probabilities, and the next state."""
        words = self._words(tokens)
        weights = self._first_layer_weights()
        layers, context = self._advance(
            state, list(state["hidden"].unbind(dim=1)), self._read(words, weights), weights, tap
        )
        features = self._features(layers[-1], context, words)
        log_probabilities = self.output(features).log_softmax(dim=-1)
        return log_probabilities, {**state, "hidden": torch.stack(layers, dim=1)}

    @pooled_draws()
    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy in nats per target token, with the right words forced."""
        parts = self._forced(batch.source, batch.source_lengths, batch.target, Tap())
        counts = valid_positions(batch.target_lengths, batch.target.shape[1])  # (B, m)
        features = self._features(*(part[counts] for part in parts))
        return projected_cross_entropy(
            features, self.output.weight, self.output.bias, batch.target[counts], label_smoothing
        )

    def forced_log_probabilities(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, tap: Tap
    ) -> Tensor:
        """Of all words of ``target (B, m)`` at once, ``(B, m)``."""
        features = self._features(*self._forced(source, source_lengths, target, tap))
        return target_log_probabilities(features, self.output, target)

    def _forced(
        self, source: Tensor, lengths: Tensor, target: Tensor, tap: Tap
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Last layer's states, contexts and words before each word of ``target (B, m)``.

        Each ``(B, m, h)``, words ``(B, m, embed)``.
        """
        state = self.start(source, lengths, tap)
        words = self._words(shifted(target))  # (B, m, embed)
        weights = self._first_layer_weights()
        layers = list(state["hidden"].unbind(dim=1))
        tops, contexts = [], []
        for from_words in self._read(words, weights).unbind(dim=1):
            layers, context = self._advance(state, layers, from_words, weights, tap)
            tops.append(layers[-1])
            contexts.append(context)
        return torch.stack(tops, dim=1), torch.stack(contexts, dim=1), words

    def _words(self, tokens: Tensor) -> Tensor:
        # Tied embeddings start small; the GRU wants inputs near unit size.
        scale = self.embedding.embedding_dim**0.5 if self.deep else 1.0
        return dropout(self.embedding(tokens) * scale, self.rate, self.training)

    def _first_layer_weights(self) -> tuple[Tensor, Tensor]:
        """The first layer's input weights, apart for words and context: cut once, not per step."""
        weight = next(iter(self.cells)).weight_ih
        embed = self.embedding.embedding_dim
        return weight[:, :embed], weight[:, embed:]

    def _read(self, words: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
        """What target words ``(..., embed)`` send to the first layer's gates, ``(..., 3 h)``."""
        return linear(words, weights[0], next(iter(self.cells)).bias_ih)

    def _advance(
        self,
        state: State,
        layers: list[Tensor],
        from_words: Tensor,
        weights: tuple[Tensor, Tensor],
        tap: Tap,
    ) -> tuple[list[Tensor], Tensor]:
        """One step of all layers: their new states and the context, each ``(B, h)``."""
        query = layers[-1][:, None]  # (B, 1, h): the state before this step
        context = tap.attend(
            CROSS, self.scoring, query, state["keys"], state["memory"], state["mask"],
            keys_projected=True,
        )[:, 0]  # fmt: skip
        first, *others = self.cells
        from_input = torch.addmm(from_words, context, weights[1].T)
        below = gru_step(from_input, layers[0], first.weight_hh, first.bias_hh)
        new = [below]
        for cell, hidden in zip(others, layers[1:], strict=True):
            below = dropout(below, self.rate, self.training)
            from_below = linear(below, cell.weight_ih, cell.bias_ih)
            below = gru_step(from_below, hidden, cell.weight_hh, cell.bias_hh)
            new.append(below)
        return new, context

    def _features(self, top: Tensor, context: Tensor, words: Tensor) -> Tensor:
        """What the output layer reads, ``(..., embed or h)``."""
        if not self.deep:
            return top
        read = torch.tanh(self.readout(torch.cat([top, context, words], dim=-1)))
        return dropout(read, self.rate, self.training)


BAHDANAU = ModelSpec(
    name="bahdanau",
    title="Bahdanau encoder–decoder",
    task="translation",
    build=Bahdanau,
    parameters=(
        Parameter(name="embed", title="Embedding size", default=32, low=2, high=1024),
        Parameter(name="hidden", title="Hidden size", default=32, low=2, high=1024),
        Parameter(name="layers", title="Layers", default=2, low=1, high=4),
        Parameter(name="dropout", title="Dropout", default=0.1, low=0.0, high=0.9, step=0.05),
        Parameter(
            name="bidirectional",
            title="Read both ways",
            default=False,
            help="The encoder's first layer reads forwards and backwards, half of it each way.",
        ),
        Parameter(
            name="deep_readout",
            title="Deep readout",
            default=False,
            help="Words are predicted from state, context and last word, with tied embeddings.",
        ),
    ),
    reference="Bahdanau, Cho & Bengio 2014, Neural machine translation by jointly learning to "
    "align and translate",
    description="A GRU decoder whose last state asks the encoder's states where to look next.",
)
