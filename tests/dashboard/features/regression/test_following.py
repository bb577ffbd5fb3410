"""What follows a slider of Kernel regression is what the page draws at each of its positions."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import following as support
from support.following import catalogue, computed, frames

from attention_plugins import registry
from dashboard.charts.legend import prepare_scale
from dashboard.charts.live import EXACT, PICTURES
from dashboard.charts.live import following as following_of
from dashboard.charts.regression import draw_regression
from dashboard.charts.template import template
from dashboard.features.regression import following
from dashboard.features.regression.panel import Scale, prepare_panel
from dashboard.features.regression.view import default_view, requests
from dashboard.links.fits import TASK, default_fit
from dashboard.records.catalogue import Formula
from dashboard.ui import maps

OWN_SCALE = Scale(None)
# The farthest that a curve half way between two frames is from the one that is drawn there, of
# its y axis' span. Two kernels are 0 beyond their width, so that a curve jumps where a point
# comes in.
FARTHEST = {
    "gaussian": 0.01, "laplacian": 0.01, "matern": 0.01, "rational_quadratic": 0.01,
    "hyperbolic": 0.01, "epanechnikov": 0.5, "boxcar": 0.5,
}  # fmt: skip
QUICK = ["gaussian"]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in FARTHEST if name not in QUICK]


def page(*scorings, **more):
    fits = [default_fit(catalogue(), name) for name in scorings]
    view = replace(default_view(catalogue()), panels=tuple(fits), **more)
    found = {letter: computed(each) for letter, each in requests(view, catalogue()).items()}
    return view, found


def offered(view, found, scale=OWN_SCALE):
    """The sliders of a page with what follows them."""
    return [*following.followers(view, found, scale, catalogue())]


def drawn_at_each_position(scoring):
    """How many positions there are, at each of which the frame is what the page draws."""
    view, found = page(scoring, "uniform")
    one = offered(view, found)[0]
    held, asked = frames(one), {at: one.slider.requests(at) for at in one.slider.positions}
    assert held["positions"] == [*asked]
    for number, given in enumerate(asked.values()):
        result = computed(given["a"])
        exact = prepare_panel(result, "a", OWN_SCALE).tables
        for table, columns in held["tables"]["panel a"].items():
            for name, values in columns.items():
                there = exact[table][name].to_pylist()
                assert values[number] == (there[0] if name in PICTURES else there), (table, name)
        both = {**found, "a": result}
        said = following.sentences("a", view, both, catalogue())
        assert held["words"]["panel a"][number] == said
        curve = held["tables"]["compared"]["queries"]["p0"][number]
        assert curve == exact["queries"]["prediction"].to_pylist()
    return len(asked)


@pytest.mark.parametrize("scoring", QUICK + SLOW)
def test_every_frame_is_what_the_page_draws_there(scoring):
    assert drawn_at_each_position(scoring) > 20


@pytest.fixture
def others(monkeypatch):
    """Scorings of somebody else's package, as if it were installed."""
    source = Path(__file__).parents[3] / "plugins" / "attention_distance_pack" / "src"
    monkeypatch.syspath_prepend(source)
    pack = importlib.import_module("attention_distance_pack")
    cached = (support.catalogue, support.computed)
    for spec in pack.attention_scorings():
        registry.define(spec)
    for cache in cached:
        cache.cache_clear()
    yield
    for cache in cached:
        cache.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("scoring", ["shepard", "lorentz"])
def test_frames_of_somebody_else_s_scoring_are_what_the_page_draws(scoring, others):
    assert drawn_at_each_position(scoring) > 20


def test_under_one_scale_all_maps_and_the_legend_follow_every_slider():
    view, found = page("gaussian", "laplacian", one_scale=True)
    one = offered(view, found, Scale(maps.shared_scale([*found.values()])))[0]
    held = frames(one)["tables"]
    ends = []
    for number, at in enumerate(one.slider.positions):
        moved = computed(one.slider.requests(at)["a"])
        end = maps.shared_scale([moved, found["b"]])
        assert held["scale"]["parameters"]["vmax"][number] == [end]
        for letter, result in (("a", moved), ("b", found["b"])):
            drawn = prepare_panel(result, letter, Scale(end)).tables["picture"]["light"]
            assert held[f"panel {letter}"]["picture"]["light"][number] == drawn[0].as_py()
        ends.append(end)
    assert min(ends) == maps.shared_scale([found["b"]]) < max(ends)


def test_where_a_number_tells_panels_apart_their_names_follow_it():
    view, found = page("gaussian", "gaussian")
    wide = replace(view.panels[1], parameters=(("width", 2.0),))
    view = replace(view, panels=(view.panels[0], wide))
    one = offered(view, found)[0]
    held = frames(one)
    said = held["tables"]["compared"]["parameters"]["names"]
    for (text,), at in zip(said, held["positions"], strict=True):
        number = "" if at == 2 else f", σ = {at:g}"
        assert text == f"a: Gaussian kernel{number}\nb: Gaussian kernel{number and ', σ = 2'}"


@pytest.mark.parametrize("scoring", QUICK + SLOW)
def test_between_two_frames_a_curve_is_near_the_one_that_is_drawn_there(scoring):
    view, found = page(scoring)
    one = next(one for one in offered(view, found) if not one.slider.spec.whole)
    held = frames(one)
    curves, at = held["tables"]["panel a"]["queries"]["prediction"], held["positions"]
    ends = prepare_panel(found["a"], "a", OWN_SCALE).shape.axes.y
    off = []
    for low in range(len(at) - 1):
        steps = round((at[low + 1] - at[low]) / one.slider.spec.step)
        if steps < 2:
            continue
        middle = round(at[low] + (steps // 2) * one.slider.spec.step, 9)
        way = np.log if held["wide"] else float
        share = (way(middle) - way(at[low])) / (way(at[low + 1]) - way(at[low]))
        drawn = np.array(curves[low]) * (1 - share) + np.array(curves[low + 1]) * share
        exact = computed(one.slider.requests(middle)["a"])
        there = prepare_panel(exact, "a", OWN_SCALE).tables["queries"]["prediction"].to_numpy()
        off.append(np.abs(drawn - there).max())
    assert max(off) / (ends[1] - ends[0]) < FARTHEST[scoring]


def test_a_panel_that_learns_and_one_without_numbers_have_no_slider_that_is_followed():
    view, _ = page("gaussian", "uniform")
    learned = replace(default_fit(catalogue(), "gaussian", learn=True))
    view = replace(view, panels=(learned, view.panels[1]))
    assert following.sliders(view, catalogue()) == {"a": [], "b": []}


def test_parameters_of_a_normaliser_are_followed():
    view, _ = page("gaussian")
    name, entry = next(
        (name, entry) for name, entry in catalogue().normalisers.items() if entry.parameters
    )
    held = tuple((one.name, one.default) for one in entry.parameters)
    fit = replace(view.panels[0], normaliser=name, normaliser_parameters=held)
    keys = [one.key for one in following.sliders(replace(view, panels=(fit,)), catalogue())["a"]]
    assert f"panel-a-gaussian--normaliser-{name}-{entry.parameters[0].name}" in keys


def test_frames_are_of_all_settings_but_the_sliders_own():
    def of(**more):
        view, found = page("gaussian", **more)
        return offered(view, found)[0].slider.of

    assert of() == of() != of(seed=1)
    view, _ = page("gaussian")
    parameters = dict(view.panels[0].parameters) | {"width": 0.3}
    moved = replace(view.panels[0], parameters=tuple(sorted(parameters.items())))
    (slider,) = following.sliders(replace(view, panels=(moved,)), catalogue())["a"]
    assert slider.of == of()
    assert slider.at == 0.3


def test_a_layer_reads_of_a_frame_what_it_names_and_only_of_the_rows_that_it_keeps():
    _, found = page("gaussian")
    prepared = prepare_panel(found["a"], "a", OWN_SCALE).following("panel a", {"abc": 0.5})
    drawn_of, read = template(draw_regression, prepared), {}
    for layer in drawn_of["layer"]:
        steps = [one.get("as") or "kept" for one in layer.get("transform", ())]
        drawn = layer.get("encoding", {}).get("y", {}).get("field")
        read.setdefault(layer.get("name", drawn), []).extend(steps)
    assert read["truth"] == []
    assert read["queries"] == []  # only what the pointer is on is told of a frame
    (tells,) = (one for one in drawn_of["layer"] if one.get("name") == "queries")
    told = tells["encoding"]["tooltip"]["condition"][0]["value"]["expr"]
    moved = "live_told_queries"
    assert (
        f"format(({moved} ? {moved}.prediction[datum.live_row] : datum.exact_prediction)" in told
    )
    assert "format(datum.truth" in told
    params = {one["name"]: one.get("expr") for one in drawn_of["params"]}
    assert params[moved] == "isValid(hover.q) ? live_moved_queries : null"
    assert read["cells"][:3] == ["kept", "weights", "said"]
    assert read["weighed"][:4] == ["kept", "weights", "vmax", "said"]
    assert read["prediction"] == ["prediction", "kept", "prediction"]  # the line, the point
    before = prepare_panel(found["a"], "a", OWN_SCALE)
    silenced = quiet(drawn_of) - quiet(template(draw_regression, before))
    # The point is the unseen one that values come by; cells and points that are seen have words.
    assert silenced == {"line": 1, "image": 2, "point": 1}


def test_a_column_that_each_row_tells_is_read_for_each_row():
    """A list of fields is told by any mark; only a tooltip of where the pointer is can wait."""
    tells = {"data": {"name": "cells"}, "mark": {"type": "rect"}, "encoding": {
        "tooltip": [{"field": "said", "type": "nominal"}]}}  # fmt: skip
    (layer,) = following_of({"layer": [tells]}, "map", {"cells": ("said",)})["layer"]
    assert [step["as"] for step in layer["transform"]] == ["said"]
    assert layer["encoding"] == tells["encoding"]


def quiet(made):
    """The kinds of marks of which nothing is told to who does not see them."""
    marks = (layer["mark"] for layer in made["layer"])
    return Counter(mark["type"] for mark in marks if mark.get("aria") is False)


def test_a_specification_that_follows_reads_frames_only_while_its_slider_is_elsewhere():
    _, found = page("gaussian")
    prepared = prepare_panel(found["a"], "a", OWN_SCALE)
    spec = template(draw_regression, prepared.following("panel a", {"abc": 0.5}))
    params = {one["name"]: one for one in spec["params"]}
    assert params["live"]["bind"] == {"element": "body", "event": "live panel a"}
    moved = params["live_moved_queries"]["expr"]
    assert moved == 'live_moving ? live.tables["panel a"].queries : null'
    moved = f"live_moved_queries.prediction[datum.live_row] : datum.{EXACT}prediction"
    assert moved in json.dumps(spec)
    assert "live" not in json.dumps(template(draw_regression, prepared))
    sent = prepared.following("panel a", {"abc": 0.5}).sent
    assert sent["parameters"].to_pylist() == [{"live_of": "abc", "live_at": "0.5"}]
    assert f"{EXACT}prediction" in sent["queries"].column_names


def test_what_is_said_of_a_panel_is_all_that_its_result_says():
    view, found = page("gaussian", "gaussian")
    one, *others = catalogue().metrics[TASK]
    facts = {**found["b"].facts, "metrics": {one.name: 0.0}, "remarks": ["It is so."]}
    found = {**found, "b": replace(found["b"], facts={**facts, "equal_weights": True})}

    def said(view, catalogue):
        return following.sentences("b", view, found, catalogue)

    figures, rest = said(view, catalogue()).split("\n")
    assert figures == f"{one.title} 0"
    assert "It is so. Equal weights have the middle colour of the scale." in rest
    assert rest.endswith("Its curve is the same as that of panel a.")
    assert "middle colour" not in said(replace(view, one_scale=True), catalogue())
    metrics = {**catalogue().metrics, TASK: (replace(one, unit="s"), *others)}
    assert "\n" not in said(view, replace(catalogue(), metrics=metrics)), "seconds follow nothing"


def test_frames_are_of_the_other_panels_too_and_of_the_sides_of_their_scale():
    view, found = page("gaussian", "laplacian", one_scale=True)
    other = {**found, "b": replace(found["b"], facts={**found["b"].facts, "more": 1})}

    def of(found, signed=False):
        return offered(view, found, Scale(1.0, signed))[0]

    moved = {**found, "a": other["b"]}
    assert of(found).more == of(moved).more != of(other).more
    assert of(found).more != of(found, signed=True).more
    legend = of(found, True).charts["scale"](1.0, found)
    assert legend.tables == prepare_scale(maps.shared_scale([*found.values()]), True).tables


def test_the_slider_of_a_typed_formula_is_found_whatever_was_typed():
    entry = replace(catalogue().scorings["gaussian"], name="=q.k")
    known = catalogue().with_formulas({"q.k": Formula(entry=entry)})
    fit = replace(default_fit(catalogue(), "gaussian"), scoring="=q.k")
    view = replace(default_view(catalogue()), panels=(fit,))
    assert [one.key for one in following.sliders(view, known)["a"]] == ["panel-a-typed-width"]
