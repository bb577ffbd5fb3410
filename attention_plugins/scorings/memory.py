"""Additive scorings that know where earlier queries looked."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, pad

from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
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


LOCATION_SENSITIVE = ScoringSpec(
    name="location_sensitive",
    title="Location-sensitive",
    formula=r"w_v^\top \tanh\left(W_q q_t + W_k k_i + U (F * \alpha_{t-1})_i\right)",
    build=LocationSensitive,
    parameters=(
        Parameter(
            name="filters", title="Filters", default=8, low=1, high=64,
            help="How many patterns of the last weights are told apart.",
        ),
        Parameter(
            name="reach", title="Reach", default=3, low=1, high=100, unit="keys",
            help="How far to either side a filter sees.",
        ),
    ),
    reference="Chorowski et al. 2015, Attention-based models for speech recognition, section 2.1",
    description="Like additive, but it sees where the last query looked, and may move on from "
    "there.",
    tasks=("translation", "encoding"),
)  # fmt: skip


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


FORWARD_ATTENTION = ScoringSpec(
    name="forward_attention",
    title="Forward attention",
    formula=r"w_v^\top \tanh(W_q q_t + W_k k_i) + \ln(\alpha_{t-1,i}+\alpha_{t-1,i-1})",
    build=ForwardAttention,
    reference="Zhang, Ling & Dai 2018, Forward attention in sequence-to-sequence acoustic "
    "modelling for speech synthesis, section 3.1",
    description="Reads from front to back: with every query weight stays, or moves on by one key.",
    tasks=("translation", "encoding"),
)


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


COVERAGE = ScoringSpec(
    name="coverage",
    title="Coverage",
    formula=r"w_v^\top \tanh\left(W_q q_t + W_k k_i + u \sum_{s<t} \alpha_{s,i}\right)",
    build=Coverage,
    reference="Tu et al. 2016, Modeling coverage for neural machine translation, section 3.1",
    description="Like additive, but it knows what was translated already, and may look elsewhere.",
    tasks=("translation", "encoding"),
)
