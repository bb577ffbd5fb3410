from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from dashboard.charts import theme
from dashboard.charts.frames import MapFrame, map_names, usual_map
from dashboard.charts.head_grid import grid_height, head_grid, prepare_head_grid
from dashboard.charts.summary import of_matrix
from dashboard.charts.theme import POINTER

SOURCE = ("the", "dog", "is", "the", "dog", ".", "<eos>")
TARGET = ("le", "chien", "est", "le", "<eos>")


def frame(layer, heads=3, queries=TARGET, keys=SOURCE, *, causal=False) -> MapFrame:
    shape = (heads, len(queries), len(keys))
    weights = np.random.default_rng(layer).random(shape) ** 4
    if causal:
        weights *= np.tri(len(queries), len(keys))
    weights /= weights.sum(-1, keepdims=True)
    if causal:
        weights[:, ~np.tri(len(queries), len(keys), dtype=bool)] = np.nan
    return MapFrame(
        kind="cross", layer=layer, weights=weights.astype(np.float32), query_labels=queries,
        key_labels=keys,
    )  # fmt: skip


FRAMES = [frame(1), frame(0)]


def drawn_weights(scene, shape=(5, 7)) -> np.ndarray:
    """The weights that the cells of the large map tell, NaN where one is masked."""
    weights = np.full(shape, np.nan)
    for item in scene.items("cells_marks"):
        q, k = round(item["y"] // 24), round(item["x"] // 24)
        weights[q, k] = float(item["description"].rpartition(" ")[2])
    return weights


def test_layers_and_heads_are_counted_from_1_and_a_mean_leads_each_layer():
    assert map_names(FRAMES) == ["1.mean", "1.1", "1.2", "1.3", "2.mean", "2.1", "2.2", "2.3"]
    assert usual_map(FRAMES) == "2.mean"
    assert map_names([frame(0, heads=1)]) == ["1.1"]
    assert usual_map([frame(0, heads=1), frame(1, heads=1)]) == "2.1"
    assert map_names([frame(1, heads=2), frame(0, heads=1)]) == ["1.1", "2.mean", "2.1", "2.2"]


def test_layers_may_have_different_numbers_of_heads(painted):
    scene = painted(head_grid([frame(1, heads=2), frame(0, heads=1)]))
    places = [(mark["left"], mark["top"]) for mark in scene.items("heads_marks")]
    assert len(places) == len(set(places)) == 4


def test_the_usual_map_is_the_mean_and_is_called_a_summary(painted, survives):
    survives(lambda: head_grid(FRAMES))
    scene = painted(head_grid(FRAMES))
    (title,) = scene.items(role="title-text")
    assert title["text"] == "layer 2 · mean of 3 heads, a summary"
    expected = FRAMES[0].weights.mean(axis=0)
    np.testing.assert_allclose(drawn_weights(scene), expected, atol=7e-4)


@pytest.mark.parametrize(("name", "layer", "head"), [("1.3", 1, 2), ("2.1", 0, 0)])
def test_the_chosen_map_is_large(painted, name, layer, head):
    scene = painted(head_grid(FRAMES, chosen=name))
    (title,) = scene.items(role="title-text")
    assert title["text"] == f"layer {name[0]} · head {name[2]}"
    weights = FRAMES[layer].weights[head]
    np.testing.assert_allclose(drawn_weights(scene), weights, atol=7e-4)
    labels = [label["text"] for label in scene.items(role="axis-label")]
    assert labels == [*SOURCE, *TARGET]


@pytest.mark.parametrize(
    ("name", "title", "weights"),
    [
        ("1.3", "layer 1 · head 3", FRAMES[1].weights[2]),
        ("", "layer 2 · mean", FRAMES[0].weights.mean(axis=0)),
    ],
)
def test_words_say_which_map_they_are_of(name, title, weights):
    said = prepare_head_grid(FRAMES, chosen=name).summary.words
    assert said == f"The large map is {title}. {of_matrix(weights, TARGET, SOURCE).words}"


def test_a_map_that_is_not_there_gives_the_usual_one():
    assert head_grid(FRAMES, chosen="9.9").to_dict() == head_grid(FRAMES).to_dict()


def test_every_map_is_small_in_its_row_and_column(painted):
    scene = painted(head_grid(FRAMES, chosen="2.3"), width=360)
    marks = scene.items("heads_marks")
    assert [mark["description"] for mark in marks] == [
        f"layer {layer} · {name}"
        for layer in (1, 2)
        for name in ("mean of 3 heads, a summary", "head 1", "head 2", "head 3")
    ]
    lefts, tops = ([mark[side] for mark in marks] for side in ("left", "top"))
    assert lefts[:4] == lefts[4:] == sorted(set(lefts))
    assert tops == [tops[0]] * 4 + [tops[4]] * 4
    assert tops[4] > tops[0] + marks[0]["height"]
    large = scene.items("cells_marks")
    assert max(cell["top"] + cell["height"] for cell in large) < tops[0]
    assert [mark["stroke"] == POINTER for mark in marks] == [False] * 7 + [True]


def test_a_small_map_has_the_pixels_of_its_head(rows):
    for row in rows(head_grid(FRAMES).to_dict(), "map", "light"):
        png = base64.b64decode(row["light"].partition(",")[2])
        codes = np.asarray(Image.open(io.BytesIO(png))).astype(float)
        layer, head = row["map"].split(".")
        weights = FRAMES[2 - int(layer)].weights
        expected = weights.mean(axis=0) if head == "mean" else weights[int(head) - 1]
        np.testing.assert_allclose(codes / 254, expected, atol=3e-3)


def test_masked_cells_are_crossed_out_and_have_no_weight(painted):
    words = ("<bos>", *TARGET[:-1])
    frames = [frame(layer, keys=words, causal=True) for layer in (0, 1)]
    scene = painted(head_grid(frames, chosen="2.2"))
    weights = drawn_weights(scene, (5, 5))
    np.testing.assert_array_equal(np.isnan(weights), ~np.tri(5, dtype=bool))
    assert len(scene.items("crossed_marks")) == 10
    said = {item["description"] for item in scene.items("layer_0_marks")}
    assert "query le, key est, weight masked" in said


def test_a_grid_is_as_wide_as_its_host_and_as_tall_as_it_said(painted):
    frames = [frame(layer, heads=8) for layer in range(6)]
    for width in (200, 360):
        scene = painted(head_grid(frames), width=width)
        assert scene.width == pytest.approx(width, abs=1)
        right = max(mark["left"] + mark["width"] for mark in scene.items("heads_marks"))
        assert right <= width
    large = max(cell["top"] + cell["height"] for cell in scene.items("cells_marks"))
    bottom = max(mark["top"] + mark["height"] for mark in scene.items("heads_marks"))
    assert bottom - large == pytest.approx(grid_height(frames), abs=2)
    assert grid_height([frame(0, heads=1)]) == 0


@pytest.mark.parametrize(("width", "heads"), [(200, 12), (360, 12), (700, 12), (360, 3)])
def test_names_of_small_maps_touch_neither_each_other_nor_the_maps_above(painted, width, heads):
    scene = painted(head_grid([frame(layer, heads=heads) for layer in (0, 1)]), width=width)
    maps = scene.items("heads_marks")
    names = scene.items("names_marks")
    wide = 1 + heads
    pitch = maps[1]["left"] - maps[0]["left"]
    for one, below in zip(names, maps, strict=True):
        assert one["limit"] < pitch
        if "head" in one["text"]:
            assert len(one["text"]) * 6.9 < pitch  # a letter's mean width
        assert one["y"] == below["y"] - 2
    between = maps[wide]["y"] - maps[0]["y"] - maps[0]["height"]
    assert between >= 2 + theme.FONT_SIZE + 2  # letters, and room below and above them


def test_panels_with_one_height_have_their_grids_side_by_side(painted):
    short = [frame(layer, queries=TARGET[:3]) for layer in (0, 1)]
    tops = [
        painted(head_grid(frames, height=120)).items("heads_marks")[0]["top"]
        for frames in (short, FRAMES)
    ]
    assert tops[0] == tops[1]


def test_many_large_maps_stay_small_enough_to_send(painted):
    words = tuple(f"w{i}" for i in range(61))
    frames = [frame(layer, heads=8, queries=words[:59], keys=words) for layer in range(6)]
    chart = head_grid(frames, chosen="6.8")
    assert len(chart.to_json(indent=None)) < 1_000_000
    scene = painted(chart, hovered={"left": 60.5, "top": 58.5})
    weight = frames[5].weights[7, 58, 60]
    (title,) = scene.items(role="title-text")
    assert title["text"] == f"layer 6 · head 8 · w58 → w60: {weight:.3f}"


def test_maps_too_large_for_cells_are_images_with_axes(painted, survives):
    words = tuple(f"w{i}" for i in range(67))
    frames = [frame(layer, heads=2, queries=words, keys=words) for layer in (0, 1)]
    survives(lambda: head_grid(frames, chosen="1.2"))
    scene = painted(head_grid(frames, chosen="1.2"))
    assert scene.items("cells_marks") == []
    assert len(scene.items("layer_0_marks")) == 1
    assert "w66" in [label["text"] for label in scene.items(role="axis-label")]


def test_maps_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match=r"one shape .* got \[\(5, 7\), \(3, 7\)\]"):
        head_grid([frame(0), frame(1, queries=TARGET[:3])])
    with pytest.raises(ValueError, match="one shape"):
        head_grid([])
