"""Colours that follow the logarithm of a weight, in cells, in pictures and in legends."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from dashboard.charts import attention_heatmap, weights_legend
from dashboard.charts.export import complete
from dashboard.charts.frames import MapFrame
from dashboard.charts.head_grid import head_grid, prepare_head_grid
from dashboard.charts.heatmap import prepare_heatmap
from dashboard.charts.image import pictures
from dashboard.charts.legend import colour_scale
from dashboard.charts.theme import LEAST, SEQUENTIAL

WEIGHTS = np.array([[0.0, LEAST / 5, LEAST], [LEAST**0.5, 0.5, 1.0]])


def rgb(colour):
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def shares(colours):
    """How far along the light ramp each colour is, from 0 to 1."""
    ramp = np.array([rgb(one) for one in SEQUENTIAL["light"]], float)
    fine = np.linspace(0, len(ramp) - 1, 1001)
    table = np.stack([np.interp(fine, range(len(ramp)), one) for one in ramp.T], axis=1)
    away = np.abs(np.array(colours, float)[:, None] - table).sum(axis=-1)
    return away.argmin(axis=1) / 1000


WANTED = [0, 0, 0, 0.5, 1 + np.log(0.5) / -np.log(LEAST), 1]


def pixels(weights, end):
    urls, _ = pictures(weights, end, log=True)
    image = Image.open(io.BytesIO(base64.b64decode(urls["light"].partition(",")[2])))
    return np.asarray(image.convert("RGBA"))[..., :3].reshape(-1, 3)


def test_cells_are_coloured_by_the_logarithm_and_tell_their_weight(painted):
    scene = painted(attention_heatmap(WEIGHTS, log=True), width=400)
    cells = scene.items("cells_marks")
    colours = [[int(part) for part in one["fill"][4:-1].split(",")] for one in cells]
    assert shares(colours) == pytest.approx(WANTED, abs=0.01)
    assert [one["description"].rpartition(" ")[2] for one in cells] == [
        "0.000", "0.000", "0.001", "0.032", "0.500", "1.000",
    ]  # fmt: skip


def test_pictures_are_coloured_as_cells_are():
    assert shares(pixels(WEIGHTS, 1.0)) == pytest.approx(WANTED, abs=0.01)


def test_an_end_below_one_is_the_strongest_colour():
    found = shares(pixels(WEIGHTS, 0.25))
    middle = np.log(LEAST**0.5 / LEAST) / np.log(0.25 / LEAST)
    assert found == pytest.approx([0, 0, 0, middle, 1, 1], abs=0.01)


def test_every_chart_of_maps_takes_it_and_a_figure_has_its_legend(survives):
    frame = MapFrame(
        kind="decoder", layer=0, weights=np.stack([WEIGHTS[:, 1:]] * 2).astype(np.float32),
        query_labels=("a", "b"), key_labels=("a", "b"),
    )  # fmt: skip
    for made in (
        lambda: attention_heatmap(WEIGHTS, log=True),
        lambda: attention_heatmap(np.random.default_rng(0).random((70, 70)), log=True),
        lambda: head_grid([frame], log=True),
    ):
        survives(made)
        scale = colour_scale(complete(made()))
        assert scale
        assert (scale.log, scale.end) == (True, 1.0)
    assert not colour_scale(complete(attention_heatmap(WEIGHTS))).log
    assert prepare_heatmap(WEIGHTS, log=True).shape != prepare_heatmap(WEIGHTS).shape
    assert prepare_head_grid([frame], log=True).shape != prepare_head_grid([frame]).shape


def test_the_legend_names_its_ends_and_the_middle(painted, survives):
    survives(lambda: weights_legend(0.5, log=True))
    scene = painted(weights_legend(1.0, log=True), width=400)
    said = [item["text"] for item in scene.items(role="axis-label")]
    assert said == ["0.001", "0.0316", "1"]
