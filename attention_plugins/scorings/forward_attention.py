"""Forward attention: from one query to the next it stays, or moves on by one key."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from attention_plugins.contract import ScoringSpec
from attention_plugins.scorings.additive import Additive
from attention_plugins.scorings.kernels import rule_out


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
