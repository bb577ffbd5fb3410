from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support.charts import kernel_tables

from dashboard.charts import (
    attention_heatmap,
    difference_heatmap,
    head_grid,
    loss_chart,
    regression_chart,
)
from dashboard.charts.export import complete
from dashboard.charts.frames import MapFrame
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.legend import ColourScale, colour_scale
from dashboard.charts.template import chart_of, template
from dashboard.charts.values import draw_values, prepare_values

WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
LARGE = np.random.default_rng(1).dirichlet(np.ones(67), size=61)


def found(chart):
    return colour_scale(complete(chart))


@pytest.mark.parametrize("weights", [WEIGHTS, LARGE, np.stack([WEIGHTS, WEIGHTS])])
def test_a_map_of_any_size_says_where_its_colours_end(weights):
    assert found(attention_heatmap(weights, vmax=0.4)) == ColourScale(
        0.4, False, "attention weight"
    )


def test_a_map_of_a_page_says_it_by_its_table():
    prepared = prepare_heatmap(WEIGHTS, vmax=0.3)
    rows = {name: table.to_pylist() for name, table in prepared.sent.items()}
    page = {**template(draw_heatmap, prepared), "datasets": rows}
    assert found(page) == ColourScale(0.3, False, "attention weight")


def test_differences_on_a_page_say_it_by_their_table():
    prepared = prepare_heatmap(WEIGHTS, reference=WEIGHTS[::-1], vmax=0.3)
    rows = {name: table.to_pylist() for name, table in prepared.sent.items()}
    page = {**template(draw_heatmap, prepared), "datasets": rows}
    assert found(page) == ColourScale(0.3, True, "difference")


def test_the_weights_under_a_curve_and_a_grid_of_heads_have_a_scale():
    assert found(regression_chart(*kernel_tables(), vmax=0.2)) == ColourScale(
        0.2, False, "attention weight"
    )
    frames = [MapFrame(kind="cross", layer=0, weights=np.stack([WEIGHTS, WEIGHTS]),
                       query_labels=("a", "b", "c"), key_labels=tuple("defgh"))]  # fmt: skip
    assert found(head_grid(frames, vmax=0.5)) == ColourScale(0.5, False, "attention weight")


def test_values_and_differences_have_two_sides():
    assert found(difference_heatmap(WEIGHTS, WEIGHTS, vmax=0.5)) == ColourScale(
        0.5, True, "difference"
    )
    signed, unsigned = (prepare_values(WEIGHTS, vmax=2, signed=one) for one in (True, False))
    assert found(chart_of(draw_values, signed)) == ColourScale(2, True, "value")
    assert found(chart_of(draw_values, unsigned)) == ColourScale(2, False, "value")


def test_a_chart_with_a_legend_of_its_own_or_without_colours_needs_none():
    assert found(attention_heatmap(WEIGHTS, legend=True)) is None
    history = pa.table({"step": [0, 1], "loss": [2.0, 1.0]})
    assert found(loss_chart(history)) is None
    curve, points, _ = kernel_tables()
    assert found(regression_chart(curve, points)) is None
