"""Weights below 0: on the scale of two sides in every chart, and in no figure of shares."""

import base64
import io
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image

from attention_plugins.comparison import entropy, jensen_shannon
from attention_plugins.health import figures
from attention_plugins.maps import AttentionMaps
from attention_plugins.record import AttentionMap, Site
from dashboard.charts import MapFrame, attention_heatmap, head_grid, maps, top_weight
from dashboard.charts.export import complete
from dashboard.charts.frames import any_signed, map_names, masked_rows, named_maps
from dashboard.charts.head_grid import draw_head_grid, prepare_head_grid
from dashboard.charts.image import SIGNS, largest_of_blocks, pictures, span, written
from dashboard.charts.legend import colour_scale
from dashboard.charts.regression import draw_regression, prepare_regression
from dashboard.charts.template import chart_of
from dashboard.charts.theme import DIVERGING
from dashboard.jobs.task_tables import maps_table

WEIGHTS = np.array([[0.5, -0.25, 0.75], [-0.5, 0.25, 1.25]])


def ranges(chart):
    """The colour ramps of a chart's marks."""
    text = json.dumps(chart.to_dict())
    return {name for name in ("heatmap", "diverging") if f'"range": "{name}"' in text}


def frame(weights, **more):
    down, across = (tuple(map(str, range(n))) for n in weights.shape[-2:])
    return MapFrame(kind="cross", layer=0, weights=weights.reshape(-1, *weights.shape[-2:]),
                    query_labels=down, key_labels=across, **more)  # fmt: skip


LARGE = np.sin(np.arange(70 * 80)).reshape(70, 80)
CURVE = {"x0": [0.0, 1.0], "prediction": [0.5, 0.25], "truth": [None, None]}
POINTS = {"x0": [0.0, 0.5, 1.0], "y": [0.5, 0.25, 0.5]}


def regression(weights):
    curve = pa.table(CURVE, schema=pa.schema([(name, pa.float64()) for name in CURVE]))
    return chart_of(draw_regression, prepare_regression(curve, pa.table(POINTS), weights))


CHARTS = {
    "heatmap": (attention_heatmap, WEIGHTS),
    "heads": (attention_heatmap, np.stack([WEIGHTS, WEIGHTS])),
    "large": (attention_heatmap, LARGE),
    "grid": (lambda weights: head_grid([frame(weights), frame(weights)]), WEIGHTS),
    "regression": (regression, WEIGHTS),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_weight_below_0_turns_the_scale_and_none_below_leaves_it(name):
    draw, weights = CHARTS[name]
    assert ranges(draw(weights)) == {"diverging"}
    assert ranges(draw(np.abs(weights))) == {"heatmap"}


def test_a_map_that_may_be_below_0_is_drawn_as_its_neighbours_are():
    assert ranges(attention_heatmap(np.abs(WEIGHTS), signed=True)) == {"diverging"}
    assert ranges(head_grid([frame(np.abs(WEIGHTS), signed=True)])) == {"diverging"}
    assert any_signed([frame(np.abs(WEIGHTS)), frame(WEIGHTS)])
    assert not any_signed([frame(np.abs(WEIGHTS))])


def test_legends_of_exports_tell_weights_from_differences():
    weights = colour_scale(complete(attention_heatmap(WEIGHTS)))
    assert (weights.title, weights.signed, weights.end) == ("attention weight", True, 1.0)
    differences = colour_scale(complete(attention_heatmap(WEIGHTS, reference=WEIGHTS / 2)))
    assert (differences.title, differences.signed) == ("difference", True)


def test_a_signed_weight_comes_back_from_its_two_signs():
    reach = span(WEIGHTS)
    assert reach == 1.25
    text = written(np.append(WEIGHTS.ravel(), [0.0, np.nan])[None], reach)
    codes = [text[at : at + 2] for at in range(0, len(text), 2)]
    half = (len(SIGNS) ** 2 - 1) // 2
    numbers = [SIGNS.index(a) * len(SIGNS) + SIGNS.index(b) for a, b in codes[:-1]]
    back = [(number / half - 1) * reach for number in numbers]
    np.testing.assert_allclose(back, [*WEIGHTS.ravel(), 0.0], atol=reach / half)
    assert back[-1] == 0.0  # exactly, as most weights of a causal map are
    assert codes[-1] == "!!"


def test_a_value_above_1_comes_back_from_its_two_signs_and_has_its_name():
    values = np.array([[0.5, 2.5], [np.nan, 0.0]])
    prepared = prepare_head_grid([frame(np.stack([values, values / 5]))], quantity="norm")
    assert (prepared.values["span"], prepared.shape.plot.far) == (2.5, True)
    code = prepared.tables["maps"]["weights"][1].as_py()
    steps = [SIGNS.index(code[2 * n]) * len(SIGNS) + SIGNS.index(code[2 * n + 1]) for n in (0, 1)]
    parts = np.array(steps) / (len(SIGNS) ** 2 - 1)
    assert parts * 2.5 == pytest.approx([0.5, 2.5], abs=2.5 / 8100)
    chart = json.dumps(chart_of(draw_head_grid, prepared).to_dict())
    assert f"/ {len(SIGNS) ** 2 - 1} * span" in chart
    assert '"title": "norm"' in chart
    assert "norm" in prepared.summary.words
    usual = prepare_head_grid([frame(np.stack([values / 5, values / 5]))])
    assert "span" not in usual.values
    assert "* span" not in json.dumps(chart_of(draw_head_grid, usual).to_dict())
    large = attention_heatmap(np.abs(LARGE) * 3, quantity="norm").to_dict()
    assert f"/ {len(SIGNS) ** 2 - 1} * span" in json.dumps(large)


def test_one_map_of_all_heads_is_called_their_mean():
    one, two = (replace(frame(np.abs(WEIGHTS)), layer=n, is_mean=True) for n in (0, 1))
    assert map_names([one, two]) == ["1.mean", "2.mean"]
    found = named_maps([one, two])
    assert [(each.map, each.name, each.head) for each, _ in found] == [
        ("1.mean", "layer 1 · mean", "mean"), ("2.mean", "layer 2 · mean", "mean"),
    ]  # fmt: skip
    assert np.array_equal(found[1][1], np.abs(WEIGHTS))


def test_a_pixel_has_the_diverging_colour_and_the_weight_farthest_from_0():
    urls, _ = pictures(np.array([[-1.0, 0.0, 1.0]]), 1.0, signed=True)
    image = Image.open(io.BytesIO(base64.b64decode(urls["light"].partition(",")[2])))
    found = [image.convert("RGBA").getpixel((column, 0))[:3] for column in (0, 2)]
    ends = [tuple(bytes.fromhex(DIVERGING["light"][end][1:])) for end in (0, -1)]
    assert found == ends
    blocks = largest_of_blocks(np.array([[0.5, -0.75, np.nan], [0.25, 0.0, np.nan]]), 2, 2)
    np.testing.assert_array_equal(blocks, [[-0.75, np.nan]])


def test_scales_reach_the_weight_farthest_from_0_and_no_row_of_both_signs_is_masked():
    assert top_weight([np.array([-0.58, 0.2])]) == 0.6
    kept = masked_rows(np.array([[0.5, -0.5], [0.0, 0.0]]))
    np.testing.assert_array_equal(kept, [[0.5, -0.5], [np.nan, np.nan]])


def test_the_fact_travels_with_the_table_and_other_tables_stay_as_they_were():
    site = {"site": Site("cross", 0), "query_labels": ("a", "b"), "key_labels": ("x", "y", "z")}
    weights = torch.tensor(WEIGHTS[None])
    signed = AttentionMap(weights=weights, signed=True, normalised=False, **site)
    (read,) = maps(maps_table([signed]))
    assert read.signed
    plain = AttentionMap(weights=weights.abs(), normalised=False, **site)
    table = maps_table([plain])
    assert "signed" not in table.column_names
    assert not maps(table)[0].signed


def test_files_keep_what_was_said_and_raw_scores_are_still_refused(tmp_path):
    with pytest.raises(ValueError, match="signed=True where a model's weights may be below 0"):
        AttentionMaps.of(WEIGHTS[None])
    kept = AttentionMaps.of(WEIGHTS[None], signed=True)
    kept.save(tmp_path / "maps.safetensors")
    (read,) = AttentionMaps.load(tmp_path / "maps.safetensors")
    assert read.signed
    assert torch.equal(read.weights, kept[0].weights)
    assert AttentionMaps([read]).map(0).weights.min() == -0.5


def test_figures_of_shares_are_nan_of_signed_rows_and_of_no_other():
    rows = torch.tensor([[0.5, 0.5], [1.5, -0.5]])
    assert entropy(rows).isnan().tolist() == [False, True]
    assert jensen_shannon(rows, rows.flip(1)).isnan().tolist() == [False, True]
    both = torch.stack([rows[:1], rows[1:]])
    found = figures(both, both, causal=False, eos=1, sums_to_one=False)
    assert found["row_error"].tolist() == [0.0, 0.0]
    for name in ("eos", "entropy", "concentration", "diagonality", "distance"):
        assert found[name].isnan().tolist() == [False, True]
