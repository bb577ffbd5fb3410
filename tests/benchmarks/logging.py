"""A training with its attention logged every 100 steps, beside the same without."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from attention_plugins import watch
from tests.benchmarks.rows import Row, compared

EVERY = 100


class Decoder(nn.Module):
    """Blocks of causal self-attention by ``scaled_dot_product_attention``, as GPT-2 has them."""

    def __init__(self, size: int, heads: int, layers: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(size, heads) for _ in range(layers))

    def forward(self, given: Tensor) -> Tensor:
        """What the last block gives for ``(batch, tokens, size)``."""
        for block in self.blocks:
            given = block(given)
        return given


class Block(nn.Module):
    """One of them, with its layer norms and a hidden layer four times as wide."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2))
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, given: Tensor) -> Tensor:
        """The same shape as ``given (batch, tokens, size)``."""
        heads = self.qkv(self.norms[0](given)).unflatten(-1, (3 * self.heads, -1)).transpose(1, 2)
        mixed = nn.functional.scaled_dot_product_attention(*heads.chunk(3, 1), is_causal=True)
        given = given + self.out(mixed.transpose(1, 2).flatten(2))
        return given + self.down(self.up(self.norms[1](given)).relu())


def encoder(size: int, heads: int, layers: int) -> nn.Module:
    """Torch's own, whose attention is computed once more where it is logged."""
    layer = nn.TransformerEncoderLayer(size, heads, 4 * size, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


Sizes = tuple[int, int, int]  # of a model: its width, its heads, its layers


def row(make: Callable[..., nn.Module], sizes: Sizes, batch: tuple[int, int], rounds: int) -> Row:
    """So many steps as there are from one that is logged to the next, both ways.

    In seconds of the processor: what else a busy machine does would be larger than the log.
    """
    torch.manual_seed(0)
    model = make(*sizes)
    optimiser = torch.optim.SGD(model.parameters(), 1e-4)
    given = torch.randn(*batch, sizes[0])

    def steps(around: AbstractContextManager[object]) -> float:
        began = time.process_time()
        with around:
            for _ in range(EVERY):
                model(given).square().mean().backward()
                optimiser.step()
                optimiser.zero_grad()
        return time.process_time() - began

    steps(nullcontext())
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            taken[0].append(steps(watch(model, log=folder, every=EVERY)))
        taken[1].append(steps(nullcontext()))
    size, heads, layers = sizes
    return compared(
        f"{EVERY} steps of {layers} layers × {heads} heads, {batch[0]} × {batch[1]} tokens, size "
        f"{size}, {type(model).__name__}, one of them logged",
        "without the log", taken, unit="CPU s",
        note=f"{statistics.median(a / b for a, b in zip(*taken, strict=True)):.3f} × the time",
    )  # fmt: skip


def rows(quick: bool) -> Iterator[Row]:
    """A small and a larger decoder, and torch's encoder."""
    rounds = 3 if quick else 9
    yield row(Decoder, (64, 4, 4), (8, 64), rounds)
    yield row(encoder, (64, 4, 4), (8, 64), rounds)
    if not quick:
        yield row(Decoder, (256, 8, 6), (4, 256), rounds)
