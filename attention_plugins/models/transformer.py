"""The Transformer of Vaswani et al. 2017, attending with any scoring function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from attention_plugins import contract
from attention_plugins.attention import as_mask
from attention_plugins.beside import row
from attention_plugins.layers import MultiHead
from attention_plugins.models.losses import WordByWord
from attention_plugins.models.parts import Part, Repeated, Stack, placed
from attention_plugins.models.protocols import State
from attention_plugins.models.transformer_layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Hyperparameters,
    initialise,
    keep,
    kept_in,
    positions_in,
)
from attention_plugins.randomness import dropout
from attention_plugins.tap import Site, Tap


class Transformer(WordByWord):
    """See :class:`~attention_plugins.models.protocols.TranslationModel`.

    ``record`` makes its parts of the parameters; variants of the model have others.
    """

    def __init__(
        self, make_scoring: contract.ScoringFactory, sizes: contract.ModelSizes,
        values: Mapping[str, contract.Scalar], record: type[Hyperparameters] = Hyperparameters,
    ) -> None:  # fmt: skip
        super().__init__()
        known = contract.as_record(record, values)
        size, self.rate = known.hidden, known.dropout
        self.source_embedding = nn.Embedding(sizes.source, size)
        self.target_embedding = nn.Embedding(sizes.target, size)
        self.encoder: Stack[EncoderLayer] = known.stack(lambda: EncoderLayer(make_scoring, known))
        self.decoder: Stack[DecoderLayer] = known.stack(lambda: DecoderLayer(make_scoring, known))
        self.encoder_norm, self.decoder_norm = known.last_norm(), known.last_norm()
        self.output = nn.Linear(size, sizes.target)
        initialise(self, self.output, (self.source_embedding, self.target_embedding), known.tied)

    def start(self, source: Tensor, source_lengths: Tensor, tap: Tap) -> State:
        """Encode the sentences; every layer's cross keys and values are made here, once."""
        shape = torch.Size((len(source), 1, 1, source.shape[1]))
        mask = as_mask(source_lengths, shape)  # (B, 1, 1, n)
        memory = self._embed(self.source_embedding, source, 0)
        for number, layer in enumerate(self.encoder):
            memory = layer(memory, mask, tap, Site("encoder", number))
        memory = self.encoder_norm(memory)
        state = {"mask": mask}
        for number, layer in enumerate(self.decoder):
            keep(state, Site("cross", number), layer.cross.remember(memory))
        return state

    def write(self, tokens: Tensor, state: State, tap: Tap) -> tuple[Tensor, State]:
        """What the output layer reads after ``tokens (B, m)``, ``(B, m, size)``; the state."""
        words, new = tokens.shape[1], dict(state)
        so_far = positions_in(kept_in(state, Site("decoder", 0)))
        causal = None  # one word may look at everything so far
        if words > 1:
            everything = torch.ones(words, so_far + words, dtype=torch.bool, device=tokens.device)
            causal = everything.tril(so_far)
        inputs = self._embed(self.target_embedding, tokens, so_far)
        for number, layer in enumerate(self.decoder):
            inputs = layer(inputs, new, causal, tap, number)
        return self.decoder_norm(inputs), new

    def _embed(self, embedding: nn.Embedding, tokens: Tensor, first: int) -> Tensor:
        places = torch.arange(first, first + tokens.shape[1], device=tokens.device)
        return placed(embedding, tokens, places, self.rate if self.training else 0.0)


TRANSFORMER = contract.ModelSpec(build=Transformer, **row(__file__, "transformer"))

# Shazeer 2020, equations 5 and 6: what the gate passes through.
GATES: dict[str, Callable[[Tensor], Tensor]] = {
    "swiglu": silu, "geglu": gelu, "reglu": relu, "glu": torch.sigmoid,
    "bilinear": lambda gate: gate,
}  # fmt: skip


class Gated(FeedForward):
    """``(g(x V) * x W) U``: one product says how much of the other passes. With biases."""

    def __init__(self, size: int, inner: int, rate: float, gate: str) -> None:
        super().__init__(size, inner, rate)
        self.gate, self.open = nn.Linear(size, inner), GATES[gate]

    def forward(self, inputs: Tensor) -> Tensor:
        """``(..., size)`` to ``(..., size)``."""
        passed = self.open(self.gate(inputs)) * self.rise(inputs)
        return self.fall(dropout(passed, self.rate, self.training))


@dataclass(frozen=True, kw_only=True)
class _PreNormGated(Hyperparameters):
    """``x + f(norm(x))`` around every sublayer, and a last norm after each stack."""

    gate: str
    pre_norm: bool = True

    def feed_forward(self) -> Gated:
        return Gated(self.hidden, self.ffn, self.dropout, self.gate)


PRE_NORM = contract.ModelSpec(
    build=partial(Transformer, record=_PreNormGated),
    parameters=(
        *(p for p in TRANSFORMER.parameters if p.name != "pre_norm"),
        contract.Parameter(
            name="gate", title="Gate", default="swiglu", choices=tuple(GATES),
            help="What the gate passes through. It adds a third matrix: two thirds of the "
            "feed-forward size have as many weights as a network without a gate.",
        ),
    ),
    **row(__file__, "pre_norm"),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Shared(Hyperparameters):
    """``x <- layer(x)``, as many times as there are layers, with the same weights.

    Every application attends at a site of its own. All weights are shared, as in ALBERT; the
    Universal Transformer's too, but it tells a layer how often it was applied, and may stop early.
    """

    def stack(self, make_layer: Callable[[], Part]) -> Repeated[Part]:
        return Repeated(make_layer(), self.layers)


SHARED_LAYERS = contract.ModelSpec(
    build=partial(Transformer, record=_Shared), parameters=TRANSFORMER.parameters,
    **row(__file__, "shared_layers"),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Grouped(Hyperparameters):
    """Head ``h`` of ``H`` looks at keys and values of head ``floor(h G / H)`` of ``G``."""

    key_heads: int

    def attention(
        self, make_scoring: contract.ScoringFactory, kind: contract.SiteKind
    ) -> MultiHead:
        return MultiHead(
            make_scoring, self.hidden, self.heads,
            key_heads=self.key_heads, dropout=self.dropout, kind=kind,
        )  # fmt: skip


GROUPED_QUERY = contract.ModelSpec(
    build=partial(Transformer, record=_Grouped),
    **row(__file__, "grouped_query", *(p for p in TRANSFORMER.parameters if p.name != "layer")),
)
