from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import vl_convert

from dashboard.charts import (
    MapFrame,
    attention_heatmap,
    difference_heatmap,
    head_grid,
    label_room,
    standalone,
)
from dashboard.charts.theme import DIVERGING, FONT_SIZE, MAX_RECTS, QUIET, SEQUENTIAL

SOURCE = ["the", "dog", "is", "the", "dog", ".", "<eos>"]
TARGET = ["le", "chien", "est", "le", "chien"]


def weights(*shape: int) -> np.ndarray:
    values = np.random.default_rng(0).random(shape) ** 4
    return values / values.sum(-1, keepdims=True)


def fill(text: str) -> str:
    return f"rgb({', '.join(map(str, bytes.fromhex(text[1:])))})"


def test_the_numbers_are_those_of_the_array(survives, rows):
    array = weights(5, 7)
    spec = survives(lambda: attention_heatmap(array, TARGET, SOURCE, title="Additive"))
    table = rows(spec, "q", "k", "value")
    assert len(table) == 35
    for row in table:
        assert row["value"] == pytest.approx(array[row["q"], row["k"]], rel=1e-4)
    assert spec["title"]["text"] == "Additive"


class Held:
    """Numbers of some other library."""

    def __array__(self, dtype=None, copy=None):
        return np.eye(2, dtype=dtype)


@pytest.mark.parametrize(
    "given",
    [
        [[1, 0], [0, 1]], ((1.0, 0.0), (0.0, 1.0)), np.eye(2, dtype=np.float16), Held(),
        torch.eye(2), torch.eye(2, requires_grad=True), torch.eye(2, dtype=torch.bfloat16),
        torch.eye(2, dtype=torch.bool),
    ],
)  # fmt: skip
def test_any_array_is_drawn_with_labels_or_without(given, rows):
    for labels in ((), (["a", "b"],), (None, ["c", "d"])):
        spec = attention_heatmap(given, *labels).to_dict()
        assert [row["value"] for row in rows(spec, "q", "k", "value")] == [1, 0, 0, 1]
    shown = {param["name"]: param.get("value") for param in spec["params"]}
    assert (shown["queries"], shown["keys"]) == (["0", "1"], ["c", "d"])


def test_cells_lie_by_position_even_where_tokens_repeat(painted):
    array = weights(5, 7)
    scene = painted(attention_heatmap(array, TARGET, SOURCE))
    cells = scene.items("cells_marks")
    assert [cell["description"] for cell in cells] == [
        f"query {query}, key {key}, weight {array[q, k]:.3f}"
        for q, query in enumerate(TARGET)
        for k, key in enumerate(SOURCE)
    ]
    assert len({(cell["x"], cell["y"]) for cell in cells}) == 35
    last = cells[-1]
    assert (last["x"], last["y"]) == (6 * 24 + 0.5, 4 * 24 + 0.5)
    assert [label["text"] for label in scene.items(role="axis-label")] == [*SOURCE, *TARGET]


def test_labels_stand_at_their_rows_and_columns(painted):
    scene = painted(attention_heatmap(weights(5, 7), TARGET, SOURCE))
    cells, labels = scene.items("cells_marks"), scene.items(role="axis-label")
    for k, label in enumerate(labels[:7]):
        assert abs(label["left"] - cells[k]["left"] - cells[k]["width"] / 2) <= 1
        assert label["top"] < cells[0]["top"]
    for q, label in enumerate(labels[7:]):
        assert abs(label["top"] - cells[q * 7]["top"] - cells[q * 7]["height"] / 2) <= 1
        assert label["left"] < cells[0]["left"]


def test_short_words_lie_level_over_the_middles_of_their_columns(painted):
    scene = painted(attention_heatmap(weights(2, 3), ["a", "b"], ["x", "y", "z"], cell=44))
    cells = scene.items("cells_marks")
    for label, cell in zip(scene.items(role="axis-label")[:3], cells, strict=False):
        assert label.get("angle", 0) == 0
        assert label["align"] == "center"
        assert abs(label["left"] - cell["left"] - cell["width"] / 2) <= 1


@pytest.mark.parametrize("width", [190, 700])
def test_the_chart_is_as_wide_as_its_host_and_cells_grow_no_further(painted, width):
    scene = painted(attention_heatmap(weights(5, 13)), width=width)
    assert scene.width == pytest.approx(width, abs=1)
    right = max(cell["left"] + cell["width"] for cell in scene.items("cells_marks"))
    assert right <= width
    assert all(cell["width"] <= 24 for cell in scene.items("cells_marks"))
    assert (width < 320) == (scene.items("cells_marks")[0]["width"] < 22)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_run_over_the_shared_scale(painted, scheme):
    array = np.array([[0.0, 0.4, 0.6], [0.2, 0.3, 0.5]])
    cells = painted(attention_heatmap(array, vmax=0.4), scheme).items("cells_marks")
    colours = [cell["fill"] for cell in cells]
    ramp = SEQUENTIAL[scheme]
    assert colours[0] == fill(ramp[0])
    assert colours[1] == colours[2] == fill(ramp[-1])
    assert len(set(colours[3:5])) == 2


def test_masked_cells_look_masked_and_say_so(painted, survives):
    array = weights(5, 7)
    array[2] = 0
    mask = np.ones((5, 7), dtype=bool)
    mask[:, 6] = False
    make = lambda: attention_heatmap(array, TARGET, SOURCE, mask=mask)  # noqa: E731
    survives(make)
    scene = painted(make())
    masked = scene.items("layer_0_marks")
    assert {cell["fill"] for cell in masked} == {QUIET}
    said = {cell["description"] for cell in masked}
    assert "query est, key the, weight masked" in said
    assert "query le, key <eos>, weight masked" in said
    assert len(masked) == 5 + 7 - 1
    assert len(scene.items("cells_marks")) == 35 - 11
    assert array[0, 6] > 0, "the caller's array was written to"


def test_a_row_of_zeros_is_masked_but_a_zero_is_not(painted):
    array = np.array([[0.0, 1.0], [0.0, 0.0]])
    scene = painted(attention_heatmap(array))
    assert [len(scene.items(name)) for name in ("cells_marks", "layer_0_marks")] == [2, 2]


def test_hostile_tokens_change_nothing(painted, survives):
    tokens = ['"]+alert(1)+["', "'", "\\", "<b>x</b>", "\u202eltr", "{{x}}", "]]"]
    make = lambda: attention_heatmap(weights(5, 7), TARGET, tokens)  # noqa: E731
    survives(make)
    labels = painted(make()).items(role="axis-label")
    assert [label["text"] for label in labels[:7]] == [t.replace("\u202e", "�") for t in tokens]


def test_long_words_stand_upright_and_take_no_more_than_their_room(painted):
    words = ["internationalisation" * 3, "a", "Donaudampfschifffahrt"]
    scene = painted(attention_heatmap(weights(2, 3), ["x", words[0]], words))
    labels = scene.items(role="axis-label")
    assert {label.get("angle") for label in labels[:3]} == {270}
    assert all(label["limit"] == label_room(words) <= 96 for label in labels[:3])
    assert min(cell["left"] for cell in scene.items("cells_marks")) <= 110


def test_short_labels_lie_level(painted):
    scene = painted(attention_heatmap(weights(2, 3), ["a", "b"], ["1", "2", "3"]))
    assert {label.get("angle", 0) for label in scene.items(role="axis-label")} == {0}


def test_panels_with_one_room_for_labels_are_aligned(painted):
    other = ["incroyablement", "long", "oui"]
    room = max(label_room(TARGET), label_room(other))
    corners = [
        painted(attention_heatmap(weights(len(t), 7), t, SOURCE, query_room=room), width=300)
        .items("cells_marks")[0]["left"]
        for t in (TARGET, other)
    ]  # fmt: skip
    assert corners[0] == pytest.approx(corners[1], abs=0.6)


def test_hovering_frames_the_row_and_the_column(painted):
    chart = attention_heatmap(weights(5, 7), TARGET, SOURCE)
    assert painted(chart).items("layer_1_marks") == []
    scene = painted(chart, hovered={"q": 3, "k": 2})
    row, column = *scene.items("layer_1_marks"), *scene.items("layer_2_marks")
    assert [row[side] for side in ("x", "y", "width", "height")] == [0, 72, 168, 24]
    assert [column[side] for side in ("x", "y", "width", "height")] == [48, 0, 24, 120]


def test_heads_form_a_grid_with_their_own_labels(painted, survives, rows):
    array = weights(3, 5, 7)
    make = lambda: attention_heatmap(array, TARGET, SOURCE, columns=2)  # noqa: E731
    spec = survives(make)
    for row in rows(spec, "head", "q", "k", "value"):
        assert row["value"] == pytest.approx(array[row["head"] - 1, row["q"], row["k"]], rel=1e-4)
    scene = painted(make())
    cells = scene.items("cells_marks")
    assert len(cells) == 105
    corners = [cells[i * 35] for i in range(3)]
    assert corners[0]["top"] == corners[1]["top"] < corners[2]["top"]
    assert corners[0]["left"] == corners[2]["left"] < corners[1]["left"]
    titles = [item["text"] for item in scene.items(role="title-text")]
    assert titles == ["head 1", "head 2", "head 3"]


def test_one_head_is_drawn_as_a_map_without_heads(survives):
    array = weights(1, 5, 7)
    assert attention_heatmap(array).to_dict() == attention_heatmap(array[0]).to_dict()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_large_map_is_an_image_of_the_same_colours(painted, scheme):
    array = np.zeros((61, 60))
    array[:, 0] = 0.5
    array[7, 0], array[7, 59] = 0, 0.5
    assert array.size > MAX_RECTS
    scene = painted(attention_heatmap(array, vmax=0.5), scheme)
    frame = scene.items("layer_1_marks")[0]
    picture = scene.items("layer_0_marks")[0]
    assert picture["width"] == pytest.approx(frame["width"])
    assert picture["height"] == pytest.approx(frame["height"])
    pixels, high, low = (
        scene.pixels(),
        *(bytes.fromhex(SEQUENTIAL[scheme][i][1:]) for i in (-1, 0)),
    )

    def at(q, k):
        y = frame["top"] + (q + 0.5) * frame["height"] / 61
        return pixels[int(y), int(frame["left"] + (k + 0.5) * frame["width"] / 60)].tolist()

    assert at(0, 0) == at(60, 0) == at(7, 59) == list(high)
    assert at(7, 0) == at(0, 59) == at(60, 30) == list(low)


def test_a_huge_map_says_what_a_pixel_is():
    chart = attention_heatmap(np.full((1_001, 61), 1 / 61), title="Encoder")
    assert chart.title.to_dict() == {
        "text": "Encoder",
        "subtitle": "1,001 × 61 weights; below, the 24 × 24 that the pointer is on; "
        "each pixel is the largest of 3 × 1 weights",
    }


def test_many_labels_are_thinned_and_do_not_touch(painted):
    scene = painted(attention_heatmap(weights(90, 101)))
    labels = scene.items(role="axis-label")
    corner = scene.items("layer_1_marks")[0]
    columns = [label["left"] for label in labels if label["left"] > corner["left"]]
    rows = [label["top"] for label in labels if label["left"] < corner["left"]]
    assert 5 < len(columns) < 30
    assert 5 < len(rows) < 50
    assert min(np.diff(columns)) >= FONT_SIZE + 1  # they are turned
    assert min(np.diff(rows)) >= FONT_SIZE


def test_differences_are_centred_on_nothing(painted, survives, rows):
    one, other = weights(5, 7), weights(5, 7)[::-1]
    make = lambda: difference_heatmap(one, other, TARGET, SOURCE, legend=True)  # noqa: E731
    for row in rows(survives(make), "q", "value"):
        expected = one[row["q"], row["k"]] - other[row["q"], row["k"]]
        assert row["value"] == pytest.approx(expected, rel=1e-4, abs=1e-9)
    same = painted(difference_heatmap(one, one)).items("cells_marks")
    assert len(same) == 35
    assert len({cell["fill"] for cell in same}) == 1


@pytest.mark.parametrize("vmax", [1.0, 0.25])
def test_differences_have_the_end_of_the_colours_at_the_end_of_the_scale(vmax):
    """And half of the way there at half of it; what lies beyond has the last colour."""
    values = np.array([[-2 * vmax, -vmax, -vmax / 2, 0.0, vmax / 2, vmax, 2 * vmax]])
    chart = standalone(difference_heatmap(values, np.zeros_like(values), vmax=vmax), "light")
    graph = vl_convert.vegalite_to_scenegraph(json.dumps(chart.to_dict()))
    cells = sorted(
        (item["x"], item["fill"])
        for mark in graph["scenegraph"]["items"][0]["items"] if mark.get("name") == "cells_marks"
        for item in mark["items"]
    )  # fmt: skip
    found = [np.array(re.findall(r"\d+", colour), float) for _, colour in cells]
    ramp = np.array([list(bytes.fromhex(colour[1:])) for colour in DIVERGING["light"]], float)
    places = np.clip((values[0] / vmax + 1) / 2, 0, 1) * (len(ramp) - 1)
    expected = [[np.interp(at, range(10), channel) for channel in ramp.T] for at in places]
    np.testing.assert_allclose(found, expected, atol=6)  # Vega takes a spline between colours
    np.testing.assert_allclose(found[1], ramp[0], atol=1)
    np.testing.assert_allclose(found[5], ramp[-1], atol=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attention_heatmap(np.ones(3)), r"need weights \(queries, keys\) or .* \(3,\)"),
        (lambda: attention_heatmap(np.ones((2, 0))), r"got \(2, 0\)"),
        (
            lambda: attention_heatmap(np.ones((2, 3)), ["a"]),
            "one label per query, 2 in all, got 1",
        ),
        (lambda: attention_heatmap(np.ones((2, 3)), None, ["a"]), "one label per key, 3 in all"),
        (lambda: attention_heatmap(np.ones((2, 3)), mask=np.ones((3, 2))), r"mask of .*\(2, 3\)"),
        (lambda: attention_heatmap(np.ones((2, 3)), vmax=0), "need 0 < vmax"),
        (lambda: difference_heatmap(np.ones((2, 3)), np.ones((3, 2))), "of one shape"),
        (
            lambda: difference_heatmap(np.ones((61, 61)), np.ones((61, 61))),
            "at most 3,600 differences",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rules_stand_between_words_and_none_between_the_pieces_of_one(painted):
    sentence = ["je", "suis", "fat", "·igué", "·.", "<eos>"]
    scene = painted(attention_heatmap(weights(2, 6), ["tired", "·."], sentence, cell=20))
    edges = sorted({item["left"] for item in scene.items("cells_marks")})
    rules = [item["left"] for item in scene.items("words_across_marks")]
    assert rules == pytest.approx([edges[at] for at in (1, 2, 5)], abs=1)
    assert scene.items("words_down_marks") == []
    words = painted(attention_heatmap(weights(2, 3), ["a", "·"], ["b", "c", "d"]))
    assert words.items("words_across_marks") == []


@pytest.mark.parametrize(("at", "along", "name"), [("x", "y", "across"), ("y", "x", "down")])
def test_rules_between_words_are_straight_and_as_long_as_the_map(painted, at, along, name):
    sentence, others = ["je", "suis", "fat", "·igué", "·.", "<eos>"], ["tired", "."]
    labels = (others, sentence) if at == "x" else (sentence, others)
    chart = attention_heatmap(weights(*map(len, labels)), *labels, cell=20)
    scene = painted(chart)
    cells, size = scene.items("cells_marks"), {"x": "width", "y": "height"}
    edges = sorted({item[at] for item in cells})
    ends = [min(item[along] for item in cells), max(i[along] + i[size[along]] for i in cells)]
    rules = scene.items(f"words_{name}_marks")
    assert [rule[at] for rule in rules] == pytest.approx([edges[n] for n in (1, 2, 5)], abs=1)
    for rule in rules:
        assert rule.get(f"{at}2", rule[at]) == pytest.approx(rule[at])
        assert sorted((rule[along], rule[f"{along}2"])) == pytest.approx(ends, abs=1)


class Tensor:
    """Numbers that NumPy takes only by way of their own methods, as those of a model are."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.ndim = self.values.ndim

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return Tensor(self.values[index])

    def __array__(self, *_, **__):
        raise RuntimeError("requires grad")

    def detach(self):
        return SimpleNamespace(numpy=lambda: self.values)


@pytest.mark.parametrize("wrapped", [np.asarray, Tensor])
@pytest.mark.parametrize(
    "given",
    [
        lambda heads: SimpleNamespace(weights=heads, query_labels="ab", key_labels="xyz"),
        lambda heads: [SimpleNamespace(weights=heads, query_labels="ab", key_labels="xyz")],
    ],
)
def test_a_map_alone_is_drawn_with_its_labels(given, wrapped):
    heads = np.array([[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]])
    drawn = attention_heatmap(given(wrapped(heads))).to_dict()
    assert drawn == attention_heatmap(heads, "ab", "xyz").to_dict()
    other = attention_heatmap(given(wrapped(heads)), ["c", "d"], vmax=0.5).to_dict()
    assert other == attention_heatmap(heads, ["c", "d"], "xyz", vmax=0.5).to_dict()


@pytest.mark.parametrize("wrapped", [np.asarray, Tensor])
def test_a_batch_or_tuple_of_one_map_is_that_map(wrapped):
    heads = np.array([[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]])
    plain = attention_heatmap(heads).to_dict()
    assert attention_heatmap((wrapped(heads[None]),)).to_dict() == plain
    assert attention_heatmap(wrapped(heads[None, None])).to_dict() == plain
    assert attention_heatmap([wrapped(heads[0])]).to_dict() == plain


@pytest.mark.parametrize("wrapped", [np.asarray, Tensor])
def test_several_layers_are_a_grid_with_one_large(wrapped):
    heads = np.array([[[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]])
    layers = np.stack([heads, heads[::-1]])
    frames = [
        MapFrame(kind="", layer=n, weights=w, query_labels=("a", "b"), key_labels=("x", "y", "z"))
        for n, w in enumerate(layers)
    ]
    wanted = head_grid(frames).to_dict()
    labelled = [
        SimpleNamespace(weights=wrapped(w), query_labels="ab", key_labels="xyz") for w in layers
    ]
    assert attention_heatmap(labelled).to_dict() == wanted
    for given in (
        wrapped(layers), layers.tolist(), tuple(map(wrapped, layers)), wrapped(layers[:, None]),
        tuple(wrapped(w[None]) for w in layers),
    ):  # fmt: skip
        assert attention_heatmap(given, "ab", "xyz").to_dict() == wanted


def test_of_a_batch_one_must_be_chosen():
    several = np.full((2, 3, 2, 2, 2), 0.5)
    with pytest.raises(ValueError, match=r"need one map, got 3 maps, layers or rows of a batch"):
        attention_heatmap(several)
    with pytest.raises(ValueError, match="got 3 maps"):
        attention_heatmap(tuple(several))
    with pytest.raises(ValueError, match="maps of one shape"):
        attention_heatmap([np.full((1, 2, 2), 0.5), np.full((1, 2, 3), 0.5)])
