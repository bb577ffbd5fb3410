"""Pages on a backend that answers at once, with results made up here."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from dashboard import state
from dashboard.engine.protocol import Event
from dashboard.runs.result import Result


def maps(kind, weights, queries, keys):
    return pa.table(
        {
            "kind": [kind],
            "layer": pa.array([0], pa.int32()),
            "heads": pa.array([1], pa.int32()),
            "queries": [queries],
            "keys": [keys],
            "causal": [kind == "decoder"],
            "weights": pa.array([weights.reshape(-1).tolist()], pa.list_(pa.float32())),
        }
    )


def regression(request):
    x = np.arange(5.0)
    weights = np.full((5, 5), 0.2)
    tables = {
        "curve": pa.table({"x0": x, "prediction": x / 2, "truth": x}),
        "points": pa.table({"x0": x, "y": x}),
        "maps": maps("pooling", weights, [f"{v:g}" for v in x], [f"{v:g}" for v in x]),
    }
    facts = {
        "metrics": {"truth_mse": 0.1234, "leave_one_out_mse": 0.5, "effective_neighbours": 5.0},
        "learned": {}, "notes": [], "x_names": ["x"], "y_name": "y",
    }  # fmt: skip
    if dict(request.options).get("learn"):
        tables["history"] = pa.table({"step": [0, 1], "loss": [2.0, 1.0], "width": [1.0, 0.25]})
        facts["learned"] = {"width": 0.25}
    return Result(tables=tables, facts=facts)


def translation(request):
    words = dict(request.options)["text"].split()
    source, target = [*words, "<eos>"], ["je", "suis", "<eos>"]
    weights = np.full((len(target), len(source)), 1 / len(source))
    facts = {
        "translation": "je suis *chez* moi.", "tokens": target, "source_tokens": source,
        "unknown": [w for w in words if w == "zebra"], "target_unknown": [], "forced": False,
        "log_probability": -1.5,
    }  # fmt: skip
    return Result(tables={"maps": maps("cross", weights, target, source)}, facts=facts)


class Backend:
    """Answers at once; ``unfinished`` and ``failing`` hold scorings whose jobs do not."""

    def __init__(self, facts):
        self.facts = facts
        self.unfinished, self.failing = set(), {}
        self.submitted, self.cancelled, self.reloads = {}, [], 0
        self._numbers = itertools.count()

    def submit(self, request, *, time_limit=None):
        job = f"job {next(self._numbers)}"
        self.submitted[job] = request
        return job

    def wait(self, job, timeout):
        request = self.submitted[job]
        names = {request.task, request.scoring, request.data}
        if names & self.unfinished:
            return None
        for name in names & self.failing.keys():
            return self.failing[name]
        made = {
            "catalogue": lambda r: Result(facts=self.facts),
            "regression": regression,
            "translation": translation,
        }[request.task](request)
        return Event(number=3, stage="done", result=made)

    def events(self, job, after=0):
        progress = {"step": 4, "loss": 0.5}
        return [
            Event(number=1, stage="progress", fraction=0.25, note="half *way*", facts=progress),
            Event(number=2, stage="progress", fraction=0.5, note="half *way*", facts=progress),
        ]

    def cancel(self, job):
        self.cancelled.append(self.submitted[job])

    def reload(self):
        self.reloads += 1


@pytest.fixture
def backend(facts, monkeypatch):
    made = Backend(facts)
    bench = state.Workbench(made)
    monkeypatch.setattr(state, "workbench", lambda: bench)
    monkeypatch.setattr("dashboard.pages.parts.workbench", lambda: bench)
    monkeypatch.setattr("dashboard.pages.parts.PATIENCE", 0.0)
    streamlit.cache_resource.clear()
    return made


def _page(name):
    import importlib

    importlib.import_module(f"dashboard.pages.{name}").show()


@pytest.fixture
def opened(backend):
    """Opens a page as a new session, at a link."""

    def new(name, **link):
        app = AppTest.from_function(_page, args=(name,), default_timeout=60)
        for key, value in link.items():
            app.query_params[key.replace("__", ".")] = value
        return app.run()

    return new
