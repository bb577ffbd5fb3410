"""Distance in hyperbolic space, where room grows exponentially, as a tree's does."""

from torch import Tensor

from attention_plugins import Parameter, scoring

# Under the root, whose slope at 0 is infinite.
_SMALLEST = 1e-6


@scoring(
    "lorentz",
    title="Hyperbolic distance",
    formula=r"-\beta\, \mathrm{arcosh}\left(\sqrt{1+\lVert q\rVert^2}\sqrt{1+\lVert k\rVert^2}"
    r" - q^\top k\right)",
    parameters=(
        Parameter(
            name="sharpness", title="Sharpness β", default=1.0, low=0.1, high=20.0, step=0.1,
            learnable=True, help="The larger, the more the nearest keys count.",
        ),
    ),
    reference="Gulcehre et al. 2018, Hyperbolic attention networks",
    description="Favours near keys on a hyperboloid: far out, small turns are long ways.",
    same_size=True,
)  # fmt: skip
def lorentz(queries: Tensor, keys: Tensor, sharpness: Tensor) -> Tensor:
    """Vectors are lifted onto the hyperboloid ``x_0^2 = 1 + |x|^2`` and compared there."""
    flat = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)  # (..., n_q, n_k)
    rise = _height(queries).unsqueeze(-1) - _height(keys).unsqueeze(-2)
    # The formula's argument less 1, without the difference of two large products.
    excess = 0.5 * (flat - rise.square()).clamp_min(0.0)
    root = (excess * (excess + 2.0) + _SMALLEST).sqrt()
    return -sharpness * (excess + root).log1p()


def _height(points: Tensor) -> Tensor:
    return (1.0 + points.square().sum(dim=-1)).sqrt()
