import numpy as np
import pytest

from dashboard.charts.template import chart_of, template
from dashboard.charts.values import draw_values
from dashboard.features.anatomy.chart import Matrix, prepare_matrix

VALUES = np.array([[0.25, -1.5, 3.0], [np.nan, 12.345, 0.0]])


def prepared(values, rows, columns, **more):
    return prepare_matrix(Matrix(values=values, rows=rows, columns=columns, **more))


def matrix_chart(*matrix, **more):
    return chart_of(draw_values, prepared(*matrix, **more))


def make(**more):
    return matrix_chart(VALUES, ["q0", "q1"], ["k0", "k1", "k2"], **more)


def test_it_survives_and_holds_its_numbers(survives, rows):
    spec = survives(lambda: make(picked=(1, None)))
    cells = rows(spec, "r", "c", "value")
    assert [(cell["r"], cell["c"]) for cell in cells] == [(r, c) for r in (0, 1) for c in range(3)]
    assert [cell["value"] for cell in cells] == [0.25, -1.5, 3.0, None, 12.345, 0.0]
    (frame,) = rows(spec, "left", "right", "top", "bottom")
    assert frame == {"left": 0, "right": 3, "top": 1, "bottom": 2}


@pytest.mark.parametrize(
    ("picked", "edges"),
    [((None, 2), (2, 3, 0, 2)), ((None, 1), (1, 2, 0, 2)), ((0, 1), (1, 2, 0, 1))],
)
def test_a_frame_is_around_what_is_picked(picked, edges, rows):
    (frame,) = rows(make(picked=picked).to_dict(), "left", "right", "top", "bottom")
    assert (frame["left"], frame["right"], frame["top"], frame["bottom"]) == edges


def test_numbers_are_written_where_they_fit(painted):
    wide = painted(make(), width=320)
    texts = [item["text"] for item in wide.items("numbers_marks")]
    assert texts == ["0.25", "−1.50", "3", "12.3", "0"]
    assert {item["opacity"] for item in wide.items("numbers_marks")} == {1}
    narrow = painted(make(), width=80)
    assert {item["opacity"] for item in narrow.items("numbers_marks")} == {0}
    assert len(narrow.items("cells_marks")) == 5


def test_a_small_number_is_not_written_as_0(painted):
    made = matrix_chart(np.array([[4e-6, -0.004, 0.006]]), "a", "xyz")
    texts = [item["text"] for item in painted(made).items("numbers_marks")]
    assert texts == ["4e−6", "−4e−3", "0.01"]


def test_masked_cells_look_masked_and_keep_their_numbers(painted):
    scene = painted(make(masked=np.array([[False, True, False], [False] * 3])))
    assert len(scene.items("cells_marks")) == 4
    assert len(scene.items("masked_marks")) == 2
    assert [item["text"] for item in scene.items("quiet_marks")] == ["−1.50"]


@pytest.mark.parametrize(
    ("values", "more", "end", "ramp"),
    [
        ([[1.0, 2.0]], {}, [0, 2], "heatmap"),
        ([[1.0, -2.0]], {}, [-2, 2], "diverging"),
        ([[0.0, 0.5]], {"vmax": 1.0}, [0, 1], "heatmap"),
        ([[0.0, 0.5]], {"vmax": 1.0, "signed": True}, [-1, 1], "diverging"),
        ([[0.0, 0.0]], {}, [0, 1], "heatmap"),
        ([[np.nan, np.inf]], {}, [0, 1], "heatmap"),
    ],
)
def test_the_scale_is_as_wide_as_the_numbers(values, more, end, ramp):
    made = prepared(np.array(values), ["a"], ["b", "c"], **more)
    scale = template(draw_values, made)["layer"][0]["encoding"]["color"]["scale"]
    assert (scale["range"], made.values["end"]) == (ramp, end[1])
    assert scale["domain"] == [{"expr": "-(end)"} if end[0] else 0, {"expr": "end"}]


def test_the_largest_number_has_the_colour_at_the_end(painted):
    def last(values, **more):
        return painted(matrix_chart(values, ["a"], ["b", "c"], **more)).items("cells_marks")[-1]

    fills = [last(np.array([[1.0, end]]))["fill"] for end in (2.0, 5.0)]
    assert fills[0] == fills[1] != last(np.array([[1.0, 2.0]]), vmax=5.0)["fill"]


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"got \(2, 3\), 1 and 3 labels"):
        matrix_chart(VALUES, ["q0"], ["k0", "k1", "k2"])


def test_minus_infinity_is_ruled_out_and_no_mishap(painted, rows, survives):
    drawn = np.array([[0.5, -np.inf], [np.nan, 2.0]])
    scene = painted(matrix_chart(drawn, ["q0", "q1"], ["k0", "k1"]), width=320)
    assert [item["text"] for item in scene.items("numbers_marks")] == ["0.50", "2"]
    assert [item["text"] for item in scene.items("quiet_marks")] == ["−∞"]
    said = [item["description"] for item in scene.items("masked_marks")]
    assert said == [
        "row q0, column k1, value −∞, ruled out",
        "row q1, column k0, value not finite",
    ]


def test_other_numbers_and_another_picked_cell_keep_the_specification():
    one, other = (
        prepared(VALUES * scale, ["q0", "q1"], ["k0", "k1", "k2"], picked=(row, None))
        for scale, row in ((1, 0), (3, 1))
    )
    assert template(draw_values, one) is template(draw_values, other)
