"""What convolution, recurrence and self-attention cost, measured: time, chains, reach.

All three map a sequence ``(1, n, d)`` to one of the same shape (Vaswani et al. 2017, section 4).
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring, attend

# One timing lasts at least this long, in seconds, so that the clock's grain does not matter.
_SHORTEST = 1e-3
_MOST_CALLS = 64
_PRODUCTS = ("Mm", "Addmm", "Bmm", "Baddbmm", "Convolution")


class Convolution(nn.Module):
    """A convolution over the sequence whose outputs see ``kernel`` neighbours, an odd number."""

    def __init__(self, size: int, kernel: int) -> None:
        super().__init__()
        self.inner = nn.Conv1d(size, size, kernel, padding=kernel // 2)

    def forward(self, x: Tensor) -> Tensor:
        """``(1, n, d)`` to ``(1, n, d)``, as of the others."""
        return self.inner(x.mT).mT

    hop = forward  # what one layer of a stack does


class Recurrence(nn.Module):
    """A plain recurrent layer: every state from the input and the state before."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner = nn.RNN(size, size, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        """``(1, n, d)`` to ``(1, n, d)``."""
        return self.inner(x)[0]

    def hop(self, x: Tensor) -> Tensor:
        """One step of the recurrence, at all positions at once."""
        before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)
        from_input, from_state, *_ = self.inner.all_weights[0]
        return torch.tanh(x @ from_input.mT + before @ from_state.mT)


class SelfAttention(nn.Module):
    """Attention of a sequence to itself, without projections of its own."""

    def __init__(self, scoring: Scoring) -> None:
        super().__init__()
        self.scoring = scoring

    def forward(self, x: Tensor) -> Tensor:
        """``(1, n, d)`` to ``(1, n, d)``."""
        return attend(self.scoring, x, x, x)[0]

    hop = forward


class Power(NamedTuple):
    """``factor * size ** exponent``."""

    exponent: float
    factor: float


def fit_power(sizes: Sequence[float], values: Sequence[float]) -> Power:
    """The power law nearest to the values, by least squares of the logarithms."""
    if len(sizes) < 2 or min(*sizes, *values) <= 0:
        raise ValueError(
            f"need two or more sizes and values above 0, got {[*sizes]} and {[*values]}"
        )
    x, y = (torch.tensor(part, dtype=torch.float64).log() for part in (sizes, values))
    spread = x - x.mean()
    exponent = float(spread @ y / (spread @ spread))
    return Power(exponent, math.exp(float(y.mean()) - exponent * float(x.mean())))


def multiply_adds(name: str, n: int, d: int, kernel: int) -> int:
    """Multiplications of one pass over ``(1, n, d)``, padding of the convolution included."""
    return {"cnn": kernel * n * d * d, "rnn": 2 * n * d * d, "attention": 2 * n * n * d}[name]


class Stopwatch:
    """Times one pass of a layer over ``x``, on its device; called twice here, to warm up."""

    def __init__(self, layer: Callable[[Tensor], Tensor], x: Tensor) -> None:
        self._layer, self._x = layer, x
        self._calls = 2
        self._calls = min(_MOST_CALLS, max(1, math.ceil(_SHORTEST / max(self.seconds(), 1e-9))))

    @torch.no_grad()
    def seconds(self) -> float:
        """The mean time of as many passes as the clock's grain asks for."""
        _finish(self._x.device)
        began = time.perf_counter()
        for _ in range(self._calls):
            self._layer(self._x)
        _finish(self._x.device)
        return (time.perf_counter() - began) / self._calls


def _finish(device: torch.device) -> None:
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def dependent_products(output: Tensor) -> int:
    """The longest chain of matrix products of which each needs the one before.

    Read from the graph that the gradient would take, where fused operations count as one.
    """
    if output.grad_fn is None:
        raise ValueError("need an output that has a gradient, got one that depends on no weight")
    longest: dict[object, int] = {}
    waiting = [output.grad_fn]
    while waiting:
        node = waiting[-1]
        before = [one for one, _ in node.next_functions if one is not None]
        unknown = [one for one in before if one not in longest]
        if unknown:
            waiting += unknown
            continue
        own = node.name().removesuffix("Backward0") in _PRODUCTS
        longest[node] = own + max((longest[one] for one in before), default=0)
        waiting.pop()
    return longest[output.grad_fn]


def hops(layer: Convolution | Recurrence | SelfAttention, n: int, d: int) -> int | None:
    """How many hops until the last output depends on the first input; None if n do not suffice.

    Walks back from the last position: an input is reached if the gradient of what was reached
    before is not zero there.
    """
    dtype = torch.float64
    generator = torch.Generator().manual_seed(n)
    reached = torch.zeros(1, n, d, dtype=dtype)
    reached[:, -1] = 1
    for hop in range(1, n + 1):
        x = torch.randn(1, n, d, dtype=dtype, generator=generator, requires_grad=True)
        # As a sum: given a gradient to begin with, torch imports sympy, which takes 20 MB.
        (gradient,) = torch.autograd.grad((layer.hop(x) * reached).sum(), x)
        # Only where, not how much: over a thousand hops the product would vanish or explode.
        reached = (gradient.abs().sum(-1, keepdim=True) > 0).to(dtype).expand(-1, -1, d)
        if reached[0, 0, 0]:
            return hop
    return None
