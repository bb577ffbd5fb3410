"""The inverse multiquadric kernel: a peak with very long tails."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import ScoringSpec
from attention_plugins.scorings.gaussian import WIDTH
from attention_plugins.scorings.kernels import DistanceKernel


class InverseMultiquadric(DistanceKernel):
    """``log((1 + |q - k|^2 w^2)^(-1/2))``."""

    def profile(self, distances: Tensor) -> Tensor:
        """``-log(1 + |q - k|^2 w^2) / 2``."""
        return self.scaled(distances).log1p() * -0.5


INVERSE_MULTIQUADRIC = ScoringSpec(
    name="inverse_multiquadric",
    title="Inverse multiquadric kernel",
    formula=r"-\tfrac12 \ln\left(1+\frac{\lVert q-k\rVert_2^2}{\sigma^2}\right)",
    build=InverseMultiquadric,
    parameters=(WIDTH,),
    reference="Hardy 1971, Multiquadric equations of topography and other irregular surfaces; "
    "Micchelli 1986, Interpolation of scattered data",
    description="Favours near keys, but far ones keep a weight of one over their distance.",
    same_size=True,
)
