"""One specification for all results of a shape: only the tables differ."""

from __future__ import annotations

import json

import altair as alt
import numpy as np
import pyarrow as pa
import pytest
from support.charts import kernel_tables

from dashboard.charts import MapFrame, attention_heatmap, head_grid, regression_chart
from dashboard.charts.codes import written
from dashboard.charts.head_grid import draw_head_grid, prepare_head_grid
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.regression import draw_regression, prepare_regression
from dashboard.charts.template import template
from dashboard.features.regression.chart_overlay import (
    draw_overlay,
    overlay_curves,
    prepare_overlay,
)


def regression(width=0.4, n=11, vmax=0.8, **more):
    return prepare_regression(*kernel_tables(n, width=width), vmax=vmax, **more)


def overlay(width=0.4, n=11, names=("a · one", 'b "two"'), **more):
    curves = [kernel_tables(n, width=width * (i + 1)) for i in range(len(names))]
    given = {name: curve for name, (curve, _, _) in zip(names, curves, strict=True)}
    return prepare_overlay(given, curves[0][1], **more)


KINDS = [(draw_regression, regression), (draw_overlay, overlay)]


def text(draw, prepared):
    """A template as it is sent; made anew, so that nothing is equal for being the same."""
    names = {name: alt.NamedData(name) for name in prepared.tables}
    made = draw({**names, **prepared.lists}, prepared.shape).to_dict()
    assert template(draw, prepared) == made
    return json.dumps(made)


@pytest.mark.parametrize(("draw", "prepare"), KINDS)
def test_results_of_one_shape_have_equal_specifications_and_other_tables(draw, prepare):
    one, other = prepare(0.4), prepare(0.41)
    assert text(draw, one) == text(draw, other)
    assert "datasets" not in template(draw, one)
    assert not one.tables["queries"].equals(other.tables["queries"])
    assert template(draw, one) is template(draw, other)


@pytest.mark.parametrize(("draw", "prepare"), KINDS)
@pytest.mark.parametrize("more", [{"n": 12}, {"y_title": "price"}, {"width": 500}])
def test_another_shape_has_another_specification(draw, prepare, more):
    given = {"width": 0.4, "n": 11}
    if "width" in more:  # of the chart, in px
        found = [draw_and_size(draw, prepare, width) for width in (320, 500)]
    else:
        found = [text(draw, prepare(**given)), text(draw, prepare(**{**given, **more}))]
    assert found[0] != found[1]


def draw_and_size(draw, prepare, width):
    prepared = prepare()
    return text(draw, type(prepared)(prepared.tables, prepared.shape._replace(width=width)))


@pytest.mark.parametrize(("draw", "prepare"), KINDS)
def test_a_slider_that_moves_a_little_rarely_changes_the_shape(draw, prepare):
    shapes = [prepare(width).shape for width in np.arange(0.3, 0.6, 0.01)]
    assert len(set(shapes)) <= 3
    assert all(one.axes.x == shapes[0].axes.x for one in shapes)


@pytest.mark.parametrize("width", [0.05, 0.4, 2.0, 50.0])
def test_the_axis_holds_all_values_and_little_more(width):
    prepared = regression(width)
    values = np.concatenate(
        [prepared.tables["queries"][name].to_numpy() for name in ("prediction", "truth")]
        + [prepared.tables["points"]["y"].to_numpy()]
    )
    low, high = prepared.shape.axes.y
    spread = np.ptp(values)
    assert low < values.min() < values.max() < high
    assert high - low < 1.25 * spread


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_the_axis_holds_values_of_any_size(scale, shift):
    curve, points, _ = kernel_tables()
    tables = {
        name: pa.array((curve[name].to_numpy() + shift) * scale)
        for name in ("prediction", "truth")
    }
    moved = pa.table({"x0": curve["x0"], **tables})
    y = pa.table({"x0": points["x0"], "y": (points["y"].to_numpy() + shift) * scale})
    low, high = prepare_regression(moved, y).shape.axes.y
    held = np.concatenate([values.to_numpy() for values in tables.values()])
    assert low < held.min() < held.max() < high


def test_a_colour_scale_of_another_end_changes_the_pictures_alone():
    one, other = regression(vmax=0.8), regression(vmax=0.5)
    assert one.shape == other.shape
    for scheme in ("light", "dark"):
        assert one.tables["picture"][scheme] != other.tables["picture"][scheme]
    kept = [name for name in one.tables["queries"].column_names if name != "vmax"]
    assert one.tables["queries"].select(kept).equals(other.tables["queries"].select(kept))


def test_the_numbers_of_the_tables_are_the_results():
    curve, points, weights = kernel_tables()
    tables = prepare_regression(curve, points, weights, vmax=0.8).tables
    rows, columns = np.argsort(curve["x0"].to_numpy()), np.argsort(points["x0"].to_numpy())
    queries = tables["queries"]
    for own, theirs in (("x", "x0"), ("prediction", "prediction"), ("truth", "truth")):
        expected = curve[theirs].to_numpy()[rows]
        np.testing.assert_allclose(queries[own].to_numpy(), expected, rtol=1e-4)
    told = [np.array(row.split(" "), float) for row in queries["weights"].to_pylist()]
    np.testing.assert_allclose(told, weights[np.ix_(rows, columns)], rtol=1e-4)
    for own, theirs in (("input", "x0"), ("output", "y")):
        expected = points[theirs].to_numpy()[columns]
        np.testing.assert_allclose(tables["keys"][own].to_numpy(), expected, rtol=1e-4)


def test_all_curves_are_in_the_tables_of_the_overlay():
    prepared = overlay()
    rows = prepared.tables["curves"].to_pandas()
    for i, name in enumerate(("a · one", 'b "two"')):
        curve, _, _ = kernel_tables(width=0.4 * (i + 1))
        order = np.argsort(curve["x0"].to_numpy())
        expected = curve["prediction"].to_numpy()[order]
        np.testing.assert_allclose(rows["prediction"][rows["panel"] == name], expected, rtol=1e-4)
        wide = prepared.tables["queries"][f"p{i}"].to_numpy()
        np.testing.assert_allclose(wide, expected, rtol=1e-4)


def whole(chart, names):
    """A chart's specification with its data sets under our names."""
    spec = chart.to_dict()
    sets = spec.pop("datasets")
    said = json.dumps(spec)
    for hashed, rows in sets.items():
        (name,) = (own for own, table in names.items() if table.to_pylist() == rows)
        said = said.replace(json.dumps(hashed), json.dumps(name))
    return json.loads(said), len(sets)


def test_a_chart_of_its_own_is_the_template_with_the_tables():
    given = kernel_tables()
    prepared = prepare_regression(*given, title="Gaussian")
    spec, sets = whole(regression_chart(*given, title="Gaussian"), prepared.tables)
    assert spec == template(draw_regression, prepared)
    assert sets == len(prepared.tables) == 4
    curves = {"a": given[0], "b": kernel_tables(width=2.0)[0]}
    prepared = prepare_overlay(curves, given[1])
    spec, sets = whole(overlay_curves(curves, given[1]), prepared.tables)
    assert spec == template(draw_overlay, prepared)
    assert sets == len(prepared.tables) == 3


def weights(*shape, seed=0, masked=False):
    found = np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), size=shape[:-1])
    if masked:
        found[:, ~np.tri(*shape[-2:], dtype=bool)] = np.nan
    return found


def grid(shape=(3, 5, 7), seed=0, key="k", **more):
    keys = tuple(f"{key}{i}" for i in range(shape[-1]))
    queries = tuple(f"q{i}" for i in range(shape[-2]))
    return [
        MapFrame(kind="cross", layer=layer, weights=weights(*shape, seed=seed + layer, **more),
                 query_labels=queries, key_labels=keys)
        for layer in (0, 1)
    ]  # fmt: skip


def words(count, letter="w"):
    return [f"{letter}{i}" for i in range(count)]


GOLD = {"outlined": [(1, 2)], "possible": [(0, 0)]}
MAPS = {
    "cells": lambda seed, **more: prepare_head_grid(grid(seed=seed), **more),
    "masked": lambda seed, **more: prepare_head_grid(grid(seed=seed, masked=True), **more),
    "images": lambda seed, **more: prepare_head_grid(grid((2, 61, 67), seed=seed), **more),
    "gold": lambda seed, **more: prepare_head_grid(grid(seed=seed), **GOLD, **more),
    "map": lambda seed, **more: prepare_heatmap(
        weights(5, 7, seed=seed), words(5), words(7), **more
    ),
    "map, gold": lambda seed, **more: prepare_heatmap(weights(5, 7, seed=seed), **GOLD, **more),
    "heads": lambda seed, **more: prepare_heatmap(weights(2, 61, 67, seed=seed), **more),
}


def drawing(kind):
    return draw_heatmap if kind in ("map", "map, gold", "heads") else draw_head_grid


@pytest.mark.parametrize("kind", MAPS)
def test_other_weights_for_the_same_words_change_the_tables_alone(kind):
    draw, one, other = drawing(kind), MAPS[kind](0), MAPS[kind](10)
    assert text(draw, one) == text(draw, other)
    assert "datasets" not in template(draw, one)
    assert [*one.tables] == [*other.tables]
    changed = [name for name in one.tables if not one.tables[name].equals(other.tables[name])]
    assert len(changed) == 1
    assert text(draw, MAPS[kind](0, vmax=0.5)) != text(draw, one)


def test_other_words_have_another_specification():
    one, other = (prepare_head_grid(grid(key=key)) for key in ("k", "j"))
    assert text(draw_head_grid, one) != text(draw_head_grid, other)
    one, other = (prepare_heatmap(weights(2, 3), None, words(3, key)) for key in ("k", "j"))
    assert text(draw_heatmap, one) != text(draw_heatmap, other)


def test_weights_of_many_cells_are_filled_into_their_list():
    frames = [grid((2, 37, 37), seed=seed) for seed in (0, 10)]
    one, other = (prepare_head_grid(each) for each in frames)
    assert one.shape == other.shape
    for prepared, drawn in ((one, frames[0]), (other, frames[1]), (one, frames[0])):
        spec = template(draw_head_grid, prepared)
        (held,) = (param["value"] for param in spec["params"] if param["name"] == "weights")
        assert held[1] == written(drawn[0].weights[0])
        whole_spec, _ = whole(head_grid(drawn), prepared.tables)
        assert whole_spec == spec


def test_a_map_of_its_own_is_the_template_with_the_tables():
    prepared = prepare_head_grid(grid(), chosen="1.2", **GOLD)
    spec, sets = whole(head_grid(grid(), chosen="1.2", **GOLD), prepared.tables)
    assert spec == template(draw_head_grid, prepared)
    assert sets == len(prepared.tables) == 2
    prepared = prepare_heatmap(weights(5, 7), words(5), words(7), title="Additive")
    spec, sets = whole(
        attention_heatmap(weights(5, 7), words(5), words(7), title="Additive"), prepared.tables
    )
    assert spec == template(draw_heatmap, prepared)
    assert sets == len(prepared.tables) == 1


def test_a_map_that_needs_a_window_is_no_template():
    with pytest.raises(ValueError, match="need a map that is no large one, got 4,087 weights"):
        prepare_heatmap(weights(61, 67))
