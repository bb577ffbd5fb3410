"""Distances of every query to every key, exact where it matters and lean where it costs."""

from __future__ import annotations

import math

from torch import Tensor

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
