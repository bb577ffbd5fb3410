"""The convolutional encoder-decoder of Gehring et al. 2017, attending with any scoring function.

A layer is ``x + v * sigmoid(g)``, times sqrt(1/2), where a convolution over ``k`` words makes
``v`` and ``g``. Every decoder layer attends: ``d = W h + g`` (its output and the embedding of the
word last written) asks keys ``z``, the encoder's outputs, for values ``z + e``, outputs and
embeddings of the source. In place of the paper's table of positions there are sines, which have
no longest sentence; weights are not normalised.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import glu, pad

from attention_plugins.attention import as_mask
from attention_plugins.beside import row
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringFactory, Sizes, as_record
from attention_plugins.models.losses import WordByWord
from attention_plugins.models.parts import Stack, placed
from attention_plugins.models.protocols import State, Values
from attention_plugins.randomness import dropout
from attention_plugins.tap import Site, Tap

_HALF = math.sqrt(0.5)  # keeps the variance of a sum of two


class Hyperparameters(NamedTuple):
    """The model's parameters; see :data:`CONV_SEQ2SEQ`."""

    embed: int
    hidden: int
    layers: int
    kernel: int
    dropout: float


class GatedConvolution(nn.Module):
    """A convolution over ``kernel`` neighbours whose outputs pass a gate (GLU)."""

    def __init__(self, size: int, kernel: int, rate: float) -> None:
        super().__init__()
        self.reach, self.rate = kernel - 1, rate
        self.convolution = nn.Conv1d(size, 2 * size, kernel)
        # Glorot & Bengio's bound; the gate halves what passes.
        weight, bias = self.convolution.parameters()
        nn.init.normal_(weight, std=math.sqrt(4 * (1 - rate) / (kernel * size)))
        nn.init.zeros_(bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """``(B, n + kernel - 1, size)``, neighbours at the ends included, to ``(B, n, size)``."""
        return glu(self.convolution(dropout(inputs, self.rate, self.training).mT).mT, dim=-1)


class DecoderLayer(nn.Module):
    """A gated convolution over the words so far, then attention to the source."""

    def __init__(self, make_scoring: ScoringFactory, known: Hyperparameters) -> None:
        super().__init__()
        size, embed = known.hidden, known.embed
        self.convolution = GatedConvolution(size, known.kernel, known.dropout)
        self.to_query = nn.Linear(size, embed)
        self.scoring = make_scoring(Sizes(
            query=embed, key=embed, hidden=embed, value=embed, kind="cross"
        ))  # fmt: skip
        self.from_context = nn.Linear(embed, size)

    def forward(
        self, inputs: Tensor, words: Tensor, state: State, tap: Tap, layer: int
    ) -> tuple[Tensor, Tensor]:
        """Outputs for ``inputs (B, m, size)``, and the last inputs ``(B, k - 1, size)``.

        Args:
            words: embeddings of what is read, ``(B, m, embed)``.
            state: has this layer's last inputs before these.
        """
        seen = torch.cat([state[f"inputs {layer}"], inputs], dim=1)
        hidden = self.convolution(seen)  # (B, m, size)
        context = tap.attend(
            Site("cross", layer), self.scoring, (self.to_query(hidden) + words) * _HALF,
            state[f"keys {layer}"], state["values"], state["mask"], keys_projected=True,
        )  # fmt: skip
        hidden = (hidden + self.from_context(context)) * _HALF
        return (hidden + inputs) * _HALF, seen[:, seen.shape[1] - self.convolution.reach :]


class ConvSeq2Seq(WordByWord):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`."""

    def __init__(self, make_scoring: ScoringFactory, sizes: ModelSizes, values: Values) -> None:
        super().__init__()
        known = as_record(Hyperparameters, values)
        embed, size, self.rate = known.embed, known.hidden, known.dropout
        self.source_embedding = nn.Embedding(sizes.source, embed)
        self.encoder_in, self.encoder_out = nn.Linear(embed, size), nn.Linear(size, embed)
        self.encoder: Stack[GatedConvolution] = Stack(
            GatedConvolution(size, known.kernel, known.dropout) for _ in range(known.layers)
        )
        self.target_embedding = nn.Embedding(sizes.target, embed)
        self.decoder_in, self.decoder_out = nn.Linear(embed, size), nn.Linear(size, embed)
        self.decoder: Stack[DecoderLayer] = Stack(
            DecoderLayer(make_scoring, known) for _ in range(known.layers)
        )
        self.output = nn.Linear(embed, sizes.target)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=embed**-0.5)

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; every layer's keys are projected here, once."""
        mask = as_mask(source_lengths, torch.Size((len(source), 1, source.shape[1])))  # (B, 1, n)
        words = self._embed(self.source_embedding, source, 0)
        inputs = self.encoder_in(words)
        for layer in self.encoder:
            inputs = inputs.masked_fill(~mask.mT, 0.0)  # beyond its end a sentence is 0
            before = layer.reach // 2
            inputs = (inputs + layer(pad(inputs, (0, 0, before, layer.reach - before)))) * _HALF
        memory = self.encoder_out(inputs)
        state = {
            "mask": mask,
            "values": (memory + words) * _HALF,  # (B, n, embed)
            "place": torch.zeros_like(source_lengths),  # (B,): words read so far
        }
        for number, layer in enumerate(self.decoder):
            state[f"keys {number}"] = layer.scoring.project_keys(memory)
            reach = layer.convolution.reach
            state[f"inputs {number}"] = inputs.new_zeros(len(source), reach, inputs.shape[2])
        return state

    def write(self, tokens: Tensor, state: State, tap: Tap) -> tuple[Tensor, State]:
        """What the output layer reads after ``tokens (B, m)``, ``(B, m, embed)``; the state."""
        new = {**state, "place": state["place"] + tokens.shape[1]}
        words = self._embed(self.target_embedding, tokens, state["place"][:, None])
        inputs = self.decoder_in(words)
        for number, layer in enumerate(self.decoder):
            inputs, new[f"inputs {number}"] = layer(inputs, words, state, tap, number)
        return dropout(self.decoder_out(inputs), self.rate, self.training), new

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, first: Tensor | int) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device) + first
        return placed(embedding, tokens, places, self.rate if self.training else 0.0)


CONV_SEQ2SEQ = ModelSpec(build=ConvSeq2Seq, **row(__file__, "conv_seq2seq"))
