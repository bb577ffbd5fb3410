from __future__ import annotations

import altair as alt
import numpy as np
import pytest

from dashboard.charts import MapFrame, head_grid

WORDS = 37


def grid():
    weights = np.random.default_rng(2).dirichlet(np.full(WORDS, 0.1), size=(1, 2, WORDS))[0]
    weights[1, 3, 5:] = np.nan
    words = tuple(f"w{n}" for n in range(WORDS))
    frame = MapFrame(
        kind="encoder", layer=0, weights=weights, query_labels=words, key_labels=words
    )
    return weights, head_grid([frame], chosen="1.2")


def pointed_at(painted, query, key):
    _, chart = grid()
    hovered = {"left": key + 0.5, "top": query + 0.5}
    return painted(chart, hovered=hovered)


def title(scene):
    return scene.items(role="title-text")[0]["text"]


@pytest.mark.parametrize(("query", "key"), [(7, 11), (0, 0), (36, 36)])
def test_the_title_reads_the_cell_under_the_pointer(painted, query, key):
    weights, _ = grid()
    said = title(pointed_at(painted, query, key))
    assert said == f"layer 1 · head 2 · w{query} → w{key}: {weights[1, query, key]:.3f}"


def test_the_title_reads_the_cell_of_a_map_that_is_not_square(painted):
    weights = np.random.default_rng(2).dirichlet(np.full(WORDS, 0.1), size=(1, 31))
    frame = MapFrame(
        kind="cross", layer=0, weights=weights, query_labels=tuple(f"q{n}" for n in range(31)),
        key_labels=tuple(f"k{n}" for n in range(WORDS)),
    )  # fmt: skip
    scene = painted(head_grid([frame, frame]), hovered={"left": 5.5, "top": 29.5})
    assert title(scene).endswith(f"q29 → k5: {weights[0, 29, 5]:.3f}")


def test_a_masked_cell_says_so(painted):
    assert title(pointed_at(painted, 3, 20)).endswith("w3 → w20: masked")


def test_without_a_pointer_the_title_is_the_name_and_no_frame_is_seen(painted):
    scene = painted(grid()[1])
    assert title(scene) == "layer 1 · head 2"
    assert len(scene.items("row_marks")) == len(scene.items("column_marks")) == 0


def test_frames_go_around_the_row_and_the_column(painted):
    scene = pointed_at(painted, 7, 11)
    (row,), (column,) = scene.items("row_marks"), scene.items("column_marks")
    (cell,) = [
        item for item in scene.items("hit_marks")
        if item["left"] == pytest.approx(column["left"], abs=0.01)
        and item["top"] == pytest.approx(row["top"], abs=0.01)
    ]  # fmt: skip
    assert column["width"] == pytest.approx(cell["width"])
    assert row["height"] == pytest.approx(cell["height"])
    assert row["width"] == pytest.approx(WORDS * cell["width"])


def test_a_browser_paints_it_on_a_canvas():
    spec = grid()[1].to_dict()
    assert spec["usermeta"]["embedOptions"]["renderer"] == "canvas"
    assert isinstance(alt.Chart.from_dict(spec), alt.LayerChart)
