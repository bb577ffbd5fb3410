"""Tables that are uploaded and validated, and what is expected of their rows by NumPy alone."""

from __future__ import annotations

import numpy as np
import pytest

from attention_plugins import registry
from attention_plugins.fitting import grid
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs


class Watcher:
    """A context that notes what is reported, and may stop the job."""

    def __init__(self, stops=False):
        self.notes, self.stops = [], stops

    def report(self, fraction, note="", facts=None):
        self.notes.append(str(note))

    def stopped(self):
        return self.stops


def table(x, y):
    """Upload the points; ``upload:<sha256>``."""
    lines = [",".join(f"x{i}" for i in range(x.shape[1])) + ",y"]
    lines += [",".join(map(repr, map(float, row))) for row in np.column_stack([x, y])]
    return f"upload:{Blobs().put(chr(10).join(lines).encode())}"


def ask(data, context=None, width=1.0, scaled=True, **plan):
    """The result of a Gaussian of that width, or of a ``baseline``, by that plan."""
    own = {} if plan.get("baseline") else {"scoring": "gaussian", "parameters": {"width": width}}
    plan = {"folds": 5, "seed": 0, "tune": False, **plan} if plan else {}
    options = {f"validation.{name}": value for name, value in plan.items()}
    options |= {} if scaled else {"standardise": False}
    request = Request.make("regression", data=data, device="cpu", options=options, **own)
    return perform(request, context or Watcher())


def kernel(x, y, queries, width=1.0, of=None):
    """A Gaussian's local constant regression, x scaled as the page scales it, by rows ``of``."""
    unit = (x if of is None else of).std(0) / (5 / np.sqrt(12))
    away = (queries / unit)[:, None] - x / unit
    scores = -((away**2).sum(-1)) / (2 * width**2)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return weights @ y / weights.sum(1)


def widths():
    """What tuning tries."""
    return [one["width"] for one in grid(registry.installed().scoring("gaussian").parameters)]


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def check(result, y, predicted):
    """The figures are those of ``predicted``, row by row of the file; the facts of them."""
    found, held = result.facts["validation"], result.tables["validation"].to_pandas()
    rows = held["row"] - 1
    own, theirs = y[rows], predicted[rows]
    np.testing.assert_allclose(held["prediction"], theirs, rtol=1e-9, atol=1e-9)
    misses = own - theirs
    assert found["r2"][0] == near(1 - (misses**2).sum() / ((own - own.mean()) ** 2).sum())
    assert found["mae"][0] == near(np.abs(misses).mean())
    assert found["rmse"][0] == near(np.sqrt((misses**2).mean()))
    for value, low, high in (found[name] for name in ("r2", "mae", "rmse")):
        assert low < value < high
    return found
