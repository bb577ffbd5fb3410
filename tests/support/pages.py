"""Pages on a backend that answers at once, with results made up here."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
import streamlit
import torch
from streamlit.testing.v1 import AppTest
from support.alignments import alignment
from support.readings import reading

from attention_plugins.record import AttentionMap
from attention_plugins.tap import Site
from dashboard.charts.live import EXACT
from dashboard.features.anatomy import task as anatomy
from dashboard.features.attention_maps import task as attention_maps
from dashboard.features.differences.task import compare
from dashboard.features.experiment import task as experiment
from dashboard.features.norms import task as norms
from dashboard.features.positions import task as positions
from dashboard.features.race import task as race
from dashboard.features.runs import task as runs
from dashboard.features.swaps import task as swaps
from dashboard.jobs import task_formula
from dashboard.jobs.backend import Capacity, Event, Load
from dashboard.records.request import Request, Result
from dashboard.records.sweep import asked
from dashboard.ui import workbench


def untuned():
    """The result of a tuning that has nothing to choose."""
    return Result(facts={"chosen": {}, "combinations": 1})


def maps(kind, weights, queries, keys):
    """The maps of one kind: ``weights (layers, heads, queries, keys)``, or less of the first."""
    layers = weights.reshape(-1, *weights.shape[-3:]) if weights.ndim > 2 else weights[None, None]
    count = len(layers)
    return pa.table(
        {
            "kind": [kind] * count,
            "layer": pa.array(range(count), pa.int32()),
            "heads": pa.array([layers.shape[1]] * count, pa.int32()),
            "queries": [queries] * count,
            "keys": [keys] * count,
            "causal": [kind == "decoder"] * count,
            "weights": pa.array([w.ravel().tolist() for w in layers], pa.list_(pa.float32())),
        }
    )


def transformer_maps(source, target):
    """Two layers of three heads of every kind; head h of layer l looks at word l + h alone."""
    read = ["<bos>", *target[:-1]]
    tables = []
    for kind, queries, keys in (
        ("encoder", source, source), ("decoder", target, read), ("cross", target, source),
    ):  # fmt: skip
        weights = np.zeros((2, 3, len(queries), len(keys)))
        for layer, head in np.ndindex(2, 3):
            for row in range(len(queries)):
                last = row if kind == "decoder" else len(keys) - 1
                weights[layer, head, row, min(layer + head, last)] = 1.0
        tables.append(maps(kind, weights, queries, keys))
    return pa.concat_tables(tables)


def regression(request):
    x = np.arange(5.0)
    weights = np.full((5, 5), 0.2)
    tables = {
        "curve": pa.table({"x0": x, "prediction": x / 2, "truth": x}),
        "points": pa.table({"x0": x, "y": x}),
        "maps": maps("pooling", weights, [f"{v:g}" for v in x], [f"{v:g}" for v in x]),
    }
    facts = {
        "metrics": {
            "truth_mse": 0.1234, "leave_one_out_mse": 0.5, "training_mse": 0.4,
            "effective_neighbours": 5.0,
        },
        "learned": {}, "notes": [], "x_names": ["x"], "y_name": "y",
    }  # fmt: skip
    if dict(request.options).get("learn"):
        tables["history"] = pa.table({"step": [0, 1], "loss": [2.0, 1.0], "width": [1.0, 0.25]})
        facts["learned"] = {"width": 0.25}
    return Result(tables=tables, facts=facts)


def translation(request):
    words = dict(request.options)["text"].split()
    forced = dict(request.options).get("target", "").split()
    source, target = [*words, "<eos>"], [*(forced or ("je", "suis")), "<eos>"]
    sure = np.full(len(target), 0.25)
    tokens = pa.table({"token": target, "log_probability": np.log(sure), "probability": sure})
    weights = np.full((len(target), len(source)), 1 / len(source))
    facts = {
        "translation": "je suis *chez* moi.", "tokens": target, "source_tokens": source,
        "unknown": [w for w in words if w == "zebra"], "target_unknown": [],
        "reads_as_target": words[0] == "je",
        "forced": bool(forced),
        "log_probability": -1.5,
    }  # fmt: skip
    if dict(request.options).get("changes"):
        facts["unchanged"] = {
            "translation": facts["translation"], "tokens": target, "log_probability": -1.5,
            "changed_log_probability": -9.25,
        }  # fmt: skip
        facts |= {"translation": "je vais chez moi.", "log_probability": -2.5}
    if request.data.startswith("transformer"):
        return Result(
            tables={"maps": transformer_maps(source, target), "tokens": tokens}, facts=facts
        )
    tables = {"maps": maps("cross", weights, target, source), "tokens": tokens}
    return Result(tables=tables, facts=facts)


def differences(request):
    """The real comparison of the maps that the two checkpoints' made-up translations have."""
    options = dict(request.options)
    read = []
    for name in (request.data, options["other"]):
        asked = {"text": options["text"], "target": options["target"]}
        drawn = translation(Request.make("translation", data=name, options=asked))
        read.append(
            [
                AttentionMap(
                    site=Site(row["kind"], row["layer"]),
                    weights=torch.tensor(row["weights"]).view(
                        row["heads"], len(row["queries"]), len(row["keys"])
                    ),
                    query_labels=tuple(row["queries"]),
                    key_labels=tuple(row["keys"]),
                )
                for row in drawn.tables["maps"].to_pylist()
                if row["kind"] == options["kind"]
            ]
        )
    return compare(*read, options["map"], options["other_map"])


def heads(request):
    """Head h of layer l of a kind loses h + 10 l; one is on <eos>, one has weight on padding."""
    large = request.data.startswith("transformer")
    rows = [
        {"kind": kind, "layer": layer, "head": head, "row_error": 0.0, "padding": 0.0,
         "eos": 0.1, "entropy": (head + 1) / 10, "concentration": 0.2, "diagonality": 0.3,
         "distance": 0.4, "leave_one_out": -float(head + 10 * layer), "verdicts": ""}
        for kind in ("encoder", "decoder", "cross")
        for layer in range(2)
        for head in range(3)
        if large or (kind, layer, head) == ("cross", 0, 0)
    ]  # fmt: skip
    rows[-1] |= {"eos": 0.75, "verdicts": "eos"}
    if "padded" in dict(request.options)["text"]:
        rows[0] |= {"padding": 0.5, "verdicts": "padding"}
    plugin = {"distribution": "odd-*plugin*", "version": "1.2"}
    facts = {
        "row_error": 0.0, "padding": max(row["padding"] for row in rows),
        "padded_to": 10, "model": "transformer", "scoring": "additive",
        "needed": {"translation": "je suis ici", "without": "je vais ici"},
        "plugins": {"model": {"name": "transformer", **plugin},
                    "scoring": {"name": "additive", **plugin}},
    }  # fmt: skip
    return Result(tables={"heads": pa.Table.from_pylist(rows)}, facts=facts)


def complexity(request):
    sizes = [("n", n, 64) for n in (16, 32)] + [("d", 32, d) for d in (32, 64)]
    layers = ("cnn", "rnn", "attention")
    rows = [
        {"layer": layer, "axis": axis, "n": n, "d": d, "seconds": n * d / 1e6, "multiply_adds": n}
        for axis, n, d in sizes
        for layer in layers
    ]
    fit = {"exponent": 1.25, "factor": 1e-5, "last": 1.5, "counted": 2.0}
    facts = {
        "fits": [{"layer": layer, "axis": axis, **fit} for layer in layers for axis in "nd"],
        "rounds": 3, "kernel": 3, "device": "cpu", "threads": 1, "torch": "2", "seconds": 1.5,
    }  # fmt: skip
    if request.data == "reference":
        recorded = {"date": "2026-11-20", "processor": "abacus with *beads*", "cores": 5,
                    "command": "python -m again"}  # fmt: skip
        environment = {"contract": "1.1", "torch": "2", "threads": 1, "commit": "c0ffee"}
        facts |= {"recorded": recorded, "environment": environment}
    reach = [{"layer": layer, "n": n, "products": n, "hops": n + 1} for layer in layers
             for n in (16, 32)]  # fmt: skip
    tables = {"times": pa.Table.from_pylist(rows), "reach": pa.Table.from_pylist(reach)}
    return Result(tables=tables, facts=facts)


def swapped(request, context):
    """Shipped prices, which stand for those of a model that is here, too."""
    if dict(request.options).get("text") == "short":
        raise ValueError("need a text of at least 96 tokens, got 1")
    data = request.data if request.data.startswith(swaps.SHIPPED) else SHIPPED_SWAPS
    return swaps.perform(Request.make(request.task, data=data), context)


SHIPPED_SWAPS = f"{swaps.SHIPPED}gpt-nano-sort"


class Backend:
    """Answers at once; ``unfinished`` and ``failing`` hold scorings whose jobs do not."""

    def __init__(self, facts):
        self.facts = facts
        self.unfinished, self.failing = set(), {}
        self.submitted, self.cancelled, self.reloads = {}, [], 0
        self.time_limits = {}
        self.closed = False
        self.seconds_of_work = None  # what a second of work takes, where that is known
        self._numbers = itertools.count()

    def submit(self, request, *, client="", work=0.0, time_limit=None):
        job = f"job {next(self._numbers)}"
        self.submitted[job], self.time_limits[job] = request, time_limit
        return job

    def has(self, request):
        return False

    def estimate(self, asked):
        rate = self.seconds_of_work
        return None if rate is None else rate * sum(work for _, work in asked)

    def wait_ahead(self, job):
        return None

    def capacity(self):
        return Capacity(workers=2, running=1, queued=1)

    def loads(self):
        return [
            Load(name="regression with dot", clients=1, seconds=7.0),
            Load(name="a *slow* one", clients=3, seconds=None),
        ]

    def clients(self):
        return ["one", "two"]

    def wait(self, job, timeout):
        request = self.submitted[job]
        names = {request.task, request.scoring, request.data}
        if names & self.unfinished:
            return None
        for name in names & self.failing.keys():
            return self.failing[name]
        make = {
            "catalogue": lambda r: Result(facts=self.facts),
            "alignment": alignment,
            "regression": regression,
            "translation": translation,
            "differences": differences,
            "complexity": complexity,
            "heads": heads,
            "language_models": lambda r: reading(r, maps),
            # Made in milliseconds, so by the real tasks.
            "anatomy": lambda r: anatomy.perform(r, self),
            "attention_maps": lambda r: attention_maps.perform(r, self),
            "runs": lambda r: runs.perform(r, self),
            "experiment": lambda r: untuned() if r.scoring else experiment.perform(r, self),
            "formula": lambda r: task_formula.perform(r, self),
            "norms": lambda r: norms.perform(r, self),
            "positions": lambda r: positions.perform(r, self),
            "race": lambda r: race.perform(r, self),
            "swaps": lambda r: swapped(r, self),
            "sweep": self._swept,
        }[request.task]
        try:
            return Event(number=3, stage="done", result=make(request))
        except ValueError as error:
            return Event(number=3, stage="failed", note=str(error), facts={"refused": True})

    def _swept(self, request):
        ends = [self.wait(self.submit(each), 0) for each in asked(request)]
        found = [end.result.to_bytes() for end in ends]
        return Result(tables={"results": pa.table({"result": pa.array(found, pa.large_binary())})})

    def events(self, job, after=0):
        progress = {"step": 4, "loss": 0.5}
        return [
            Event(number=1, stage="progress", fraction=0.25, note="half *way*", facts=progress),
            Event(number=2, stage="progress", fraction=0.5, note="half *way*", facts=progress),
        ]

    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        """As a task's context."""
        return False

    def cancel(self, job):
        self.cancelled.append(self.submitted[job])

    def close(self):
        self.closed = True

    def renew(self, request, *, retry_quarantined=False):
        self.reloads += 1
        return self.submit(request)


@pytest.fixture
def chart_rows():
    """``chart_rows(app, *columns)``: of every chart, the data with these columns, as records."""

    def of(app, *columns):
        found = []
        for chart in app.get("vega_lite_chart"):
            sets = [pa.ipc.open_stream(d.data.data).read_all() for d in chart.proto.datasets]
            plain = [[name.removeprefix(EXACT) for name in t.column_names] for t in sets]
            sets = [t.rename_columns(names) for t, names in zip(sets, plain, strict=True)]
            found.append([t.to_pylist() for t in sets if set(columns) <= set(t.column_names)])
        return found

    return of


@pytest.fixture
def backend(facts, monkeypatch):
    made = Backend(facts)
    bench = workbench.Workbench(made)
    monkeypatch.setattr(workbench, "_shared", lambda: bench)
    monkeypatch.setattr("dashboard.ui.results.PATIENCE", 0.0)
    streamlit.cache_resource.clear()
    return made


def _page(name):
    import importlib

    importlib.import_module(f"dashboard.features.{name}.page").PAGE.show()


@pytest.fixture
def opened(backend):
    """Opens a page as a new session, at a link."""

    def new(name, **link):
        app = AppTest.from_function(_page, args=(name,), default_timeout=60)
        for key, value in link.items():
            app.query_params[key.replace("__", ".")] = value
        return app.run()

    return new


def ends_after(backend, scoring, looks):
    """Let the jobs of a scoring end while a page is drawn: after it has looked so many times."""
    made, left = backend.wait, [looks]

    def wait(job, timeout):
        if backend.submitted[job].scoring == scoring and left[0]:
            left[0] -= 1
            return None
        return made(job, timeout)

    backend.wait = wait


def live_words(app):
    """The sentences that follow a slider, as the server says them."""
    found = (one.proto for one in app.get("bidi_component"))
    return [json.loads(one.json)["text"] for one in found if one.component_name.endswith("_words")]


def chart_words(app):
    """What each chart is said to show, in the order of the page."""
    parts = (one.proto for one in app.get("bidi_component"))
    whole = [json.loads(one.json) for one in parts if one.component_name.endswith("_told")]
    titles = [chart.proto.alt for chart in app.get("vega_lite_chart")]
    return [whole[0].get(title, title) if whole else title for title in titles]
