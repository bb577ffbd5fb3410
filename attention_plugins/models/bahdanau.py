"""Bahdanau's encoder-decoder, attending with any scoring function.

The query is the decoder's last state, keys and values are the encoder's states: what a step looks
at is decided before its word is known. Keys are projected once per sentence; the part of the
first GRU layer that reads the target words is computed for all steps at once.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attention_plugins import contract
from attention_plugins.attention import as_mask
from attention_plugins.beside import row
from attention_plugins.models import losses
from attention_plugins.models.parts import Stack, tie
from attention_plugins.models.protocols import Batch, State
from attention_plugins.randomness import dropout, pooled_draws
from attention_plugins.tap import Site, Tap

CROSS = Site("cross", 0)


class Hyperparameters(NamedTuple):
    """The model's parameters; see :data:`BAHDANAU`."""

    embed: int
    hidden: int
    layers: int
    dropout: float
    bidirectional: bool
    deep_readout: bool


class Encoder(nn.Module):
    """Embedding and GRU layers; the first may read both ways, half of the units each way."""

    def __init__(self, vocabulary: int, known: Hyperparameters) -> None:
        super().__init__()
        hidden, layers, both_ways = known.hidden, known.layers, known.bidirectional
        self.rate = known.dropout
        self.embedding = nn.Embedding(vocabulary, known.embed)
        self.first = nn.GRU(
            known.embed, hidden // (1 + both_ways), batch_first=True, bidirectional=both_ways
        )
        inner = self.rate if layers > 2 else 0.0  # torch warns where there is nothing between
        self.rest = None
        if layers > 1:
            self.rest = nn.GRU(hidden, hidden, layers - 1, batch_first=True, dropout=inner)

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


def gru_step(from_input: Tensor, hidden: Tensor, cell: nn.GRUCell) -> Tensor:
    """The next hidden state ``(B, h)`` of a cell whose input projection is already done.

    ``from_input`` is ``(B, 3 h)``: reset, update and new gate, in the order of ``nn.GRUCell``.
    """
    size = hidden.shape[-1]
    parts = (2 * size, size)  # split, not sliced: one gradient then joins both parts
    gates, candidate = from_input.split(parts, dim=-1)
    own_gates, own_candidate = linear(hidden, cell.weight_hh, cell.bias_hh).split(parts, dim=-1)
    reset, update = torch.sigmoid(gates + own_gates).chunk(2, dim=-1)
    new = torch.tanh(torch.addcmul(candidate, reset, own_candidate))
    return torch.lerp(new, hidden, update)


class Bahdanau(losses.WordByWord):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`."""

    def __init__(
        self, make_scoring: contract.ScoringFactory, sizes: contract.ModelSizes,
        values: Mapping[str, contract.Scalar],
    ) -> None:  # fmt: skip
        super().__init__()
        known = contract.as_record(Hyperparameters, values)
        embed, hidden = known.embed, known.hidden
        self.rate, self.deep = known.dropout, known.deep_readout
        if known.bidirectional and hidden % 2:
            raise contract.ContractError(
                f"reading both ways needs an even hidden size, got {hidden}"
            )
        self.encoder = Encoder(sizes.source, known)
        self.scoring = make_scoring(contract.Sizes(
            query=hidden, key=hidden, hidden=hidden, value=hidden, kind="cross"
        ))  # fmt: skip
        self.embedding = nn.Embedding(sizes.target, embed)
        inputs = [embed + hidden] + [hidden] * (known.layers - 1)
        self.cells: Stack[nn.GRUCell] = Stack(nn.GRUCell(size, hidden) for size in inputs)
        if self.deep:
            self.readout = nn.Linear(hidden + hidden + embed, embed)
        self.output = nn.Linear(embed if self.deep else hidden, sizes.target)
        # Glorot & Bengio 2010 for every matrix, as d2l.ai does; tied embeddings small.
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 and "embedding" not in name and "scoring" not in name:
                nn.init.xavier_uniform_(parameter)
        if self.deep:
            tie(self.output, self.embedding, (self.embedding, self.encoder.embedding))

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; keys are projected here, once."""
        memory, hidden = self.encoder(source, source_lengths)
        return {
            "hidden": hidden,  # (B, layers, h)
            "memory": memory,  # (B, n, h)
            "keys": self.scoring.project_keys(memory),  # (B, n, h or what the scoring makes)
            "mask": as_mask(source_lengths, torch.Size((len(source), 1, source.shape[1]))),
        }

    def write(self, tokens: Tensor, state: State, tap: Tap) -> tuple[Tensor, State]:
        """What the output layer reads after ``tokens (B, m)``, ``(B, m, embed or h)``."""
        parts, new = self._advance(tokens, state, tap)
        return self._features(*parts), new

    @pooled_draws()
    def loss(self, batch: Batch, label_smoothing: float = 0.0) -> Tensor:
        """Mean cross-entropy in nats per target token; nothing is read out of padding."""
        tap = Tap()
        state = self.start(batch.source, batch.source_lengths, tap)
        parts, _ = self._advance(losses.shifted(batch.target), state, tap)
        counts = losses.valid_positions(batch.target_lengths, batch.target.shape[1])  # (B, m)
        features = self._features(*(part[counts] for part in parts))
        return losses.projected_cross_entropy(
            features, self.output.weight, self.output.bias, batch.target[counts], label_smoothing
        )

    def _advance(
        self, tokens: Tensor, state: State, tap: Tap
    ) -> tuple[tuple[Tensor, Tensor, Tensor], State]:
        """Last layer's states, contexts ``(B, m, h)`` and words ``(B, m, embed)``; the state."""
        embed = self.embedding.embedding_dim
        # Tied embeddings start small; the GRU wants inputs near unit size.
        scale = embed**0.5 if self.deep else 1.0
        words = dropout(self.embedding(tokens) * scale, self.rate, self.training)
        first, *others = self.cells
        # Apart for words and context: cut once, not per step.
        for_words, for_context = first.weight_ih[:, :embed], first.weight_ih[:, embed:]
        layers = list(state["hidden"].unbind(dim=1))
        tops, contexts = [], []
        for from_words in linear(words, for_words, first.bias_ih).unbind(dim=1):
            query = layers[-1][:, None]  # (B, 1, h): the state before this step
            context = tap.attend(
                CROSS, self.scoring, query, state["keys"], state["memory"], state["mask"],
                keys_projected=True,
            )[:, 0]  # fmt: skip
            from_input = torch.addmm(from_words, context, for_context.T)
            new = [gru_step(from_input, layers[0], first)]
            for cell, hidden in zip(others, layers[1:], strict=True):
                below = dropout(new[-1], self.rate, self.training)
                new.append(gru_step(linear(below, cell.weight_ih, cell.bias_ih), hidden, cell))
            layers = new
            tops.append(new[-1])
            contexts.append(context)
        parts = torch.stack(tops, dim=1), torch.stack(contexts, dim=1), words
        return parts, {**state, "hidden": torch.stack(layers, dim=1)}

    def _features(self, top: Tensor, context: Tensor, words: Tensor) -> Tensor:
        if not self.deep:
            return top
        read = torch.tanh(self.readout(torch.cat([top, context, words], dim=-1)))
        return dropout(read, self.rate, self.training)


BAHDANAU = contract.ModelSpec(build=Bahdanau, **row(__file__, "bahdanau"))
