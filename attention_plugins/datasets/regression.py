"""Regression problems that each show one thing about kernel regression.

All inputs lie in [0, 5] and all values within a few units, so that one width means the same in
every problem. Draws are in float64 from a generator of their own: equal seeds, equal data.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from attention_plugins.contract import DatasetSpec, Parameter, RegressionData, Scalar, as_record

_END = 5.0

_POINTS = Parameter(name="points", title="Training points", default=50, low=2, high=500)
_QUERIES = Parameter(
    name="queries", title="Queries", default=50, low=2, high=500, help="Evenly spaced over [0, 5)."
)
_SIDE = Parameter(
    name="queries", title="Queries per side", default=11, low=2, high=22, help="Of a square grid."
)

Noise = Callable[[Tensor, Tensor, Generator], Tensor]
Load = Callable[[Mapping[str, Scalar], int], RegressionData]


class _Draw(NamedTuple):
    points: int
    queries: int
    noise: float


def _noise_parameter(default: float) -> Parameter:
    return Parameter(
        name="noise", title="Noise", default=default, low=0.0, high=2.0, step=0.05, unit="sd"
    )


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


_SINE = DatasetSpec(
    name="sine",
    title="Sine and power",
    task="regression",
    load=_on_a_line(_sine),
    parameters=(_POINTS, _noise_parameter(0.5), _QUERIES),
    reference="Zhang, Lipton, Li & Smola 2021, Dive into Deep Learning, section 10.2",
    formula=r"y = 2\sin x + x^{0.8} + \varepsilon",
    description="A smooth curve with equal noise everywhere: one width suits all of it.",
)

PROBLEMS = (
    _SINE,
    DatasetSpec(
        name="five_points",
        title="Five points",
        task="regression",
        load=_load_five_points,
        reference=_SINE.reference,
        description="Five fixed points that are their own queries: small enough to check by hand.",
    ),
    replace(
        _SINE,
        name="step",
        title="Step",
        load=_on_a_line(_step),
        reference="",
        formula=r"y = \operatorname{sign}(x - 2.5) + \varepsilon",
        description="A jump: every smooth kernel rounds its corners.",
    ),
    replace(
        _SINE,
        name="doppler",
        title="Doppler",
        load=_on_a_line(_doppler),
        parameters=(_POINTS, _noise_parameter(0.2), _QUERIES),
        reference="Donoho & Johnstone 1994, Ideal spatial adaptation by wavelet shrinkage",
        formula=r"y = 4\sqrt{t(1-t)}\,\sin\frac{2.1\pi}{t + 0.05} + \varepsilon,\quad t = x/5",
        description="Fast on the left, slow on the right: no single width is right.",
    ),
    replace(
        _SINE,
        name="growing_noise",
        title="Growing noise",
        load=_on_a_line(_sine, lambda x, unit, _: unit * x / (_END / 2)),
        reference="",
        formula=r"y = 2\sin x + x^{0.8} + \tfrac{x}{2.5}\,\varepsilon",
        description="Noise grows with x, so the right asks for a wider kernel than the left.",
    ),
    replace(
        _SINE,
        name="outliers",
        title="Outliers",
        load=_on_a_line(_sine, _with_outliers),
        reference="",
        formula=r"y = 2\sin x + x^{0.8} + b\,\varepsilon,\quad P(b=8)=0.1,\ P(b=1)=0.9",
        description="One point in ten is thrown far off: a weighted mean follows it.",
    ),
    DatasetSpec(
        name="plane",
        title="Plane",
        task="regression",
        load=_load_plane,
        parameters=(_POINTS, _noise_parameter(0.25), _SIDE),
        formula=r"y = x_1 - \tfrac{1}{2} x_2 + \varepsilon",
        description="Two inputs, no curvature: what is left is the bias at the edges.",
    ),
)
