"""The page *Experiment* on results and trainings made up here."""

from __future__ import annotations

import csv
import io
import json
import re
import statistics
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import streamlit as st
from support.pages import maps

from attention_plugins.experiment import Experiment
from attention_plugins.recipe import Recipe
from dashboard import language
from dashboard.features.experiment import seeds
from dashboard.features.experiment.cells import (
    SAMPLE_ERROR,
    SAMPLE_ROWS,
    Cell,
    summary,
    trainings,
)
from dashboard.features.experiment.view import LINK, metrics, requests
from dashboard.features.training.task_figures import code_of, totals
from dashboard.jobs import task_formula
from dashboard.jobs.backend import Event
from dashboard.records.catalogue import Formula, formula_request
from dashboard.records.training import Epoch, Training
from dashboard.storage.blobs import Blobs
from dashboard.storage.seen import Table, whole
from dashboard.ui import workbench as state
from dashboard.ui.owner import run_store
from dashboard.ui.results import POLL

SWEEP = {"task": "translation", "scorings": "additive,scaled_dot", "seeds": "3"}


class Service:
    """The trainings that there are; remembers every call."""

    def __init__(self):
        self.known, self.calls, self.refusing = [], [], ""

    def list(self):
        return list(self.known)

    def get(self, id):
        return next(one for one in self.known if one.id == id)

    def start(self, request, owner="", address=""):
        if self.refusing:
            raise ValueError(self.refusing)
        self.calls.append(("start", request))
        self.known.insert(0, training(request, len(self.known) + 8, "queued"))

    def resume(self, id, address=""):
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
            "weights": pa.array(np.full((1, 30), int(id[0], 16) / 16).tolist(),
                                pa.list_(pa.float32())),
        })  # fmt: skip


def training(request, number, how="done", **more):
    facts = {"alignment_error": 0.25, "relative_entropy": 0.5, "peak_memory": 431.0,
             "parameters": 1234, "corpus": "pairs"}  # fmt: skip
    epochs = tuple(
        Epoch(epoch=n, loss=number / n, seconds=n, tokens_per_second=100.0 * n, bleu=7.0 * number,
              parts={"far": {"sentences": 5, "score": 7.0 * number - 3}},
              probe="je *suis*") for n in (1, 2, 3)
    )  # fmt: skip
    begun = how not in ("queued", "failed")
    return Training(
        id=f"{number:x}" * 32, request=request, created=number, state=how, note=how,
        epochs=epochs if begun else (), facts=(facts | totals(epochs) if begun else {}) | more,
    )  # fmt: skip


@pytest.fixture
def service(backend, monkeypatch):
    made, bench = Service(), state.workbench()
    bench.trainings = made
    return made


def requests_of(catalogue, **link):
    return requests(LINK.parse(link, catalogue)[0], catalogue)


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def displayed(app):
    """The table as it is shown, a mapping per row, and the style of its cells."""
    table, styler = app.dataframe[0].value, app.dataframe[0].proto.arrow_data.styler
    if not styler.display_values:  # without a number, the placeholder stands for each
        assert app.dataframe[0].proto.placeholder == "–"
        return table.astype(object).where(table.notna(), "–").to_dict("records"), ""
    shown = pa.ipc.open_stream(styler.display_values).read_pandas()
    return shown.set_axis(app.dataframe[0].value.columns, axis=1).to_dict("records"), styler.styles


def test_the_first_screen_is_a_finished_table_of_four_kernels(
    opened, backend, chart_rows, monkeypatch
):
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
    assert "28 runs: 28 done." in words(app)
    values = [0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16]
    numbers = app.dataframe[0].value
    assert list(numbers["Scoring"]) == ["Uniform", "Gaussian", "Laplacian", "Scaled dot"]
    assert numbers["Error against the truth ↓"][1] == pytest.approx(statistics.fmean(values))
    shown, _ = displayed(app)
    deviation = statistics.stdev(values)
    assert shown[1]["Error against the truth ↓"] == f"0.130 ± {deviation:.3f}"
    assert (shown[1]["Weights"], shown[1]["Runs"]) == ("3", "7 of 7 done")
    dots = [one for sets in chart_rows(app, "scoring", "seed", "value") for one in sets]
    assert [(d["seed"], d["value"]) for d in dots[0] if d["scoring"] == "Gaussian"] == [
        (seed, pytest.approx(value)) for seed, value in enumerate(values)
    ]
    maps = [one for sets in chart_rows(app, "q") for one in sets]
    assert [len(queries) for queries in maps] == [5] * 4
    compared = app.dataframe[1].value
    assert list(compared["Scoring"]) == ["Uniform", "Laplacian", "Scaled dot"]
    assert compared["Better by (Error against the truth)"][1] == "−0.40 [−0.40, −0.40]"
    assert list(compared["Verdict"]) == ["worse"] * 3
    # Streamlit would keep the width of the names that came first.
    assert json.loads(app.dataframe[0].proto.columns)["Scoring"]["width"] == 6 * 10 + 24
    # The p fits on a phone of 390 px, and the column after the verdict begins beyond its edge.
    assert [*compared.columns[:3]] == ["Scoring", "p", "Verdict"]
    assert json.loads(app.dataframe[1].proto.columns)["Verdict"]["width"] == 260
    titles = ["Uniform", "Gaussian", "Laplacian", "Scaled dot"]
    alts = [one.proto.alt for one in app.get("vega_lite_chart") if "across" in one.proto.alt]
    assert [alt.split(" of ")[1].split(",")[0] for alt in alts] == titles
    assert "corrected by Holm over the 3 comparisons with Gaussian in this metric" in words(app)
    assert "7 seeds are the fewest with which 3 comparisons can be told from" in words(app)
    assert "7 seeds cost 28 runs." in words(app)
    assert "Every scoring is tuned on 3 problems of other seeds" in words(app)
    assert link(app) == {}


def test_the_best_beyond_chance_is_bold_and_the_reference_can_be_chosen(
    opened, backend, monkeypatch
):
    answer = backend.wait

    def scored(job, timeout):
        event, request = answer(job, timeout), backend.submitted[job]
        if request.task != "regression":
            return event
        value = {"gaussian": 0.1, "laplacian": 0.5}[request.scoring] + request.seed
        facts = {**event.result.facts, "metrics": {"truth_mse": value, "leave_one_out_mse": 1.0}}
        facts["work_seconds"] = value  # as surely less, but no result
        return replace(event, result=replace(event.result, facts=facts))

    monkeypatch.setattr(backend, "wait", scored)
    app = opened("experiment", scorings="gaussian,laplacian", seeds="6", reference="laplacian")
    assert not app.exception
    # The Gaussian's error alone is bold: all else is alike in every row.
    styles = displayed(app)[1]
    assert re.findall(r"row(\d+)_col(\d+)", styles) == [("0", "3")]
    assert "font-weight: bold" in styles
    (row,) = app.dataframe[1].value.to_dict("records")
    assert (row["Scoring"], row["Verdict"], row["p"]) == ("Gaussian", "better", "0.0312")
    app.selectbox("experiment-reference").set_value("gaussian").run()
    assert link(app) == {"scorings": "gaussian,laplacian", "seeds": "6"}
    assert list(app.dataframe[1].value["Verdict"]) == ["worse"]


def test_what_a_tuning_chose_is_asked_for_and_said(opened, backend, monkeypatch):
    answer = backend.wait

    def chosen(job, timeout):
        event, request = answer(job, timeout), backend.submitted[job]
        if request.task != "experiment" or request.scoring != "gaussian":
            return event
        facts = {"chosen": {"width": 0.25}, "combinations": 8}
        return replace(event, result=replace(event.result, facts=facts))

    monkeypatch.setattr(backend, "wait", chosen)
    app = opened("experiment", scorings="gaussian,uniform", seeds="2")
    assert not app.exception
    made = [one for one in backend.submitted.values() if one.task == "regression"]
    widths = [dict(one.parameters)["width"] for one in made if one.scoring == "gaussian"]
    assert widths == [0.25, 0.25]
    assert "a grid of up to 8 combinations. Chosen: Gaussian: width 0.25." in words(app)
    app.toggle("experiment-tune").set_value(False).run()
    assert "No scoring is tuned" in words(app)
    assert link(app) == {"scorings": "gaussian,uniform", "seeds": "2", "tune": "0"}


def test_another_list_of_scorings_is_tuned_as_the_one_before(opened, backend):
    app = opened("experiment", scorings="gaussian,uniform", seeds="2")
    app.multiselect("experiment-scorings").set_value(["laplacian", "uniform"]).run()
    assert not app.exception
    assert link(app) == {"scorings": "uniform,laplacian", "seeds": "2"}
    assert app.toggle("experiment-tune").value is True


def test_a_tuning_that_fails_costs_its_scoring(opened, backend, monkeypatch):
    answer = backend.wait

    def refused(job, timeout):
        request = backend.submitted[job]
        if request.task == "experiment" and request.scoring == "gaussian":
            return Event(number=1, stage="failed", note="no finite scores")
        return answer(job, timeout)

    monkeypatch.setattr(backend, "wait", refused)
    app = opened("experiment", scorings="gaussian,uniform", seeds="2")
    assert not app.exception
    assert "4 runs: 2 done, 2 failed." in words(app)
    assert "Gaussian, seed 0: no finite scores" in words(app)


def test_a_scoring_that_fails_costs_its_row_and_is_named(opened, backend):
    backend.failing["laplacian"] = Event(
        number=1, stage="failed", note="NaN in *scores*",
        facts={"culprit": "attention_odd 0.3", "refused": True},
    )  # fmt: skip
    backend.unfinished.add("uniform")
    app = opened(
        "experiment", seeds="2", scorings="gaussian,laplacian,uniform,entmax", tune="0"
    )  # fmt: skip
    assert not app.exception
    assert "8 runs: 2 done, 2 running, 2 failed, 2 not installed." in words(app)
    assert "Laplacian, seed 1: NaN in *scores*" in [text.value for text in app.text]
    assert "It happened in attention_odd 0.3." in words(app)
    runs = [row["Runs"] for row in displayed(app)[0]]
    assert runs == ["2 of 2 done", "0 of 2 done, 2 failed", "0 of 2 done, 2 running",
                    "not installed"]  # fmt: skip


def test_one_seed_has_no_spread(opened):
    app = opened("experiment", seeds="1", scorings="gaussian,uniform")
    assert [row["Error against the truth ↓"] for row in displayed(app)[0]] == ["0.123 ± –"] * 2
    assert "bold" not in displayed(app)[1]


def test_opening_a_link_starts_nothing_and_the_button_starts_what_is_missing(
    opened, service, catalogue
):
    asked = requests_of(catalogue, **SWEEP)
    service.known = [
        training(asked["additive", 0], 3),
        training(asked["scaled_dot", 0], 4, "failed", culprit="attention_odd"),
        training(asked["scaled_dot", 1], 5, "cancelled"),
    ]
    app = opened("experiment", **SWEEP)
    assert not app.exception
    assert [call for call in service.calls if call[0] != "probe"] == []
    assert "6 runs: 1 done, 1 failed, 4 missing." in words(app)
    (start,) = (one for one in app.button if one.key == "experiment-train")
    assert start.label == "Train the 4 that are missing"
    start.click().run()
    assert not app.exception
    started = [request for name, request, *_ in service.calls if name == "start"]
    order = [("additive", 1), ("scaled_dot", 1), ("additive", 2), ("scaled_dot", 2)]
    assert started == [asked[place] for place in order]
    assert "6 runs: 1 done, 4 queued, 1 failed." in words(app)
    assert app.button("experiment-train").label == "Nothing is left to start"
    app.button("experiment-stop").click().run()
    assert len([call for call in service.calls if call[0] == "cancel"]) == 4
    app.button("experiment-refresh").click().run()
    assert ("resume", "4" * 32) in service.calls
    service.refusing = "cannot write /data: disk full"
    app.button("experiment-train").click().run()
    assert "cannot write /data: disk full" in words(app)


def test_a_finished_sweep_is_a_table_and_a_map_for_each_scoring(
    opened, service, catalogue, chart_rows
):
    asked = requests_of(catalogue, **SWEEP)
    service.known = [
        training(request, number) for number, request in enumerate(asked.values(), start=1)
    ]
    app = opened("experiment", **SWEEP, maps="1", figure="bleu")
    assert not app.exception
    first, second = displayed(app)[0]
    assert (
        first["Loss, nats per token ↓"] == "1.000 ± 0.667"
    )  # (1, 3, 5) / 3: mean 3 / 3, deviation 2 / 3
    assert second["BLEU ↑"] == "28.0 ± 14.0"
    assert second["Far"] == "25.0 ± 14.0"
    assert first["Time, s ↓"] == "6.00 ± 0"
    assert first["Tokens/s ↑"] == "233 ± 0"  # (1 * 100 + 2 * 200 + 3 * 300) / 6
    assert (first["AER ↓"], first["Memory, MB ↓"]) == ("0.250 ± 0", "431 ± 0")
    assert first["Weights"] == "1,234"
    assert service.calls == [("probe", "3" * 32, 3), ("probe", "4" * 32, 3)]
    drawn = [cells for sets in chart_rows(app, "q") for cells in sets]
    assert [len(cells) for cells in drawn] == [15, 15]
    assert drawn[0] != drawn[1], "each training has a map of its own"
    dots = next(one for sets in chart_rows(app, "scoring", "seed", "value") for one in sets)
    assert sorted(dot["value"] for dot in dots) == [7.0 * n for n in range(1, 7)]
    (train,) = app.get("page_link")
    assert "show=33333333%2C44444444" in train.proto.query_string


def test_statistics_that_are_on_their_way_leave_their_columns_empty(
    opened, backend, chart_rows, monkeypatch
):
    every, fragment = [], st.fragment

    def watched(*function, **how):
        every.extend(how.values())
        return fragment(*function, **how)

    monkeypatch.setattr(st, "fragment", watched)
    backend.unfinished.add("experiment")
    app = opened("experiment", scorings="gaussian,uniform", tune="0")
    assert not app.exception
    assert [row["Error against the truth ↓"] for row in displayed(app)[0]] == ["–", "–"]
    dots = next(one for sets in chart_rows(app, "scoring", "seed", "value") for one in sets)
    assert len(dots) == 10
    backend.unfinished.clear()
    app.run()
    assert [row["Error against the truth ↓"] for row in displayed(app)[0]] == ["0.123 ± 0"] * 2
    assert every == [POLL, None], "the page looks again until they are here"


def test_means_stay_while_a_worker_counts_one_more_run(opened, backend, service, catalogue):
    asked = list(requests_of(catalogue, **SWEEP).values())
    service.known = [training(asked[0], 3), training(asked[2], 5)]
    app = opened("experiment", **SWEEP)
    column = "Loss, nats per token ↓"
    assert [row[column] for row in displayed(app)[0]] == ["1.333 ± 0.471", "–"]
    backend.unfinished.add("experiment")
    service.known.append(training(asked[4], 7))
    app.run()
    assert [row[column] for row in displayed(app)[0]] == ["1.333 ± 0.471", "–"]
    assert displayed(app)[0][0]["Runs"] == "3 of 3 done"
    backend.unfinished.clear()
    app.run()
    assert displayed(app)[0][0][column] == "1.667 ± 0.667"
    backend.unfinished.add("experiment")
    app.number_input("experiment-bahdanau-recipe-epochs").set_value(3).run()
    service.known = [training(one, 9) for one in requests_of(
        catalogue, **SWEEP, epochs="3"
    ).values()]  # fmt: skip
    app.run()
    assert [row[column] for row in displayed(app)[0]] == ["–", "–"], "of another experiment"


def test_means_of_before_go_when_plugins_are_reloaded(opened, backend):
    app = opened("experiment", scorings="gaussian,uniform", tune="0")
    assert [row["Error against the truth ↓"] for row in displayed(app)[0]] == ["0.123 ± 0"] * 2
    backend.unfinished.add("experiment")
    next(one for one in app.button if one.label == "Reload plugins").click().run()
    app.run()
    assert not app.exception
    assert backend.reloads == 1
    assert [row["Error against the truth ↓"] for row in displayed(app)[0]] == ["–", "–"]


def test_statistics_that_failed_say_so_and_may_be_asked_again(opened, backend):
    backend.failing["experiment"] = Event(number=1, stage="failed", note="out of *memory*")
    app = opened("experiment", scorings="gaussian,uniform", tune="0")
    assert not app.exception
    assert "out of *memory*" in [text.value for text in app.text]
    assert displayed(app)[0][0]["Runs"] == "5 of 5 done"
    del backend.failing["experiment"]
    app.button("experiment-summary--retry").click().run()
    assert displayed(app)[0][0]["Error against the truth ↓"] == "0.123 ± 0"


def test_a_map_is_drawn_anew_where_an_equal_request_gave_another_result(
    opened, backend, monkeypatch
):
    weights, answer = [np.eye(5)], backend.wait

    def answered(job, timeout):
        event = answer(job, timeout)
        if backend.submitted[job].task != "regression":
            return event
        x = [f"{value:g}" for value in range(5)]
        tables = {**event.result.tables, "maps": maps("pooling", weights[0], x, x)}
        return replace(event, result=replace(event.result, tables=tables))

    def drawn(app):
        charts = [chart.proto for chart in app.get("vega_lite_chart")]
        return [(one.spec, each.data.data) for one in charts for each in one.datasets
                if each.name == "picture"]  # fmt: skip

    monkeypatch.setattr(backend, "wait", answered)
    app = opened("experiment", scorings="gaussian", seeds="1")
    (before,) = drawn(app)
    weights[0] = np.eye(5)[::-1]
    next(one for one in app.button if one.label == "Reload plugins").click().run()
    assert not app.exception
    (after,) = drawn(app)
    assert after[0] == before[0], "the chart stays"
    assert after[1] != before[1]


def test_a_catalogue_without_metrics_shows_the_runs(opened, backend):
    """As of a worker that is older than this page."""
    del backend.facts["measured"]
    app = opened("experiment", scorings="gaussian", seeds="2")
    assert not app.exception
    assert [row["Runs"] for row in displayed(app)[0]] == ["2 of 2 done"]


def test_controls_go_into_the_link(opened, service):
    app = opened("experiment")
    app.slider("experiment-seeds").set_value(3).run()
    app.toggle("experiment-learn").set_value(True).run()
    app.button_group("experiment-regression-figure").set_value("effective_neighbours").run()
    assert not app.exception
    assert link(app) == {
        "seeds": "3", "learn": "1", "tune": "1", "figure": "effective_neighbours",
    }  # fmt: skip
    app.button_group("experiment-task").set_value("translation").run()
    assert not app.exception
    assert link(app) == {"task": "translation"}  # with the three seeds that were chosen
    assert "6 runs: 6 missing." in words(app)
    app.number_input("experiment-bahdanau-recipe-epochs").set_value(3).run()
    assert link(app) == {"task": "translation", "epochs": "3"}
    assert service.calls == []


def test_seeds_that_are_just_enough_stay_enough_for_the_scorings_chosen(opened):
    app = opened("experiment")
    app.multiselect("experiment-scorings").set_value(["gaussian", "laplacian"]).run()
    assert not app.exception
    assert (app.slider("experiment-seeds").value, link(app)["seeds"]) == (6, "6")
    app.slider("experiment-seeds").set_value(3).run()
    app.multiselect("experiment-scorings").set_value(["gaussian", "laplacian", "uniform"]).run()
    assert (app.slider("experiment-seeds").value, link(app)["seeds"]) == (3, "3")
    assert "7 seeds are the fewest with which 2 comparisons can be told from" in words(app)
    assert "3 seeds cost 9 runs." in words(app)


def test_seeds_stay_enough_for_a_scoring_that_is_typed(opened):
    app = opened("experiment")
    field = app.multiselect("experiment-scorings")
    assert field.options[0] == "Type a formula…"
    assert not field.proto.select_all, "Enter adds the first that matches, not all"
    field.set_value([*field.value, "="]).run()
    app.text_input("experiment-formula").set_value("q.k / 3").run()
    next(one for one in app.button if one.label == "Add this scoring").click().run()
    assert not app.exception
    assert len(app.multiselect("experiment-scorings").value) == 5
    assert app.slider("experiment-seeds").value == 8
    assert "8 seeds cost 40 runs." in words(app)


def test_a_value_at_the_edge_of_its_grid_is_marked(opened, backend, monkeypatch):
    answer = backend.wait

    def edged(job, timeout):
        event, request = answer(job, timeout), backend.submitted[job]
        if request.task != "experiment" or request.scoring != "gaussian" or not event.result:
            return event
        facts = {**event.result.facts, "chosen": {"width": 0.1}, "edges": {"width": "lowest"}}
        return replace(event, result=replace(event.result, facts=facts))

    monkeypatch.setattr(backend, "wait", edged)
    told = words(opened("experiment"))
    assert "width 0.1 ↓" in told
    assert "↑ is the highest value of a grid, ↓ the lowest: a better one may lie beyond." in told


def test_a_row_of_choices_that_reports_none_changes_nothing(opened):
    """As a browser does that is clicked elsewhere while the row is drawn anew."""
    app = opened("experiment", maps="2", figure="seconds")
    for key in ("experiment-maps", "experiment-regression-figure"):
        app.button_group(key).set_value(None).run()
        assert not app.exception
        assert link(app) == {"maps": "2", "figure": "seconds"}
        assert app.button_group(key).value is not None


def test_hostile_links_are_named_and_nothing_to_compare_is_said(opened):
    app = opened("experiment", seeds="1000000000", scorings="a b,none")
    assert not app.exception
    assert "so 30 is used" in words(app)
    assert "‘a b’ is not a scoring's name" in words(app)
    app = opened("experiment", scorings="none")
    assert not app.exception
    assert "Choose at least one scoring." in words(app)


def test_of_equal_trainings_the_furthest_counts(catalogue):
    view, _ = LINK.parse(SWEEP, catalogue)
    asked = requests(view, catalogue)
    one, other = asked["additive", 0], asked["additive", 1]
    known = [
        training(one, 1, "failed"), training(one, 2), training(one, 3, "cancelled"),
        training(other, 4, "pausing"), training(replace(other, seed=77), 5),
    ]  # fmt: skip
    cells = trainings(view, asked, known, catalogue)
    assert [cell.state for cell in cells] == ["done", "running", *["missing"] * 4]
    assert cells[0].training.id == "2" * 32
    assert summary(cells[:1]) == "1 run: 1 done."


def test_a_training_made_with_other_code_is_missing_and_says_so(catalogue, opened):
    view, _ = LINK.parse(SWEEP, catalogue)
    asked = requests(view, catalogue)
    now = catalogue.scorings["additive"].code
    code = [["models", "bahdanau", catalogue.models["bahdanau"].code]]
    known = [
        training(asked["additive", 0], 1, code=[*code, ["scorings", "additive", now]]),
        training(asked["additive", 1], 2, code=[*code, ["scorings", "additive", "another"]]),
    ]
    cells = trainings(view, asked, known, catalogue)
    assert [cell.state for cell in cells[:2]] == ["done", "missing"]
    assert not cells[1].figures
    assert cells[1].outdated_by == ("Additive",)
    # What is trained again counts, whichever is newer.
    again = training(asked["additive", 1], 3, code=[*code, ["scorings", "additive", now]])
    for order in ([*known, again], [again, *known]):
        assert trainings(view, asked, order, catalogue)[1].training is again


def test_the_page_says_what_was_trained_with_other_code(opened, service, catalogue):
    view, _ = LINK.parse(SWEEP, catalogue)
    one = requests(view, catalogue)["additive", 1]
    service.known = [training(one, 2, code=[["scorings", "additive", "another"]])]
    app = opened("experiment", **SWEEP)
    assert "1 of them was trained before the code of Additive changed" in words(app)


def test_a_training_of_a_typed_formula_is_found_again(catalogue):
    text = "log(dot(q, k))"
    typed = Formula.of(task_formula.perform(formula_request(text), None).facts)
    catalogue = catalogue.with_formulas({text: typed})
    made = Experiment(model="bahdanau", scoring=f"={text}", recipe=Recipe(), corpus="pairs")
    made_with = {kind: code for kind, _, code in code_of(made)}
    view, problems = LINK.parse({**SWEEP, "scorings": f"additive,={text}"}, catalogue)
    assert problems == []
    asked = requests(view, catalogue)
    code = ["scorings", f"={text}", made_with["scorings"]]
    known = [training(asked[f"={text}", 0], 1, code=[code])]
    known += [training(asked[f"={text}", 1], 2, code=[[*code[:2], "another"]])]
    cells = {(one.scoring, one.seed): one for one in trainings(view, asked, known, catalogue)}
    assert cells[f"={text}", 0].state == "done"
    assert cells[f"={text}", 1].state == "missing"
    assert cells[f"={text}", 1].outdated_by == (text,)


def test_the_file_has_a_row_for_every_run(catalogue):
    view, _ = LINK.parse({"scorings": "gaussian", "seeds": "2"}, catalogue)
    cells = [
        Cell(scoring="gaussian", seed=0, state="done", weights=1,
             figures={"truth_mse": 0.1 + 0.2}),
        Cell(scoring="gaussian", seed=1, state="failed", note="=cmd()"),
    ]  # fmt: skip
    done, failed = csv.DictReader(
        io.StringIO(seeds.file(view, cells, metrics(view, catalogue)).decode())
    )
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


def test_every_row_has_the_chosen_normaliser(opened, backend, catalogue):
    app = opened("experiment", scorings="gaussian,laplacian", seeds="1")
    assert "by the normaliser" not in words(app)
    app.selectbox("experiment-normaliser-name").set_value("entmax").run()
    app.number_input("experiment-normaliser-entmax-alpha").set_value(1.75).run()
    assert not app.exception
    assert link(app) == {
        "scorings": "gaussian,laplacian", "seeds": "1", "normaliser": "entmax",
        "normaliser.alpha": "1.75",
    }  # fmt: skip
    fits = [request for request in backend.submitted.values() if request.task == "regression"]
    assert {request.scoring for request in fits[-2:]} == {"gaussian", "laplacian"}
    assert {dict(request.options)["normaliser.alpha"] for request in fits[-2:]} == {1.75}
    assert "Every row makes weights of its scores by the normaliser Entmax." in words(app)


def test_the_file_names_the_normaliser(catalogue):
    query = {"scorings": "gaussian", "seeds": "1", "normaliser": "sparsemax"}
    view, _ = LINK.parse(query, catalogue)
    cells = [Cell(scoring="gaussian", seed=0, state="done")]
    (row,) = csv.DictReader(io.StringIO(seeds.file(view, cells, []).decode()))
    assert row["normaliser"] == "sparsemax"


def test_an_experiment_of_trainings_is_kept_with_each_of_them(
    opened, backend, service, catalogue, tmp_path, monkeypatch
):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr("dashboard.ui.page_menu.preview", lambda charts, heading: b"")
    asked = requests_of(catalogue, **SWEEP)
    service.known = [training(request, n) for n, request in enumerate(asked.values(), start=1)]
    app = opened("experiment", **SWEEP)
    app.session_state["page-keep"] = True
    app.run().button("page-keep-now").click().run()
    (kept,) = run_store().all()
    page = run_store().open(kept.id)
    made = {panel.request for panel in page.panels}
    assert {*asked.values()} < made
    assert {request.task for request in made - {*asked.values()}} == {"experiment"}
    table, _ = (one for one in whole(page.seen.blocks) if isinstance(one, Table))
    frame, bold = page.tables[table.name].to_pylist(), [*table.bold]
    rows, styles = displayed(app)
    assert [row["Runs"] for row in frame] == ["3 of 3 done", "3 of 3 done"]
    assert all(frame[n][name] == rows[n][name] for n, name in bold)
    assert styles.count("bold") == len(bold)


def test_while_trainings_run_an_experiment_is_not_kept(opened, service, catalogue):
    one, *_ = requests_of(catalogue, **SWEEP).values()
    service.known = [training(one, 1, how="running")]
    assert opened("experiment", **SWEEP).button("page-keep-waiting").disabled


def test_runs_stand_second_with_room_for_their_words_and_no_chart_is_drawn_of_nothing(
    opened, service, catalogue, chart_rows
):
    one, other, *_ = requests_of(catalogue, **{**SWEEP, "seeds": "2"}).values()
    app = opened("experiment", **{**SWEEP, "seeds": "2"})
    assert not any(chart_rows(app, "scoring", "seed", "value"))
    assert "No run has ended with a value yet." in words(app)
    assert [*app.dataframe[0].value.columns[:2]] == ["Scoring", "Runs"]
    widths = []
    for first, second in (("running", "queued"), ("done", "done")):
        service.known = [training(one, 1, first), training(other, 2, second)]
        app.run()
        widths.append(json.loads(app.dataframe[0].proto.columns)["Runs"]["width"])
    assert widths[0] >= 7 * len("0 of 10 done, 2 running (45%, 12%), 8 q")
    assert widths[1] < 120
    assert any(chart_rows(app, "scoring", "seed", "value"))


def test_a_typed_scoring_is_a_row_of_its_own(opened, backend):
    app = opened("experiment", scorings="gaussian,=-|q - k| / w", seeds="2", tune="0")
    assert not app.exception
    made = [one for one in backend.submitted.values() if one.scoring.startswith("=")]
    assert [one.scoring for one in made] == ["=-norm(q - k) / w"] * 2
    (slider,) = [one for one in app.slider if one.label.endswith("w")]
    slider.set_value(0.5).run()
    made = [one for one in backend.submitted.values() if one.scoring.startswith("=")]
    assert dict(made[-1].parameters)["w"] == 0.5
    titles = app.dataframe[0].value["Scoring"].tolist()
    assert titles == ["Gaussian", "−norm(q − k) / w"]
    assert [one.proto.expanded for one in app.expander if one.label.startswith("More")] == [True]
    app.toggle("experiment-tune").set_value(True).run()
    assert not [one for one in app.slider if one.label.endswith("w")]
    assert "The formula's parameters are tuned. Switch" in words(app)
    chosen = app.multiselect("experiment-scorings").value
    app.multiselect("experiment-scorings").set_value([*chosen, "="]).run()
    app.text_input("experiment-formula").set_value("q.k - |i - j|").run()
    assert "Points have no positions" in app.error[0].value
    assert [one.value for one in app.code if "^" in one.value] == ["q.k - |i - j|\n       ^"]


def test_a_table_has_columns_to_choose_and_is_refused_once(opened, backend):
    table = "upload:" + Blobs().put(b"a;b;c\n1,5;2;3\n")
    app = opened("experiment", data=table, scorings="uniform,gaussian", seeds="1")
    (target,) = [box for box in app.selectbox if box.label == "Predict"]
    app = target.set_value("1").run()
    assert app.query_params["columns"] in ("2:1", ["2:1"])
    assert {dict(one.options).get("columns") for one in backend.submitted.values()
            if one.data == table} == {None, "2:1"}  # fmt: skip
    facts = {"refused": True, "table": True}
    backend.failing[table] = Event(number=1, stage="failed", note="bad table", facts=facts)
    app = opened("experiment", data=table, scorings="uniform,gaussian", seeds="1")
    assert [one.value for one in app.text].count("bad table") == 1
    (back,) = [one for one in app.button if one.label.startswith("Back to")]
    assert "data" not in back.click().run().query_params


def test_errors_of_a_sample_are_said_to_be_that(opened, backend, monkeypatch, catalogue):
    answer = backend.wait

    def sampled(job, timeout):
        event = answer(job, timeout)
        if backend.submitted[job].task != "regression":
            return event
        rows = {"gaussian": 20_000, "laplacian": 5_000}[backend.submitted[job].scoring]
        figures = event.result.facts["metrics"]
        if varied:
            figures = figures | {"leave_one_out_mse": float(backend.submitted[job].seed)}
        facts = {
            "metrics": figures, "data_sha256": "0", "leave_one_out": {
                "rows": rows, "points": 20_000, "standard_errors": {"leave_one_out_mse": 0.25},
            },
        }  # fmt: skip
        return replace(event, result=replace(event.result, facts=event.result.facts | facts))

    varied = True
    monkeypatch.setattr(backend, "wait", sampled)
    table = "upload:" + Blobs().put(b"a;b\n1,5;2\n")
    app = opened("experiment", scorings="gaussian,laplacian", seeds="2", data=table)
    assert "a random sample of the 20,000 rows, of 5,000 at least. Each seed draws" in words(app)
    assert "of starting weights alone" not in words(app)
    app = opened("experiment", scorings="gaussian", seeds="2", data=table)
    assert "random sample" not in words(app)
    assert "of starting weights alone" in words(app)
    assert "one seed is enough" not in words(app)
    varied = False
    app = opened("experiment", scorings="gaussian", seeds="3", data=table)
    assert "every seed gives the same figures" in words(app)
    assert "of starting weights alone" not in words(app)


def test_nothing_is_tested_where_every_seed_gives_the_same(opened, backend, monkeypatch):
    answer = backend.wait

    def fixed(job, timeout):
        event = answer(job, timeout)
        if backend.submitted[job].task != "regression":
            return event
        size = {"gaussian": 1.0, "laplacian": 2.0}[backend.submitted[job].scoring]
        figures = {"truth_mse": None, "leave_one_out_mse": size}
        facts = event.result.facts | {"metrics": figures, "data_sha256": "0"}
        return replace(event, result=replace(event.result, facts=facts))

    monkeypatch.setattr(backend, "wait", fixed)
    table = "upload:" + Blobs().put(b"a;b\n1,5;2\n")
    app = opened("experiment", scorings="gaussian,laplacian", seeds="7", data=table)
    assert "chance cannot be judged, nothing is tested, and one seed is enough" in words(app)
    assert "Holm's correction; 7 seeds cost" not in words(app)
    assert "bold" not in displayed(app)[1]
    (row,) = app.dataframe[1].value.to_dict("records")
    assert row["Better by (Leave-one-out error)"] == "−1.0"
    assert (row["Verdict"], row["p"], row["Seeds"]) == ("not tested", "–", 7)
    assert "both scorings have one and the same figure for every seed" in words(app)
    assert "0 comparisons" not in words(app)
    assert "a seed draws points" not in words(app)
    app = opened("experiment", scorings="gaussian,laplacian", seeds="1", data=table)
    assert [*app.dataframe[1].value["Verdict"]] == ["not tested"]
    assert "so one seed is enough: another changes starting weights alone" in words(app)
    assert "a seed draws points" not in words(app)
    assert "6 seeds" not in words(app)


def test_a_file_begins_with_one_seed_and_a_choice_of_seeds_stays(opened):
    table = "upload:" + Blobs().put(b"a;b\n1,5;2\n")

    def seeds_of(data, app):
        app.session_state["regression-upload names"] = {table: f"Table {table[7:15]}…"}
        app.run().selectbox("experiment-data").set_value(data).run()
        assert app.slider("experiment-seeds").value == int(link(app).get("seeds", 7))
        return app.slider("experiment-seeds").value

    app = opened("experiment")
    assert seeds_of(table, app) == 1
    app.multiselect("experiment-scorings").set_value(["gaussian", "laplacian"]).run()
    assert app.slider("experiment-seeds").value == 1
    assert seeds_of("sine", app) == 6, "enough for two scorings"
    app.slider("experiment-seeds").set_value(4).run()
    assert seeds_of(table, app) == 4
    assert opened("experiment", data=table).slider("experiment-seeds").value == 5, "as ever"


def test_the_file_names_what_an_error_was_estimated_on(catalogue):
    view, _ = LINK.parse({"scorings": "gaussian", "seeds": "2"}, catalogue)
    figures = {"leave_one_out_mse": 2.5}
    sample = {SAMPLE_ROWS: 5_000, SAMPLE_ERROR: 0.25}
    every, some = (
        Cell(scoring="gaussian", seed=seed, state="done", figures=figures | more)
        for seed, more in enumerate(({}, sample))
    )
    known = metrics(view, catalogue)
    assert SAMPLE_ROWS not in seeds.file(view, [every], known).decode()
    first, second = csv.DictReader(io.StringIO(seeds.file(view, [every, some], known).decode()))
    assert (first[SAMPLE_ROWS], first[SAMPLE_ERROR]) == ("", "")
    assert (second[SAMPLE_ROWS], float(second[SAMPLE_ERROR])) == ("5000", 0.25)


def test_it_speaks_chinese(opened, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    app = opened("experiment", seeds="2")
    assert not app.exception
    assert "共 8 次运行：8 次已完成。" in words(app)
    assert "每种评分函数都用表中没有的随机种子生成 3 个数据集来调参" in words(app)
    table = app.dataframe[0]
    assert [*table.value["Runs"]] == ["2 / 2 次已完成"] * 4
    assert json.loads(table.proto.columns)["Runs"]["label"] == "运行记录"
    assert [*app.dataframe[1].value.columns[1:3]] == ["p", "结论"]
    assert link(app) == {"seeds": "2"}
