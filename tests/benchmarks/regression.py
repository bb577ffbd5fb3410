"""Kernel regression of many points, ours beside its peers, interleaved in one process.

Times are the best of a few rounds in which all take turns; KeOps and scikit-learn are measured
where they are installed and where one round takes less than minutes. Accuracy is measured against
sums written out in NumPy at some of the queries.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from attention_plugins import ModelSizes, RegressionData, registry
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.regression import predict
from attention_plugins.tap import Tap
from tests.benchmarks.rows import Row

Run = Callable[[], Tensor]

WIDTH = 0.3
_CHECKED = 64  # queries
_PAIRS_OF_PEERS = 10**8  # more take them minutes
_ROUNDS = 3


def problem(n: int, dimensions: int, seed: int = 0) -> RegressionData:
    """``n`` noisy points of a sine over [0, 5] in each dimension, and ``n`` queries there."""
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(n, dimensions, generator=draw, dtype=torch.float64) * 5
    y = x.sum(dim=1).sin() + 0.3 * torch.randn(n, generator=draw, dtype=torch.float64)
    return RegressionData(x, y, torch.rand(n, dimensions, generator=draw, dtype=torch.float64) * 5)


def ours(data: RegressionData) -> tuple[Run, Run]:
    """Predictions, as the peers make them; and those with effective neighbours, as a job asks."""
    factory = registry.installed().scoring("gaussian").factory({"width": WIDTH})
    model = NADARAYA_WATSON.create(factory, ModelSizes(data.x.shape[1], 1)).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.fill_(1 / WIDTH)

    @torch.no_grad()
    def run() -> Tensor:
        return model(data.queries, data.x, data.y, None, Tap())

    return run, lambda: predict(model, data, keep_weights=False).values


def keops(data: RegressionData) -> Run:
    """One reduction over symbolic scores, compiled before it is timed."""
    from pykeops.torch import LazyTensor

    queries = LazyTensor(data.queries[:, None, :].contiguous())
    keys = LazyTensor(data.x[None, :, :].contiguous())
    values = LazyTensor(data.y[None, :, None].contiguous())
    scores = ((queries - keys) ** 2).sum(dim=2) * (-0.5 / WIDTH**2)
    return lambda: scores.sumsoftmaxweight(values, axis=1)[:, 0]


def scikit_learn(data: RegressionData) -> Run:
    """Pairwise squared distances, exponentials, and two products, 1,000 queries at a time."""
    from sklearn.metrics import pairwise_distances

    def run() -> Tensor:
        found = []
        for part in data.queries.split(1000):
            squares = pairwise_distances(part.numpy(), data.x.numpy(), metric="sqeuclidean")
            weights = np.exp(-0.5 / WIDTH**2 * squares)
            found.append(weights @ data.y.numpy() / weights.sum(axis=1))
        return torch.from_numpy(np.concatenate(found))

    return run


PEERS = {"pykeops": keops, "sklearn": scikit_learn}


def exact(data: RegressionData) -> tuple[Tensor, Tensor]:
    """Some queries' numbers, and what is predicted there by sums written out."""
    rows = torch.linspace(0, len(data.queries) - 1, _CHECKED).long()
    found = []
    for query in data.queries[rows].numpy():
        scores = -0.5 * np.square((data.x.numpy() - query) / WIDTH).sum(axis=1)
        weights = np.exp(scores - scores.max())
        found.append(weights @ data.y.numpy() / weights.sum())
    return rows, torch.tensor(found)


def measured(n: int, dimensions: int) -> list[Row]:
    """Ours beside every peer that is installed; a single row where n is too large for them."""
    data = problem(n, dimensions)
    alone, whole = ours(data)
    runs = {"ours": alone, "ours with neighbours": whole}
    if n * n <= _PAIRS_OF_PEERS:
        runs |= {name: make(data) for name, make in PEERS.items() if find_spec(name)}
    best = dict.fromkeys(runs, np.inf)
    found = {name: run() for name, run in runs.items()}  # compiles and warms up
    for _ in range(_ROUNDS):
        for name, run in runs.items():
            began = time.perf_counter()
            found[name] = run()
            best[name] = min(best[name], time.perf_counter() - began)
    picked, expected = exact(data)
    error = float((found["ours"][picked] - expected).abs().max() / data.y.std())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shared = {
        "work": f"Gaussian regression, n = m = {n:,}, d = {dimensions}",
        "ours": best["ours"],
        "note": f"error {error:.0e} of y's spread; with neighbours counted "
        f"{1e3 * best['ours with neighbours']:.3g} ms; peak so far {peak:.0f} MB",
    }
    peers = [name for name in runs if name in PEERS]
    if not peers:
        return [Row(**shared)]
    return [Row(**shared, against=name, theirs=best[name]) for name in peers]


def rows(quick: bool) -> Iterator[Row]:
    """On a line and in space, from 10^4 points on."""
    for n in (10**4,) if quick else (10**4, 10**5, 10**6):
        yield from measured(n, 1)
    yield from measured(10**4, 3)
