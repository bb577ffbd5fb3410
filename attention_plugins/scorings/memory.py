"""Additive scorings that know where earlier queries looked."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, pad

from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.additive import Additive
from attention_plugins.scorings.kernels import rule_out


class LocationSensitive(Additive):
    """``v . tanh(W_q q + W_k k + U f)``; ``f`` are filters that slide over the last weights."""

    needs = ("memory",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        filters, reach = int(values["filters"]), int(values["reach"])
        self.slide = nn.Conv1d(1, filters, 2 * reach + 1, padding=reach, bias=False)
        self.from_location = nn.Linear(filters, sizes.hidden, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Additive scores of keys to which what the filters saw there was added."""
        last = memory[..., -1:, :].sum(dim=-2)  # (..., n_k): 0 at the first query
        seen = self.slide(last.reshape(-1, 1, last.shape[-1])).mT  # (rows, n_k, filters)
        seen = self.from_location(seen).reshape(*last.shape, keys.shape[-1])
        return super().forward(queries, keys + seen)


LOCATION_SENSITIVE = ScoringSpec(build=LocationSensitive, **row(__file__, "location_sensitive"))


class Monotonic(Additive):
    """The expected place of a reader who stops at key i with probability ``sigmoid(e_i + r)``.

    It starts where the last query stopped, and may pass the last key: weights may sum to less
    than 1. Without the paper's noise in training.
    """

    needs = ("memory",)
    sums_to_one = False

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.offset = nn.Parameter(torch.tensor(values["offset"]))

    def forward(self, queries: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """``log(p_i sum_(j<=i) a_j prod_(j<=l<i) (1 - p_l))`` with the last weights ``a``."""
        energies = super().forward(queries, keys) + self.offset
        if memory.shape[-2]:
            start = memory[..., -1:, :]
        else:
            start = pad(torch.ones_like(energies[..., :1]), (0, energies.shape[-1] - 1))
        passed = logsigmoid(-energies).cumsum(dim=-1)  # all keys up to this one
        passed = pad(passed, (1, 0))[..., :-1]  # all before it
        start = start.clamp_min(torch.finfo(start.dtype).tiny).log()
        return logsigmoid(energies) + passed + (start - passed).logcumsumexp(dim=-1)

    def normalise(self, scores: Tensor) -> Tensor:
        """``exp``: the scores are logarithms of probabilities already."""
        return scores.exp()


MONOTONIC = ScoringSpec(build=Monotonic, **row(__file__, "monotonic"))


class ForwardAttention(Additive):
    """``e_i + log(a_i + a_(i-1))`` with additive scores ``e`` and the last weights ``a``.

    Before the first query all weight lies on the first key. Keys that cannot be reached are
    ruled out; the softmax divides what is left by its sum.
    """

    needs = ("memory",)

    def forward(self, queries: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Additive scores plus the logarithm of what may flow to each key."""
        scores = super().forward(queries, keys)
        last = memory[..., -1:, :]
        if not memory.shape[-2]:
            last = torch.zeros_like(scores)
            last[..., 0] = 1.0
        reached = last + pad(last, (1, 0))[..., :-1]
        possible = reached > torch.finfo(reached.dtype).tiny
        return rule_out(scores + torch.where(possible, reached, 1.0).log(), possible)


FORWARD_ATTENTION = ScoringSpec(build=ForwardAttention, **row(__file__, "forward_attention"))


class Coverage(Additive):
    """``v . tanh(W_q q + W_k k + u c)``; a key's coverage ``c`` is the sum of its weights so far.

    The fertility that divides the coverage is 1.
    """

    needs = ("memory",)

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.from_coverage = nn.Linear(1, sizes.hidden, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, memory: Tensor) -> Tensor:
        """Additive scores of keys to which their coverage was added."""
        coverage = memory.sum(dim=-2).unsqueeze(-1)  # (..., n_k, 1)
        return super().forward(queries, keys + self.from_coverage(coverage))


COVERAGE = ScoringSpec(build=Coverage, **row(__file__, "coverage"))
