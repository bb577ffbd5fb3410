from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.charts import kernel_tables

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.curves import MAX_MARKS
from dashboard.charts.template import chart_of
from dashboard.features.regression.figures import draw_overlay, prepare_overlay


def overlay(*curves_and_points, **more):
    return chart_of(draw_overlay, prepare_overlay(*curves_and_points, **more))


def test_all_panels_lie_over_one_scatter(painted, survives, rows):
    narrow, points, _ = kernel_tables(width=0.2)
    wide, _, _ = kernel_tables(width=2.0)
    curves = {"a · narrow": narrow, 'b · "wide"': wide}
    make = lambda: overlay(curves, points, y_title="price")  # noqa: E731
    spec = survives(make)
    drawn = pd.DataFrame(rows(spec, "line", "prediction"))
    for number, (name, curve) in enumerate(curves.items()):
        expected = curve["prediction"].to_numpy()[np.argsort(curve["x0"].to_numpy())]
        np.testing.assert_allclose(
            drawn["prediction"][drawn["line"] == f"p{number}"], expected, rtol=1e-4, err_msg=name
        )
    scene = painted(make(), width=600)
    assert scene.width == pytest.approx(600, abs=1)
    assert [text["text"] for text in scene.items(role="legend-label")] == list(curves)
    strokes = {item.get("stroke") for item in scene.items(role="mark")}
    assert {PANEL_COLOURS["a"], PANEL_COLOURS["b"]} <= strokes


def test_the_truth_over_all_panels_is_the_truth(painted):
    curve, points, _ = kernel_tables(width=2.0)
    scene = painted(overlay({"a": curve}, points), width=500)
    (encoding,) = (
        one["encoding"]["y"] for one in scene.spec["layer"]
        if one["encoding"].get("y", {}).get("field") == "truth"
    )  # fmt: skip
    (low, high), (bottom, top) = encoding["scale"]["domain"], encoding["scale"]["range"]
    dashed = [item["y"] for item in scene.items(role="mark") if item.get("strokeDash")]
    drawn = low + (np.array(dashed) - bottom) / (top - bottom) * (high - low)
    truth = curve["truth"].to_numpy()[np.argsort(curve["x0"].to_numpy())]
    np.testing.assert_allclose(drawn, truth, atol=2e-3)


def test_panels_keep_their_colours_when_some_are_missing(painted):
    curve, points, _ = kernel_tables()
    scene = painted(overlay({"c": curve}, points, colours={"c": PANEL_COLOURS["c"]}))
    symbols = {item["stroke"] for item in scene.items(role="legend-symbol")}
    assert symbols == {PANEL_COLOURS["c"]}


def test_where_queries_are_left_out_all_curves_are_told_at_the_same_ones():
    x = np.random.default_rng(2).permutation(2 * MAX_MARKS + 1) / MAX_MARKS
    tables = [pa.table({"x0": x, "prediction": by * x, "truth": -x}) for by in (2, 3)]
    points = pa.table({"x0": [0.5], "y": [1.0]})
    drawn = prepare_overlay(dict(zip("ab", tables, strict=True)), points).tables
    queries, curves = (drawn[name].to_pandas() for name in ("queries", "curves"))
    assert len(queries) == MAX_MARKS
    for name, by in (("p0", 2), ("p1", 3)):
        np.testing.assert_allclose(queries[name], by * queries["x"], atol=1e-3)
        own = curves[curves["line"] == name]
        np.testing.assert_allclose(own["prediction"], by * own["x"], atol=1e-3)
    np.testing.assert_allclose(queries["truth"], -queries["x"], atol=1e-3)


@pytest.mark.parametrize(("years", "whole"), [([23, 24, 25], True), ([23, 24.5, 25], False)])
def test_an_input_of_whole_numbers_has_ticks_at_these_alone(painted, years, whole):
    x = np.array(years, dtype=float)
    curve = pd.DataFrame({"x0": x, "prediction": x / 100, "truth": [np.nan] * 3})
    scene = painted(overlay({"a": curve}, pd.DataFrame({"x0": x, "y": x / 100})), width=500)
    labels = [float(one["text"]) for one in scene.items(role="axis-label")]
    drawn = [one for one in labels if one > 1]
    assert (drawn == [23, 24, 25]) == whole
