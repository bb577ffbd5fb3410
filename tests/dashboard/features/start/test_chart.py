import json

import numpy as np
import pyarrow as pa
import pytest

from dashboard.charts.curves import MAX_MARKS
from dashboard.charts.template import chart_of, template
from dashboard.features.start.page import Curve, draw_start, prepare_start

X = np.arange(5.0)
POINTS = pa.table({"x0": [0.5, 2.5, 4.5], "y": [1.0, 2.0, 1.5]})
ROW = [0.25, 0.5, 0.25]


def curve(name="One", row=ROW, colour="#123456"):
    table = pa.table({"x0": X, "prediction": X / 2, "truth": X})
    return Curve(name, colour, table, np.array([row] * 5))


def test_the_chart_is_valid_and_survives_json():
    prepared = prepare_start([curve(), curve('Two\'s "name"', colour="#654321")], POINTS, 2)
    spec = json.loads(chart_of(draw_start, prepared).to_json())
    domain = next(
        layer["encoding"]["stroke"]["scale"]["domain"]
        for layer in spec["layer"]
        if "stroke" in layer.get("encoding", {})
    )
    assert domain == ["One", 'Two\'s "name"']


def test_weights_travel_in_the_order_of_x_as_ten_thousandths():
    points = pa.table({"x0": [4.5, 0.5, 2.5], "y": [1.5, 1.0, 2.0]})
    prepared = prepare_start([curve(row=[0.1, 0.2, 0.7])], points, 2)
    assert prepared.tables["queries"]["w0"].to_pylist() == ["2000 7000 1000"] * 5
    assert prepared.tables["points"]["x"].to_pylist() == [0.5, 2.5, 4.5]


def test_where_queries_are_left_out_each_keeps_its_own_weights():
    x = np.random.default_rng(2).permutation(2 * MAX_MARKS + 1) / (2 * MAX_MARKS)
    table = pa.table({"x0": x, "prediction": x, "truth": x})
    made = Curve("One", "#123456", table, np.stack([x, 1 - x, 0 * x], axis=1))
    queries = prepare_start([made], POINTS, 2).tables["queries"].to_pandas()
    assert len(queries) == MAX_MARKS
    told = np.array([row.split(" ") for row in queries["w0"]], float) / 10_000
    np.testing.assert_allclose(told[:, 0], queries["x"], atol=2e-4)
    np.testing.assert_allclose(queries["p0"], queries["x"], atol=2e-4)


@pytest.mark.parametrize("query", [0, 2, 4])
def test_the_axis_of_weights_follows_the_line(painted, query):
    weights = np.full((5, 3), 0.01)
    weights[0], weights[2], weights[4] = (0.1, 0.48, 0.2), (0.01, 0.09, 0.05), (0.1, 1.0, 0.6)
    chart = chart_of(draw_start, prepare_start([curve()._replace(weights=weights)], POINTS, 2))
    scene = painted(chart, width=600, hovered={"q": query})
    first, second, third = (mark["top"] for mark in scene.items("weights_marks"))
    low, high, middle = weights[query]
    # In proportion, none pressed against an end, and the largest well above the axis.
    assert (first - second) / (first - third) == pytest.approx((high - low) / (middle - low))
    assert first - second > 40


def test_the_chart_is_told_in_words_and_numbers():
    prepared = prepare_start([curve("One"), curve("Two", colour="#654321")], POINTS, 2)
    assert "One" in prepared.summary.words
    assert prepared.summary.table().column_names == ["x", "One", "Two"]
    assert prepared.summary.table()["Two"].to_pylist() == [0.0, 0.5, 1.0, 1.5, 2.0]


def test_another_width_changes_data_and_keeps_the_specification():
    first = prepare_start([curve(row=[0.3, 0.4, 0.3])], POINTS, 2)
    second = prepare_start([curve(row=[0.25, 0.45, 0.3])], POINTS, 2)
    assert template(draw_start, first) == template(draw_start, second)
    assert first.tables != second.tables


@pytest.mark.parametrize(("hovered", "q"), [(None, 2), ({"q": 4}, 4)])
def test_the_line_stands_at_the_marked_query_until_the_pointer_is_on_another(painted, hovered, q):
    chart = chart_of(draw_start, prepare_start([curve()], POINTS, 2))
    scene = painted(chart, width=600, hovered=hovered)
    (rule,), (below,) = scene.items("marked_marks"), scene.items("marked_below_marks")
    assert below["x"] == rule["x"]
    assert (
        max(below["y"], below["y2"])
        > min(below["y"], below["y2"])
        >= 20 + max(rule["y"], rule["y2"])
    ), "room for the title between them"
    line = scene.items("curves_marks")
    assert len(line) == 5
    assert rule["x"] == pytest.approx(line[q]["x"])
