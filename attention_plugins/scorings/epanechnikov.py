"""The Epanechnikov kernel: a parabola, and nothing beyond its window."""

from __future__ import annotations

import torch
from torch import Tensor

from attention_plugins.contract import ScoringSpec
from attention_plugins.radial import LineKernel, Window
from attention_plugins.scorings.kernels import (
    WINDOW,
    DistanceKernel,
    rule_out,
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
