import pytest

from dashboard.charts.template import chart_of, template
from dashboard.features.experiment.seeds import draw_strip, prepare_strip

ROWS = [{"scoring": name, "seed": seed, "value": value}
        for name, values in (("near", (1.0, 2.0, 6.0)), ("far", (9.0,)))
        for seed, value in enumerate(values)]  # fmt: skip
MEANS = [{"scoring": "near", "value": 3.0}, {"scoring": "far", "value": 9.0}]


def draw(rows=ROWS, means=MEANS, scorings=("near", "far", "none")):
    return chart_of(draw_strip, prepare_strip(rows, means, scorings, title="loss ↓"))


def test_dots_and_ticks_are_on_one_axis_in_their_scorings_lanes(painted):
    scene = painted(draw())
    dots = sorted((round(i["y"]), round(i["x"], 1)) for i in scene.items("dots_marks"))
    assert [y for y, _ in dots].count(dots[0][0]) == 3  # the first scoring is the upper lane
    left, second, right = (x for y, x in dots if y == dots[0][0])
    assert second - left == pytest.approx((right - left) / 5, abs=0.2)
    tick = min(scene.items("ticks_marks"), key=lambda i: i["top"])
    middle = tick["x"] + tick.get("width", 0) / 2
    assert middle == pytest.approx(left + (right - left) * 2 / 5, abs=1.5)
    assert dots[-1][1] > right


def test_it_survives_and_only_the_data_depend_on_what_was_measured(survives, rows):
    assert rows(survives(draw), "scoring", "seed") == ROWS
    full, empty = (
        prepare_strip(some, means, ("near", "far"), title="loss")
        for some, means in ((ROWS, MEANS), ([], []))
    )
    assert template(draw_strip, full) is template(draw_strip, empty)


def test_before_the_first_value_the_axis_has_its_ends(painted):
    labels = [item["text"] for item in painted(draw([], [])).items(role="axis-label")]
    assert {"0", "1"} <= {*labels}


def test_a_name_of_a_stranger_is_one_line_of_text(painted):
    name = "a\nb\u202ec"
    labels = [item["text"] for item in painted(draw([], [], (name,))).items(role="axis-label")]
    assert "a�b�c" in labels
