import pytest

from dashboard.features.anatomy.moves import Shape, shape_flow

SIZES = {"B": 2, "n": 5, "H": 3, "d": 7}
STEPS = (
    Shape("one row", "B n H·d"),
    Shape("cut", "B n H d"),
    Shape("transpose", "B H n d"),
    Shape("batch rows", "B·H n d"),
)


def blocks(spec, rows):
    return rows(spec, "step", "name", "label", "shape")


def test_every_step_has_its_shape(survives, rows):
    spec = survives(lambda: shape_flow(STEPS, SIZES))
    found = blocks(spec, rows)
    shapes = [next(b["shape"] for b in found if b["step"] == step) for step in range(4)]
    assert shapes == ["(2, 5, 21)", "(2, 5, 3, 7)", "(2, 3, 5, 7)", "(6, 5, 7)"]
    assert [said["text"] for said in rows(spec, "text")] == [
        "one row: (2, 5, 21)", "cut: (2, 5, 3, 7)", "transpose: (2, 3, 5, 7)",
        "batch rows: (6, 5, 7)",
    ]  # fmt: skip
    colours = {b["name"]: b["colour"] for b in found}
    assert len(set(colours.values())) == 4
    assert all(b["colour"] == colours[b["name"]] for b in found)


def test_it_is_as_high_as_its_steps(survives, rows, painted):
    found = blocks(shape_flow(STEPS, SIZES).to_dict(), rows)
    assert len({b["step"] for b in found}) == 4
    heights = [painted(shape_flow(STEPS[:n], SIZES)).height for n in (2, 3, 4)]
    assert heights[1] - heights[0] == heights[2] - heights[1] > 0
    lowest = max(
        i["top"] + i["height"] for i in painted(shape_flow(STEPS, SIZES)).items("blocks_marks")
    )
    assert lowest <= heights[2] + 1


def test_axes_of_one_dimension_touch_and_others_do_not(rows):
    found = blocks(shape_flow(STEPS, SIZES).to_dict(), rows)
    merged = {b["name"]: b for b in found if b["step"] == 3}
    assert merged["B"]["right"] == pytest.approx(merged["H"]["left"])
    assert merged["H"]["right"] < merged["n"]["left"] - 0.1


def test_a_band_ties_every_axis_to_itself():
    spec = shape_flow(STEPS, SIZES).to_dict()
    names = [layer["name"] for layer in spec["layer"] if "bands" in layer.get("name", "")]
    assert len(names) == 4
    rows = [row for rows in spec["datasets"].values() for row in rows if "band" in row]
    assert len(rows) == 4 * 3 * 2
    # The transpose: n and H change places.
    left = {row["band"]: row["left"] for row in rows if row["band"] in ("2 n", "2 H")}
    assert left["2 n"] > left["2 H"]


def test_an_axis_of_one_stretches_where_it_goes(rows):
    steps = (
        Shape("queries", "n (H)", into=2),
        Shape("keys", "(n) H"),
        Shape("sum", "n H"),
    )
    spec = shape_flow(steps, SIZES).to_dict()
    found = blocks(spec, rows)
    ones = [b for b in found if b["one"]]
    assert [(b["step"], b["name"], b["label"]) for b in ones] == [(0, "H", "1"), (1, "n", "1")]
    assert [b["shape"] for b in found[::2]] == ["(5, 1)", "(1, 3)", "(5, 3)"]
    bands = [r for rows_ in spec["datasets"].values() for r in rows_ if r.get("band") == "0 H"]
    (start, end) = (row["right"] - row["left"] for row in bands)
    assert start < 0.5 < end


def test_an_axis_without_a_size_is_refused():
    with pytest.raises(ValueError, match="need the size of m"):
        shape_flow((Shape("", "m"),), SIZES)
