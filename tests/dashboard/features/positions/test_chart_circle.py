import numpy as np
import pytest

from dashboard.charts.template import chart_of, template
from dashboard.features.positions.rotation import _arc, draw_circle, prepare_circle

TURN = 0.7
POINTS = np.stack([np.sin(TURN * np.arange(5)), np.cos(TURN * np.arange(5))], axis=1)


def circle_chart(*points):
    return chart_of(draw_circle, prepare_circle(*points))


def chart(first=1, last=3):
    return circle_chart(POINTS, POINTS[first], POINTS[last], (last - first) * TURN)


def test_every_position_lies_on_the_circle(survives, rows, painted):
    spec = survives(chart)
    np.testing.assert_allclose(
        [(row["x"], row["y"]) for row in rows(spec, "i")], POINTS, rtol=1e-12
    )
    scene = painted(chart())
    places = np.array([(item["left"], item["top"]) for item in scene.items("positions_marks")])
    ends = np.array([(item["left"], item["top"]) for item in scene.items("ends_marks")])
    np.testing.assert_allclose(ends, places[[1, 3]])


def test_across_and_up_have_one_scale(painted):
    places = {}
    for item, point in zip(painted(chart()).items("positions_marks"), POINTS, strict=True):
        places[tuple(point)] = np.array([item["left"], item["top"]])
    (first, second, *_) = places
    moved = places[second] - places[first]
    turned = np.array(second) - np.array(first)
    assert moved[0] / turned[0] == pytest.approx(-moved[1] / turned[1])


@pytest.mark.parametrize(("first", "last"), [(1, 3), (3, 1), (2, 2)])
def test_the_arc_goes_from_one_spoke_to_the_other(rows, first, last):
    spec = chart(first, last).to_dict()
    paths = [d for d in spec["datasets"].values() if d and set(d[0]) == {"x", "y", "step"}]
    (arc,) = (p for p in paths if np.hypot(p[0]["x"], p[0]["y"]) < 0.5)
    for end, point in ((arc[0], POINTS[first]), (arc[-1], POINTS[last])):
        direction = np.array([end["x"], end["y"]]) / np.hypot(end["x"], end["y"])
        np.testing.assert_allclose(direction, point, atol=2e-4)


@pytest.mark.parametrize("turn", [7.0, -20.0])
def test_of_several_rounds_the_arc_shows_one(turn):
    once = np.copysign(2 * np.pi, turn)
    np.testing.assert_array_equal(_arc(POINTS[1], turn), _arc(POINTS[1], once))


def test_points_that_are_no_pairs_are_refused():
    with pytest.raises(ValueError, match=r"need points \(positions, 2\)"):
        circle_chart(np.ones((3, 3)), (0, 1), (1, 0), 1.0)


def test_other_points_keep_the_specification():
    one, other = (prepare_circle(POINTS, POINTS[0], POINTS[last], last * TURN) for last in (1, 4))
    assert template(draw_circle, one) is template(draw_circle, other)
