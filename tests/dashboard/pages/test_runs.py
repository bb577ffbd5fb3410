from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dashboard.charts.stored import stored_charts
from dashboard.runs.bundle import Bundle, write
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.runs.store import Runs

HOSTILE = "![x](http://evil.example/x.png) <img src=y> :material/home: [a](http://b)"


def run(**changes) -> Bundle:
    x = np.arange(5.0)
    tables = {
        "curve": pa.table({"x0": x, "prediction": x / 2, "truth": x}),
        "points": pa.table({"x0": x, "y": x}),
    }
    facts = {"x_names": ["x"], "y_name": "y", "torch": "2.13.0", "seconds": 0.25,
             "plugins": {"some-plugin": "1.2"}, "metrics": {"truth_mse": 0.125}}  # fmt: skip
    result = Result(tables=tables, facts=facts)
    made = Bundle(
        request=Request.make("regression", scoring="gaussian", parameters={"width": 0.5}, seed=7),
        result=result,
        title="Kernel regression, Gaussian",
        link="/?a=gaussian&a.width=0.5",
        charts={"curve-and-weights": {"mark": "point", "data": {"values": [{"seen": 41}]}}},
        versions={"altair": "6.3.0"},
    )
    return replace(made, **changes)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return Runs(tmp_path)


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.title, app.subheader, app.code)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def specs(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def facts(app):
    return {row[0]: row[1] for table in app.dataframe for row in table.value.values}


def test_an_empty_page_says_how_a_run_comes_here(runs, opened, backend):
    app = opened("runs")
    assert not app.exception
    assert "Keep this run" in words(app)
    assert backend.submitted == {}


def test_runs_are_listed_with_when_and_from_where(runs, opened):
    runs.keep(run(title="older"), "regression")
    runs.take_in(write(run(title="newer")), "friend.zip")
    app = opened("runs")
    said = words(app)
    assert said.index("newer") < said.index("older")
    assert "imported from friend\\.zip" in said
    assert "kept from regression" in said


def test_a_kept_run_is_drawn_as_it_was_seen_without_a_worker(runs, opened, backend):
    kept = runs.keep(run(), "regression")
    app = opened("runs", id=kept.id)
    assert not app.exception
    assert backend.submitted == {}
    (spec,) = specs(app)
    assert spec["mark"] == "point"
    assert facts(app)["plugins: some-plugin"] == "1.2"
    assert facts(app)["torch"] == "2.13.0"
    assert facts(app)["seconds"] == "0.25"
    assert facts(app)["seed"] == "7"
    assert facts(app)["width"] == "0.5"
    assert facts(app)["altair"] == "6.3.0"
    links = [code.value for code in app.code]
    assert links[0].endswith(f"id={kept.id}")
    assert links[1].endswith("/?a=gaussian&a.width=0.5")


def test_an_imported_run_is_drawn_from_its_tables_never_from_its_specification(runs, opened):
    evil = {"mark": "image", "encoding": {"url": {"value": "http://evil.example/x.png"}}}
    taken = runs.take_in(write(run(charts={"curve-and-weights": evil})), "friend.zip")
    app = opened("runs", id=taken.id)
    assert not app.exception
    (spec,) = specs(app)
    (made,) = stored_charts(run().result).values()
    expected = made().to_dict(validate=False)
    assert spec["layer"] == expected["layer"]
    assert "evil" not in json.dumps(spec)


def test_tables_that_cannot_be_drawn_cost_no_more_than_their_chart(runs, opened):
    odd = Result(tables={"curve": pa.table({"a": ["b"]}), "points": pa.table({})}, facts={})
    taken = runs.take_in(write(run(result=odd)), "friend.zip")
    app = opened("runs", id=taken.id)
    assert not app.exception
    assert specs(app) == []
    assert "nothing to be drawn" in words(app)


@pytest.mark.parametrize("id", ["0" * 32, "x", "../../etc/passwd"])
def test_a_link_to_no_run_is_named(runs, opened, id):
    app = opened("runs", id=id)
    assert not app.exception
    assert "no run" in words(app) or "32 hexadecimal digits" in words(app)


def test_a_run_is_opened_and_left_again(runs, opened):
    kept = runs.keep(run(), "regression")
    app = opened("runs")
    app.button(f"run-{kept.id}-open").click().run()
    assert app.query_params["id"] == [kept.id] or app.query_params["id"] == kept.id
    assert len(specs(app)) == 1
    next(button for button in app.button if button.label == "All runs").click().run()
    assert "id" not in app.query_params
    assert specs(app) == []


def test_a_run_is_deleted_after_one_question(runs, opened):
    kept, other = runs.keep(run(), "regression"), runs.keep(run(title="other"), "regression")
    app = opened("runs")
    app.button(f"run-{kept.id}-gone").click().run()
    assert not app.exception
    assert [one.id for one in runs.all()] == [other.id]
    assert "Gaussian" not in words(app)


def upload(app, data, name="friend.zip"):
    app.file_uploader[0].set_value((name, data, "application/zip")).run()
    return app


def test_a_bundle_is_imported_and_opened(runs, opened):
    app = upload(opened("runs"), write(run()))
    assert not app.exception
    (taken,) = runs.all()
    assert taken.source == "friend.zip"
    assert app.query_params["id"] in (taken.id, [taken.id])
    assert runs.open(taken.id) == run()


def test_a_tampered_bundle_is_refused_with_the_reason(runs, opened):
    data = bytearray(write(run()))
    data[len(data) // 2] ^= 1
    app = upload(opened("runs"), bytes(data))
    assert not app.exception
    assert "Refused: " in words(app)
    assert runs.all() == []


def test_texts_of_strangers_are_shown_as_they_stand(runs, opened):
    hostile = Result(tables=run().result.tables, facts={HOSTILE: HOSTILE, "x_names": [HOSTILE],
                                                        "y_name": HOSTILE})  # fmt: skip
    taken = runs.take_in(write(run(title=HOSTILE, result=hostile)), HOSTILE)
    for app in (opened("runs"), opened("runs", id=taken.id)):
        assert not app.exception
        for text in [one.value for one in (*app.markdown, *app.caption, *app.subheader)]:
            assert not re.search(r"(?<!\\)[<!\[`$]", text)
    assert facts(app)[HOSTILE] == HOSTILE


def test_many_runs_are_shown_by_and_by(runs, opened):
    for number in range(23):
        runs.keep(run(title=f"run {number}"), "regression")
    app = opened("runs")
    assert len([b for b in app.button if b.label == "Open"]) == 20
    next(button for button in app.button if button.label == "Show 3 more").click().run()
    assert len([b for b in app.button if b.label == "Open"]) == 23
