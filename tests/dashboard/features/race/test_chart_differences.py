from __future__ import annotations

import math
import re

import pytest

from dashboard.charts.export import complete
from dashboard.charts.figure_style import FigureStyle, styled
from dashboard.charts.template import chart_of, template
from dashboard.features.race.chart_lines import draw_differences, far_out, prepare_differences
from dashboard.features.race.view import COLOURS

ROWS = [
    {"name": name, "difference": difference, "difference_low": low,
     "difference_high": high, "p": 0.02, "verdict": verdict}
    for name, difference, low, high, verdict in (
        ("dot", -3.0, -5.0, -1.0, "worse"),
        ("=q.k / sqrt(d)", 7.0, 2.0, 9.0, "better"),
        ("cosine", 0.5, None, None, "no difference found"),
    )
]  # fmt: skip


def chart(rows=ROWS, own=()):
    return chart_of(draw_differences, prepare_differences(rows, "better by", own))


def test_the_best_stands_on_top_in_the_colour_of_its_verdict(painted):
    scene = painted(chart(), width=500)
    dots = sorted(scene.items("dots_marks"), key=lambda dot: dot["top"])
    assert [dot["stroke"] for dot in dots] == [
        COLOURS[verdict] for verdict in ("better", "no difference found", "worse")
    ]
    (zero,) = scene.items("zero_marks")
    assert dots[0]["left"] > zero["left"] > dots[2]["left"]
    # 0.5 of the 7 that the best is away.
    away = [dot["left"] - zero["left"] for dot in dots]
    assert away[0] == pytest.approx(14 * away[1], rel=0.01)


def test_each_row_has_the_same_room(painted):
    tops = sorted(dot["top"] for dot in painted(chart(), width=500).items("dots_marks"))
    apart = tops[1] - tops[0]
    assert tops[2] - tops[1] == pytest.approx(apart)
    assert apart == pytest.approx(19, abs=2)  # a line of text
    assert chart().to_dict()["height"] == pytest.approx(3 * apart)


def test_a_bar_spans_the_interval_and_one_seed_has_none(painted):
    scene = painted(chart(), width=500)
    dots = sorted(scene.items("dots_marks"), key=lambda dot: dot["top"])
    (zero,) = scene.items("zero_marks")
    unit = (dots[0]["left"] - zero["left"]) / 7
    bars = {}
    for bar in scene.items("intervals_marks"):
        bars[round(bar["top"])] = sorted(
            round((x - zero["left"]) / unit, 2)
            for x in (bar["left"], bar["left"] + bar["x2"] - bar["x"])
        )
    assert bars[round(dots[0]["top"])] == pytest.approx([2, 9])
    assert bars[round(dots[2]["top"])] == pytest.approx([-5, -1])
    assert round(dots[1]["top"]) not in bars or len({*bars[round(dots[1]["top"])]}) == 1


def test_one_far_out_is_an_arrow_at_the_end_and_leaves_the_others_their_room(painted):
    gains = [-1.0, -0.75, -0.5, 0.25, 0.5, 90.0, -60.0]
    rows = [{**ROWS[0], "name": f"n{gain}", "difference": gain, "difference_low": gain - 0.125,
             "difference_high": gain + 0.125} for gain in gains]  # fmt: skip
    assert [row["difference"] for row in far_out(rows)] == [90.0, -60.0]
    dots = painted(chart(rows), width=500).items("dots_marks")
    by_gain = sorted(dots, key=lambda dot: -dot["top"])
    shapes = [dot.get("shape", "circle") for dot in by_gain]
    assert shapes == ["triangle-left", *["circle"] * 5, "triangle-right"]
    places = [dot["left"] for dot in by_gain]
    assert places[5] - places[1] > 300
    assert places[0] < places[1] - 20
    assert places[5] + 20 < places[6] < 500
    few, equal = [*rows[:2], rows[5]], [*rows[:1] * 4, rows[5]]
    assert far_out(few) == far_out(equal) == far_out(rows[:1]) == []


def test_what_is_ones_own_stands_out(painted):
    name = "=q.k / sqrt(d)"
    scene = painted(chart(own=[name]), width=500)
    sizes = [dot["size"] for dot in sorted(scene.items("dots_marks"), key=lambda dot: dot["top"])]
    assert sizes == [140, 46, 46]
    (tall,) = (dot["shape"] for dot in scene.items("dots_marks") if dot["size"] == 140)
    points = [point.split(",") for point in re.split("[A-Z]", tall) if point]
    wide = max(abs(float(x)) for x, _ in points) * math.sqrt(140)
    assert wide < math.sqrt(46)  # px: it hides less of its interval than others do
    labels = {one["text"]: one.get("fontWeight") for one in scene.items(role="axis-label")}
    assert labels[name] == "bold"
    assert [*labels.values()].count("bold") == 1


def test_in_a_column_of_a_paper_names_are_whole_and_the_legend_has_its_room():
    name = "Gaussian kernel + Softmax at a temperature"
    style = FigureStyle()
    spec = styled(complete(chart([{**ROWS[0], "name": name}])), style.points, style)
    place, encoding = spec["width"], spec["layer"][-1]["encoding"]
    assert encoding["y"]["axis"]["labelLimit"] > 1.4 * 5.8 * len(name)  # px of a letter, measured
    assert encoding["stroke"]["legend"]["columns"] == 1
    assert place - encoding["y"]["axis"]["maxExtent"] > 0.35 * place


def test_it_survives(survives):
    spec = survives(chart)
    names = spec["layer"][-1]["encoding"]["y"]["scale"]["domain"]
    assert names == ["=q.k / sqrt(d)", "cosine", "dot"]


def test_other_numbers_in_the_same_order_keep_the_specification():
    moved = [{**row, "difference": row["difference"] * 2} for row in ROWS]
    one, other = (prepare_differences(rows, "x") for rows in (ROWS, moved))
    assert template(draw_differences, one) is template(draw_differences, other)
