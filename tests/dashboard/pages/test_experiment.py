"""The page *Experiment* on results and trainings made up here."""

from __future__ import annotations

import csv
import io
import re
import statistics
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dashboard import state
from dashboard.engine.protocol import Event
from dashboard.pages import experiment_table
from dashboard.pages.experiment_cells import Cell, summary, trainings
from dashboard.runs.experiment_link import parse_experiment
from dashboard.runs.experiment_view import experiment_requests
from dashboard.runs.trainings import Epoch, Training

SWEEP = {"task": "translation", "scorings": "additive,scaled_dot", "seeds": "3"}


class Service:
    """Trainings that are there; keeps what it is told."""

    def __init__(self):
        self.known, self.calls, self.refusing = [], [], ""

    def list(self):
        return list(self.known)

    def start(self, request):
        if self.refusing:
            raise ValueError(self.refusing)
        self.calls.append(("start", request))
        self.known.insert(0, training(request, len(self.known) + 8, "queued"))

    def resume(self, id):
        self.calls.append(("resume", id))

    def cancel(self, id):
        self.calls.append(("cancel", id))
        self.known = [
            replace(one, state="cancelled") if one.id == id else one for one in self.known
        ]

    def probe(self, id, epoch):
        self.calls.append(("probe", id, epoch))
        return pa.table({
            "kind": ["cross"], "layer": pa.array([1], pa.int32()),
            "heads": pa.array([2], pa.int32()), "queries": [["je", "suis", "<eos>"]],
            "keys": [["I", "am", "not", "tired", "<eos>"]], "causal": [False],
            "weights": pa.array(np.full((1, 30), 0.2).tolist(), pa.list_(pa.float32())),
        })  # fmt: skip


def training(request, number, how="done", **more):
    facts = {"alignment_error": 0.25, "relative_entropy": 0.5, "peak_memory": 431.0,
             "parameters": 1234, "corpus": "pairs"}  # fmt: skip
    epochs = tuple(
        Epoch(epoch=n, loss=number / n, seconds=n, tokens_per_second=100.0 * n, bleu=7.0 * number,
              probe="je *suis*") for n in (1, 2, 3)
    )  # fmt: skip
    begun = how not in ("queued", "failed")
    return Training(
        id=f"{number:x}" * 32, request=request, created=number, state=how, note=how,
        epochs=epochs if begun else (), facts=(facts if begun else {}) | more,
    )  # fmt: skip


@pytest.fixture
def service(backend, monkeypatch):
    made, bench = Service(), state.workbench()
    bench.trainings = made
    for module in ("experiment", "experiment_maps"):
        monkeypatch.setattr(f"dashboard.pages.{module}.workbench", lambda: bench)
    return made


def requests_of(catalogue, **link):
    return experiment_requests(parse_experiment(link, catalogue)[0], catalogue)


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def displayed(app):
    """The table as it is shown, a mapping per row, and the style of its cells."""
    styler = app.dataframe[0].proto.arrow_data.styler
    shown = pa.ipc.open_stream(styler.display_values).read_pandas()
    return shown.set_axis(app.dataframe[0].value.columns, axis=1).to_dict("records"), styler.styles


def test_the_first_screen_is_a_finished_table_of_four_kernels(opened, backend, rows, monkeypatch):
    """Each run has figures of its own; mean and spread are those of the statistics module."""

    answer = backend.wait

    def scored(job, timeout):
        event, request = answer(job, timeout), backend.submitted[job]
        if request.task != "regression":
            return event
        value = {"gaussian": 0.1, "laplacian": 0.5}.get(request.scoring, 0.9)
        facts = event.result.facts
        metrics = {**facts["metrics"], "truth_mse": value + request.seed / 100}
        facts = {**facts, "metrics": metrics, "parameters": 3}
        return replace(event, result=replace(event.result, facts=facts))

    monkeypatch.setattr(backend, "wait", scored)
    app = opened("experiment")
    assert not app.exception
    assert "20 runs: 20 done." in words(app)
    values = [0.10, 0.11, 0.12, 0.13, 0.14]
    numbers = app.dataframe[0].value
    assert list(numbers["Scoring"]) == ["Uniform", "Gaussian", "Laplacian", "Scaled dot"]
    assert numbers["Error to truth ↓"][1] == pytest.approx(statistics.fmean(values))
    shown, styles = displayed(app)
    deviation = statistics.stdev(values)
    assert shown[1]["Error to truth ↓"] == f"0.120 ± {deviation:.3f}"
    assert (shown[1]["Weights"], shown[1]["Runs"]) == ("3", "5 of 5 done")
    # The Gaussian's error alone is bold: all else is alike in every row.
    assert re.findall(r"row(\d+)_col(\d+)", styles) == [("1", "1")]
    assert "font-weight: bold" in styles
    dots = [one for sets in rows(app, "scoring", "seed", "value") for one in sets]
    assert [(d["seed"], d["value"]) for d in dots[0] if d["scoring"] == "Gaussian"] == [
        (seed, pytest.approx(value)) for seed, value in enumerate(values)
    ]
    maps = [one for sets in rows(app, "q") for one in sets]
    assert [len(cells) for cells in maps] == [25] * 4
    assert link(app) == {}


def test_a_scoring_that_fails_costs_its_row_and_is_named(opened, backend):
    backend.failing["laplacian"] = Event(
        number=1, stage="failed", note="NaN in *scores*",
        facts={"culprit": "attention_odd 0.3", "refused": True},
    )  # fmt: skip
    backend.unfinished.add("uniform")
    app = opened("experiment", seeds="2", scorings="gaussian,laplacian,uniform,entmax")
    assert not app.exception
    assert "8 runs: 2 done, 2 running, 2 failed, 2 not installed." in words(app)
    assert "Laplacian, seed 1: NaN in *scores*" in [text.value for text in app.text]
    assert "It happened in attention_odd 0.3." in words(app)
    runs = [row["Runs"] for row in displayed(app)[0]]
    assert runs == ["2 of 2 done", "0 of 2 done, 2 failed", "0 of 2 done, 2 running",
                    "not installed"]  # fmt: skip


def test_one_seed_has_no_spread(opened):
    app = opened("experiment", seeds="1", scorings="gaussian,uniform")
    assert [row["Error to truth ↓"] for row in displayed(app)[0]] == ["0.123 ± –"] * 2
    assert "bold" not in displayed(app)[1]
    assert "Of seed 0." in words(app)


def test_opening_a_link_starts_nothing_and_the_button_starts_what_is_missing(
    opened, service, catalogue
):
    requests = requests_of(catalogue, **SWEEP)
    service.known = [
        training(requests["additive", 0], 3),
        training(requests["scaled_dot", 0], 4, "failed", culprit="attention_odd"),
        training(requests["scaled_dot", 1], 5, "cancelled"),
    ]
    app = opened("experiment", **SWEEP)
    assert not app.exception
    assert [call for call in service.calls if call[0] != "probe"] == []
    assert "6 runs: 1 done, 1 failed, 4 missing." in words(app)
    (start,) = (one for one in app.button if one.key == "experiment-start")
    assert start.label == "Train the 4 that are missing"
    start.click().run()
    assert not app.exception
    asked = [request for name, request, *_ in service.calls if name == "start"]
    order = [("additive", 1), ("scaled_dot", 1), ("additive", 2), ("scaled_dot", 2)]
    assert asked == [requests[place] for place in order]
    assert "6 runs: 1 done, 4 queued, 1 failed." in words(app)
    app.button("experiment-stop").click().run()
    assert len([call for call in service.calls if call[0] == "cancel"]) == 4
    app.button("experiment-refresh").click().run()
    assert ("resume", "4" * 32) in service.calls
    service.refusing = "cannot write /data: disk full"
    app.button("experiment-start").click().run()
    assert "cannot write /data: disk full" in words(app)


def test_a_finished_sweep_is_a_table_and_a_map_for_each_scoring(opened, service, catalogue, rows):
    requests = requests_of(catalogue, **SWEEP)
    service.known = [
        training(request, number) for number, request in enumerate(requests.values(), start=1)
    ]
    app = opened("experiment", **SWEEP, maps="1", figure="bleu")
    assert not app.exception
    first, second = displayed(app)[0]
    assert first["Loss ↓"] == "1.000 ± 0.667"  # (1, 3, 5) / 3: mean 3 / 3, deviation 2 / 3
    assert second["BLEU ↑"] == "28.0 ± 14.0"
    assert first["Time, s ↓"] == "6.00 ± 0"
    assert first["Tokens/s ↑"] == "233 ± 0"  # (1 * 100 + 2 * 200 + 3 * 300) / 6
    assert (first["AER ↓"], first["Memory, MB ↓"]) == ("0.250 ± 0", "431 ± 0")
    assert first["Weights"] == "1,234"
    assert service.calls == [("probe", "3" * 32, 3), ("probe", "4" * 32, 3)]
    assert [len(cells) for sets in rows(app, "q") for cells in sets] == [15, 15]
    dots = next(one for sets in rows(app, "scoring", "seed", "value") for one in sets)
    assert sorted(dot["value"] for dot in dots) == [7.0 * n for n in range(1, 7)]
    (train,) = app.get("page_link")
    assert "show=33333333%2C44444444" in train.proto.query_string


def test_controls_go_into_the_link(opened, service):
    app = opened("experiment")
    app.slider("experiment-regression-seeds").set_value(3).run()
    app.toggle("experiment-learn").set_value(True).run()
    app.button_group("experiment-regression-figure").set_value("effective_neighbours").run()
    assert not app.exception
    assert link(app) == {"seeds": "3", "learn": "1", "figure": "effective_neighbours"}
    app.button_group("experiment-task").set_value("translation").run()
    assert not app.exception
    assert link(app) == {"task": "translation"}
    assert "6 runs: 6 missing." in words(app)
    app.number_input("experiment-recipe-epochs").set_value(3).run()
    assert link(app) == {"task": "translation", "epochs": "3"}
    assert service.calls == []


def test_hostile_links_are_named_and_nothing_to_compare_is_said(opened):
    app = opened("experiment", seeds="1000000000", scorings="a b,none")
    assert not app.exception
    assert "so 10 is used" in words(app)
    assert "‘a b’ is not a scoring's name" in words(app)
    app = opened("experiment", scorings="none")
    assert not app.exception
    assert "Choose at least one scoring." in words(app)


def test_of_equal_trainings_the_furthest_counts(catalogue):
    view, _ = parse_experiment(SWEEP, catalogue)
    requests = experiment_requests(view, catalogue)
    one, other = requests["additive", 0], requests["additive", 1]
    known = [
        training(one, 1, "failed"), training(one, 2), training(one, 3, "cancelled"),
        training(other, 4, "pausing"), training(replace(other, seed=77), 5),
    ]  # fmt: skip
    cells = trainings(view, requests, known)
    assert [cell.state for cell in cells] == ["done", "running", *["missing"] * 4]
    assert cells[0].training.id == "2" * 32
    assert summary(cells[:1]) == "1 run: 1 done"


def test_the_file_has_a_row_for_every_run(catalogue):
    view, _ = parse_experiment({"scorings": "gaussian", "seeds": "2"}, catalogue)
    cells = [
        Cell(scoring="gaussian", seed=0, state="done", weights=1,
             figures={"truth_mse": 0.1 + 0.2}),
        Cell(scoring="gaussian", seed=1, state="failed", note="=cmd()"),
    ]  # fmt: skip
    done, failed = csv.DictReader(io.StringIO(experiment_table.file(view, cells).decode()))
    assert (done["scoring"], done["seed"], done["state"]) == ("gaussian", "0", "done")
    assert float(done["truth_mse"]) == 0.1 + 0.2
    assert (done["leave_one_out_mse"], done["weights"]) == ("", "1")
    assert (failed["state"], failed["note"]) == ("failed", "'=cmd()")


def test_the_dots_can_be_taken_away(opened):
    app = opened("experiment")
    app.session_state["experiment-export"] = True
    app.run()
    assert not app.exception
    labels = [one.proto.label for one in app.get("download_button")]
    assert {"PNG", "SVG", "HTML", "seeds", "means"} <= set(labels)
