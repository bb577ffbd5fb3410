"""A kernel's attention in time linear in queries and keys: the weights are never made."""

from typing import TypeGuard

import torch
from torch import Tensor

from attention_plugins.attention import Inputs, KernelScoring, Scoring, remembers, taken


def attend_in_linear_time(inputs: Inputs[KernelScoring]) -> Tensor:
    """A kernel's output without its weights, see :func:`runs_in_linear_time`."""
    inputs = inputs.with_projected_keys()
    scoring, values, allowed = inputs.scoring, inputs.values, inputs.allowed()
    needs, asked = inputs.needs(), scoring.project_queries(inputs.queries)
    asks = scoring.query_features(asked, **taken(scoring.query_features, needs))  # (..., n_q, r)
    answers = scoring.key_features(inputs.keys, **taken(scoring.key_features, needs))
    if allowed is not None:
        allowed = allowed[:, None] if allowed.dim() == 1 else allowed.mT  # (..., n_k, 1)
        answers = answers * allowed.to(answers.dtype)
    sums = asks @ answers.sum(dim=-2, keepdim=True).mT  # (..., n_q, 1)
    return asks @ (answers.mT @ values) / sums.clamp_min(torch.finfo(sums.dtype).tiny)


def runs_in_linear_time(inputs: Inputs[Scoring]) -> TypeGuard[Inputs[KernelScoring]]:
    """Whether :func:`attend_in_linear_time` gives what :func:`attend` would."""
    scoring, mask = inputs.scoring, inputs.mask
    if not isinstance(scoring, KernelScoring) or scoring.normaliser is not None or inputs.dropout:
        return False
    theirs = (type(scoring).forward, type(scoring).normalise, type(scoring).pool)
    if theirs != (KernelScoring.forward, Scoring.normalise, Scoring.pool):
        return False  # it changes its weights on the way
    if remembers(scoring):
        return False
    if mask is None or mask.dtype != torch.bool:
        return mask is None or mask.dim() == 1
    return mask.dim() == 1 or mask.shape[-2] == 1 or inputs.queries.shape[-2] == 1
