from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dashboard.charts import series
from dashboard.charts.series import draw_series, prepare_series
from dashboard.charts.template import chart_of, template

COLOURS = {"a": "#3284d0", "b": "#ce6a1e"}
LINES = pd.DataFrame(
    {"x": [2, 4, 8, 2, 4, 8], "y": [1.0, 10.0, 100.0, 3.0, 3.0, 3.0], "series": list("aaabbb")}
)


def series_chart(*data, **more):
    return chart_of(draw_series, prepare_series(*data, **more))


TITLED = {"x_title": "n", "y_title": "ms"}
titled = partial(series_chart, **TITLED)


def test_a_line_per_series_with_its_numbers(survives, rows):
    spec = survives(lambda: titled(LINES, COLOURS))
    pd.testing.assert_frame_equal(
        pd.DataFrame(rows(spec, "series")), LINES, check_dtype=False, check_like=True
    )


def test_series_have_the_colours_they_were_given(painted):
    scene = painted(titled(LINES, COLOURS), width=400)
    strokes = {item["stroke"] for item in scene.items("lines_marks")}
    assert strokes == set(COLOURS.values())


def test_powers_are_straight_lines_on_logarithmic_axes(painted):
    points = painted(titled(LINES, COLOURS, log=True, fitted=LINES), width=400)
    seen = [
        (p["left"], p["top"]) for p in points.items("points_marks") if p["stroke"] == "#3284d0"
    ]
    (x0, y0), (x1, y1), (x2, y2) = sorted(seen)
    assert x2 - x1 == pytest.approx(x1 - x0)
    assert y2 - y1 == pytest.approx(y1 - y0)
    assert y2 < y0, "larger is higher"


def test_steps_that_double_x_are_equally_far_apart_and_y_stays_linear(painted):
    lines = LINES.assign(y=LINES["y"] - LINES["y"].min())  # 0 among them
    scene = painted(titled(lines, COLOURS, doubling=True, ticks=[2, 4, 8]), width=400)
    labels = {item["text"]: item["x"] for item in scene.items(role="axis-label")}
    assert labels["8"] - labels["4"] == pytest.approx(labels["4"] - labels["2"], abs=4)
    with pytest.raises(ValueError, match="above 0"):
        titled(lines.assign(x=0.0), COLOURS, doubling=True)


def test_measured_points_are_seen_and_those_of_a_plain_line_are_not(painted):
    def opacities(chart):
        scene = painted(chart)
        return {item.get("opacity", 1) for item in scene.items("points_marks")}

    assert opacities(titled(LINES, COLOURS, fitted=LINES)) == {1}
    assert opacities(titled(LINES, COLOURS)) == {0}


@pytest.mark.parametrize(("more", "end"), [({}, 5), ({"doubling": True, "ticks": [4]}, 8)])
def test_an_axis_of_one_x_has_a_length(more, end):
    one = LINES[LINES["x"] == 4]
    ends = prepare_series(one, COLOURS, x_title="n", y_title="ms", **more).values
    assert (ends["left"], ends["right"]) == (4, end)


def test_lines_to_compare_with_are_dashed_and_widen_the_axes(painted):
    further = LINES.assign(x=LINES["x"] * 8)
    more = {"log": True, "fitted": LINES, "compared": further, "compared_as": "theirs"}
    prepared = prepare_series(LINES, COLOURS, x_title="n", y_title="ms", **more)
    assert prepared.values["right"] == 64
    assert prepared.tables["compared"].num_rows == 6
    scene = painted(chart_of(draw_series, prepared), width=400)
    dashed = {(i["stroke"], tuple(i["strokeDash"])) for i in scene.items("compared_marks")}
    assert dashed == {(colour, (5, 4)) for colour in COLOURS.values()}
    assert not any(i.get("strokeDash") for i in scene.items("lines_marks"))
    assert "a (theirs)" in prepared.summary.words
    with pytest.raises(ValueError, match="above 0"):
        titled(LINES, COLOURS, **{**more, "compared": further.assign(y=0.0)})


def test_logarithmic_axes_have_round_ticks(painted):
    scene = painted(titled(LINES, COLOURS, log=True, ticks=[2, 4, 8]), width=400)
    labels = {item["text"] for item in scene.items(role="axis-label")}
    assert {"2", "4", "8", "1", "10", "100"} <= labels


@pytest.mark.parametrize(
    ("frame", "more"),
    [(LINES[:0], {}), (LINES[["x", "y"]], {}), (LINES.assign(series="c"), {}),
     (LINES.assign(y=0.0), {"log": True})],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(frame, more):
    with pytest.raises(ValueError, match="need"):
        titled(frame, COLOURS, **more)


def test_a_measurement_made_again_keeps_the_specification(painted):
    again = LINES.assign(y=LINES["y"] * 1.05)
    prepared = [
        prepare_series(each, COLOURS, x_title="n", y_title="ms", log=True, fitted=each)
        for each in (LINES, again)
    ]
    assert template(draw_series, prepared[0]) is template(draw_series, prepared[1])
    rows = {name: table.to_pylist() for name, table in prepared[1].sent.items()}
    filled = {**template(draw_series, prepared[1]), "datasets": rows}
    theirs = painted(chart_of(draw_series, prepared[1]), width=400)
    assert np.array_equal(painted(filled, width=400).pixels(), theirs.pixels())


def test_a_logarithmic_axis_holds_every_point_and_ends_at_1_2_or_5(painted):
    ends = prepare_series(LINES, COLOURS, x_title="n", y_title="ms", log=True).values
    assert (ends["low"], ends["high"]) == (0.5, 200)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(1, 10, [1, 2, 5, 10]), (2, 100, [2, 5, 10, 20, 50, 100]), (0.5, 3, [0.5, 1, 2]),
     (1e-3, 1e3, [1e-3, 1e-2, 0.1, 1, 10, 100, 1e3])],
)  # fmt: skip
def test_ticks_of_a_logarithmic_axis_reach_both_of_its_ends(low, high, ticks):
    assert series._log_ticks(low, high) == ticks


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [(3, 30, (2, 50)), (1, 10, (0.5, 20)), (2.3, 4.5, (2, 5)), (0.012, 0.018, (0.01, 0.02))],
)
def test_the_ends_of_a_logarithmic_axis_leave_a_tenth_of_room(low, high, ends):
    assert series._log_ends(low, high) == ends


def test_series_of_arrow_need_no_data_frame(monkeypatch):
    table, expected = pa.Table.from_pandas(LINES), prepare_series(LINES, COLOURS, **TITLED)

    def fail(*_, **__):
        raise AssertionError("a data frame")

    monkeypatch.setattr(pd.DataFrame, "__init__", fail)
    made = prepare_series(table, COLOURS, fitted=table, compared=table, **TITLED)
    assert made.tables["points"].equals(expected.tables["points"])
