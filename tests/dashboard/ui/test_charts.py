"""Charts on pages: what is drawn is the result at hand, never one that is remembered."""

import json
import re
from collections import OrderedDict

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support import pages

from dashboard import language
from dashboard.charts import loss_chart
from dashboard.charts.series import draw_loss, prepare_loss
from dashboard.features.runs import one
from dashboard.records.request import Result
from dashboard.ui import charts, shown
from dashboard.ui.figure_parts import LEGEND


def drawn(app):
    return [
        (chart.proto.spec, *(sent.data.data for sent in chart.proto.datasets))
        for chart in app.get("vega_lite_chart")
    ]


def doubled(result):
    """The result with every number twice as large, as if a plugin had been edited."""
    return Result(
        tables={name: _doubled(table) for name, table in result.tables.items()},
        facts=_twice(result.facts),
    )


def _twice(value):
    match value:
        case dict():
            return {name: _twice(one) for name, one in value.items()}
        case list() | tuple():
            return [_twice(one) for one in value]
    return 2 * value if isinstance(value, float) else value


def _doubled(table):
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    for name, column in columns.items():
        if pa.types.is_floating(column.type):
            columns[name] = pc.multiply(column, 2)
        elif pa.types.is_list(column.type) and pa.types.is_floating(column.type.value_type):
            twice = pc.multiply(column.values, 2)
            columns[name] = pa.ListArray.from_arrays(column.offsets, twice)
    return pa.table(columns)


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("positions", {}),
        ("norms", {"x": "1,2;2,3;4,9"}),
        ("anatomy", {"example": "additive_steps"}),
        ("anatomy", {"part": "mask"}),
        ("anatomy", {"part": "root"}),
        ("anatomy", {"part": "landscape"}),
    ],
)
def test_an_equal_request_with_another_result_is_drawn_anew(opened, monkeypatch, page, link):
    before = drawn(opened(page, **link))
    task = getattr(pages, page)
    made = task.perform
    monkeypatch.setattr(task, "perform", lambda *given: doubled(made(*given)))
    after = drawn(opened(page, **link))
    shapes = [one for one in before if one in after]
    assert len(before) == len(after) > len(shapes)
    # A drawing of shapes holds no number of the result.
    assert all('"blocks"' in spec for spec, *_ in shapes)


def test_a_reload_redraws_every_chart_from_the_new_results(opened, backend, chart_rows):
    """A plugin is edited under its name: the requests are equal, the results are not."""
    app = opened("regression", a="gaussian", b="laplacian")
    before = _predictions(chart_rows(app, "prediction"))
    assert before == {0.0, 0.5, 1.0, 1.5, 2.0}
    asked = [one for one in backend.submitted.values() if one.task == "regression"]

    made = backend.wait

    def edited(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].task == "regression":
            tables = event.result.tables
            curve = tables["curve"]
            other = pa.array([3.0 + value for value in curve["prediction"].to_pylist()])
            index = curve.column_names.index("prediction")
            tables["curve"] = curve.set_column(index, "prediction", other)
        return event

    backend.wait = edited
    next(one for one in app.button if one.label == "Reload plugins").click().run()
    again = [one for one in backend.submitted.values() if one.task == "regression"][len(asked) :]
    assert again == asked
    assert _predictions(chart_rows(app, "prediction")) == {3.0, 3.5, 4.0, 4.5, 5.0}


def test_another_result_of_one_shape_changes_data_alone(opened, backend, chart_rows):
    """The browser keeps a chart whose specification stays, and draws its new data."""
    app = opened("regression", a="gaussian", b="laplacian")
    before, predictions = drawn(app), _predictions(chart_rows(app, "prediction"))
    made = backend.wait

    def flatter(job, timeout):
        event = made(job, timeout)
        if backend.submitted[job].scoring == "gaussian":
            curve = event.result.tables["curve"]
            nearly = pc.multiply(curve["prediction"], 0.99)
            index = curve.column_names.index("prediction")
            event.result.tables["curve"] = curve.set_column(index, "prediction", nearly)
        return event

    backend.wait = flatter
    app.slider("panel-a-gaussian-width").set_value(0.3).run()
    after = drawn(app)
    assert [spec for spec, *_ in after] == [spec for spec, *_ in before]
    same = [one == other for one, other in zip(after, before, strict=True)]
    assert same == [False, True, False, True]  # side by side, colours, panels a and b
    assert _predictions(chart_rows(app, "prediction")) == predictions | {0.495, 0.99, 1.485, 1.98}


def _predictions(charts):
    return {row["prediction"] for sets in charts for rows in sets for row in rows}


def test_a_chart_is_kept_with_its_rows_whatever_they_were_sent_as():
    rows = [{"x": 0.5, "y": [1.0, 2.0]}, {"x": None, "y": [3.0, None]}]
    frame = pd.DataFrame({"x": [0.5, np.nan], "y": [[1.0, 2.0], [3.0, np.inf]]})
    packed = charts.packed({"datasets": {"cells": frame}})["datasets"]["cells"]
    spec = {"mark": "rect", "datasets": {"a": packed, "b": frame, "c": rows,
                                         "d": pa.Table.from_pandas(frame)}}  # fmt: skip
    kept = charts.unpacked(spec)
    assert kept == {"mark": "rect", "datasets": dict.fromkeys("abcd", rows)}
    assert json.dumps(kept, allow_nan=False)
    assert charts.unpacked({"mark": "rect"}) == {"mark": "rect"}


def test_a_legend_is_kept_under_its_own_name_in_every_language(monkeypatch):
    monkeypatch.setattr(charts, "_specification", lambda *_: {"mark": "point"})
    with shown.recording() as record:
        charts.legend(1.0)
        charts.show("legend of shares", dict, "颜色：占最大权重的比例")
        charts.show("curve", dict, "Curve of panel a")
    first, second, third = record.charts
    assert first.startswith(LEGEND)
    assert second.startswith(LEGEND)
    assert third == "curve-of-panel-a"


def test_a_chart_is_made_once_until_others_take_its_place(monkeypatch):
    made = []
    monkeypatch.setattr(charts, "_SPECS_KEPT", 2)
    monkeypatch.setattr(charts, "_known", OrderedDict())
    for key in "aabacaba":
        charts._specification(key, "en", lambda key=key: made.append(key) or Chart())
    assert made == [*"abcb"]


class Chart:
    def to_dict(self, **_):
        return {}


def test_what_is_kept_in_one_language_is_not_shown_in_another(monkeypatch):
    history = pa.table({"step": [1, 2, 3], "loss": [3.0, 2.0, 1.5]})
    ways = {
        "filled": lambda: charts.filled("a", draw_loss, lambda: prepare_loss(history)).spec,
        "specification": lambda: charts._specification(
            "b", language.current(), lambda: loss_chart(history)
        ),
        "redrawn": lambda: one._redrawn("c", 1, language.current(), Panel(history)),
    }
    for name, way in ways.items():
        for spoken in ("zh", "en", "zh", "en"):
            monkeypatch.setattr(language, "_spoken", lambda spoken=spoken: spoken)
            words = json.dumps(way(), default=str, ensure_ascii=False)
            chinese = re.search("[\u4e00-\u9fff]", words)
            assert bool(chinese) == (spoken == "zh"), name


class Panel:
    """A run's panel with a history alone."""

    def __init__(self, history):
        self.result = Result(tables={"history": history}, facts={})
