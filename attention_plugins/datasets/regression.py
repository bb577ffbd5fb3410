"""Regression problems that each show one thing about kernel regression.

All inputs lie in [0, 5] and all values within a few units, so that one width means the same in
every problem. Draws are in float64 from a generator of their own: equal seeds, equal data.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from attention_plugins.beside import row
from attention_plugins.contract import DatasetSpec, Parameter, RegressionData, Scalar, as_record

_END = 5.0

_POINTS = Parameter(name="points", title="Training points", default=50, low=2, high=500)
_QUERIES = Parameter(
    name="queries", title="Queries", default=50, low=2, high=500,
    help="Evenly spaced over [0, 5), as in the textbook: the last of 50 is 4.9.",
)  # fmt: skip
_SIDE = Parameter(
    name="queries", title="Queries per side", default=11, low=2, high=22, help="Of a square grid."
)

Noise = Callable[[Tensor, Tensor, Generator], Tensor]
Load = Callable[[Mapping[str, Scalar], int], RegressionData]


class _Draw(NamedTuple):
    points: int
    queries: int
    noise: float


def _with_outliers(x: Tensor, unit: Tensor, generator: Generator) -> Tensor:
    thrown = torch.rand(x.shape, generator=generator, dtype=x.dtype) < 0.1
    return torch.where(thrown, 8.0 * unit, unit)


def _sine(x: Tensor) -> Tensor:
    return 2 * torch.sin(x) + x**0.8


def _step(x: Tensor) -> Tensor:
    return torch.where(x < _END / 2, -1.0, 1.0).to(x.dtype)


def _doppler(x: Tensor) -> Tensor:
    t = x / _END
    return 4 * torch.sqrt(t * (1 - t)) * torch.sin(2.1 * math.pi / (t + 0.05))


def _on_a_line(function: Callable[[Tensor], Tensor], spread: Noise | None = None) -> Load:
    """A function on [0, 5]: sorted uniform inputs, normal noise shaped by ``spread``."""

    def load(parameters: Mapping[str, Scalar], seed: int) -> RegressionData:
        draw, generator = as_record(_Draw, parameters), torch.Generator().manual_seed(seed)
        uniform = torch.rand(draw.points, generator=generator, dtype=torch.float64)
        x = torch.sort(uniform * _END).values
        noise = draw.noise * torch.randn(draw.points, generator=generator, dtype=torch.float64)
        queries = torch.arange(draw.queries, dtype=torch.float64) * _END / draw.queries
        y = function(x) + (spread(x, noise, generator) if spread else noise)
        return RegressionData(x[:, None], y, queries[:, None], function(queries))

    return load


def _load_plane(parameters: Mapping[str, Scalar], seed: int) -> RegressionData:
    draw, generator = as_record(_Draw, parameters), torch.Generator().manual_seed(seed)
    x = torch.rand((draw.points, 2), generator=generator, dtype=torch.float64) * _END
    side = torch.linspace(0, _END, draw.queries, dtype=torch.float64)
    queries = torch.cartesian_prod(side, side)
    slopes = torch.tensor([1.0, -0.5], dtype=torch.float64)
    noise = draw.noise * torch.randn(draw.points, generator=generator, dtype=torch.float64)
    return RegressionData(x, x @ slopes + noise, queries, queries @ slopes)


def _load_five_points(parameters: Mapping[str, Scalar], seed: int) -> RegressionData:
    x = torch.tensor([1.3261, 1.7632, 2.2849, 3.7667, 4.0057], dtype=torch.float64)[:, None]
    y = torch.tensor([3.3744, 3.9904, 3.9660, 1.5305, 1.4809], dtype=torch.float64)
    return RegressionData(x, y, x)


def _problem(
    name: str, load: Load, noise: float = 0.5, queries: Parameter = _QUERIES
) -> DatasetSpec:
    noisy = Parameter(
        name="noise", title="Noise", default=noise, low=0.0, high=2.0, step=0.05, unit="sd"
    )
    return DatasetSpec(load=load, parameters=(_POINTS, noisy, queries), **row(__file__, name))


PROBLEMS = (
    _problem("sine", _on_a_line(_sine)),
    DatasetSpec(load=_load_five_points, **row(__file__, "five_points")),
    _problem("step", _on_a_line(_step)), _problem("doppler", _on_a_line(_doppler), 0.2),
    _problem("growing_noise", _on_a_line(_sine, lambda x, unit, _: unit * x / (_END / 2))),
    _problem("outliers", _on_a_line(_sine, _with_outliers)),
    _problem("plane", _load_plane, 0.25, _SIDE),
)  # fmt: skip
