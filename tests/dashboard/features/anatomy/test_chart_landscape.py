import base64
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from dashboard.charts.template import chart_maker
from dashboard.charts.theme import QUIET
from dashboard.features.anatomy.chart import draw_landscape, prepare_landscape

landscape_chart = chart_maker(prepare_landscape, draw_landscape)


def png(address):
    """The pixels of a data URI, ``(rows, columns, RGBA)``."""
    held = base64.b64decode(address.partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(held)).convert("RGBA")).astype(int)


def ends(spec):
    """Where the scale of the values begins and ends."""
    held = {one["name"]: one.get("value") for one in spec["params"]}
    return [held["low"], held["high"]]


GRID = pd.DataFrame(
    [{"x": float(x), "y": float(y), "score": x + 10.0 * y} for x in range(3) for y in range(3)]
)


def test_a_key_is_where_its_numbers_say(painted):
    scene = painted(landscape_chart(GRID, "score", (2, 0), title="score"))
    cells = scene.items("cells_marks")
    assert len(cells) == 9
    (query,) = scene.items("query_marks")
    inside = [c for c in cells if c["left"] < query["left"] < c["left"] + c["width"]
              and c["top"] < query["top"] < c["top"] + c["height"]]  # fmt: skip
    assert [c["fill"] for c in inside] == [
        next(c["fill"] for c in cells if c["left"] == max(o["left"] for o in cells)
             and c["top"] == max(o["top"] for o in cells))
    ]  # fmt: skip


def test_a_flat_landscape_and_one_without_numbers_are_drawn(survives):
    for value in (0.0, 5.0, float("nan")):
        spec = survives(
            lambda v=value: landscape_chart(GRID.assign(score=v), "score", (0, 0), title="s")
        )
        low, high = ends(spec)
        assert low < high


def test_what_is_no_grid_is_refused():
    with pytest.raises(ValueError, match="need an even grid of keys with score, got 8 rows"):
        landscape_chart(GRID[1:], "score", (0, 0), title="")


def test_keys_that_are_ruled_out_are_grey_in_the_landscape(painted):
    ruled = GRID.assign(score=GRID["score"].mask(GRID["x"] == 0, -np.inf))
    scene = painted(landscape_chart(ruled, "score", (2, 0), title="score"))
    (picture,) = scene.items("picture_marks")
    pixels = png(picture["url"])
    assert {tuple(one) for one in pixels[:, 0]} == {(*bytes.fromhex(QUIET[1:]), 76)}
    assert {*pixels[:, 1:, 3].ravel()} == {255}
    assert pixels[0, 2, :3].sum() < pixels[2, 1, :3].sum(), "the highest score is darkest"
    assert ends(scene.spec) == [pytest.approx(np.quantile([1, 2, 11, 12, 21, 22], 0.02)), 22]
