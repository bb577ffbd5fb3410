from __future__ import annotations

import copy
import json

import pytest
import vl_convert

from dashboard.charts.theme import PANEL_COLOURS
from dashboard.features.training.chart_learning import DATA, NOW, learning_chart

COLOURS = {"a Additive": PANEL_COLOURS["a"], "b Scaled dot": PANEL_COLOURS["b"]}
ROWS = [
    {"epoch": epoch, "value": start / epoch, "series": series}
    for series, start in zip(COLOURS, (5.0, 4.0), strict=True)
    for epoch in (1, 2, 3)
]


def chart(rows=ROWS, **more):
    return learning_chart(rows, COLOURS, **{"title": "loss", "last": 7, **more})


def lefts(scene, layer):
    return sorted({round(item["left"], 3) for item in scene.items(layer)})


def test_every_training_has_a_line_in_its_colour(survives, painted):
    spec = survives(chart)
    assert spec["datasets"][DATA] == ROWS
    points = painted(chart()).items("points_marks")
    assert len(points) == len(ROWS)
    assert [item["stroke"] for item in points[::3]] == list(COLOURS.values())
    tops = [item["top"] for item in points]
    assert tops[:3] == sorted(tops[:3])
    assert tops[3] > tops[0]


def test_the_axis_ends_where_the_trainings_will(painted):
    scene = painted(chart(last=5))
    one, two, three = lefts(scene, "points_marks")
    assert two - one == pytest.approx(three - two, abs=0.01)
    labels = [item["text"] for item in scene.items(role="axis-label")]
    assert labels[:5] == ["1", "2", "3", "4", "5"]
    grown = painted(chart(last=3))
    assert lefts(grown, "points_marks")[-1] > three + 50


def test_the_specification_stands_still_while_epochs_come(survives):
    """A host replaces the data alone, so the chart on the page is not made anew."""
    first, later = survives(lambda: chart(ROWS[:1])), survives(chart)
    del first["datasets"][DATA], later["datasets"][DATA]
    assert first == later


def test_data_that_a_host_puts_in_are_drawn():
    empty = chart([]).to_dict()
    filled = copy.deepcopy(empty)
    filled["datasets"][DATA] = ROWS
    drawn = [vl_convert.vegalite_to_svg(json.dumps(spec)) for spec in (empty, filled)]
    assert drawn[0].count('aria-roledescription="point"') == 0
    assert drawn[1].count('aria-roledescription="point"') == len(ROWS)


def test_one_epoch_is_seen_as_a_point(painted):
    scene = painted(chart(ROWS[:1], last=1))
    (point,) = scene.items("points_marks")
    assert point["opacity"] == 1
    assert "1" in [item["text"] for item in scene.items(role="axis-label")]


def test_many_epochs_are_lines_whose_points_appear_under_the_pointer(painted):
    assert {item["opacity"] for item in painted(chart(last=250)).items("points_marks")} == {0}
    hovered = painted(chart(last=250), hovered={"epoch": 2, "series": "b Scaled dot"})
    assert sorted(item["opacity"] for item in hovered.items("points_marks")) == [0] * 5 + [1]


def test_an_axis_from_zero_shows_its_zero(painted):
    def labels(scene):
        return [item["text"] for item in scene.items(role="axis-label")]

    scores = [{**row, "value": row["value"] + 40} for row in ROWS]
    assert "0" in labels(painted(chart(scores, zero=True)))
    assert "0" not in labels(painted(chart(scores)))


def test_a_series_without_a_colour_is_named():
    with pytest.raises(ValueError, match="got none for c Cosine"):
        chart([{"epoch": 1, "value": 1.0, "series": "c Cosine"}])


def test_an_axis_needs_an_epoch_to_end_at():
    with pytest.raises(ValueError, match="need 1 <= last, got last=0"):
        chart(last=0)


def test_a_rule_stands_at_the_epoch_that_is_looked_at(painted):
    marked = chart()
    marked.datasets = {**marked.datasets, NOW: [{"epoch": 3}]}
    scene = painted(marked)
    (rule,) = scene.items("now_marks")
    assert round(rule["left"], 3) == lefts(scene, "points_marks")[2]
    assert not painted(chart()).items("now_marks")
