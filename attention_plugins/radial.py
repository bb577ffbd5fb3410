"""Scorings of a distance alone: what lets kernel regression go without its n x n scores."""

import math
from typing import Literal, NamedTuple

from torch import Tensor

from attention_plugins.attention import Scoring

# Up to here differences are formed one by one: exact for close points far from the origin, and
# the tensor (..., n_q, n_k, d) is still small. Above, the square is expanded into products.
_MOST_DIFFERENCES = 8


def squared_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """Squared Euclidean distances ``(..., n_q, n_k)`` of ``(..., n_q, d)`` to ``(..., n_k, d)``.

    Above 8 dimensions they are expanded around the keys' mean, which needs no memory for
    differences; rounding errors are then relative to the spread of the points.
    """
    if queries.shape[-1] <= _MOST_DIFFERENCES:
        return (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
    centre = keys.detach().mean(dim=-2, keepdim=True)
    queries, keys = queries - centre, keys - centre
    squares = (-2.0 * queries) @ keys.mT
    # In place: the product is needed by nothing else. Rounding may leave a little below 0.
    squares += queries.square().sum(-1).unsqueeze(-1)
    squares += keys.square().sum(-1).unsqueeze(-2)
    return squares.relu_()


def elements_of_squares(size: int) -> int:
    """How many numbers :func:`squared_distances` makes of two points of ``size`` dimensions."""
    return size if size <= _MOST_DIFFERENCES else 1


def absolute_distances(queries: Tensor, keys: Tensor) -> Tensor:
    """Sums of absolute differences ``(..., n_q, n_k)``; the gradient at distance 0 is 0."""
    return (queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(dim=-1)


def squares_per_dimension(queries: Tensor, keys: Tensor) -> Tensor:
    """``|q - k|^2 / d``: a window of one width then holds about as many keys at every size."""
    scale = math.sqrt(queries.shape[-1])
    return squared_distances(queries / scale, keys / scale)


Metric = Literal["squared", "squared per dimension", "absolute"]
_DISTANCES = {
    "squared": squared_distances, "squared per dimension": squares_per_dimension,
    "absolute": absolute_distances,
}  # fmt: skip


class Smooth(NamedTuple):
    """A kernel without a kink at distance 0, such as the Gaussian.

    ``scale`` is a distance over which it changes noticeably, such as its width: results do not
    depend on it, only speed does.
    """

    scale: float


class Exponential(NamedTuple):
    """``(c_0 + c_1 r + c_2 r^2 + ...) e^-r`` where ``r = rate * distance``.

    The rate is positive, and no coefficient negative.
    """

    rate: float
    coefficients: tuple[float, ...]


class Window(NamedTuple):
    """``c_0 + c_1 u^2 + c_2 u^4 + ...`` where ``u = distance / width`` is below 1, else 0.

    Which keys are inside is what ``profile`` says: it is minus infinity outside.
    """

    width: float
    coefficients: tuple[float, ...]


LineKernel = Smooth | Exponential | Window


class RadialScoring(Scoring):
    """A scoring that is a function of the distance of query and key; it never grows with it.

    Where nobody asks for the weights and there are many, the output is computed without them: in
    time and memory linear in queries and keys where these are numbers (one dimension) and
    :meth:`line_kernel` says what the kernel is; else block by block with matrix products.

    Attributes:
        metric: what :meth:`profile` is given: ``"squared"`` Euclidean distances, the same divided
            by the number of dimensions (``"squared per dimension"``), or the sum of
            ``"absolute"`` differences.
    """

    metric: Metric = "squared"

    def profile(self, distances: Tensor) -> Tensor:
        """Distances as :attr:`metric` says, of any shape, to scores of the same shape."""
        raise NotImplementedError(f"{type(self).__name__} needs profile(distances)")

    def line_kernel(self) -> LineKernel | None:
        """The form of ``exp(profile)`` on a line; None: no form that has a fast sum."""
        return None

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The profile of all distances, ``(..., n_q, n_k)``."""
        return self.profile(_DISTANCES[self.metric](queries, keys))
