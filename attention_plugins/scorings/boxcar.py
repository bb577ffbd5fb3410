"""The boxcar kernel: the mean of all keys in a window."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from attention_plugins.contract import scoring
from attention_plugins.scorings.kernels import WINDOW, rule_out, squares_per_dimension


@scoring(
    "boxcar",
    title="Boxcar kernel",
    formula=r"0 \text{ if } \frac{\lVert q-k\rVert_2}{\sqrt{d}}<h,\ \text{else } -\infty",
    parameters=(replace(WINDOW, learnable=False),),  # a step has no slope to learn by
    reference="Rosenblatt 1956, Remarks on some nonparametric estimates of a density function; "
    "Dive into Deep Learning, section 11.2.1",
    description="All keys in a window count the same, all others get a weight of exactly 0.",
    same_size=True,
)
def boxcar(queries: Tensor, keys: Tensor, width: float) -> Tensor:
    """0 inside the window, minus infinity outside; nothing of it can be learned."""
    squares = squares_per_dimension(queries, keys)
    return rule_out(torch.zeros_like(squares), squares < width**2)
