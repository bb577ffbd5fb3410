"""A million points: right, and in memory linear in them."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
sys.path.insert(0, "tests")
import numpy as np, torch
from support.kernel_means import make, means
from attention_plugins.sums import pool_without_weights

n, name = int(sys.argv[1]), sys.argv[2]
random = np.random.default_rng(0)
keys, queries = random.uniform(0, 5, (n, 1)), random.uniform(-0.1, 5.1, (n, 1))
values = np.sin(keys) + random.normal(size=(n, 1))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = pool_without_weights(make(name, 0.1), *map(torch.from_numpy, (queries, keys, values)))
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = random.integers(0, n, 7)
exact = means(name, 0.1, queries[rows, 0], keys[:, 0], values)[0]
print(np.abs(found.values.numpy()[rows] - exact).max(), (after - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gaussian", "inverse_multiquadric", "matern-5/2", "epanechnikov"]
)
def test_a_million_points_are_summed_right_and_in_little_memory(name):
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(10**6), name],
        capture_output=True, text=True, check=True, timeout=250,
    )  # fmt: skip
    error, megabytes = map(float, ran.stdout.split())
    assert error < 1e-7
    assert megabytes < 700  # bytes per point; every row of weights alone has 8,000,000
