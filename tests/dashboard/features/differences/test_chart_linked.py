import json

import numpy as np
import pytest
import vl_convert

from dashboard import language
from dashboard.charts import export
from dashboard.charts.template import chart_of, template
from dashboard.features.differences.chart_linked import (
    MOST_CELLS,
    Tile,
    draw_linked,
    prepare_linked,
)

QUERIES, KEYS = ["je", 'su"is', "<eos>"], ["i", "'m", "home", ".", "<eos>"]


def linked_maps(*maps, **more):
    return chart_of(draw_linked, prepare_linked(*maps, **more))


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(5).dirichlet(np.ones(len(KEYS)), size=(2, len(QUERIES)))


@pytest.fixture(scope="module")
def tiles(weights):
    """Two maps and their difference with bars; the notes tell tile and row."""
    one, other = (
        Tile(letter=letter, title=f"model {letter}", subtitle="layer 1 · head 2", weights=w,
             notes=[f"{letter}{q}" for q in range(len(QUERIES))])
        for letter, w in zip("ab", weights, strict=True)
    )  # fmt: skip
    bars = np.array([0.25, np.nan, 1.0])
    third = Tile(letter="a − b", title="difference", weights=weights[0] - weights[1], bars=bars)
    return [one, other, third]


@pytest.fixture(scope="module")
def spec(tiles):
    return linked_maps(tiles, QUERIES, KEYS, start=1).to_dict(validate=False)


def scene(spec, width, hovered=None):
    """Every mark's items by name, as painted at that width with the pointer there."""
    params = [dict(param) for param in spec["params"]]
    if hovered is not None:
        (param,) = (p for p in params if p["name"] == "pointed")
        param["value"] = [{"q": hovered}]
    spec = spec | {"width": width, "params": params}
    graph = vl_convert.vegalite_to_scenegraph(json.dumps(spec))
    found: dict[str, list] = {}

    def walk(mark):
        for item in mark.get("items") or []:
            found.setdefault((mark.get("name") or "").removesuffix("_marks"), []).append(item)
            for inner in item.get("items") or []:
                walk(inner)

    walk(graph["scenegraph"])
    return found, graph


def test_the_chart_is_plain_json_with_the_numbers_of_the_arrays(tiles, weights, survives, rows):
    spec = survives(lambda: linked_maps(tiles, QUERIES, KEYS))
    cells = rows(spec, "tile", "q", "k", "value")
    values = np.full((3, len(QUERIES), len(KEYS)), np.nan)
    for cell in cells:
        values[cell["tile"], cell["q"], cell["k"]] = cell["value"]
    np.testing.assert_allclose(values[:2], weights, rtol=1e-4)
    np.testing.assert_allclose(values[2], weights[0] - weights[1], atol=1e-4)
    assert [(bar["q"], bar["bar"]) for bar in rows(spec, "bar")] == [(0, 0.25), (2, 1.0)]


def test_maps_stand_side_by_side_or_below_each_other(spec):
    heights: list[float] = []
    for width, columns in ((1100, 3), (600, 2), (350, 1)):
        found, graph = scene(spec, width)
        cells = np.array(found["cells"]).reshape(3, len(QUERIES), len(KEYS))
        lefts = [cell["x"] for cell in cells[:, 0, 0]]
        tops = [cell["y"] for cell in cells[:, 0, 0]]
        assert len({*lefts}) == min(columns, 3)
        assert len({*tops}) == -(-3 // columns)
        assert max(cell["x"] + cell["width"] for cell in cells.ravel()) <= width
        assert all(bar["x"] + bar["width"] <= width for bar in found["bars"])
        handles = np.array(found["handles"]).reshape(3, len(QUERIES))
        for handle, cell in zip(handles.ravel(), cells[:, :, 0].ravel(), strict=True):
            assert handle["x"] + handle["width"] == pytest.approx(cell["x"] - 0.5)
            assert handle["y"] == pytest.approx(cell["y"] - 0.5)
        heights.append(graph["height"])
    assert heights[0] < heights[1] < heights[2]


@pytest.mark.parametrize("hovered", [None, 2])
def test_every_map_shows_the_row_and_its_words(spec, hovered):
    found, _ = scene(spec, 1100, hovered)
    row = 1 if hovered is None else hovered
    frames, cells = found["frames"], np.array(found["cells"]).reshape(3, len(QUERIES), len(KEYS))
    assert [frame["y"] for frame in frames] == [cell["y"] - 0.5 for cell in cells[:, row, 0]]
    words = np.array(found["sentence"]).reshape(3, len(KEYS))
    # A word has the colour of its cell.
    assert [w["fill"] for w in words.ravel()] == [c["fill"] for c in cells[:, row].ravel()]
    assert len({w["fill"] for w in words.ravel()}) > len(KEYS)
    bold = [item["text"] for item in found["rows"] if item["fontWeight"] == "bold"]
    assert bold == [QUERIES[row]] * 3
    texts = [item.get("text") for items in found.values() for item in items]
    assert [f"“{QUERIES[row]}” · {letter}{row}" in texts for letter in "ab"] == [True, True]


def test_masked_cells_are_crossed_out(weights):
    masked = weights[0].copy()
    masked[0, 3:] = np.nan
    tile = Tile(letter="a", title="", weights=masked)
    found, _ = scene(linked_maps([tile], QUERIES, KEYS).to_dict(validate=False), 350)
    assert len(found["crossed"]) == 2
    assert [cell["description"].endswith("masked") for cell in found["cells"][:5]] == [
        False, False, False, True, True,
    ]  # fmt: skip


def test_words_break_into_lines_and_labels_of_any_length_fit():
    keys = [f"word{n}" * 9 for n in range(7)]
    tile = Tile(letter="a", title="x" * 99, weights=np.eye(2, 7))
    found, _ = scene(linked_maps([tile], ["q", "r"], keys).to_dict(validate=False), 350)
    words = found["sentence"]
    assert len({word["y"] for word in words}) == 7
    assert max(word["x"] + word["width"] for word in words) <= 350


def test_a_file_of_its_own_holds_everything(spec):
    file = json.loads(export.vega_lite(spec))
    assert {"heatmap", "diverging"} <= file["config"]["range"].keys()
    assert file["width"] >= 3 * 256


def test_what_does_not_fit_is_refused(weights):
    tile = Tile(letter="a", title="", weights=weights[0])
    with pytest.raises(ValueError, match="need maps with cells, got 0 of 3 x 5"):
        linked_maps([], QUERIES, KEYS)
    with pytest.raises(ValueError, match=r"map a: .* 3 queries and 4 keys.*\(3, 5\)"):
        linked_maps([tile], QUERIES, KEYS[:-1])
    odd = Tile(letter="b", title="", weights=weights[0], bars=np.zeros(2))
    with pytest.raises(ValueError, match="map b: need weights"):
        linked_maps([odd], QUERIES, KEYS)
    side = int(MOST_CELLS**0.5) + 1
    large = Tile(letter="a", title="", weights=np.zeros((side, side)))
    with pytest.raises(ValueError, match=f"need at most {MOST_CELLS:,} cells in 1 maps"):
        linked_maps([large], range(side), range(side))


def test_every_map_has_one_title(spec, tiles):
    found, _ = scene(spec, 1100)
    texts = [item.get("text") for items in found.values() for item in items]
    assert [texts.count(tile.title) for tile in tiles] == [1, 1, 2]  # once in the legend


def test_other_numbers_and_words_keep_the_specification(weights, painted):
    """What a page sends is painted as the chart that holds its data."""

    def prepared(letter, labels):
        tile = Tile(letter=letter, title=letter, weights=weights[0], notes=["n1", "n2", "n3"])
        return prepare_linked([tile], QUERIES, labels)

    one, other = prepared("a", KEYS), prepared("b", [label.upper() for label in KEYS])
    assert template(draw_linked, one) is template(draw_linked, other)
    rows = {name: table.to_pylist() for name, table in other.sent.items()}
    filled = {**template(draw_linked, other), "datasets": rows}
    theirs = painted(chart_of(draw_linked, other))
    assert np.array_equal(painted(filled).pixels(), theirs.pixels())


def test_cells_are_described_in_the_language_of_the_visitor(monkeypatch, tiles):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    masked = np.full((len(QUERIES), len(KEYS)), np.nan)
    drawn = [tiles[0], Tile(letter="b", title="b", weights=masked)]
    items, _ = scene(linked_maps(drawn, QUERIES, KEYS).to_dict(validate=False), 700)
    said = {item["description"] for item in items["cells"]}
    first = f"{tiles[0].weights[0, 0]:.3f}"
    assert {f"a，查询 je，键 i，{first}", "b，查询 su\"is，键 'm，被掩码遮住"} <= said


def test_cells_are_counted_over_all_maps():
    side = int((MOST_CELLS / 2) ** 0.5) + 1
    map_ = Tile(letter="a", title="a", weights=np.zeros((side, side)))
    prepare_linked([map_], range(side), range(side))
    with pytest.raises(ValueError, match=r"cells in 2 maps"):
        prepare_linked([map_, map_], range(side), range(side))


def test_words_stand_in_lines_of_the_narrowest_map():
    wide = Tile(letter="a", title="a", weights=np.eye(1, 3))
    drawn = prepare_linked([wide], ["q"], ["x" * 15, "y" * 15, "z" * 15])
    assert drawn.tables["cells"]["word_line"].to_pylist() == [0, 0, 1]
    assert drawn.shape.sizes.lines == 2


def test_a_map_with_weights_below_0_is_known_and_a_difference_is_not_one():
    below = Tile(letter="a", title="a", weights=-np.eye(2))
    difference = Tile(letter="a − b", title="d", weights=-np.eye(2), bars=np.zeros(2))
    assert prepare_linked([below], "ab", "ab").shape.below
    assert not prepare_linked([difference], "ab", "ab").shape.below
