from __future__ import annotations

import pytest

from dashboard.charts.template import chart_of, template
from dashboard.features.race.chart_lines import draw_differences, prepare_differences
from dashboard.features.race.view import COLOURS

ROWS = [
    {"name": name, "difference": difference, "low": low, "high": high, "p": 0.02,
     "verdict": verdict}
    for name, difference, low, high, verdict in (
        ("dot", -3.0, -5.0, -1.0, "worse"),
        ("=q.k / sqrt(d)", 7.0, 2.0, 9.0, "better"),
        ("cosine", 0.5, None, None, "no difference found"),
    )
]  # fmt: skip


def chart(rows=ROWS):
    return chart_of(draw_differences, prepare_differences(rows, title="better by"))


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


def test_it_survives(survives):
    spec = survives(chart)
    names = spec["layer"][-1]["encoding"]["y"]["scale"]["domain"]
    assert names == ["=q.k / sqrt(d)", "cosine", "dot"]


def test_other_numbers_in_the_same_order_keep_the_specification():
    moved = [{**row, "difference": row["difference"] * 2} for row in ROWS]
    one, other = (prepare_differences(rows, title="x") for rows in (ROWS, moved))
    assert template(draw_differences, one) is template(draw_differences, other)


@pytest.mark.parametrize("rows", [[], [ROWS[0], ROWS[0]]])
def test_what_cannot_be_drawn_is_named(rows):
    with pytest.raises(ValueError, match="each with a name of its own"):
        chart(rows)
