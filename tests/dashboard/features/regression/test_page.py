import json
import re
from dataclasses import replace

import pyarrow as pa
import pytest
import streamlit
import support.pages as pages
from support.pages import live_words

from dashboard import language
from dashboard.charts import PANEL_COLOURS
from dashboard.features.regression import figures
from dashboard.features.regression.view import BASELINES
from dashboard.jobs import errors
from dashboard.jobs.backend import Event
from dashboard.records.request import Request, Result
from dashboard.storage.blobs import Blobs
from dashboard.storage.uploads import Room, Upload, Uploads


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.title, app.header, app.code)
    held = [str(one.value) for kind in kinds for one in kind]
    return "\n".join([*held, *live_words(app)])


def scorings(app):
    return [box.value for box in app.selectbox if (box.key or "").endswith("-scoring")]


def test_the_first_screen_is_a_finished_comparison(opened, backend):
    app = opened("regression")
    assert not app.exception
    assert scorings(app) == ["uniform", "gaussian", "gaussian", "laplacian"]
    assert len(charts(app)) == 1 + 1 + 4  # side by side, colours, panels
    assert [one.value for one in app.header] == [
        "Side by side", "Curve and weights of each panel",
    ]  # fmt: skip
    assert link(app) == {}
    (table,) = app.dataframe
    assert [*table.value["Panel"]] == [
        "a: Uniform", "b: Gaussian", "c: Gaussian", "d: Laplacian",
    ]  # fmt: skip
    assert list(table.value["Error against the truth"]) == [0.1234] * 4


def test_a_slider_asks_for_a_new_result_and_rewrites_the_link(opened, backend):
    app = opened("regression", a="gaussian", b="uniform")
    before = len(backend.submitted)
    app.slider("panel-a-gaussian-width").set_value(0.3).run()
    assert link(app) == {"a": "gaussian", "a.width": "0.3", "b": "uniform"}
    (asked,) = list(backend.submitted.values())[before:]
    assert dict(asked.parameters) == {"width": 0.3, "hidden": 8}
    assert [request.scoring for request in backend.cancelled] == ["gaussian"]


def test_more_is_drawn_where_it_is_open_and_keeps_its_values_closed(opened, backend):
    app = opened("regression", a="gaussian")
    hidden = "panel-a-gaussian-nadaraya_watson-hidden"
    assert hidden not in [slider.key for slider in app.slider]
    app.session_state["panel-a-gaussian--more"] = True
    app.run()
    app.slider(hidden).set_value(16).run()
    assert link(app) == {"a": "gaussian", "a.hidden": "16"}
    app.session_state["panel-a-gaussian--more"] = False
    app.run()
    assert hidden not in [slider.key for slider in app.slider]
    assert link(app) == {"a": "gaussian", "a.hidden": "16"}
    assert dict([*backend.submitted.values()][-1].parameters)["hidden"] == 16
    app.session_state["panel-a-gaussian--more"] = True
    app.run()
    assert app.slider(hidden).value == 16


def _edited(backend, change):
    """Results of regressions as they are, but for what ``change`` makes of their tables."""
    made = backend.wait

    def wait(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].task == "regression":
            change(backend.submitted[job], event.result.tables)
        return event

    backend.wait = wait


def _heavier(request, tables):
    if request.scoring == "laplacian":
        column = tables["maps"].column_names.index("weights")
        rows = tables["maps"]["weights"].to_pylist()
        twice = pa.array([[2 * weight for weight in row] for row in rows])
        tables["maps"] = tables["maps"].set_column(column, "weights", twice)


def test_a_map_of_small_weights_has_a_scale_of_its_own(opened, backend, chart_rows):
    _edited(backend, _heavier)
    app = opened("regression", a="gaussian", b="laplacian")
    rows = [row for sets in chart_rows(app, "light") for rows in sets for row in rows]
    assert rows[0]["light"] == rows[1]["light"]
    assert [row["largest"] for row in rows] == pytest.approx([0.2, 0.4])
    app.toggle("regression-one_scale").set_value(True).run()
    assert link(app) == {"a": "gaussian", "b": "laplacian", "one_scale": "1"}
    rows = [row for sets in chart_rows(app, "light") for rows in sets for row in rows]
    assert rows[0]["light"] != rows[1]["light"]


def test_all_maps_are_drawn_anew_when_their_common_scale_ends_elsewhere(
    opened, backend, chart_rows
):
    """A panel whose result is as it was has other colours beside a panel with larger weights."""
    _edited(backend, _heavier)

    def pictures(**panels):
        drawn = chart_rows(opened("regression", one_scale="1", **panels), "light", "dark")
        return [row["light"] for sets in drawn for rows in sets for row in rows]

    (alone,) = pictures(a="gaussian")
    beside, heavy = pictures(a="gaussian", b="laplacian")
    assert alone == heavy != beside  # weights of one size each: at the scale's end, or at half
    assert pictures(a="gaussian") == [alone]


def test_equal_weights_have_the_middle_colour_and_are_said(opened, backend, chart_rows):
    made = backend.wait

    def wait(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].scoring == "uniform":
            event.result.facts.update(equal_weights=True, remarks=["All weights: ![x](y)."])
        return event

    backend.wait = wait

    def drawn(**link):
        app = opened("regression", a="gaussian", b="uniform", **link)
        rows = [row for sets in chart_rows(app, "light") for rows in sets for row in rows]
        (said,) = [one for one in live_words(app) if "All weights" in one]
        return [row["vmax"] for row in rows], said

    ends, said = drawn()
    assert ends == pytest.approx([0.2, 0.4])
    assert "All weights: ![x](y). Equal weights have the middle colour" in said
    ends, said = drawn(one_scale="1")
    assert ends == pytest.approx([0.2, 0.2])
    assert "middle colour" not in said


def test_a_curve_that_another_panel_has_too_is_said_once(opened, backend):
    def lower(request, tables):
        if request.scoring == "uniform":
            x = tables["curve"]["x0"]
            tables["curve"] = pa.table({"x0": x, "prediction": [1.0] * 5, "truth": x})

    _edited(backend, lower)
    app = opened("regression", a="uniform", b="gaussian", c="laplacian")
    same = [one for one in live_words(app) if "Its curve is the same" in one]
    assert [one.partition("\n")[2] for one in same] == [
        "Its curve is the same as that of panel b."
    ]


def test_a_learned_panel_says_its_value_where_it_stands_and_what_it_is_called(opened):
    app = opened("regression", a="gaussian", b="gaussian", b__learn="1")
    assert "Learned width 0.25 (from 1)." in words(app)
    (table,) = app.dataframe
    assert list(table.value["Panel"]) == [
        "a: Gaussian",
        "b: Gaussian",
    ]  # short: told apart beside it


def test_a_note_names_its_panels_unless_it_is_of_all(opened, backend):
    made = backend.wait

    def wait(job, timeout):
        event, request = made(job, timeout), backend.submitted[job]
        if request.task == "regression":
            stopped = ["Stopped."] * (request.scoring != "uniform")
            event.result.facts["notes"] = [*stopped, "Scaled."]
        return event

    backend.wait = wait
    app = opened("regression", a="uniform", b="gaussian", c="laplacian")
    said = [one.value for one in app.caption]
    assert said[said.index(r"Scaled\.") + 1] == r"b, c: Stopped\."


def test_a_panel_that_learned_something_else_has_another_learning_curve(
    opened, backend, chart_rows
):
    def slower(request, tables):
        if "history" in tables and request.scoring == "laplacian":
            tables["history"] = pa.table({"step": [0, 1], "loss": [4.0, 3.0], "width": [1.0, 0.5]})

    _edited(backend, slower)

    def losses(scoring):
        app = opened("regression", a=scoring, a__learn="1")
        assert not any(chart_rows(app, "step", "loss"))  # folded
        app.session_state["panel-a-learning-folded"] = True
        found = chart_rows(app.run(), "step", "loss")
        return {row["loss"] for sets in found for rows in sets for row in rows}

    assert losses("gaussian") == {2.0, 1.0}
    assert losses("laplacian") == {4.0, 3.0}


def test_a_link_sets_every_widget(opened):
    app = opened(
        "regression", a="odd", a__sharp="1", a__kind="far", a__learn="1", a__epochs="30",
        data="step", points="80", noise="0.3", seed="7",
    )  # fmt: skip
    assert not app.exception
    assert app.toggle("panel-a-odd-sharp").value is True
    assert app.selectbox("panel-a-odd-kind").value == "far"
    assert app.toggle("panel-a-odd--learn").value is True
    assert app.slider("regression-step-points").value == 80
    assert app.slider("regression-step-noise").value == 0.3
    assert app.number_input("regression-seed").value == 7
    assert link(app) == {
        "a": "odd", "a.sharp": "1", "a.kind": "far", "a.learn": "1", "a.epochs": "30",
        "data": "step", "points": "80", "noise": "0.3", "seed": "7",
    }  # fmt: skip


def test_panels_come_and_go(opened):
    app = opened("regression", a="gaussian", a__width="0.5", b="laplacian")
    app.button("panel-b-remove").click().run()
    assert link(app) == {"a": "gaussian", "a.width": "0.5"}
    assert not [button for button in app.button if (button.key or "").endswith("-remove")]
    next(button for button in app.button if button.label == "Add a panel").click().run()
    assert link(app) == {"a": "gaussian", "a.width": "0.5", "b": "uniform"}
    app.selectbox("panel-b-scoring").set_value("gaussian").run()
    assert link(app) == {"a": "gaussian", "a.width": "0.5", "b": "gaussian"}
    assert app.slider("panel-b-gaussian-width").value == 1.0


def test_panels_keep_their_letters_and_colours_when_one_before_them_is_removed(
    opened, backend, chart_rows
):
    app = opened("regression", a="gaussian", b="uniform", c="laplacian", c__width="0.5")
    app.button("panel-b-remove").click().run()
    kept = {"a": "gaussian", "c": "laplacian", "c.width": "0.5", "panels": "ac"}
    assert link(app) == kept
    (table,) = app.dataframe
    assert list(table.value["Panel"]) == ["a: Gaussian", "c: Laplacian"]
    drawn = json.dumps([chart["layer"] for chart in charts(app) if "layer" in chart])
    assert PANEL_COLOURS["c"] in drawn
    assert PANEL_COLOURS["b"] not in drawn
    again = opened("regression", **kept)
    assert link(again) == kept
    next(button for button in again.button if button.label == "Add a panel").click().run()
    assert link(again) == {
        "a": "gaussian", "b": "uniform", "c": "laplacian", "c.width": "0.5",
    }  # fmt: skip


def test_a_learned_panel_keeps_learning_with_another_scoring_that_can(opened):
    app = opened("regression", a="gaussian", a__learn="1", b="uniform")
    app.selectbox("panel-a-scoring").set_value("additive").run()
    assert link(app) == {"a": "additive", "a.learn": "1", "b": "uniform"}
    app.selectbox("panel-a-scoring").set_value("scaled_dot").run()
    assert link(app) == {"a": "scaled_dot", "b": "uniform"}


def test_a_mended_link_is_named_until_something_is_changed(opened):
    app = opened("regression", a="gaussian", a__width="99", zzz="1")
    assert "a.width=‘99’: need 0.02 <= a.width <= 10, so 10 is used" in words(app)
    assert "unknown parameter ‘zzz’" in words(app)
    assert link(app) == {"a": "gaussian", "a.width": "10"}
    app.slider("panel-a-gaussian-width").set_value(2.0).run()
    assert "unknown parameter" not in words(app)


def test_a_missing_scoring_costs_one_panel(opened, backend):
    app = opened("regression", a="entmax", b="gaussian")
    assert "Scoring ‘entmax’ is not installed here." in words(app)
    assert [r.scoring for r in backend.submitted.values() if r.task == "regression"] == [
        "gaussian"
    ]
    assert link(app) == {"a": "entmax", "b": "gaussian"}
    app.selectbox("panel-a-scoring").set_value("uniform").run()
    assert not app.exception
    assert link(app) == {"a": "uniform", "b": "gaussian"}


def test_a_failed_job_costs_one_panel(opened, backend):
    backend.failing["laplacian"] = Event(
        number=3, stage="failed", note="![x](http://evil.example/x.png)",
        facts={"traceback": "Traceback\nZeroDivisionError", "culprit": "some-plugin"},
    )  # fmt: skip
    app = opened("regression", a="gaussian", b="laplacian")
    assert not app.exception
    assert "![x](http://evil.example/x.png)" in [text.value for text in app.text]
    assert "ZeroDivisionError" in app.code[-1].value + app.code[0].value
    assert len(charts(app)) == 1 + 1 + 1
    del backend.failing["laplacian"]
    app.button("panel-b-result--retry").click().run()
    assert len(charts(app)) == 1 + 2 + 1


def test_refused_input_is_not_offered_again(opened, backend):
    backend.failing["uniform"] = Event(
        number=3, stage="failed", note="need 2 <= n, got n=1", facts={"refused": True}
    )
    app = opened("regression", a="uniform", b="gaussian")
    assert "need 2 <= n, got n=1" in words(app)
    assert not [button for button in app.button if button.label == "Try again"]


def test_a_job_that_takes_longer_waits_in_its_place(opened, backend):
    backend.unfinished.add("laplacian")
    app = opened("regression", a="gaussian", b="laplacian", b__learn="1")
    assert not app.exception
    assert len(app.get("progress")) == 1
    assert r"half \*way\*" in app.get("progress")[0].proto.text
    assert len(app.get("skeleton")) == 1  # the panel
    assert "Other panels are still being computed." in words(app)
    (table,) = app.dataframe
    assert list(table.value["Panel"]) == ["a: Gaussian"]
    assert len(charts(app)) == 1 + 1 + 1  # side by side, colours, the panel that is done
    app.session_state["panel-b-learning-folded"] = True
    app.run()
    assert len(charts(app)) == 1 + 1 + 1 + 1  # and the loss so far
    backend.unfinished.clear()
    app.run()
    assert not app.get("skeleton")


@pytest.mark.parametrize("looks", [1, 2, 3, 4, 5, 6])
def test_what_is_missing_side_by_side_is_waited_for_by_its_panel(opened, backend, looks):
    """The last result may come while the page is drawn; then nothing would draw it again."""
    pages.ends_after(backend, "laplacian", looks)
    app = opened("regression", a="gaussian", b="laplacian")
    assert not app.exception
    (table,) = app.dataframe
    waits = bool(app.get("skeleton"))
    assert ("Other panels are still being computed." in words(app)) <= waits
    assert (len(table.value) == 1) <= waits


def test_while_workers_start_the_page_waits_with_four_places(opened, backend):
    backend.unfinished.add("catalogue")
    app = opened("regression", a="gaussian")
    assert not app.exception
    assert "Starting the workers" in words(app)
    assert len(app.get("skeleton")) == 4
    backend.unfinished.clear()
    app.run()
    assert scorings(app) == ["gaussian"]


def test_a_catalogue_that_fails_says_why_and_may_be_asked_again(opened, backend):
    backend.failing["catalogue"] = Event(number=1, stage="failed", note="no worker starts: memory")
    app = opened("regression")
    assert "no worker starts: memory" in words(app)
    del backend.failing["catalogue"]
    next(button for button in app.button if button.label == "Try again").click().run()
    assert scorings(app) == ["uniform", "gaussian", "gaussian", "laplacian"]


def test_reloading_plugins_reads_the_page_anew(opened, backend):
    app = opened("regression", a="gaussian", a__width="9.5", b="entmax")
    backend.facts["scorings"][1]["parameters"][0]["high"] = 5.0
    backend.facts["scorings"].append({**backend.facts["scorings"][0], "name": "entmax"})
    next(button for button in app.button if button.label == "Reload plugins").click().run()
    assert backend.reloads == 1
    assert not app.exception
    assert app.slider("panel-a-gaussian-width").value == 5.0
    assert "not installed" not in words(app)


HOSTILE = "![x](http://evil.example/x.png) <img src=y> $$ :material/home: [a](http://b)"


def test_texts_of_plugins_are_shown_as_they_stand(opened, backend):
    for record in (*backend.facts["scorings"], *backend.facts["datasets"]):
        record.update(title=HOSTILE, formula=HOSTILE, description=HOSTILE)
        for parameter in record["parameters"]:
            parameter.update(title=HOSTILE, help=HOSTILE, unit=HOSTILE)
    backend.facts["failures"] = [{"plugin": HOSTILE, "message": HOSTILE, "advice": HOSTILE}]
    app = opened("regression")
    assert not app.exception
    markdown = [one.value for one in (*app.markdown, *app.caption, *app.title, *app.header)]
    markdown += [one.label for one in (*app.slider, *app.toggle, *app.selectbox)]
    markdown += [one.proto.help for one in (*app.slider, *app.toggle, *app.latex)]
    assert any("evil" in text for text in markdown)
    for text in markdown:
        assert not re.search(r"(?<!\\)[<`$]|(?<!\\)!(?<!\\)\[|(?<!\\):material/home", text)
    assert not app.latex


def test_an_uploaded_table_that_is_not_here_is_named_by_the_task(opened, backend):
    data = "upload:" + "ab" * 32
    refused = Event(number=1, stage="failed", note="upload it again", facts={"refused": True})
    backend.failing[data] = refused
    app = opened("regression", a="gaussian", data=data)
    assert not app.exception
    assert "upload it again" in words(app)
    assert link(app) == {"a": "gaussian", "data": data}


TABLE = "day;city;t;n;y\n1st;Paris;1,5;10;3\n2nd;Rome;2,5;n/a;4\n3rd;Oslo;3,5;30;5\n"


@pytest.fixture
def table():
    return f"upload:{Blobs().put(TABLE.encode())}"


def columns_asked(backend):
    return {dict(request.options).get("columns") for request in backend.submitted.values()}


def test_columns_of_a_table_are_chosen_and_stand_in_the_link(opened, backend, table):
    app = opened("regression", a="gaussian", data=table)
    assert "*y* is predicted from *t*, *n*" in words(app)
    add = ": add it under *From* to use it)"
    left = f"Left out: *day* (text, such as “1st”{add}, *city* (text, such as “Paris”{add}."
    assert left in words(app)
    (inputs,) = [box for box in app.multiselect if box.label == "From"]
    assert inputs.help == left, "on every page with columns to choose"
    assert columns_asked(backend) == {None}
    (target,) = [box for box in app.selectbox if box.label == "Predict"]
    assert target.options == ["t", "n", "y"]
    app = target.set_value("3").run()
    assert link(app)["columns"] == "4:3"
    (inputs,) = [box for box in app.multiselect if box.label == "From"]
    assert (inputs.options, inputs.value) == (["day", "city", "n", "y"], [4])
    app = inputs.set_value([2, 4]).run()
    said = words(app)
    assert "Of the text in *city*, each value is a column of 0 and 1. Of more than 8" in said
    assert "Left out: *day* (text, such as “1st”: add it under *From* to use it)." in said
    app = inputs.set_value([4, 5]).run()
    assert link(app)["columns"] == "4,5:3"
    assert columns_asked(backend) == {None, "4:3", "2,4:3", "4,5:3"}
    again = opened("regression", **link(app))
    assert "*t* is predicted from *n*, *y*" in words(again)
    app.selectbox("regression-data").set_value("sine").run()
    assert "columns" not in link(app)


UNITS = "n;day;price;k\n1;01/02/2024;€ 1.200;7\n2;03/02/2024;€ 7,50;7\n"


def test_a_table_is_first_shown_with_columns_that_make_sense(opened, backend):
    data = f"upload:{Blobs().put(UNITS.encode())}"
    Uploads("").add(
        Upload(data.removeprefix("upload:"), "shop.csv", "regression-upload", 9),
        Room(owner=1, address=1, total=9),
    )
    app = opened("regression", a="gaussian", data=data, columns="2:3")
    assert app.selectbox("regression-data").value == data
    assert "shop.csv" in app.selectbox("regression-data").options, "in another browser too"
    said = words(app)
    assert "*price* is predicted from *day*" in said
    assert "3 of 4 columns with numbers. Dates in *day*" in said
    (inputs,) = [box for box in app.multiselect if box.label == "From"]
    parts = "day: year, month, day of week, hour"
    assert inputs.options == ["n", "day, days since 2024-02-01", parts, "k"]
    (target,) = [box for box in app.selectbox if box.label == "Predict"]
    assert "price, €" in target.options
    assert "Dates in *day* are read as day, month, year. None of its first rows tells" in said
    app = inputs.set_value([-2, 2]).run()
    assert link(app)["columns"] == "2,-2:3"
    assert "*price* is predicted from *day*." in words(app)
    assert "Of the dates in *day*, the year is a number." in words(app)
    inputs.set_value([2]).run()
    app.selectbox("regression-data").set_value("sine").run()
    assert "columns" not in link(app)
    app.selectbox("regression-data").set_value(data).run()
    assert link(app)["columns"] == "2:3"


@pytest.mark.parametrize(
    ("skipped", "said"),
    [
        ({"ragged": 0, "missing": 2, "text": 0}, "Skipped 2 of 7 rows: 2 without a value."),
        ({"ragged": 1, "missing": 0, "text": 3},
         "Skipped 4 of 9 rows: 1 with another number of columns, 3 with text in place of a "
         "value."),
        ({"ragged": 0, "missing": 0, "text": 0}, ""),
    ],
)  # fmt: skip
def test_rows_that_are_skipped_are_counted_by_the_reasons_that_there_are(
    opened, backend, table, skipped, said
):
    made = backend.wait

    def wait(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].task == "regression":
            event.result.facts["skipped"] = skipped
        return event

    backend.wait = wait
    lines = words(opened("regression", a="gaussian", data=table)).splitlines()
    assert [line for line in lines if "Skipped" in line] == [said] * bool(said)


def test_several_inputs_are_compared_by_what_was_measured(opened, backend, table, chart_rows):
    made = backend.wait

    def wait(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].task == "regression":
            event.result.facts["x_names"] = ["t", "n"]
            tables = event.result.tables
            tables["left_out"] = pa.table(
                {"row": [1, 2], "measured": [3.0, 5.0], "prediction": [4.0, 4.5]}
            )
            tables["curve"] = tables["curve"].append_column("x1", tables["curve"]["x0"])
        return event

    backend.wait = wait
    app = opened("regression", a="gaussian", b="uniform", data=table, columns="3,4:5")
    assert [one.value for one in app.header] == [
        "Side by side: predicted against measured", "Rows left out",
        "New rows, and along the inputs",
        "Predictions and weights of each panel",
    ]  # fmt: skip
    assert "predicted from all other rows" in words(app)
    (first, *_) = [sets for sets in chart_rows(app, "measured", "prediction") if sets]
    (drawn,) = first
    assert [row["panel"][0] for row in drawn] == ["a", "a", "b", "b"]


def evaluated(backend, points, rows):
    """Tables of two inputs and ``points`` rows, of which each scoring predicts so many."""

    def change(request, result):
        count = rows[request.scoring]
        held = {"row": range(1, count + 1), "measured": [3.0] * count, "prediction": [4.0] * count}
        deviation = 0.0 if count == points else 0.125
        result.tables["left_out"] = pa.table(held)
        result.facts.update({
            "x_names": ["t", "n"],
            "leave_one_out": {
                "rows": count, "points": points,
                "standard_errors": {"leave_one_out_mse": deviation, "training_mse": deviation},
            },
        })  # fmt: skip

    made = backend.wait

    def wait(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].task == "regression":
            change(backend.submitted[job], event.result)
        return event

    backend.wait = wait


def test_an_error_of_a_sample_stands_beside_its_standard_error(opened, backend, table):
    evaluated(backend, 20_000, {"gaussian": 20_000, "additive": 5_000})
    app = opened("regression", a="gaussian", b="additive", data=table, columns="3,4:5")
    assert "those of all" not in words(app)
    figures = app.dataframe[0].value
    assert [*figures][2:5] == [
        "Leave-one-out error", "± standard error of “Leave-one-out error”",
        "rows of “Leave-one-out error”",
    ]  # fmt: skip
    assert figures.iloc[:, 3].fillna(0).to_list() == [0, 0.125]
    assert figures.iloc[:, 4].fillna(0).to_list() == [0, 5_000]


def test_columns_that_the_table_does_not_have_are_named(opened, backend, table):
    app = opened("regression", a="gaussian", data=table, columns="3:9")
    assert link(app) == {"a": "gaussian", "data": table}
    assert "column 9 of the table is not one of numbers" in words(app)


def test_a_refused_table_is_named_once_with_the_way_back(opened, backend, table):
    facts = {"refused": True, "table": True}
    backend.failing[table] = Event(number=1, stage="failed", note="bad table", facts=facts)
    app = opened("regression", data=table)
    assert words(app).count("bad table") == 1
    assert not charts(app)
    (back,) = [one for one in app.button if one.label.startswith("Back to")]
    app = back.click().run()
    assert link(app) == {}
    assert len(charts(app)) == len(charts(opened("regression"))) > 4


@pytest.mark.parametrize("devices", [["auto", "cpu"], ["auto", "cuda:0", "cpu"]])
def test_devices_are_offered_where_there_is_a_choice(opened, backend, devices):
    backend.facts["devices"] = devices
    app = opened("regression")
    boxes = [box for box in app.selectbox if box.label == "Device"]
    assert [box.options for box in boxes] == ([devices] if "cuda:0" in devices else [])


def test_two_panels_compare_normalisers_of_one_scoring(opened, backend):
    app = opened("regression", a="scaled_dot", b="scaled_dot")
    assert not any((box.key or "").endswith("--learn") for box in app.toggle)
    before = len(backend.submitted)
    app.selectbox("panel-b-scaled_dot--normaliser-name").set_value("entmax").run()
    app.slider("panel-b-scaled_dot--normaliser-entmax-alpha").set_value(1.5).run()
    assert not app.exception
    asked = list(backend.submitted.values())[before:]
    chosen = {"normaliser": "entmax", "normaliser.alpha": 1.5}
    assert chosen.items() <= dict(asked[-1].options).items()
    assert link(app) == {
        "a": "scaled_dot", "b": "scaled_dot", "b.normaliser": "entmax",
        "b.normaliser.alpha": "1.5",
    }  # fmt: skip
    (table,) = app.dataframe
    assert list(table.value["Panel"]) == ["a: Scaled dot", "b: Scaled dot, Entmax"]
    # The scoring has nothing to learn, the normaliser has.
    app.toggle("panel-b-scaled_dot--learn").set_value(True).run()
    (asked,) = [r for r in backend.submitted.values() if dict(r.options).get("learn")]
    assert chosen.items() <= dict(asked.options).items()


def test_another_scoring_keeps_the_normaliser_where_it_takes_one(opened, backend):
    next(one for one in backend.facts["scorings"] if one["name"] == "odd")["own_normaliser"] = True
    app = opened("regression", a="gaussian", a__normaliser="sparsemax")
    app.selectbox("panel-a-scoring").set_value("laplacian").run()
    assert link(app) == {"a": "laplacian", "a.normaliser": "sparsemax"}
    app.selectbox("panel-a-scoring").set_value("odd").run()
    assert link(app) == {"a": "odd"}
    assert "makes its weights in its own way" in words(app)


def test_a_normaliser_that_is_not_here_is_named_and_may_be_replaced(opened):
    app = opened("regression", a="gaussian", a__normaliser="theirs", a__normaliser__k="3")
    assert not app.exception
    assert "Normaliser ‘theirs’ is not installed here." in words(app)
    assert link(app) == {"a": "gaussian", "a.normaliser": "theirs", "a.normaliser.k": "3"}
    app.selectbox("panel-a-gaussian--normaliser-name").set_value("sparsemax").run()
    assert link(app) == {"a": "gaussian", "a.normaliser": "sparsemax"}


def offered(app):
    """The addresses of frames, by the class of their slider's place."""
    (bridge,) = (one.proto for one in app.get("bidi_component")
                 if one.proto.component_name.endswith("_live"))  # fmt: skip
    return {key: one["address"] for key, one in json.loads(bridge.json)["sliders"].items()}


def test_frames_have_addresses_that_only_this_server_can_make(opened, monkeypatch):
    before = offered(opened("regression", a="gaussian", b="uniform"))
    assert [*before] == ["panel-a-gaussian-width"]
    assert offered(opened("regression", a="gaussian", b="uniform")) == before
    monkeypatch.setenv("ATTENTION_COOKIE_SECRET", "another secret of 32 letters or more")
    assert offered(opened("regression", a="gaussian", b="uniform")) != before


def test_a_slider_whose_frames_cost_more_than_a_link_may_acts_on_release(opened, monkeypatch):
    monkeypatch.setenv("ATTENTION_FREE_WORK", "0.1")
    assert offered(opened("regression", a="gaussian")) == {}


def _validated(backend, facts):
    """What the backend says of rows left out; of what, by the names of requests' options."""
    made = backend.wait

    def wait(job, timeout):
        event, options = made(job, timeout), dict(backend.submitted[job].options)
        if not event or backend.submitted[job].task != "regression":
            return event
        name = options.get("validation.baseline") or options.get("validation.method", "")
        if note := facts.get("refused", {}).get(name):
            return Event(number=1, stage="failed", note=note, facts={"refused": True})
        event.result.facts["validation"] = own = facts.get(name, {})
        rows = own.get("of", [1, 2, 3])
        at = {"row": rows, "x": [n / 2 for n in rows], "measured": [n * 2.0 for n in rows]}
        left = pa.table({**at, "fold": rows, "prediction": [n + 0.5 for n in rows]})
        event.result.tables["validation"] = left if name else left.drop_columns(["fold"])
        return event

    backend.wait = wait


ROWS = {
    "r2": [0.5, 0.25, 0.75],
    "mae": [3.0, 2.0, 4.0],
    "rmse": [None] * 3,
    "rows": 3,
    "points": 3,
}


def test_rows_left_out_have_their_figures_without_another_request(opened, backend, table):
    _validated(backend, {"": ROWS})
    app = opened("regression", a="gaussian", data=table)
    assert [one.task for one in backend.submitted.values()] == ["catalogue", "regression"]
    figures = app.dataframe[-1].value
    assert figures.iloc[0].tolist()[:7] == ["a: Gaussian", 0.5, 0.25, 0.75, 3.0, 2, 4]
    assert [*figures][1:4] == ["R²", "R², 2.5%", "R², 97.5%"]
    assert figures.dtypes[1:].tolist() == ["float64"] * 9, "numbers, also where there are none"
    assert figures["RMSE, 97.5%"].isna().all()
    assert "3 of 3 rows are each predicted from all others." in words(app)


def test_of_many_held_out_rows_a_sample_is_scored_and_said(opened, backend, table):
    _validated(backend, {"hold-out": {**ROWS, "rows": 3, "points": 41}})
    given = {"validation.method": "hold-out", "validation.folds": "7"}
    said = words(opened("regression", a="gaussian", data=table, **given))
    assert "6 of 41 rows, one part of 7, are held out." in said
    assert "Of these 3 are predicted and scored" in said


def test_who_chooses_folds_is_shown_their_number_at_once(opened, backend, table):
    _validated(backend, {"": ROWS, "folds": ROWS, "hold-out": ROWS})
    app = opened("regression", a="gaussian", data=table)
    assert "regression-left-out-folds" not in {one.key for one in app.slider}
    app.selectbox("regression-left-out-method").set_value("folds").run()
    assert app.slider("regression-left-out-folds").label == "Folds"
    app.selectbox("regression-left-out-method").set_value("hold-out").run()
    assert app.slider("regression-left-out-folds").label == "Held out, one row in"
    app.selectbox("regression-left-out-method").set_value("leave-one-out").run()
    assert "regression-left-out-folds" not in {one.key for one in app.slider}


def test_folds_and_baselines_are_asked_for_and_stand_in_the_link(opened, backend, table):
    tuned = {
        "chosen": [{"width": 0.5}, {"width": 2.0}],
        "tuned": {"width": 0.125},
        "trained": (353, 354),
        "tried": {"width": (0.125, 2.0, 7)},
        "ends": [("width", "lowest", [0, 1]), ("width", "highest", [2, 3])],
    }
    refused = {"forest": "install *it*"}
    _validated(
        backend, {"folds": {**ROWS, **tuned, "rows": 2}, "linear": ROWS, "refused": refused}
    )
    given = {"validation.method": "folds", "validation.seed": "3", "validation.tune": "1"}
    app = opened("regression", a="gaussian", data=table, columns="3:5", **given)
    (asked,) = [
        one for one in backend.submitted.values() if "validation.method" in dict(one.options)
    ]
    assert asked.scoring == "gaussian"
    assert {name: value for name, value in asked.options if name.startswith("validation.")} == {
        "validation.method": "folds", "validation.folds": 5, "validation.seed": 3,
        "validation.tune": True,
    }  # fmt: skip
    app.toggle("regression-left-out-baselines").set_value(True).run()
    assert link(app) == {
        "a": "gaussian", "data": table, "columns": "3:5", **given, "validation.baselines": "1",
    }  # fmt: skip
    given_options = [dict(one.options) for one in backend.submitted.values()]
    others = [one for one in given_options if "validation.baseline" in one]
    assert {one["validation.baseline"] for one in others} == {
        "linear", "neighbours", "kernel_ridge", "gaussian_process", "forest",
    }  # fmt: skip
    assert {one["columns"] for one in others} == {"3:5"}
    figures = app.dataframe[-1].value
    assert figures["Predicted by"].tolist() == ["a: Gaussian", "Linear regression"]
    assert figures["Fitted to, rows"].tolist() == ["353–354", ""]
    said = words(app)
    listed = "width 0.5, 2; all rows: width 0.125; tried: width, 7 values from 0.125 to 2\n"
    assert f"- a: Gaussian: {listed}" in f"{said}\n".replace("\\", "")
    assert "All 3 rows are in 5 folds, drawn by seed 3 as scikit-learn's KFold draws them." in said
    assert "Of these 2 are predicted and scored" in said
    assert (
        "An end of what was tried was chosen: a: Gaussian, the lowest width in fold 1, all rows; "
        "a: Gaussian, the highest width in fold 2, 3. What lies beyond" in said
    )
    assert [one.value for one in app.error] == [r"Not computed for Random forest: install \*it\*"]
    app.button("regression-take-tuned").click().run()
    assert (link(app)["a.width"], app.slider("panel-a-gaussian-width").value) == ("0.125", 0.125)
    app.selectbox("regression-data").set_value("sine").run()
    assert "validation.method" not in link(app)


def test_what_baselines_predict_elsewhere_is_tuned_where_folds_are(opened, backend, table):
    """Panels have sliders, on which it can be put."""
    new = f"upload:{Blobs().put(b'n')}"
    folds = {"validation.method": "folds", "validation.seed": "3", "validation.baselines": "1"}

    def plans(**more):
        before = len(backend.submitted)
        opened("regression", a="gaussian", data=table, rows=new, along="1", seed="7", **more)
        asked = [dict(one.options) for one in [*backend.submitted.values()][before:]]
        asked = [one for one in asked if {"validation.rows", "validation.along"} & {*one}]
        keys = [f"validation.{name}" for name in ("baseline", "tune", "seed", "folds")]
        return {tuple(map(one.get, keys)) for one in asked}

    tuned = plans(**folds, **{"validation.tune": "1"})
    assert tuned == {(None, None, 7, None), *((name, True, 3, 5) for name in BASELINES)}
    assert plans(**folds) == {(name, None, 7, None) for name in (None, *BASELINES)}


@pytest.mark.parametrize("looks", range(10, 18))
def test_what_is_done_is_shown_while_others_named_are_computed(opened, backend, table, looks):
    """However late it comes while the page is drawn: nothing else would draw it."""
    _validated(backend, {"": ROWS, "linear": ROWS})
    backend.unfinished.add("additive")
    pages.ends_after(backend, "laplacian", looks)
    app = opened("regression", a="gaussian", b="laplacian", c="additive", data=table)
    figures, said = app.dataframe[-1].value, words(app)
    assert figures["Predicted by"].tolist() in (["a: Gaussian"], ["a: Gaussian", "b: Laplacian"])
    waits = [] if len(figures) > 1 else ["b: Laplacian"]
    names = ", ".join([*waits, "c: Additive"])
    assert f"Still being computed: {names}." in said.replace("\\", "")


def test_all_predictions_of_rows_left_out_are_one_file(opened, backend, table, monkeypatch):
    """Baselines may have a sample of the rows, and folds that are another thing."""
    made, draw = {}, streamlit.download_button
    monkeypatch.setattr(streamlit, "download_button", lambda label, data, file_name, **more: (
        made.update({file_name: data}), draw(label, data, file_name, **more)
    ))  # fmt: skip
    _validated(backend, {"": ROWS, "linear": {**ROWS, "of": [3, 1]}})
    app = opened("regression", a="gaussian", b="uniform", data=table,
                 **{"validation.baselines": "1"})  # fmt: skip
    app.session_state["rows-left-out-export"] = True
    assert not app.run().exception
    assert "Tables as CSV" in [one.value for one in app.caption]
    assert [*made] == ["rows-left-out-figures.csv", "rows-left-out-predictions.csv"]
    assert made["rows-left-out-predictions.csv"]().decode().splitlines() == [
        '"row","x","measured","predicted by a: Gaussian","predicted by b: Uniform",'
        '"predicted by Linear regression"',
        "1,0.5,2,1.5,1.5,1.5", "2,1,4,2.5,2.5,", "3,1.5,6,3.5,3.5,3.5",
    ]  # fmt: skip


def test_baselines_stand_beside_rows_that_are_left_out_one_by_one(opened, backend, table):
    _validated(backend, {"": ROWS, "linear": {**ROWS, "rows": 2, "words": "Linear()"}})
    app = opened("regression", a="gaussian", data=table, seed="5")
    app.toggle("regression-left-out-baselines").set_value(True).run()
    others = [dict(one.options) for one in backend.submitted.values()
              if "validation.baseline" in dict(one.options)]  # fmt: skip
    assert {one["validation.seed"] for one in others} == {5}
    assert len(others) == 5
    figures = app.dataframe[-1].value
    assert figures["Predicted by"].tolist() == ["a: Gaussian", "Linear regression"]
    assert figures["Rows"].tolist() == [3, 2]
    assert "A baseline is fitted anew without each row" in words(app)
    assert "3 of 3 rows are" not in words(app), "not of the baseline"
    assert "Of 3 rows as many as *Rows* says are each predicted from all others" in words(app)
    assert "- Linear regression: Linear()" in words(app).replace("\\", "")


@pytest.mark.parametrize("inputs", [["t"], ["t", "n"]])
def test_a_panel_that_was_stopped_is_named_wherever_panels_are_counted(
    opened, backend, table, inputs
):
    note, facts = errors.timed_out(Request.make("regression", scoring="laplacian"), 120.0)
    backend.failing["laplacian"] = Event(number=3, stage="failed", note=note, facts=facts)
    _along(backend, inputs, {})
    app = opened("regression", a="gaussian", b="laplacian", data=table)
    assert not app.exception
    (said, again) = [one.value.replace("\\", "") for one in app.error]
    assert said == again, "side by side, and of rows left out"
    assert said.startswith(
        "Not computed for b: Laplacian: This took longer than 120 s, the limit of"
    )
    assert "fewer rows or points take less time." in said
    assert "laplacian" not in said
    assert "text" not in said
    assert "folds that you chose count under" not in words(app)
    app.selectbox("regression-left-out-method").set_value("folds").run()
    assert ("folds that you chose count under" in words(app)) == (len(inputs) > 1)


def test_much_of_a_table_waits_in_each_place_and_says_how_long_it_takes(
    opened, backend, table, monkeypatch
):
    monkeypatch.setattr("dashboard.ui.upload.rows", lambda data: 300_000)
    given = {"a.learn": "1", "a.epochs": "2000", "along": "1", "validation.method": "folds"}
    new = f"upload:{Blobs().put(b'n')}"
    app = opened("regression", a="gaussian", b="uniform", data=table, rows=new, **given)
    assert not app.exception
    begin = {one.key for one in app.button if one.label == "Begin"}
    assert begin == {"begin-panel-a-result", "begin-validation", "begin-rows", "begin-along"}
    said = [one.value for one in app.caption if "more waits for a press" in one.value]
    assert len(said) == 1 + len(begin)
    assert {one.removeprefix(":material/pause_circle: ") for one in said} == {said[0]}
    assert re.search(r"What waits is estimated at about \d+ hours on one core\. No ", said[0])


def test_new_rows_are_a_file_beside_the_table(opened, backend, table, monkeypatch):
    """One table of all predictions, behind the rows' numbers and before what the file has."""
    made, new = backend.wait, f"upload:{Blobs().put(b'n')}"

    def wait(job, timeout):
        event, options = made(job, timeout), dict(backend.submitted[job].options)
        if "validation.rows" in options:
            at = 1.0 + len(backend.submitted[job].scoring)
            own = {"day": ["1.2.", "3.2."], "n": [5.0, 7.0]}
            rows = pa.table({"row": [1, 3], "prediction": [at, at + 1], **own})
            facts = {
                "unknown": {"ci*ty": 2, "t": 0}, "points": 41, "skipped": {"missing": 1},
                "outside": 2, "inputs": ["n", "a*b"],
            }  # fmt: skip
            event = replace(event, result=Result(tables={"rows": rows}, facts=facts))
        return event

    backend.wait = wait
    app = opened("regression", a="gaussian", b="uniform", data=table, rows=new)
    assert link(app)["rows"] == new
    held = [one for one in backend.submitted.values() if "validation.rows" in dict(one.options)]
    assert [dict(one.options)["validation.rows"] for one in held] == [new] * 2
    (predictions,) = [one.value for one in app.dataframe if "row" in one.value]
    assert predictions.to_dict("list") == {
        "row": [1, 3], "predicted by a: Gaussian": [9, 10], "predicted by b: Uniform": [8, 9],
        "day": ["1.2.", "3.2."], "n": [5, 7],
    }  # fmt: skip
    assert [*predictions][1:] == [
        "predicted by a: Gaussian", "predicted by b: Uniform", "day", "n",
    ]  # fmt: skip
    (drawn,) = [one.proto for one in app.dataframe if "row" in one.value]
    held = {name: each.get("type_config", {}).get("format") for name, each in
            json.loads(drawn.columns).items()}  # fmt: skip
    formats = {name: form for name, form in held.items() if form}
    assert formats == dict.fromkeys([*[*predictions][1:3], "n"], "%.4g")
    said = words(app)
    assert "2 rows are predicted by fits to all 41 rows of the table: with the values on" in said
    assert "gives it to the panels. Skipped 1 of 3 rows" in said
    assert r"In 2 rows the text in *ci\*ty* is none of the values" in said
    assert said.count("is none of the values") == 1
    assert r"2 rows lie outside the table's range of *n*, *a\*b*: their predictions are" in said
    box = app.selectbox("regression-rows")
    app = box.set_value("").run()
    assert "rows" not in link(app)
    app = opened("regression", a="gaussian", data="sine", rows=new)
    assert "rows" not in link(app)
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    told = opened("regression", a="gaussian", data=table, rows=new)
    (drawn,) = [json.loads(one.proto.columns) for one in told.dataframe if "row" in one.value]
    assert drawn["row"]["label"] == "行"


def _along(backend, names, tables, own=()):
    """Results of these inputs, and what is predicted along them."""
    made = backend.wait
    inputs = {f"x{i}": [0.0, 2.0, 4.0] for i in range(len(names))} | dict(own)

    def wait(job, timeout):
        event, request = made(job, timeout), backend.submitted[job]
        if request.task != "regression" or event.stage == "failed":
            return event
        if "validation.along" in dict(request.options):
            return replace(event, result=Result(tables=tables, facts={"rows": 2, "points": 3}))
        facts = {**event.result.facts, "x_names": names, "y_name": "y*"}
        points = pa.table({**inputs, "y": [10.0, 11.0, 12.0]})
        left = pa.table({"row": [1, 2], "measured": [3.0, 5.0], "prediction": [4.0, 4.5]})
        held = {**event.result.tables, "points": points, "left_out": left}
        del held["maps"]
        held["curve"] = held["curve"].append_column("x1", held["curve"]["x0"])
        return replace(event, result=Result(tables=held, facts=facts))

    backend.wait = wait


def test_two_inputs_are_a_map_with_the_rows_as_points(opened, backend, table, chart_rows):
    grid = {"x0": [0.0, 0.0, 4.0, 4.0], "x1": [0.0, 4.0, 0.0, 4.0]}
    surface = pa.table({**grid, "prediction": [11.0, 13.0, 9.0, 16.0]})
    _along(backend, ["t", "n"], {"surface": surface})
    app = opened("regression", a="gaussian", b="uniform", data=table, columns="3,4:5")
    assert not [one for one in backend.submitted.values() if "validation.along" in
                dict(one.options)]  # fmt: skip
    app.toggle("regression-along").set_value(True).run()
    assert link(app)["along"] == "1"
    assert r"Colours are the prediction less the mean of *y\**, 11." in words(app)
    (scale,) = [one for one in charts(app) if "predicted y* less the mean" in json.dumps(one)
                and "points" not in json.dumps(one)]  # fmt: skip
    assert '"domain": [-5.0, 5.0]' in json.dumps(scale), "of the map, in units of y"
    (cells, points), again = filter(None, chart_rows(app, "c", "r", "value"))
    assert again == [cells, points]
    assert [row["value"] for row in cells] == [2, 5, 0, -2], "the second input upwards"
    placed = [(row["c"], row["r"], row["value"]) for row in points]
    assert placed == [(0.5, 1.5, -1), (1, 1, 0), (1.5, 0.5, 1)]


def test_several_inputs_are_a_curve_each_of_every_panel(opened, backend, table, chart_rows):
    partial = pa.table({"input": [0.0, 0, 1, 1, 2, 2], "x0": [0.0, 4, 1, 2, 0, 1],
                        "prediction": [10.0, 11, 12, 13, 14, 15]})  # fmt: skip
    _along(backend, ["t", "n", "city = Rome"], {"partial": partial}, {"x2": [0.0, 1.0, 0.0]})
    more = {"along": "1", "columns": "3,4:5", "validation.baselines": "1"}
    app = opened("regression", a="gaussian", b="uniform", data=table, **more)
    asked = [dict(one.options) for one in backend.submitted.values()]
    of = [one.get("validation.baseline") for one in asked if "validation.along" in one]
    assert of == [None, None, *BASELINES]
    assert "between the 0 and the 1 of *city = Rome*, so these are points" in words(app).replace(
        "\\", ""
    )
    assert "the mean prediction over 2 of 3 rows" in words(app)
    held = filter(None, chart_rows(app, "x", "prediction", "line"))
    drawn = [[(row["x"], row["prediction"]) for row in curves] for (curves,) in held]
    assert drawn == [[(0, 10), (4, 11)] * 7, [(1, 12), (2, 13)] * 7, [(0, 14), (1, 15)] * 7]
    layers = [one for each in charts(app) for one in each.get("layer", [])]
    curves = [one["mark"]["type"] for one in layers if one.get("data") == {"name": "curves"}]
    assert curves[-3:] == ["line", "line", "point"]
    held = [one for one in layers if "strokeDash" in one.get("encoding", {})]
    names, *small = [one["encoding"] for one in held]
    colours = [*PANEL_COLOURS.values()][:2]
    dashes = [[1, 0]] * 2 + figures._PATTERNS
    for one, legend in ((names, True), *((each, False) for each in small)):
        assert one["stroke"]["scale"]["range"][:2] == colours
        assert one["strokeDash"]["scale"]["range"] == dashes
        assert bool(one["stroke"]["legend"]) is bool(one["strokeDash"]["legend"]) is legend
    assert len(small) == 3
    assert names["stroke"]["scale"]["domain"][1:3] == ["b: Uniform", "Linear regression"]
    assert len({*map(str, dashes)}) == 6, "panels are solid, each baseline has its own"
