from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.curves import MAX_MARKS
from dashboard.features.regression.figures import draw_left_out, prepare_left_out

DISTANCE = "the root of the mean squared distance from the diagonal is"
COLOURS = {"a · near": PANEL_COLOURS["a"], "c · mean": PANEL_COLOURS["c"]}


def tables(n=7):
    measured = np.linspace(-3.0, 11.0, n)
    known = {"row": range(n), "measured": measured}
    near = pd.DataFrame({**known, "prediction": measured + 0.5})
    mean = pd.DataFrame({**known, "prediction": np.full(n, 4.0)})
    return dict(zip(COLOURS, (near, mean), strict=True))


def chart(panels):
    prepared = prepare_left_out(panels, COLOURS, of="price")
    return draw_left_out(prepared.sources, prepared.shape)


def test_every_row_is_a_point_of_each_panel_in_its_colour(painted, survives, rows):
    panels = tables()
    spec = survives(lambda: chart(panels))
    drawn = pd.DataFrame(rows(spec, "measured", "prediction"))
    for name, table in panels.items():
        own = drawn[drawn["panel"] == name]
        np.testing.assert_allclose(own["measured"], table["measured"], rtol=1e-4)
        np.testing.assert_allclose(own["prediction"], table["prediction"], rtol=1e-4)
    scene = painted(chart(panels), width=500)
    titles = {title["text"] for title in scene.items(role="axis-title")}
    assert titles == {"measured price", "predicted price"}
    assert {one["stroke"] for one in scene.items("points_marks")} == {*COLOURS.values()}


def test_a_point_lies_on_the_diagonal_where_the_prediction_is_right(painted):
    right = {name: table.assign(prediction=table["measured"]) for name, table in tables().items()}
    scene = painted(chart(right), width=500)
    (left, bottom), (end, top) = (
        (one["x"], one["y"]) for one in scene.items(role="mark") if one.get("strokeDash")
    )
    for one in scene.items("points_marks"):
        along = (one["x"] - left) / (end - left)
        assert one["y"] == pytest.approx(bottom + along * (top - bottom), abs=0.5)


def test_words_say_how_far_from_the_diagonal_each_panel_is():
    summary = prepare_left_out(tables(), COLOURS, of="price").summary
    assert "Predicted against measured price." in summary.words
    assert f"a · near: over 7 points, {DISTANCE} 0.5." in summary.words
    misses = (14 / 6) * np.arange(-3, 4)  # of a prediction that is the same everywhere
    assert (
        f"c · mean: over 7 points, {DISTANCE} {np.sqrt((misses**2).mean()):.3g}." in summary.words
    )
    found = summary.table().to_pandas()
    assert found.columns.to_list() == ["measured price", *COLOURS]
    np.testing.assert_allclose(found["a · near"], found["measured price"] + 0.5, rtol=1e-4)
    np.testing.assert_allclose(found["c · mean"], 4.0)


def test_so_many_points_as_a_page_can_draw():
    prepared = prepare_left_out(tables(2_001), COLOURS)
    assert prepared.shape.note == "750 of 2,001 points drawn"
    assert prepared.tables["points"].num_rows == MAX_MARKS
    drawn = prepared.tables["points"].to_pandas()
    near = drawn[drawn["panel"] == "a · near"]
    np.testing.assert_allclose(near["prediction"], near["measured"] + 0.5, atol=2e-3)
    np.testing.assert_allclose(near["measured"], -3 + near["row"] * 14 / 2_000, atol=2e-3)


def test_panels_that_predict_other_rows_share_those_that_both_have(painted, survives, rows):
    panels = {name: one.assign(row=range(1, 8)) for name, one in tables().items()}
    (first, every), (other, some) = panels.items()
    panels[other] = some.iloc[[1, 4, 5]]
    prepared = prepare_left_out(panels, COLOURS, of="price")
    assert prepared.shape.note == "3 of 7 points drawn"
    drawn = prepared.tables["points"].to_pandas()
    for name in (first, other):
        own = drawn[drawn["panel"] == name]
        assert own["row"].to_list() == [2, 5, 6]
        np.testing.assert_allclose(own["measured"], every["measured"][[1, 4, 5]])
        expected = panels[name].set_index("row")["prediction"][[2, 5, 6]]
        np.testing.assert_allclose(own["prediction"], expected)
    words = prepared.summary.words
    assert f"{first}: over 7 points" in words
    assert f"{other}: over 3 points" in words
    assert prepared.summary.table().num_rows == 3


def test_a_point_tells_its_row():
    told = [one["title"] for one in chart(tables()).to_dict()["layer"][-1]["encoding"]["tooltip"]]
    assert told == ["panel", "row", "measured price", "predicted price"]
