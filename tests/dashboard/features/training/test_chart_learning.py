from __future__ import annotations

import pytest

from dashboard.charts.template import chart_of, template
from dashboard.charts.theme import PANEL_COLOURS
from dashboard.features.training.curves import LearningShape, draw_learning, prepare_learning

COLOURS = {"a Additive": PANEL_COLOURS["a"], "b Scaled dot": PANEL_COLOURS["b"]}
ROWS = [
    {"epoch": epoch, "value": start / epoch, "series": series}
    for series, start in zip(COLOURS, (5.0, 4.0), strict=True)
    for epoch in (1, 2, 3)
]


LEARNING = LearningShape(tuple(COLOURS.items()), title="loss", last=7)


def chart(rows=ROWS, **more):
    shape = {name: more.pop(name) for name in LearningShape._fields if name in more}
    return chart_of(draw_learning, prepare_learning(rows, LEARNING._replace(**shape), **more))


def lefts(scene, layer):
    return sorted({round(item["left"], 3) for item in scene.items(layer)})


def labels(scene):
    return [item["text"] for item in scene.items(role="axis-label")]


def test_every_training_has_a_line_in_its_colour(survives, painted, rows):
    spec = survives(chart)
    assert rows(spec, "epoch", "value") == [{**row, "step": None} for row in ROWS]
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
    assert labels(scene)[:6] == ["0", "1", "2", "3", "4", "5"]
    grown = painted(chart(last=3))
    assert lefts(grown, "points_marks")[-1] > three + 50


def test_steps_stand_between_the_ends_of_epochs(painted):
    rows = [{"epoch": n / 10, "step": n, "value": 1.0, "series": "a Additive"} for n in (1, 5, 10)]
    scene = painted(chart(rows, by_step=True, last=1))
    first, half, whole = lefts(scene, "points_marks")
    assert (half - first) / (whole - half) == pytest.approx(4 / 5, abs=0.01)
    assert {item["opacity"] for item in scene.items("points_marks")} == {0}


@pytest.mark.parametrize(("zero", "end"), [(False, 7), (True, 100)])
def test_before_the_first_value_the_axes_have_their_ends(painted, zero, end):
    scene = painted(chart([], zero=zero, empty=float(end)))
    assert {"0", str(end)} <= set(labels(scene))
    assert not scene.items("points_marks")


def test_the_specification_stands_still_while_values_come():
    """The data alone change, so that the chart on the page is not made anew."""
    few, all_of_them = (prepare_learning(some, LEARNING) for some in (ROWS[:1], ROWS))
    assert template(draw_learning, few) is template(draw_learning, all_of_them)
    assert few.values != all_of_them.values


def test_one_epoch_is_seen_as_a_point(painted):
    scene = painted(chart(ROWS[:1], last=1))
    (point,) = scene.items("points_marks")
    assert point["opacity"] == 1
    assert "1" in labels(scene)


def test_many_epochs_are_lines_whose_points_appear_under_the_pointer(painted):
    assert {item["opacity"] for item in painted(chart(last=250)).items("points_marks")} == {0}
    hovered = painted(chart(last=250), hovered={"epoch": 2, "series": "b Scaled dot"})
    assert sorted(item["opacity"] for item in hovered.items("points_marks")) == [0] * 5 + [1]


def test_an_axis_from_zero_shows_its_zero(painted):
    scores = [{**row, "value": row["value"] + 40} for row in ROWS]
    assert labels(painted(chart(scores, zero=True))).count("0") == 2  # and that of the epochs
    assert labels(painted(chart(scores))).count("0") == 1


def test_no_tick_of_a_small_score_repeats_another(painted):
    small = [{**row, "value": row["value"] / 30} for row in ROWS]
    ticks = [text for text in labels(painted(chart(small, zero=True, y_format=".1f")))
             if "." in text]  # fmt: skip
    assert len(ticks) == len({*ticks}) >= 3


def test_a_series_without_a_colour_is_named():
    with pytest.raises(ValueError, match="got none for c Cosine"):
        chart([{"epoch": 1, "value": 1.0, "series": "c Cosine"}])


def test_an_axis_needs_an_epoch_to_end_at():
    with pytest.raises(ValueError, match="need 1 <= last, got last=0"):
        chart(last=0)


def test_a_rule_stands_at_the_epoch_that_is_looked_at(painted):
    scene = painted(chart(now=3))
    (rule,) = scene.items("now_marks")
    assert round(rule["left"], 3) == lefts(scene, "points_marks")[2]
    assert not painted(chart()).items("now_marks")


def test_an_axis_of_values_has_room_around_one_value_and_before_the_first():
    def ends(*values, **more):
        rows = [{"epoch": 1, "value": value, "series": "a Additive"} for value in values]
        held = prepare_learning(rows, LEARNING, **more).values
        return held["low"], held["high"]

    assert ends(empty=7.0) == (0.0, 7.0)
    assert ends(2.0, 4.0) == pytest.approx((1.88, 4.12))
    assert ends(2.0) == pytest.approx((1.88, 2.12))
    assert ends(0.0, empty=100.0) == pytest.approx((-6.0, 6.0))
    assert ends(3.0, 5.0, zero=True) == (0.0, 5.0)
    assert ends(0.0, zero=True, empty=100.0) == (0.0, 100.0)


def test_a_point_tells_its_step_where_there_are_any():
    def told(by_step):
        (points,) = [one for one in chart(by_step=by_step).to_dict()["layer"]
                     if one.get("name") == "points"]  # fmt: skip
        return [one["field"] for one in points["encoding"]["tooltip"]]

    assert told(True) == ["series", "step", "epoch", "value"]
    assert told(False) == ["series", "epoch", "value"]


def test_every_epoch_has_a_point_where_they_are_few_and_one_epoch_has_two_ticks():
    def of(last):
        (points,) = [one for one in chart(rows=[], last=last).to_dict()["layer"]
                     if one.get("name") == "points"]  # fmt: skip
        encoding = points["encoding"]
        return encoding["opacity"]["value"], encoding["x"]["axis"].get("values")

    assert [of(last) for last in (1, 40, 41)] == [(1, [0, 1]), (1, None), (0, None)]
