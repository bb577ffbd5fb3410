import numpy as np
import pytest

from dashboard.charts.template import chart_of, template
from dashboard.charts.values import MOST_CELLS, draw_values, prepare_values


def values_heatmap(values, **more):
    return chart_of(draw_values, prepare_values(values, **more))


GRID = np.array([[1.0, -0.5, np.nan], [0.25, 0.0, -2.0]])


def test_every_number_has_its_cell(survives, rows):
    spec = survives(lambda: values_heatmap(GRID, rows=["a", "b"], numbers=".2f"))
    cells = {(row["r"], row["c"]): row["value"] for row in rows(spec, "r", "c", "value")}
    assert cells[1, 2] == -2.0
    assert cells[0, 2] is None


def test_rows_run_down_and_columns_across(painted):
    scene = painted(values_heatmap(GRID, cell=(30, 20)), width=400)
    cells = scene.items("cells_marks")
    assert len(cells) == 5, "what is not a number is left empty"
    assert {round(cell["width"]) for cell in cells} == {29}
    assert {round(cell["height"]) for cell in cells} == {19}
    assert cells[1]["left"] > cells[0]["left"]
    assert cells[2]["top"] > cells[0]["top"]


def test_cells_narrow_with_their_host(painted):
    scene = painted(values_heatmap(np.ones((2, 31)), cell=(30, 20)), width=200)
    assert scene.width == pytest.approx(200, abs=1)
    assert {round(c["height"]) for c in scene.items("cells_marks")} == {19}
    assert max(c["width"] for c in scene.items("cells_marks")) < 8


def test_numbers_are_written_with_a_minus(painted):
    texts = [
        item["text"]
        for item in painted(values_heatmap(GRID, numbers=".2f")).items("numbers_marks")
    ]
    assert texts == ["1.00", "−0.50", "0.25", "0.00", "−2.00"]


def test_a_screen_reader_hears_the_row_the_column_and_the_number(painted):
    drawn = values_heatmap(GRID, rows=["it's", "b"], titles=("token", ""), columns="xyz")
    said = [item["description"] for item in painted(drawn).items("cells_marks")]
    assert said[:2] == ["token it's, column x, value 1", "token it's, column y, value −0.5"]


@pytest.mark.parametrize(
    ("framed", "count", "sides"), [("rows", 2, (90, 20)), ("columns", 3, (30, 40))]
)
def test_frames_go_around_rows_or_columns(painted, framed, count, sides):
    boxes = painted(values_heatmap(GRID, framed=framed, cell=(30, 20)), width=400).items(
        "frames_marks"
    )
    assert [(round(b["width"]) + 4, round(b["height"]) + 4) for b in boxes] == [sides] * count


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_one_colour_for_one_value_whatever_else_is_drawn(painted, scheme):
    fills = [
        painted(values_heatmap(values, vmax=4), scheme).items("cells_marks")[0]["fill"]
        for values in ([[1.0, 2.0]], [[1.0, -3.0]])
    ]
    assert fills[0] == fills[1]


def test_all_zeros_have_a_scale(survives):
    survives(lambda: values_heatmap(np.zeros((2, 3))))


@pytest.mark.parametrize(
    ("values", "labels"),
    [(np.ones(3), {}), (np.ones((0, 2)), {}), (np.ones((1, MOST_CELLS + 1)), {}),
     (GRID, {"rows": ["a"]}), (GRID, {"columns": "ab"})],
)  # fmt: skip
def test_what_is_no_matrix_is_refused(values, labels):
    with pytest.raises(ValueError, match="need"):
        values_heatmap(values, **labels)


def test_the_largest_matrix_can_be_sent():
    spec = values_heatmap(np.ones((50, MOST_CELLS // 50))).to_dict()
    assert max(map(len, spec["datasets"].values())) == MOST_CELLS


@pytest.mark.parametrize(
    ("columns", "width", "labels"), [(3, 400, 3), (31, 800, 31), (31, 130, 8)]
)
def test_columns_are_labelled_as_far_as_there_is_room(columns, width, labels):
    spec = values_heatmap(np.ones((2, columns)), cell=(30, 20), width=width).to_dict()
    (axis,) = [one for one in axes_of(spec) if one.get("orient") == "top"]
    assert len(axis["values"]) == pytest.approx(labels, abs=labels // 4)


def axes_of(part):
    """Every axis of a specification that has one, each once."""
    found = []
    if isinstance(part, dict):
        found = [part["axis"]] if isinstance(part.get("axis"), dict) else []
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inner:
        found += [one for one in axes_of(each) if one not in found]
    return found


def test_other_numbers_keep_the_specification_and_are_painted_as_their_own_chart(painted):
    one, other = (prepare_values(GRID * scale, numbers=".2f", framed="rows") for scale in (1, 3))
    assert template(draw_values, one) is template(draw_values, other)
    rows = {name: table.to_pylist() for name, table in other.sent.items()}
    filled = {**template(draw_values, other), "datasets": rows}
    theirs = painted(chart_of(draw_values, other))
    assert np.array_equal(painted(filled).pixels(), theirs.pixels())


def test_colours_end_where_they_are_told_or_at_the_number_farthest_from_0():
    held = [[1.0, -3.0, np.nan]]
    assert prepare_values(held).values["end"] == 3.0
    assert prepare_values(held, vmax=7).values["end"] == 7
    assert prepare_values([[0.0]]).values["end"] == 1.0
    assert prepare_values(held).shape.names == ("row", "column")
    assert prepare_values(held, titles=("token", "")).shape.names == ("token", "column")
