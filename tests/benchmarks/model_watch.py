"""What a watch costs: a model of twelve layers with and without it, in turn.

The bar is 1.2 times the time where one layer of twelve is watched, 8 heads of 1,024 x 1,024.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.nn import functional

from attention_plugins import watch
from tests.benchmarks.rows import Row, interleaved

LAYERS, HEADS, SIZE = 12, 8, 512


class Attention(nn.Module):
    """Self-attention by the scaled dot product, which also names its kind."""

    def __init__(self, by_hand: bool) -> None:
        super().__init__()
        self.inward, self.outward = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE)
        self.by_hand = by_hand

    def forward(self, inputs):
        parts = self.inward(inputs).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        if self.by_hand:
            pooled = (query @ key.mT * query.shape[-1] ** -0.5).softmax(-1) @ value
        else:
            pooled = functional.scaled_dot_product_attention(query, key, value)
        return self.outward(pooled.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, by_hand: bool) -> None:
        super().__init__()
        self.attention = Attention(by_hand)
        self.first, self.second = nn.LayerNorm(SIZE), nn.LayerNorm(SIZE)
        self.feed = nn.Sequential(nn.Linear(SIZE, 4 * SIZE), nn.GELU(), nn.Linear(4 * SIZE, SIZE))

    def forward(self, inputs):
        inputs = inputs + self.attention(self.first(inputs))
        return inputs + self.feed(self.second(inputs))


def models() -> Iterator[tuple[str, nn.Module, str]]:
    """What attends, and the name of one of its twelve layers."""
    for name, by_hand in (("scaled_dot_product_attention", False), ("a softmax by hand", True)):
        yield name, nn.Sequential(*(Block(by_hand) for _ in range(LAYERS))), "5.attention"
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, 4 * SIZE, batch_first=True)
    yield "nn.TransformerEncoder", nn.TransformerEncoder(layer, LAYERS), "layers.5.self_attn"


def rows(quick: bool) -> Iterator[Row]:
    """One layer watched, and all of them."""
    tokens = 256 if quick else 1024
    torch.manual_seed(0)
    inputs = torch.randn(1, tokens, SIZE)
    warnings.simplefilter("ignore")
    for name, model, one in models():
        model.eval()

        def plain(model: nn.Module = model) -> None:
            with torch.no_grad():
                model(inputs)

        for layers, said in ((one, "one layer of 12"), (None, "all 12 layers")):
            yield interleaved(
                f"{name}, {tokens:,} tokens: {said} watched", "not watched",
                watched(model, layers, inputs), plain, rounds=3 if quick else 7,
                note=f"keeps {kept(model, layers, inputs) / 2**20:.0f} MiB",
            )  # fmt: skip


def watched(model: nn.Module, layers: str | None, inputs: torch.Tensor) -> Callable[[], None]:
    def run() -> None:
        with torch.no_grad(), watch(model, layers=layers):
            model(inputs)

    return run


def kept(model: nn.Module, layers: str | None, inputs: torch.Tensor) -> int:
    with torch.no_grad(), watch(model, layers=layers) as seen:
        model(inputs)
    return seen.maps.bytes
