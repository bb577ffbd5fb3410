"""Kernels with an edge: keys beyond their window get a weight of exactly 0."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attention_plugins.contract import Scalar, ScoringSpec, Sizes
from attention_plugins.radial import LineKernel, RadialScoring, Window
from attention_plugins.scorings.kernels import WINDOW, DistanceKernel, rule_out


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


class Epanechnikov(DistanceKernel):
    """``log(1 - u^2)`` where ``u = |q - k| |w| / sqrt(d)`` is below 1; other keys are ruled out.

    A query without any key in its window gets no weight at all.
    """

    metric = "squared per dimension"

    def line_kernel(self) -> LineKernel:
        """``1 - u^2`` in its window."""
        return Window(float(self.width), (1.0, -1.0))

    def profile(self, distances: Tensor) -> Tensor:
        """``log(1 - u^2)``, minus infinity outside the window."""
        rest = 1.0 - self.scaled(distances)
        inside = rest > 0
        # Outside, 1 stands in before the logarithm: its gradient would not be a number there.
        return rule_out(torch.where(inside, rest, 1.0).log(), inside)


EPANECHNIKOV = ScoringSpec(
    name="epanechnikov",
    title="Epanechnikov kernel",
    formula=r"\ln\max\left(1-\frac{\lVert q-k\rVert_2^2}{d\,h^2},\,0\right)",
    build=Epanechnikov,
    parameters=(WINDOW,),
    reference="Epanechnikov 1969, Non-parametric estimation of a multivariate probability "
    "density; Hastie, Tibshirani & Friedman 2009, The elements of statistical learning, "
    "section 6.1",
    description="Favours near keys; those outside a window get a weight of exactly 0.",
    same_size=True,
)
