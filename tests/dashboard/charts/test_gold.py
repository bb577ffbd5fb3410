from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts import MapFrame, attention_heatmap, head_grid
from dashboard.charts.theme import BACKGROUND, GOLD, GOLD_EDGE, SEQUENTIAL

SOURCE = ("the", "dog", "is", "the", "dog", ".", "<eos>")
TARGET = ("le", "chien", "est", "le", "<eos>")
SURE, POSSIBLE = [(0, 0), (1, 1), (2, 2), (2, 5)], [(3, 3)]


def weights(*shape: int) -> np.ndarray:
    values = np.random.default_rng(0).random(shape) ** 4
    return values / values.sum(-1, keepdims=True)


def frame(layer: int) -> MapFrame:
    return MapFrame(
        kind="cross", layer=layer, weights=weights(3, 5, 7).astype(np.float32),
        query_labels=TARGET, key_labels=SOURCE,
    )  # fmt: skip


def places(scene, name: str, side: float = 24) -> list[tuple[int, int]]:
    return [(round(i["y"] // side), round(i["x"] // side)) for i in scene.items(f"{name}_marks")]


@pytest.mark.parametrize("grid", [False, True])
def test_gold_cells_are_outlined_and_said(painted, grid):
    scene = painted(
        head_grid([frame(0), frame(1)], chosen="1.2", outlined=SURE, possible=POSSIBLE)
        if grid
        else attention_heatmap(weights(5, 7), TARGET, SOURCE, outlined=SURE, possible=POSSIBLE)
    )
    assert sorted(places(scene, "gold")) == SURE
    assert places(scene, "possible") == POSSIBLE
    assert sorted(places(scene, "edges")) == sorted(SURE + POSSIBLE)
    told = dict.fromkeys(SURE, "gold") | dict.fromkeys(POSSIBLE, "gold, possible")
    for place, cell in zip(places(scene, "cells"), scene.items("cells_marks"), strict=True):
        weight, _, said = cell["description"].partition("weight ")[2].partition(", ")
        assert 0 <= float(weight) <= 1
        assert said == told.get(place, "not gold")
    for layer in ("cells", "gold", "possible"):
        (drawn,) = (one for one in scene.spec["layer"] if one.get("name") == layer)
        tooltip = {one["field"]: one.get("title") for one in drawn["encoding"]["tooltip"]}
        assert tooltip["gold"] == "alignment"


@pytest.mark.parametrize("large", [False, True])
def test_a_link_that_is_sure_and_possible_is_sure(painted, large):
    shape = (67, 61) if large else (5, 7)
    both = {"outlined": [(2, 3), (1, 1)], "possible": [(2, 3), (0, 0)]}
    scene = painted(attention_heatmap(weights(*shape), **both))
    assert len(scene.items("gold_marks")) == 2
    assert len(scene.items("possible_marks")) == 1
    if not large:
        assert sorted(places(scene, "gold")) == [(1, 1), (2, 3)]
        assert places(scene, "possible") == [(0, 0)]


@pytest.mark.slow
def test_every_head_and_every_image_has_its_outlines(painted):
    assert (
        len(painted(attention_heatmap(weights(2, 5, 7), outlined=SURE)).items("gold_marks")) == 8
    )
    large = weights(67, 61)
    scene = painted(attention_heatmap(large, outlined=[(66, 60)]), width=400)
    (mark,) = scene.items("gold_marks")
    (plot,) = scene.items("layer_0_marks")
    assert mark["left"] + mark["width"] == pytest.approx(plot["left"] + plot["width"], abs=2)
    assert mark["top"] + mark["height"] == pytest.approx(plot["top"] + plot["height"], abs=2)
    assert painted(attention_heatmap(large, outlined=[])).items("gold_marks") == []


def test_without_gold_nothing_is_said_of_it(painted, survives):
    survives(lambda: attention_heatmap(weights(2, 3), outlined=[(1, 2)], possible=[(0, 0)]))
    scene = painted(attention_heatmap(weights(5, 7)))
    assert not scene.items("gold_marks")
    assert not any("gold" in item["description"] for item in scene.items("cells_marks"))
    none = painted(attention_heatmap(weights(5, 7), outlined=[]))
    assert all(item["description"].endswith(", not gold") for item in none.items("cells_marks"))


@pytest.mark.parametrize("cell", [(5, 0), (0, 7), (-1, 0)])
def test_cells_that_are_not_there_are_refused(cell):
    with pytest.raises(ValueError, match=r"map of 5 x 7, got \(-?\d, \d\)"):
        attention_heatmap(weights(5, 7), outlined=[cell])
    with pytest.raises(ValueError, match="map of 5 x 7"):
        head_grid([frame(0)], outlined=[], possible=[cell])


def test_an_outline_stands_out_from_every_weight():
    def luminance(colour: str) -> float:
        parts = np.array(list(bytes.fromhex(colour[1:]))) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    def contrast(one: str, other: str) -> float:
        low, high = sorted(map(luminance, (one, other)))
        return (high + 0.05) / (low + 0.05)

    assert contrast(GOLD, GOLD_EDGE) > 4.5
    for scheme, colours in SEQUENTIAL.items():
        for colour in (*colours, BACKGROUND[scheme]):
            assert max(contrast(GOLD, colour), contrast(GOLD_EDGE, colour)) > 3
