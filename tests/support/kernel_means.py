"""Kernel means written out term by term, in NumPy alone: what the sums are held against."""

from __future__ import annotations

import numpy as np

from attention_plugins import Sizes, scorings

SPECS = {spec.name: spec for spec in scorings.attention_scorings()}


def gaussian(d, width):
    return -0.5 * (d / width) ** 2


def laplacian(d, width):
    return -d / width


def matern(d, width, smoothness):
    r = np.sqrt(3.0 if smoothness == "3/2" else 5.0) * d / width
    return np.log(1 + r + (r**2 / 3 if smoothness == "5/2" else 0.0)) - r


def inverse_multiquadric(d, width):
    return -0.5 * np.log(1 + (d / width) ** 2)


def rational_quadratic(d, width, alpha):
    return -alpha * np.log(1 + (d / width) ** 2 / (2 * alpha))


def boxcar(d, width):
    return np.where(d < width, 0.0, -np.inf)


def epanechnikov(d, width):
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(0.0, 1 - (d / width) ** 2))


KERNELS = {
    "gaussian": (gaussian, {}),
    "laplacian": (laplacian, {}),
    "matern-3/2": (matern, {"smoothness": "3/2"}),
    "matern-5/2": (matern, {"smoothness": "5/2"}),
    "inverse_multiquadric": (inverse_multiquadric, {}),
    "rational_quadratic-0.1": (rational_quadratic, {"alpha": 0.1}),
    "rational_quadratic-2": (rational_quadratic, {"alpha": 2.0}),
    "rational_quadratic-50": (rational_quadratic, {"alpha": 50.0}),
    "boxcar": (boxcar, {}),
    "epanechnikov": (epanechnikov, {}),
}


def make(name, width, size=1, **others):
    """The scoring of that name in double precision, its width not rounded to single."""
    values = {**KERNELS.get(name, (None, {}))[1], **others}
    built = SPECS[name.split("-")[0]].create(Sizes(size, size, 7, value=1), values).double()
    built.requires_grad_(False)
    if hasattr(built, "inverse_width"):
        built.inverse_width.fill_(1 / width)
    else:
        built.width = width
    if hasattr(built, "log_alpha"):
        built.log_alpha.fill_(np.log(values["alpha"]))
    return built


def means(name, width, queries, keys, values, own=None):
    """Means ``(m, c)``, ``exp(entropy)`` ``(m,)`` and which rows have any weight ``(m,)``."""
    formula, others = KERNELS[name]
    found, neighbours, reached = [], [], []
    for number, query in enumerate(queries):
        scores = formula(np.abs(query - keys), width, **others)
        if own is not None:
            scores[own[number]] = -np.inf
        top = scores.max()
        reached.append(top > -np.inf)
        weights = np.exp(scores - top) if reached[-1] else np.zeros_like(scores)
        weights /= max(weights.sum(), 1e-300)
        found.append(weights @ values)
        some = weights[weights > 0]
        neighbours.append(np.exp(-(some * np.log(some)).sum()))
    return np.array(found), np.array(neighbours), np.array(reached)
