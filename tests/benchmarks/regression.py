"""Kernel regression of many points, ours beside its peers, interleaved in one process.

``python tests/benchmarks/regression.py`` from the project root prints one line per measurement.
Times are the best of a few rounds in which all take turns; KeOps and scikit-learn are measured
where they are installed and where one round takes less than minutes. Accuracy is measured against
sums written out in NumPy at some of the queries.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention_plugins import ModelSizes, RegressionData, registry
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.regression import predict
from attention_plugins.tap import Tap

Row = dict[str, Any]
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


def measured(n: int, dimensions: int, rounds: int = _ROUNDS) -> list[Row]:
    """Ours beside every peer that is installed; a single row where n is too large for them.

    Returns:
        ``name``; ``ours``, ``ours_with_neighbours`` and ``theirs`` in seconds; ``ratio``, theirs
        by ours; ``error``, relative to the values' spread; ``peak_mb`` of this process so far.
    """
    data = problem(n, dimensions)
    alone, whole = ours(data)
    runs = {"ours": alone, "ours with neighbours": whole}
    if n * n <= _PAIRS_OF_PEERS:
        runs |= {name: make(data) for name, make in PEERS.items() if find_spec(name)}
    best = dict.fromkeys(runs, np.inf)
    found = {name: run() for name, run in runs.items()}  # compiles and warms up
    for _ in range(rounds):
        for name, run in runs.items():
            began = time.perf_counter()
            found[name] = run()
            best[name] = min(best[name], time.perf_counter() - began)
    rows, expected = exact(data)
    shared = {
        "ours": best["ours"],
        "ours_with_neighbours": best["ours with neighbours"],
        "error": float((found["ours"][rows] - expected).abs().max() / data.y.std()),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    of = f"gaussian, n = {n:,}, d = {dimensions}"
    peers = [name for name in runs if name in PEERS]
    if not peers:
        return [{"name": of, **shared, "theirs": None, "ratio": None}]
    return [
        {"name": f"{of}, {name}", **shared, "theirs": best[name],
         "ratio": best[name] / best["ours"]}
        for name in peers
    ]  # fmt: skip


def lines() -> list[Row]:
    """1-D problems of 10^4, 10^5 and 10^6 points and as many queries."""
    return [row for n in (10**4, 10**5, 10**6) for row in measured(n, 1)]


def space() -> list[Row]:
    """10^4 points and as many queries in three dimensions."""
    return measured(10**4, 3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for measure in (lines, space):
        for row in measure():
            print(json.dumps(row), flush=True)
