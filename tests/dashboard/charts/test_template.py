"""One specification for all results of a shape: only the tables differ."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from support.charts import kernel_tables

from dashboard import language
from dashboard.charts import (
    MapFrame,
    attention_heatmap,
    head_grid,
    loss_chart,
    regression_chart,
)
from dashboard.charts.head_grid import draw_head_grid, prepare_head_grid
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.labels import displayed
from dashboard.charts.regression import draw_regression, prepare_regression
from dashboard.charts.series import draw_loss, prepare_loss
from dashboard.charts.template import chart_of, template
from dashboard.features.regression.figures import (
    draw_overlay,
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
    return json.dumps(template(partial(draw), prepared))


@pytest.mark.parametrize(("draw", "prepare"), KINDS)
def test_results_of_one_shape_have_equal_specifications_and_other_tables(draw, prepare):
    one, other = prepare(0.4), prepare(0.41)
    assert text(draw, one) == text(draw, other)
    assert "datasets" not in template(draw, one)
    assert not one.tables["queries"].equals(other.tables["queries"])
    assert template(draw, one) is template(draw, other)


@pytest.mark.parametrize(("draw", "prepare"), KINDS)
@pytest.mark.parametrize("more", [{"n": 12}, {"y_title": "price"}])
def test_another_shape_has_another_specification(draw, prepare, more):
    given = {"width": 0.4, "n": 11}
    assert text(draw, prepare(**given)) != text(draw, prepare(**{**given, **more}))


def test_a_chart_of_another_width_has_another_specification():
    prepared = regression()
    wider = replace(prepared, shape=prepared.shape._replace(width=500))
    assert text(draw_regression, prepared) != text(draw_regression, wider)


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
    assert prepared.values["names"] == ["a · one", 'b "two"']
    for i in range(2):
        curve, _, _ = kernel_tables(width=0.4 * (i + 1))
        order = np.argsort(curve["x0"].to_numpy())
        expected = curve["prediction"].to_numpy()[order]
        np.testing.assert_allclose(
            rows["prediction"][rows["line"] == f"p{i}"], expected, rtol=1e-4
        )
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
    spec, sets = whole(chart_of(draw_overlay, prepared), prepared.tables)
    made = template(draw_overlay, prepared)  # its last layer only holds the names
    assert spec["layer"] == made["layer"][:-1]
    assert [one["name"] for one in spec["params"]] == [one["name"] for one in made["params"]]
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


def cells(q, k, seed, **more):
    given = {"cell": 44, **more}
    return attention_heatmap, (weights(q, k, seed=seed), words(q), words(k)), given


def heads(q, k, seed, masked=False, **more):
    return head_grid, (grid((3, q, k), seed=seed, masked=masked),), more


# By kind: two sizes of it, and how it is drawn.
MAPS = {
    "cells": ((5, 7), (3, 4), cells),
    "gold": ((5, 7), (3, 6), lambda *given, **more: cells(*given, **GOLD, **more)),
    "canvas": ((31, 37), (32, 30), cells),
    "gold, picture": ((61, 67), (64, 59), lambda *given, **more: cells(*given, **GOLD, **more)),
    "grid": ((5, 7), (11, 3), heads),
    "grid, masked": ((5, 5), (7, 7), lambda *given, **more: heads(*given, masked=True, **more)),
    "grid, gold": ((5, 7), (3, 6), lambda *given, **more: heads(*given, **GOLD, **more)),
    "grid, pointed": ((37, 31), (31, 41), heads),
    "grid, picture": ((61, 67), (67, 61), heads),
}
PREPARE = {attention_heatmap: prepare_heatmap, head_grid: prepare_head_grid}
DRAW = {attention_heatmap: draw_heatmap, head_grid: draw_head_grid}


def prepared_map(kind, size, seed=0, **more):
    chart, given, options = MAPS[kind][2](*size, seed, **more)
    return DRAW[chart], PREPARE[chart](*given, **options)


@pytest.mark.parametrize("kind", MAPS)
def test_maps_of_other_words_and_sizes_have_one_specification(kind):
    draw, one = prepared_map(kind, MAPS[kind][0])
    _, other = prepared_map(kind, MAPS[kind][1], seed=3, vmax=0.5)
    assert text(draw, one) == text(draw, other)
    assert "datasets" not in template(draw, one)
    assert [*one.sent] == [*other.sent]
    assert not one.sent["parameters"].equals(other.sent["parameters"])


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("kind", MAPS)
def test_a_template_with_its_tables_is_painted_as_the_chart_of_its_own(kind, which, painted):
    chart, given, options = MAPS[kind][2](*MAPS[kind][which], 5, vmax=0.7)
    draw, prepared = prepared_map(kind, MAPS[kind][which], 5, vmax=0.7)
    rows = {name: table.to_pylist() for name, table in prepared.sent.items()}
    filled = {**template(draw, prepared), "datasets": rows}
    for width in (230,) if which else (None, 230):
        theirs, ours = painted(chart(*given, **options), width=width), painted(filled, width=width)
        assert (ours.width, ours.height) == (theirs.width, theirs.height)
        (frame,), (expected,) = (one.items(role="frame") for one in (ours, theirs))
        assert (frame["width"], frame["height"]) == (expected["width"], expected["height"])
        assert np.array_equal(ours.pixels(), theirs.pixels())
    labels = [label["text"] for label in ours.items(role="axis-label")]
    assert labels == [label["text"] for label in theirs.items(role="axis-label")]
    assert labels


def test_another_kind_of_map_has_another_specification():
    found = {text(*prepared_map(kind, MAPS[kind][0])) for kind in MAPS}
    assert len(found) == len(MAPS)
    draw, named = prepared_map("cells", (5, 7), title="Additive")
    assert text(draw, named) not in found


def test_a_map_that_needs_a_window_is_a_template_by_its_size(painted):
    one, other = (prepare_heatmap(weights(61, 67, seed=n), vmax=0.5 + n / 9) for n in (0, 1))
    assert text(draw_heatmap, one) == text(draw_heatmap, other)
    rows = {name: table.to_pylist() for name, table in other.sent.items()}
    filled = {**template(draw_heatmap, other), "datasets": rows}
    theirs = painted(attention_heatmap(weights(61, 67, seed=1), vmax=0.5 + 1 / 9))
    assert np.array_equal(painted(filled).pixels(), theirs.pixels())
    assert text(draw_heatmap, prepare_heatmap(weights(67, 61))) != text(draw_heatmap, one)


def test_several_heads_are_no_template():
    with pytest.raises(ValueError, match="need a chart of one view"):
        template(draw_heatmap, prepare_heatmap(weights(3, 5, 7)))


def test_words_travel_as_they_are():
    odd = ["it's", 'a "b"', "c\\d", "e\nf", "", "${x}"]
    prepared = prepare_heatmap(weights(2, 6), None, odd)
    (row,) = prepared.sent["parameters"].to_pylist()
    assert row["keys"].split("\n") == list(prepared.values["keys"]) == displayed(odd)


def history(steps, scale=1.0):
    step = np.arange(1, steps + 1)
    return pa.table({"step": step, "loss": scale / step, "w[0].σ": 1 - scale * step / 90})


@pytest.mark.parametrize("log", [False, True])
def test_a_loss_that_goes_on_falling_keeps_its_specification(log, painted):
    one, other = (prepare_loss(each, log=log) for each in (history(5), history(37, 11.0)))
    assert text(draw_loss, one) == text(draw_loss, other)
    for given, prepared in ((history(5), one), (history(37, 11.0), other)):
        rows = {name: table.to_pylist() for name, table in prepared.sent.items()}
        filled = {**template(draw_loss, prepared), "datasets": rows}
        theirs = painted(loss_chart(given, log=log), width=260)
        assert np.array_equal(painted(filled, width=260).pixels(), theirs.pixels())


SPOKEN = {
    "regression": (draw_regression, regression),
    "overlay": (draw_overlay, overlay),
    "loss": (draw_loss, lambda: prepare_loss(history(5))),
    **{kind: (DRAW[chart], partial(PREPARE[chart], *given, **more))
       for kind in MAPS
       for chart, given, more in [MAPS[kind][2](*MAPS[kind][0], 0)]},
}  # fmt: skip


@pytest.mark.parametrize("kind", SPOKEN)
def test_each_language_has_a_specification_of_its_own(kind, monkeypatch):
    draw, prepare = SPOKEN[kind]
    made = {}
    for spoken in ("en", "zh", "en"):
        monkeypatch.setattr(language, "_spoken", lambda spoken=spoken: spoken)
        made.setdefault(spoken, []).append(json.dumps(template(draw, prepare())))
    one, again = made["en"]
    assert one == again
    assert json.dumps(template(partial(draw), prepare())) == one
    assert made["zh"] != [one]
    assert _chinese(json.loads(made["zh"][0]))
    assert not _chinese(json.loads(one))


def _chinese(spec):
    return re.search("[\u4e00-\u9fff]", json.dumps(spec, ensure_ascii=False))
