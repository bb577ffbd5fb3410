"""Soft monotonic attention: read on from where the last query stopped, and stop somewhere."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, pad

from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.scorings.additive import Additive


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


MONOTONIC = ScoringSpec(
    name="monotonic",
    title="Soft monotonic",
    formula=r"\ln p_i \sum_{j\le i} \alpha_{t-1,j} \prod_{l=j}^{i-1} (1-p_l),\ "
    r"p_i=\sigma(w_v^\top \tanh(W_q q_t+W_k k_i)+r)",
    build=Monotonic,
    parameters=(
        Parameter(
            name="offset", title="Offset r", default=-1.0, low=-10.0, high=10.0, step=0.1,
            learnable=True, help="The lower, the farther it reads before it stops, at first.",
        ),
    ),
    reference="Raffel et al. 2017, Online and linear-time attention by enforcing monotonic "
    "alignments, section 2.3",
    description="Reads from front to back and never returns: a query starts where the last one "
    "stopped.",
    tasks=("translation", "encoding"),
    own_normaliser=True,
)  # fmt: skip
