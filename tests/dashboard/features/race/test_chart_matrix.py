from __future__ import annotations

import pytest

from dashboard.charts.labels import room
from dashboard.charts.template import chart_of, template
from dashboard.features.race.grid import draw_matrix, prepare_matrix


def cell(row, column, verdict, effect, **more):
    own = {"row": row, "column": column, "verdict": verdict, "effect": effect, "key": row + column}
    return {**own, "difference": effect, "p": 0.5, "rank": 1, "seeds": 7, "problem": "", **more}


CELLS = [
    cell("dot", "copy", "better", 2.0),
    cell("dot", "sort", "no difference found", 2.0),
    cell("additive", "copy", "reference", None),
    cell("additive", "sort", "worse", -2.0),
    cell("uniform", "copy", "could not run", None, problem="no gradient"),
]


def matrix(cells=CELLS, rows=("dot", "additive", "uniform")):
    return prepare_matrix(cells, rows=rows, columns=("copy", "sort"), farthest=3.0)


def drawn(painted, **more):
    """The picture, and its cells by row and column."""
    scene = painted(chart_of(draw_matrix, matrix(**more)), width=400)
    places = [(round(item["top"]), round(item["left"])) for item in scene.items("cells_marks")]
    top, left = (sorted({place[axis] for place in places}) for axis in (0, 1))
    names = {}
    for place, item in zip(places, scene.items("cells_marks"), strict=True):
        row, column = top.index(place[0]), left.index(place[1])
        names[("dot", "additive", "uniform")[row], ("copy", "sort")[column]] = item
    return scene, names


def test_a_difference_that_may_be_chance_is_pale_and_has_its_colour(painted):
    _, cells = drawn(painted)
    found, chance = cells["dot", "copy"], cells["dot", "sort"]
    assert found["fill"] == chance["fill"]
    assert found["fillOpacity"] == 1.0
    assert chance["fillOpacity"] == pytest.approx(0.3)
    worse = cells["additive", "sort"]
    assert worse["fill"] != found["fill"]
    assert worse["fillOpacity"] == 1.0


def test_where_nothing_was_compared_there_is_a_sign_and_no_colour(painted):
    scene, cells = drawn(painted)
    assert cells["additive", "copy"]["fillOpacity"] == 0
    assert cells["uniform", "copy"]["fillOpacity"] == 0
    assert ("uniform", "sort") not in cells
    assert sorted(one.get("text", "") for one in scene.items("signs_marks")) == [
        "",
        "",
        "",
        "×",
        "●",
    ]


def test_beyond_the_ends_all_look_alike(painted):
    cells = [cell("dot", "copy", "better", 3.0), cell("dot", "sort", "better", 99.0)]
    _, shown = drawn(painted, cells=cells, rows=("dot",))
    assert shown["dot", "copy"]["fill"] == shown["dot", "sort"]["fill"]


def test_on_a_phone_the_legend_ends_where_the_cells_end(painted):
    names = ["a scoring with a name as long as those of the shipped race", "b"]
    cells = [cell(name, "copy", "better", 2.0) for name in names]
    scene = painted(chart_of(draw_matrix, matrix(cells, rows=names)), width=367)
    (title,) = scene.items(role="legend-title")
    (gradient,) = scene.items(role="legend-gradient")
    wide = [title["left"] + room(title["text"], 367), gradient["left"] + gradient["width"]]
    assert title["left"] > 200
    assert max(wide) <= 367


def test_it_survives(survives):
    spec = survives(lambda: chart_of(draw_matrix, matrix()))
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == ["dot", "additive", "uniform"]
    assert {param["name"] for param in spec["params"]} >= {"hover", "cell"}


def test_another_reference_keeps_the_specification():
    other = [{**one, "effect": 0.5, "verdict": "worse"} for one in CELLS]
    assert template(draw_matrix, matrix()) is template(draw_matrix, matrix(other))
