"""Kernels of a distance, each with a width; some have an edge, beyond which a key has weight 0."""

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from attention_plugins.attention import Scoring
from attention_plugins.contract import Parameter, Scalar, ScoringSpec, Sizes
from attention_plugins.radial import (
    Exponential,
    LineKernel,
    RadialScoring,
    Smooth,
    Window,
    elements_of_squares,
    squared_distances,
)


class DistanceKernel(RadialScoring):
    """A kernel of ``|q - k| |w|`` with one weight, ``w = 1 / width``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = elements_of_squares(sizes.key)
        self.inverse_width = nn.Parameter(torch.tensor(1.0 / float(values["width"])))

    @property
    def width(self) -> Tensor:
        """The distance that counts as 1, of one element; positive whatever the weight's sign."""
        return 1.0 / self.inverse_width.abs()

    def line_kernel(self) -> LineKernel | None:
        """Smooth over one width, unless a kernel says otherwise."""
        return Smooth(float(self.width))

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
    WIDTH,
    title="Width h",
    default=2.0,
    help="How far a query looks: keys farther away than this count nothing.",
)


class Gaussian(DistanceKernel):
    """``-|q - k|^2 w^2 / 2`` with one weight, ``w = 1 / width``, as in d2l.ai, equation 10.2.7.

    ``w`` itself is what training changes, so that a step of gradient descent is the textbook's.
    """

    def profile(self, distances: Tensor) -> Tensor:
        """``-|q - k|^2 w^2 / 2``."""
        return distances * (-0.5 * self.inverse_width.square())


GAUSSIAN = ScoringSpec(
    name="gaussian",
    title="Gaussian kernel",
    formula=r"-\frac{\lVert q-k\rVert_2^2}{2\sigma^2}",
    build=Gaussian,
    parameters=(WIDTH,),
    reference="Nadaraya 1964, On estimating regression; Watson 1964, Smooth regression analysis",
    description="Favours near keys; weights fall off with the square of the distance.",
    same_size=True,
)


class Laplacian(DistanceKernel):
    """``-|q - k|_1 |w|`` with one weight, ``w = 1 / width``."""

    metric = "absolute"

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.elements_per_pair = sizes.key  # differences along every axis, at any size

    def line_kernel(self) -> LineKernel:
        """``e^-r``, with a kink at distance 0."""
        return Exponential(1.0 / float(self.width), (1.0,))

    def profile(self, distances: Tensor) -> Tensor:
        """``-|q - k|_1 |w|``."""
        return distances * -self.inverse_width.abs()


LAPLACIAN = ScoringSpec(
    name="laplacian",
    title="Laplacian kernel",
    formula=r"-\frac{\lVert q-k\rVert_1}{b}",
    build=Laplacian,
    parameters=(replace(WIDTH, title="Width b"),),
    reference="Rahimi & Recht 2007, Random features for large-scale kernel machines, table 1",
    description="Favours near keys with a sharp peak, yet never quite forgets far ones.",
    same_size=True,
)


class Matern(DistanceKernel):
    """``log((1 + r) e^-r)`` or ``log((1 + r + r^2 / 3) e^-r)``, ``r = sqrt(2 nu) |q - k| |w|``."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__(sizes, values)
        self.smooth = values["smoothness"] == "5/2"

    def line_kernel(self) -> LineKernel:
        """A polynomial in r times ``e^-r``; at distance 0 it has a kink in a derivative."""
        root = math.sqrt(5.0 if self.smooth else 3.0)
        return Exponential(root / float(self.width), (1.0, 1.0, 1 / 3) if self.smooth else (1, 1))

    def profile(self, distances: Tensor) -> Tensor:
        """``log(1 + r [+ r^2 / 3]) - r``."""
        squares = self.scaled(distances)
        # The root has no gradient at 0, where the kernel's is 0.
        r = squares.clamp_min(torch.finfo(squares.dtype).tiny).sqrt()
        r = r * math.sqrt(5.0 if self.smooth else 3.0)
        return torch.log1p(r + r.square() / 3.0 if self.smooth else r) - r


MATERN = ScoringSpec(
    name="matern",
    title="Matérn kernel",
    formula=r"\ln(1+r)-r \text{ or } \ln\left(1+r+\tfrac{r^2}{3}\right)-r,\ "
    r"r=\frac{\sqrt{2\nu}\,\lVert q-k\rVert_2}{\sigma}",
    build=Matern,
    parameters=(
        WIDTH,
        Parameter(
            name="smoothness", title="Smoothness ν", default="3/2", choices=("3/2", "5/2"),
            help="How often the kernel can be differentiated: once or twice.",
        ),
    ),
    reference="Rasmussen & Williams 2006, Gaussian processes for machine learning, section 4.2.1, "
    "equation 4.17",
    description="Favours near keys; weights fall off smoothly at first, then with the distance "
    "itself.",
    same_size=True,
)  # fmt: skip


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
    name="rational_quadratic",
    title="Rational quadratic kernel",
    formula=r"-\alpha \ln\left(1+\frac{\lVert q-k\rVert_2^2}{2\alpha\sigma^2}\right)",
    build=RationalQuadratic,
    parameters=(
        WIDTH,
        Parameter(
            name="alpha", title="Tails α", default=1.0, low=0.1, high=50.0, step=0.1,
            learnable=True,
            help="The smaller, the more far keys count; large values give the Gaussian kernel.",
        ),
    ),
    reference="Rasmussen & Williams 2006, Gaussian processes for machine learning, section 4.2.1, "
    "equation 4.19",
    description="Favours near keys as Gaussians of many widths together would; far ones still "
    "count.",
    same_size=True,
)  # fmt: skip


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


class LearnedMetric(Scoring):
    """``-|L (q - k)|^2 / 2``; it starts as the Gaussian kernel of width 1, ``L`` the identity."""

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.elements_per_pair = elements_of_squares(sizes.query)
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
        return squared_distances(queries, keys) * -0.5


LEARNED_METRIC = ScoringSpec(
    name="learned_metric",
    title="Learned metric (Mahalanobis)",
    formula=r"-\tfrac12 \lVert L(q-k)\rVert_2^2",
    build=LearnedMetric,
    reference="Weinberger & Tesauro 2007, Metric learning for kernel regression",
    description="Favours near keys, and learns which directions count for how much in being near.",
    same_size=True,
)


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
        near = self.scaled(squared_distances(queries, keys)) * -0.5
        return torch.logaddexp(dots + logsigmoid(self.logit), near + logsigmoid(-self.logit))


MIXTURE = ScoringSpec(
    name="mixture",
    title="Mixture of dot product and Gaussian",
    formula=r"\ln\left(g\,e^{q^\top k/\sqrt d}+(1-g)\,e^{-\lVert q-k\rVert^2/(2\sigma^2)}\right)",
    build=Mixture,
    parameters=(
        Parameter(
            name="gate", title="Gate g", default=0.5, low=0.01, high=0.99, step=0.01,
            learnable=True, help="1 is the scaled dot product alone, 0 the Gaussian kernel alone.",
        ),
        WIDTH,
    ),
    reference="Rasmussen & Williams 2006, Gaussian processes for machine learning, section 4.2.4",
    description="Favours keys that point the query's way or lie near it, in a proportion that is "
    "learned.",
    same_size=True,
)  # fmt: skip
