"""A Transformer that normalises first and gates its feed-forward network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from attention_plugins.contract import ModelSpec, Parameter
from attention_plugins.models.transformer import TRANSFORMER, Transformer
from attention_plugins.models.transformer_layers import FeedForward, Hyperparameters
from attention_plugins.randomness import dropout

# Shazeer 2020, equations 5 and 6: what the gate passes through.
GATES: dict[str, Callable[[Tensor], Tensor]] = {
    "swiglu": silu,
    "geglu": gelu,
    "reglu": relu,
    "glu": torch.sigmoid,
    "bilinear": lambda gate: gate,
}


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
class PreNormGated(Hyperparameters):
    """``x + f(norm(x))`` around every sublayer, and a last norm after each stack."""

    gate: str
    pre_norm: bool = True

    def feed_forward(self) -> Gated:
        """One sublayer's network."""
        return Gated(self.hidden, self.ffn, self.dropout, self.gate)


class PreNorm(Transformer):
    """The Transformer with layer norm before each sublayer, and gated networks."""

    record = PreNormGated


PRE_NORM = ModelSpec(
    name="pre_norm",
    title="Pre-norm Transformer, gated",
    task="translation",
    build=PreNorm,
    parameters=(
        *(p for p in TRANSFORMER.parameters if p.name != "pre_norm"),
        Parameter(
            name="gate", title="Gate", default="swiglu", choices=tuple(GATES),
            help="What the gate passes through. It adds a third matrix: two thirds of the "
            "feed-forward size have as many weights as a network without a gate.",
        ),
    ),
    reference="Xiong et al. 2020, On layer normalization in the Transformer architecture; "
    "Shazeer 2020, GLU variants improve Transformer",
    description="A Transformer whose residual path is never normalised, so that it trains without "
    "a slow start, and whose feed-forward networks gate what passes.",
)  # fmt: skip
