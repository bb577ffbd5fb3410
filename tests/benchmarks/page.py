"""What one change costs the page process: milliseconds of CPU of a run of *Kernel regression*.

Four panels of 50 queries and 50 points over their maps, and the plot side by side, drawn by the
page itself on a backend that answers at once. A slider is moved, so that one panel has a new
result (and all have another colour scale, now and then); then the page is drawn once more.
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from streamlit.testing.v1 import AppTest

from dashboard.records.request import Request, Result
from dashboard.ui import workbench
from tests.benchmarks.rows import Row
from tests.support.catalogue import FACTS
from tests.support.pages import Backend, maps

_QUERIES = 50
_times: list[float] = []


def rows(quick: bool) -> Iterator[Row]:
    """CPU time of a run with a new result, and of one with none."""
    repeats = 6 if quick else 20
    bench = workbench.Workbench(_Backend(copy.deepcopy(FACTS)))
    shared, workbench._shared = workbench._shared, lambda: bench
    try:
        app = AppTest.from_function(_script, default_timeout=60)
        for letter in "abcd":
            app.query_params[letter] = "gaussian"
            app.query_params[f"{letter}.width"] = "0.5"
        app.run()
        changed, unchanged = [], []
        for step in range(repeats + 2):
            app.slider("panel-a-gaussian-width").set_value(round(0.5 + step / 100, 2))
            changed.append(_run(app) / 1e3)
            unchanged.append(_run(app) / 1e3)
    finally:
        workbench._shared = shared
    for work, taken in (("a slider step", changed), ("the same again", unchanged)):
        seconds = taken[2:]  # the first ones compile
        yield Row(
            work=f"{work}, four panels, CPU of the page", ours=statistics.median(seconds),
            fastest=min(seconds),
        )  # fmt: skip


def _run(app: AppTest) -> float:
    app.run()
    if app.exception:
        raise RuntimeError(app.exception[0].value)
    return _times[-1]


def _script() -> None:
    import time

    from dashboard.features.regression.page import PAGE
    from tests.benchmarks import page

    start = time.thread_time()
    PAGE.show()
    page._times.append(1e3 * (time.thread_time() - start))


class _Backend(Backend):
    """Smooths the sine with a Gaussian of the width that is asked for, once per request."""

    def __init__(self, facts: dict) -> None:
        super().__init__(facts)
        self._made: dict[str, Result] = {}

    def wait(self, job, timeout):
        event = super().wait(job, timeout)
        request = self.submitted[job]
        if request.task == "regression":
            if request.key not in self._made:
                self._made[request.key] = _smoothed(request, event.result.facts)
            event = type(event)(number=3, stage="done", result=self._made[request.key])
        return event


def _smoothed(request: Request, facts: dict) -> Result:
    width = dict(request.parameters)["width"]
    rng = np.random.default_rng(request.seed)
    x, queries = np.sort(rng.random(_QUERIES) * 5), np.linspace(0, 5, _QUERIES)
    y = 2 * np.sin(x) + x**0.8 + rng.normal(0, 0.5, _QUERIES)
    weights = np.exp(-(((queries[:, None] - x) / width) ** 2) / 2)
    weights /= weights.sum(1, keepdims=True)
    truth = 2 * np.sin(queries) + queries**0.8
    labels = [[f"{value:g}" for value in part] for part in (queries, x)]
    return Result(
        tables={
            "curve": pa.table({"x0": queries, "prediction": weights @ y, "truth": truth}),
            "points": pa.table({"x0": x, "y": y}),
            "maps": maps("pooling", weights, *labels),
        },
        facts=facts,
    )
