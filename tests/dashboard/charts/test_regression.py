from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import vl_convert
from support.charts import kernel_tables

from dashboard.charts import regression_chart
from dashboard.charts.curves import MAX_MARKS, problem
from dashboard.charts.regression import prepare_regression
from dashboard.charts.theme import SEQUENTIAL


def test_the_numbers_are_those_of_the_tables(survives, rows):
    curve, points, weights = kernel_tables()
    spec = survives(lambda: regression_chart(curve, points, weights, title="Gaussian"))
    order, columns = np.argsort(curve["x0"].to_numpy()), np.argsort(points["x0"].to_numpy())
    drawn = pd.DataFrame(rows(spec, "prediction", "truth"))
    for name in ("prediction", "truth"):
        np.testing.assert_allclose(drawn[name], curve[name].to_numpy()[order], rtol=1e-4)
    scatter = pd.DataFrame(rows(spec, "x", "y"))
    np.testing.assert_allclose(scatter["x"], points["x0"].to_numpy()[columns], rtol=1e-4)
    np.testing.assert_allclose(scatter["y"], points["y"].to_numpy()[columns], rtol=1e-4)
    told = [[float(weight) for weight in row["weights"].split(" ")] for row in drawn.iloc]
    np.testing.assert_allclose(told, weights[np.ix_(order, columns)], rtol=1e-4)


def test_a_map_of_one_head_needs_no_unpacking():
    curve, points, weights = kernel_tables()
    one = regression_chart(curve, points, weights[None]).to_dict()
    assert one == regression_chart(curve, points, weights).to_dict()


@pytest.mark.parametrize(("q", "width"), [(5, 200), (12, 900)])
def test_the_column_under_a_query_holds_its_weights(painted, q, width):
    curve, points, weights = kernel_tables()
    chart = regression_chart(curve, points, weights)
    assert chart.config["mark"].pop("aria") is False, "a canvas needs no words of its marks"
    order = np.argsort(curve["x0"].to_numpy())
    scene = painted(chart, width=width, hovered={"q": q})
    assert scene.width == pytest.approx(width, abs=1)
    column = scene.items("cells_marks")
    assert len(column) == 11, "only the cells under the pointer"
    (rule,), (dot,) = scene.items("layer_4_marks"), scene.items("layer_9_marks")
    left, tops = column[0]["x"], [cell["y"] for cell in column]
    assert all(cell["x"] == left for cell in column)
    assert rule["x"] == pytest.approx(left + column[0]["width"] / 2, abs=1)
    assert rule["x"] == pytest.approx(dot["x"])
    assert tops == sorted(tops, reverse=True), "larger inputs lie higher"
    columns = np.argsort(points["x0"].to_numpy())
    told = [dict(part.split(": ") for part in cell["description"].split("; ")) for cell in column]
    expected = weights[order[q], columns]
    assert [float(one["weight"]) for one in told] == pytest.approx(expected, abs=5.1e-4)
    inputs = points["x0"].to_numpy()[columns]
    assert [float(one["training x"]) for one in told] == pytest.approx(inputs, rel=1e-3)


def test_truth_and_prediction_are_drawn_where_their_numbers_are(painted):
    """Read back from the lines as painted, by the scale of the axis."""
    curve, points, _ = kernel_tables()
    scene = painted(regression_chart(curve, points), width=500)
    (encoding,) = (
        one["encoding"]["y"] for one in scene.spec["layer"]
        if one["encoding"].get("y", {}).get("field") == "truth"
    )  # fmt: skip
    (low, high), (bottom, top) = encoding["scale"]["domain"], encoding["scale"]["range"]
    order = np.argsort(curve["x0"].to_numpy())
    lines = {}
    for item in scene.items(role="mark"):
        if "strokeWidth" in item and item.get("defined"):
            lines.setdefault(bool(item.get("strokeDash")), []).append(item["y"])
    assert set(lines) == {True, False}
    for dashed, name in ((True, "truth"), (False, "prediction")):
        drawn = low + (np.array(lines[dashed]) - bottom) / (top - bottom) * (high - low)
        np.testing.assert_allclose(drawn, curve[name].to_numpy()[order], atol=2e-3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_has_the_colour_of_each_weight_in_its_cell(painted, scheme):
    curve, points, weights = kernel_tables()
    chart = regression_chart(curve, points, weights, vmax=0.6)
    order, columns = np.argsort(curve["x0"].to_numpy()), np.argsort(points["x0"].to_numpy())
    ramp = np.array([list(bytes.fromhex(colour[1:])) for colour in SEQUENTIAL[scheme]])
    pixels = painted(chart, scheme, width=700).pixels()
    for q in (0, 5, 12):
        for k, cell in enumerate(painted(chart, width=700, hovered={"q": q}).items("cells_marks")):
            at = min(weights[order[q], columns[k]] / 0.6, 1) * (len(ramp) - 1)
            expected = [np.interp(at, range(len(ramp)), channel) for channel in ramp.T]
            middle = cell["top"] + cell["height"] / 2, cell["left"] + cell["width"] / 2
            found = pixels[int(middle[0]), int(middle[1])]
            np.testing.assert_allclose(found, expected, atol=3, err_msg=f"{q} {k}")


def test_hovering_sizes_the_training_points_by_their_weights(painted):
    curve, points, weights = kernel_tables()
    chart = regression_chart(curve, points, weights, vmax=0.8)
    assert painted(chart).items("weighed_marks") == []
    order, columns = np.argsort(curve["x0"].to_numpy()), np.argsort(points["x0"].to_numpy())
    scene = painted(chart, hovered={"q": 4})
    rings, weighed = scene.items("layer_5_marks"), scene.items("weighed_marks")
    for axis in "xy":
        np.testing.assert_allclose([p[axis] for p in weighed], [p[axis] for p in rings], atol=0.01)
    sizes = np.array([point["size"] for point in weighed])
    expected = weights[order[4], columns]
    np.testing.assert_allclose(sizes, np.minimum(expected / 0.8, 1) * 260, atol=1e-2)


def test_what_is_only_looked_at_does_not_catch_the_pointer(survives):
    curve, points, weights = kernel_tables()
    vega = vl_convert.vegalite_to_vega(
        json.dumps(regression_chart(curve, points, weights).to_dict())
    )
    touched = {m["name"]: m.get("interactive", True) for m in vega["marks"]}
    assert [name for name, on in touched.items() if on] == ["queries_marks", "cells_marks"]


def test_both_lanes_lie_apart_and_have_their_axes(painted):
    scene = painted(regression_chart(*kernel_tables(), y_title="price", x_title="metres"))
    titles = {title["text"]: title for title in scene.items(role="axis-title")}
    assert set(titles) == {"price", "weights of the training x", "metres"}
    map_top = min(cell["top"] for cell in scene.items("layer_1_marks"))
    curve_bottom = max(point["top"] for point in scene.items("layer_5_marks"))
    assert titles["price"]["top"] < curve_bottom < titles["weights of the training x"]["top"]
    assert titles["weights of the training x"]["top"] < map_top < titles["metres"]["top"]
    assert titles["price"]["left"] >= 0


def test_a_map_says_its_largest_weight_whatever_its_scale(painted):
    curve, points, weights = kernel_tables()
    for vmax in (None, 0.9):
        (said,) = painted(regression_chart(curve, points, weights, vmax=vmax)).items(
            "largest_marks"
        )
        assert float(said["text"].removeprefix("largest ")) == pytest.approx(
            weights.max(), rel=5e-3
        )


def test_without_weights_only_the_curve_is_drawn(painted, survives):
    curve, points, _ = kernel_tables()
    survives(lambda: regression_chart(curve, points))
    scene = painted(regression_chart(curve, points))
    assert {title["text"] for title in scene.items(role="axis-title")} == {"x", "y"}


def test_an_unknown_truth_is_left_out(painted, survives):
    curve, points, weights = kernel_tables()
    unknown = curve.set_column(2, "truth", pa.nulls(13, pa.float64()))
    spec = survives(lambda: regression_chart(unknown, points, weights))
    known = regression_chart(curve, points, weights).to_dict()
    assert len(known["layer"]) == 1 + len(spec["layer"])
    assert told(known) == ["x", "prediction", "truth"]
    assert told(spec) == ["x", "prediction"]


def told(spec):
    """The titles of what the tooltip of a query says."""
    (layer,) = (one for one in spec["layer"] if one.get("name") == "queries")
    return re.findall(
        r"'([^']+)': isValid", layer["encoding"]["tooltip"]["condition"][0]["value"]["expr"]
    )


def test_only_the_query_under_the_pointer_tells_its_numbers():
    chart = regression_chart(*kernel_tables(), x_title="it's \\ x").to_dict()
    (layer,) = (one for one in chart["layer"] if one.get("name") == "queries")
    (here,) = layer["encoding"]["tooltip"]["condition"]
    assert (here["param"], here["empty"]) == ("hover", False)
    assert layer["encoding"]["tooltip"]["value"] is None
    told = r"'it\'s \\ x': isValid(datum.x) ? format(datum.x, '.10~g') : '–', "
    assert here["value"]["expr"].startswith("{" + told + "'prediction': isValid(datum.prediction)")


def test_a_constant_prediction_has_the_digits_of_the_values_beside_it(rows):
    curve, points, _ = kernel_tables()
    noise = 1e-7 * np.arange(13)
    flat = curve.set_column(1, "prediction", pa.array(2.676427871 + noise))
    drawn = rows(regression_chart(flat, points).to_dict(), "prediction")
    assert {row["prediction"] for row in drawn} == {2.6764}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_many_weights_are_an_image_under_the_curve(painted, survives, scheme):
    curve, points, _ = kernel_tables(61, 67)
    weights = np.zeros((67, 61))
    order, columns = np.argsort(curve["x0"].to_numpy()), np.argsort(points["x0"].to_numpy())
    weights[order[40], columns[10]] = 1.0  # the 41st query from the left, 11th input from below
    make = lambda: regression_chart(curve, points, weights)  # noqa: E731
    assert len(json.dumps(survives(make))) < 60_000
    scene = painted(make(), scheme, width=300)
    (frame,) = scene.items("layer_2_marks")
    (picture,) = scene.items("layer_1_marks")
    for side in ("left", "width", "top", "height"):
        assert picture[side] == pytest.approx(frame[side], abs=0.6)
    pixels = scene.pixels()
    box = pixels[
        int(frame["top"]) + 1 : int(frame["top"] + frame["height"]),
        int(frame["left"]) + 1 : int(frame["left"] + frame["width"]),
    ]
    lit = np.argwhere(np.abs(box - box[0, 0]).sum(-1) > 100)
    high, wide = box.shape[:2]
    middle = lit.mean(0) / [high, wide]
    assert middle == pytest.approx([1 - 10.5 / 61, 40.5 / 67], abs=0.015)


def test_inputs_of_several_numbers_are_counted_and_the_axis_says_so(painted, survives, rows):
    rng = np.random.default_rng(0)
    curve = pa.table(
        {
            "x0": np.repeat([2.0, 1.0], 3), "x1": rng.random(6),
            "prediction": np.arange(6.0), "truth": pa.nulls(6, pa.float64()),
        }
    )  # fmt: skip
    points = pa.table({"x0": rng.random(5), "x1": rng.random(5), "y": rng.random(5)})
    make = lambda: regression_chart(curve, points, rng.random((6, 5)), x_title="age")  # noqa: E731
    chart = make()
    titles = {title["text"] for title in painted(chart).items(role="axis-title")}
    assert "queries, sorted by age" in titles
    assert "weights of the training points, in that order" in titles
    (labels,) = (one for one in chart.to_dict()["params"] if one.get("name") == "inputs")
    assert labels["value"] == [0, 2, 4], "keys are counted as queries are"
    drawn = rows(chart.to_dict(), "prediction")
    assert [row["x"] for row in drawn] == [0, 1, 2, 3, 4, 5]
    assert [row["prediction"] for row in drawn] == [3, 4, 5, 0, 1, 2]


def test_what_was_measured_in_a_row_is_drawn_where_its_prediction_is(painted, rows):
    curve = pa.table(
        {
            "x0": [2.0, 1.0, 3.0], "x1": [0.0, 5.0, 1.0], "prediction": [20.0, 10.0, 30.0],
            "truth": pa.nulls(3, pa.float64()), "measured": [21.0, 11.0, 31.0],
        }
    )  # fmt: skip
    points = pa.table({"x0": [2.0, 1.0, 3.0], "x1": [0.0, 5.0, 1.0], "y": [21.0, 11.0, 31.0]})
    chart = regression_chart(curve, points, x_title="age")
    titles = {title["text"] for title in painted(chart).items(role="axis-title")}
    assert "rows, sorted by age" in titles
    (scatter,) = [drawn for drawn in [rows(chart.to_dict(), "k", "x", "y")] if drawn]
    assert [(row["x"], row["y"]) for row in scatter] == [(0, 11), (1, 21), (2, 31)]


def test_a_million_points_become_a_few_and_the_chart_says_so():
    n = 1_000_000
    x = np.linspace(0, 1, n)
    drawn = problem(
        pd.DataFrame({"x0": x, "prediction": x, "truth": x}), pd.DataFrame({"x0": x, "y": x})
    )
    assert len(drawn.curve["x"]) == len(drawn.points["x"]) == MAX_MARKS
    assert (
        drawn.note == "1,500 of 1,000,000 queries drawn; 1,500 of 1,000,000 training points drawn"
    )
    assert (drawn.curve["x"][0], drawn.curve["x"][-1]) == (0, 1)


def test_where_queries_are_left_out_the_pointer_still_finds_the_weights_of_its_query():
    n = 2 * MAX_MARKS + 7
    x = np.random.default_rng(3).permutation(n) / n
    inputs = np.array([0.7, 0.1, 0.4])
    weights = np.exp(-np.abs(x[:, None] - inputs))
    tables = prepare_regression(
        pd.DataFrame({"x0": x, "prediction": x**2, "truth": 2 * x}),
        pd.DataFrame({"x0": inputs, "y": 3 * inputs}), weights,
    ).tables  # fmt: skip
    queries, keys = tables["queries"].to_pandas(), tables["keys"].to_pandas()
    assert len(queries) == MAX_MARKS
    told = np.array([row.split(" ") for row in queries["weights"]], float)
    expected = np.exp(-np.abs(queries["x"].to_numpy()[:, None] - keys["input"].to_numpy()))
    np.testing.assert_allclose(told, expected, rtol=2e-3)
    np.testing.assert_allclose(queries["prediction"], queries["x"] ** 2, atol=1e-3)
    np.testing.assert_allclose(queries["truth"], 2 * queries["x"], atol=1e-3)
    np.testing.assert_allclose(keys["output"], 3 * keys["input"])


@pytest.mark.parametrize("n", [1, 2])
def test_very_few_queries_and_points_are_drawn(painted, survives, n):
    table = pd.DataFrame({"x0": np.zeros(n), "prediction": np.ones(n), "truth": np.ones(n)})
    points = pd.DataFrame({"x0": np.zeros(n), "y": np.ones(n)})
    make = lambda: regression_chart(table, points, np.full((n, n), 1 / n))  # noqa: E731
    survives(make)
    assert painted(make()).items("layer_1_marks")
    assert len(painted(make(), hovered={"q": n - 1}).items("cells_marks")) == n


def test_what_does_not_fit_is_refused():
    curve, points, weights = kernel_tables()
    with pytest.raises(ValueError, match=r"weights of shape \(13, 11\) .*, got \(11, 13\)"):
        regression_chart(curve, points, weights.T)
    with pytest.raises(ValueError, match="need at least one query"):
        regression_chart(curve.slice(0, 0), points)
