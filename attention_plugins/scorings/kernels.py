"""Kernels of a distance, each with a width; some have an edge, beyond which a key has weight 0."""

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from attention_plugins import radial
from attention_plugins.attention import Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes


class DistanceKernel(radial.RadialScoring):
    """A kernel of ``|q - k| |w|`` with one weight, ``w = 1 / width``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = radial.elements_of_squares(sizes.key)
        self.inverse_width = nn.Parameter(torch.tensor(1.0 / float(values["width"])))

    @property
    def width(self) -> Tensor:
        """The distance that counts as 1, of one element; positive whatever the weight's sign."""
        return 1.0 / self.inverse_width.abs()

    def line_kernel(self) -> radial.LineKernel | None:
        """Smooth over one width, unless a kernel says otherwise."""
        return radial.Smooth(float(self.width))

    def scaled(self, squares: Tensor) -> Tensor:
        """``|q - k|^2 w^2`` of squared distances."""
        return squares * self.inverse_width.square()


def rule_out(scores: Tensor, allowed: Tensor) -> Tensor:
    """Minus infinity, and no gradient, on all that is not allowed."""
    return torch.where(allowed, scores, -torch.inf)


WIDTH = Parameter(
    name="width", title="Width σ", default=1.0, low=0.02, high=10.0, step=0.01, learnable=True,
    help="How far a query looks: keys much farther away than this count almost nothing.",
)  # fmt: skip

WINDOW = replace(
    WIDTH, title="Width h", default=2.0,
    help="How far a query looks: keys farther away than this count nothing.",
)  # fmt: skip


class Gaussian(DistanceKernel):
    """``-|q - k|^2 w^2 / 2`` with one weight, ``w = 1 / width``, as in d2l.ai, equation 10.2.7.

    ``w`` itself is what training changes, so that a step of gradient descent is the textbook's.
    """

    def profile(self, distances: Tensor) -> Tensor:
        """``-|q - k|^2 w^2 / 2``."""
        return distances * (-0.5 * self.inverse_width.square())


GAUSSIAN = ScoringSpec(build=Gaussian, **row(__file__, "gaussian", WIDTH))


class Laplacian(DistanceKernel):
    """``-|q - k|_1 |w|`` with one weight, ``w = 1 / width``."""

    metric = "absolute"

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.elements_per_pair = sizes.key  # differences along every axis, at any size

    def line_kernel(self) -> radial.LineKernel:
        """``e^-r``, with a kink at distance 0."""
        return radial.Exponential(1.0 / float(self.width), (1.0,))

    def profile(self, distances: Tensor) -> Tensor:
        """``-|q - k|_1 |w|``."""
        return distances * -self.inverse_width.abs()


LAPLACIAN = ScoringSpec(
    build=Laplacian, **row(__file__, "laplacian", replace(WIDTH, title="Width b"))
)


class Matern(DistanceKernel):
    """``log((1 + r) e^-r)`` or ``log((1 + r + r^2 / 3) e^-r)``, ``r = sqrt(2 nu) |q - k| |w|``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.smooth = values["smoothness"] == "5/2"

    def line_kernel(self) -> radial.LineKernel:
        """A polynomial in r times ``e^-r``; at distance 0 it has a kink in a derivative."""
        root = math.sqrt(5.0 if self.smooth else 3.0)
        return radial.Exponential(
            root / float(self.width), (1.0, 1.0, 1 / 3) if self.smooth else (1, 1)
        )

    def profile(self, distances: Tensor) -> Tensor:
        """``log(1 + r [+ r^2 / 3]) - r``."""
        squares = self.scaled(distances)
        # The root has no gradient at 0, where the kernel's is 0.
        r = squares.clamp_min(torch.finfo(squares.dtype).tiny).sqrt()
        r = r * math.sqrt(5.0 if self.smooth else 3.0)
        return torch.log1p(r + r.square() / 3.0 if self.smooth else r) - r


MATERN = ScoringSpec(build=Matern, **row(__file__, "matern", WIDTH))


class RationalQuadratic(DistanceKernel):
    """``log((1 + |q - k|^2 w^2 / (2 alpha))^-alpha)``; what is learned is ``log(alpha)``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.log_alpha = nn.Parameter(torch.tensor(math.log(float(values["alpha"]))))

    @property
    def alpha(self) -> Tensor:
        """How fast the tails fall, of one element; always positive."""
        return self.log_alpha.exp()

    def profile(self, distances: Tensor) -> Tensor:
        """``-alpha log(1 + |q - k|^2 w^2 / (2 alpha))``."""
        return (self.scaled(distances) / (2.0 * self.alpha)).log1p() * -self.alpha


RATIONAL_QUADRATIC = ScoringSpec(
    build=RationalQuadratic, **row(__file__, "rational_quadratic", WIDTH)
)


class InverseMultiquadric(DistanceKernel):
    """``log((1 + |q - k|^2 w^2)^(-1/2))``."""

    def profile(self, distances: Tensor) -> Tensor:
        """``-log(1 + |q - k|^2 w^2) / 2``."""
        return self.scaled(distances).log1p() * -0.5


INVERSE_MULTIQUADRIC = ScoringSpec(
    build=InverseMultiquadric, **row(__file__, "inverse_multiquadric", WIDTH)
)


class Boxcar(radial.RadialScoring):
    """0 inside the window, minus infinity outside; nothing of it can be learned."""

    metric = "squared per dimension"

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.width = float(values["width"])

    def line_kernel(self) -> radial.LineKernel:
        """1 in its window."""
        return radial.Window(self.width, (1.0,))

    def profile(self, distances: Tensor) -> Tensor:
        """0 or minus infinity."""
        return rule_out(torch.zeros_like(distances), distances < self.width**2)


BOXCAR = ScoringSpec(build=Boxcar, **row(__file__, "boxcar", replace(WINDOW, learnable=False)))


class Epanechnikov(DistanceKernel):
    """``log(1 - u^2)`` where ``u = |q - k| |w| / sqrt(d)`` is below 1; other keys are ruled out.

    A query without any key in its window gets no weight at all.
    """

    metric = "squared per dimension"

    def line_kernel(self) -> radial.LineKernel:
        """``1 - u^2`` in its window."""
        return radial.Window(float(self.width), (1.0, -1.0))

    def profile(self, distances: Tensor) -> Tensor:
        """``log(1 - u^2)``, minus infinity outside the window."""
        rest = 1.0 - self.scaled(distances)
        inside = rest > 0
        # Outside, 1 stands in before the logarithm: its gradient would not be a number there.
        return rule_out(torch.where(inside, rest, 1.0).log(), inside)


EPANECHNIKOV = ScoringSpec(build=Epanechnikov, **row(__file__, "epanechnikov", WINDOW))


class LearnedMetric(Scoring):
    """``-|L (q - k)|^2 / 2``; it starts as the Gaussian kernel of width 1, ``L`` the identity."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = radial.elements_of_squares(sizes.query)
        self.metric = nn.Linear(sizes.key, sizes.query, bias=False)
        nn.init.eye_(self.metric.weight)

    def project_queries(self, queries: Tensor) -> Tensor:
        """``L q``."""
        return self.metric(queries)

    def project_keys(self, keys: Tensor) -> Tensor:
        """``L k``."""
        return self.metric(keys)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """``-|L q - L k|^2 / 2``."""
        return radial.squared_distances(queries, keys) * -0.5


LEARNED_METRIC = ScoringSpec(build=LearnedMetric, **row(__file__, "learned_metric"))


class Mixture(DistanceKernel):
    """``log(g exp(q . k / sqrt(d)) + (1 - g) exp(-|q - k|^2 w^2 / 2))``.

    What is mixed is kernels, not weights: no sum over keys is needed, so no mask either.
    """

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        gate = float(values["gate"])
        self.logit = nn.Parameter(torch.tensor(math.log(gate / (1.0 - gate))))

    @property
    def gate(self) -> Tensor:
        """The share of the dot product's kernel, of one element between 0 and 1."""
        return self.logit.sigmoid()

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The logarithm of the mixed kernels."""
        dots = (queries / math.sqrt(queries.shape[-1])) @ keys.mT
        near = self.scaled(radial.squared_distances(queries, keys)) * -0.5
        return torch.logaddexp(dots + logsigmoid(self.logit), near + logsigmoid(-self.logit))


MIXTURE = ScoringSpec(build=Mixture, **row(__file__, "mixture", WIDTH, own_first=True))
