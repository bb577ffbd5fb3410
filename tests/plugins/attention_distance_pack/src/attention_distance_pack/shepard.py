"""Shepard's inverse distance weighting, which runs through every training point."""

from torch import Tensor

from attention_plugins import Parameter, scoring

# Added to the squared distance, so that a key in the query's own place has a finite score.
_NEAREST = 1e-6


@scoring(
    "shepard",
    title="Inverse distance (Shepard)",
    formula=r"-\frac{p}{2} \log(\lVert q-k\rVert_2^2 + \varepsilon)",
    parameters=(
        Parameter(
            name="power", title="Power p", default=2.0, low=0.5, high=16.0, step=0.5,
            learnable=True, help="The larger, the more the nearest key counts alone.",
        ),
    ),
    reference="Shepard 1968, A two-dimensional interpolation function for irregularly-spaced data",
    description="Weights are one over a power of the distance: a key in the query's place wins.",
    same_size=True,
)  # fmt: skip
def shepard(queries: Tensor, keys: Tensor, power: Tensor) -> Tensor:
    """The softmax over ``-p log d`` is ``d**-p`` over its sum."""
    squares = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
    return -0.5 * power * (squares + _NEAREST).log()
