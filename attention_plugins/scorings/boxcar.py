"""The boxcar kernel: the mean of all keys in a window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.radial import LineKernel, RadialScoring, Window
from attention_plugins.scorings.kernels import WINDOW, rule_out


class Boxcar(RadialScoring):
    """0 inside the window, minus infinity outside; nothing of it can be learned."""

    metric = "squared per dimension"

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.width = float(values["width"])

    def line_kernel(self) -> LineKernel:
        """1 in its window."""
        return Window(self.width, (1.0,))

    def profile(self, distances: Tensor) -> Tensor:
        """0 or minus infinity."""
        return rule_out(torch.zeros_like(distances), distances < self.width**2)


BOXCAR = ScoringSpec(
    name="boxcar",
    title="Boxcar kernel",
    formula=r"0 \text{ if } \frac{\lVert q-k\rVert_2}{\sqrt{d}}<h,\ \text{else } -\infty",
    build=Boxcar,
    parameters=(replace(WINDOW, learnable=False),),  # a step has no slope to learn by
    reference="Rosenblatt 1956, Remarks on some nonparametric estimates of a density function",
    description="All keys in a window count the same, all others get a weight of exactly 0.",
    same_size=True,
)
