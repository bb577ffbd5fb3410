"""The axes that all charts of predictions share."""

import numpy as np
import pyarrow as pa
import pytest
from support.charts import kernel_tables

from dashboard.charts.curves import MAX_MARKS, axes, problem, round_ends


def shared(scale, shift):
    """The axes of one curve, and all its values."""
    curve, points, weights = kernel_tables(11, width=0.4)
    points = points.set_column(1, "y", pa.array(np.array(points["y"]) * scale + shift))
    for at, name in ((1, "prediction"), (2, "truth")):
        curve = curve.set_column(at, name, pa.array(np.array(curve[name]) * scale + shift))
    values = [curve["prediction"], curve["truth"], points["y"]]
    return axes([problem(curve, points, weights)], "y"), np.concatenate(values)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.013, 5.0), (7e4, -3e5), (1.0, 1e3)])
def test_an_axis_of_values_holds_all_and_ends_at_round_numbers_near_them(scale, shift):
    found, values = shared(scale, shift)
    start, end = found.y
    spread = values.max() - values.min()
    assert start < values.min()
    assert values.max() < end
    assert end - start < 1.15 * spread
    # At most 40 steps of 1, 2 or 5 times a power of ten, and both ends are whole numbers of them.
    power = 10.0 ** np.floor(np.log10(spread / 40))
    step = next(s for s in (1, 2, 5, 10) if s * power >= (spread * 1.08) / 40) * power
    assert np.allclose(np.array(found.y) / step, np.round(np.array(found.y) / step), atol=1e-6)


CURVE = {"x0": [2.0, 0.0, 1.0], "prediction": [20.0, 0.0, 10.0], "truth": [21.0, 1.0, 11.0]}
POINTS = pa.table({"x0": [3.0, 1.0], "y": [30.0, 10.0]})


def test_queries_and_training_points_are_sorted_and_their_weights_with_them():
    weights = np.array([[1, 2], [3, 4], [5, 6]])
    found = problem(pa.table(CURVE), POINTS, weights)
    assert found.curve["x"].tolist() == [0, 1, 2]
    assert found.curve["prediction"].tolist() == [0, 10, 20]
    assert found.curve["truth"].tolist() == [1, 11, 21]
    assert found.points["y"].tolist() == [10, 30]
    assert found.weights.tolist() == [[4, 3], [6, 5], [2, 1]]
    assert found.edges.tolist() == [-0.5, 0.5, 1.5, 2.5]
    assert problem(pa.table(CURVE), POINTS, weights[None]).weights.tolist() == [
        [4, 3],
        [6, 5],
        [2, 1],
    ]
    with pytest.raises(ValueError, match=r"need weights of shape \(3, 2\)"):
        problem(pa.table(CURVE), POINTS, np.stack([weights, weights]))


def test_one_query_has_a_column_of_one_unit():
    one = pa.table({name: held[:1] for name, held in CURVE.items()})
    assert problem(one, POINTS).edges.tolist() == [1.5, 2.5]


def test_of_inputs_of_several_numbers_the_measured_rows_are_the_points():
    curve = pa.table({**CURVE, "x1": [0.0, 1.0, 2.0]})
    assert problem(curve, POINTS).x_title == "queries, sorted by x"
    assert problem(curve, POINTS).points["y"].tolist() == []
    known = problem(curve.append_column("measured", pa.array([5.0, 3.0, 4.0])), POINTS)
    assert known.x_title == "rows, sorted by x"
    assert known.points["y"].tolist() == [3, 4, 5]


def test_what_is_left_out_of_a_drawing_is_told_of_queries_and_of_points():
    many = np.arange(MAX_MARKS + 1.0)
    curve = pa.table({"x0": many, "prediction": many, "truth": many})
    found = problem(curve, pa.table({"x0": many, "y": many}))
    assert found.note == ("1,500 of 1,501 queries drawn; 1,500 of 1,501 training points drawn")
    assert len(found.curve["x"]) == MAX_MARKS
    assert problem(curve[1:], POINTS).note == ""


def test_an_axis_has_room_for_the_truth_and_for_every_point():
    curve = pa.table({**CURVE, "truth": [900.0, 1.0, 11.0]})
    points = pa.table({"x0": [3.0, 1.0], "y": [-800.0, 10.0]})
    found = axes([problem(curve, points)], "y")
    assert found.y[0] < -800
    assert found.y[1] > 900
    assert found.x == (-0.5, 3.0)
    assert found.truth
    unknown = pa.table({**CURVE, "truth": [np.nan] * 3})
    assert not axes([problem(unknown, points)], "y").truth


def test_values_that_are_all_alike_or_not_there_have_an_axis():
    start, end = round_ends(np.array([5.0, 5.0, np.nan]))
    assert start < 5 < end
    start, end = round_ends(np.array([np.nan]))
    assert start < 0
    assert end > 1
