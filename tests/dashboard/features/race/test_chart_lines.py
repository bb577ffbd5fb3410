from __future__ import annotations

import pytest
from vl_convert import vegalite_to_vega

from dashboard.charts.template import chart_of, template
from dashboard.features.race.chart_lines import draw_lines, prepare_lines

COLOURS = {"dot": "#3284d0", "cosine": "#ce6a1e"}
ROWS = [
    {"name": name, "x": float(x), "y": height * x, "low": height * x - 1, "high": height * x + 1}
    for name, height in (("dot", 2.0), ("cosine", 3.0), ("uniform", 5.0), ("hard", 7.0))
    for x in (4, 8, 16)
]


def lines(rows=ROWS, **more):
    return prepare_lines(rows, COLOURS, x_title="words", y_title="quality", **more)


def test_two_stand_out_and_all_others_are_grey(painted):
    scene = painted(chart_of(draw_lines, lines()), width=500)
    strokes = {item["stroke"] for item in scene.items("lines_marks")}
    assert strokes == {*COLOURS.values()}
    grey = {item["stroke"] for item in scene.items("others_marks")}
    assert len(grey) == 1
    assert not grey & strokes
    assert len(scene.items("intervals_marks")) == 6


def test_a_band_has_the_colour_of_its_curve_and_the_legend_stays(painted):
    scene = painted(chart_of(draw_lines, lines(banded=True)), width=500)
    assert {item["fill"] for item in scene.items("intervals_marks")} == {*COLOURS.values()}
    assert (
        draw_lines(lines().sources, lines(banded=True).shape).to_dict()
        != draw_lines(lines().sources, lines().shape).to_dict()
    )
    (legend,) = vegalite_to_vega(chart_of(draw_lines, lines(banded=True)).to_dict())["legends"]
    assert legend["stroke"] == "stroke"


def test_what_was_learned_is_shaded(painted):
    scene = painted(chart_of(draw_lines, lines(learned=(4, 8))), width=500)
    (shaded,) = scene.items("learned_marks")
    dots = sorted({round(dot["left"]) for dot in scene.items("points_marks")})
    assert shaded["left"] == pytest.approx(dots[0], abs=1)
    assert shaded["left"] + shaded["width"] == pytest.approx(dots[1], abs=1)
    assert not painted(chart_of(draw_lines, lines()), width=500).items("learned_marks")


def test_the_axis_holds_every_curve_and_the_intervals_of_those_that_stand_out():
    wild = [{**row, "high": 1e6} if row["name"] == "hard" else row for row in ROWS]
    values = lines(wild).values
    assert values["top"] < 120
    assert values["bottom"] < 7
    assert (values["left"], values["right"]) == (4, 16)
    for end, column, beyond in (("top", "high", 1e3), ("bottom", "low", -1e3)):
        far = [{**row, column: beyond} if row["name"] == "dot" else row for row in ROWS]
        assert abs(lines(far).values[end]) > 1e3
        flat = [{**row, "low": None, "high": None} for row in far]
        assert abs(lines(flat).values[end]) < 120


def test_it_survives(survives):
    spec = survives(lambda: chart_of(draw_lines, lines(learned=(4, 8))))
    assert len(spec["layer"]) == 6


def test_other_numbers_keep_the_specification():
    moved = [{**row, "y": 2 * row["y"]} for row in ROWS]
    assert template(draw_lines, lines()) is template(draw_lines, lines(moved, learned=(4, 8)))
