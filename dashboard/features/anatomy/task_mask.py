"""The masked softmax, and two ways to get it wrong: masking with 0, and overwriting the input."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins import masked_softmax
from attention_plugins.attention import as_mask
from dashboard.features.anatomy.task_inputs import lengths, options, tensor
from dashboard.features.anatomy.task_stages import Stages
from dashboard.jobs.context import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.records.result import Result


def masked_with_zero(scores: Tensor, allowed: Tensor) -> Tensor:
    """The softmax of scores whose padding was set to 0, as if 0 were nothing: ``exp(0)`` is 1."""
    return scores.masked_fill(~allowed, 0.0).softmax(dim=-1)


def overwritten(scores: Tensor, allowed: Tensor) -> Tensor:
    """What is left of a caller's scores when ``scores[~allowed] = 0`` is written into them.

    ``scores`` itself, of this process, is not changed.
    """
    callers = scores.clone()
    view = callers.reshape(-1, scores.shape[-1])  # no copy: the caller's own numbers
    view[~allowed.reshape(view.shape)] = 0.0
    return callers


def perform(request: Request, context: Context) -> Result:
    """Scores ``(B, n_q, n_k)`` masked by ``lengths``, rightly and wrongly.

    Returns:
        A table ``stages`` with ``scores allowed weights wrong callers again again_wrong``: the
        weights, those of masking with 0, the caller's scores after they were overwritten, and
        the softmax without lengths of the scores before and after. Facts: ``leak``, the weight
        that each row loses to padding by masking with 0, row by row of the batch.
    """
    given = options(request, "scores", "lengths")
    scores = tensor(given, "scores")
    mask = lengths(given, *scores.shape[:2])
    whole = torch.ones_like(scores, dtype=torch.bool)
    allowed = whole if mask is None else as_mask(mask, scores.shape).expand_as(scores)
    wrong, callers = masked_with_zero(scores, allowed), overwritten(scores, allowed)
    stages = Stages()
    for name, part in {
        "scores": scores, "allowed": allowed, "weights": masked_softmax(scores, mask),
        "wrong": wrong, "callers": callers, "again": scores.softmax(dim=-1),
        "again_wrong": callers.softmax(dim=-1),
    }.items():  # fmt: skip
        stages.add(name, "B n_q n_k", part)
    context.report(0.9, gettext_noop("masked"))
    leak = wrong.masked_fill(allowed, 0.0).sum(dim=-1).reshape(-1)
    return Result(tables={"stages": stages.table()}, facts={"leak": leak.tolist()})
