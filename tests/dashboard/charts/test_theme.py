from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pytest

from dashboard.charts import (
    attention_heatmap,
    loss_chart,
    regression_chart,
    theme,
    weights_legend,
)
from dashboard.charts.template import chart_of
from dashboard.features.regression.figures import draw_overlay, prepare_overlay

CONFIG = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text())


def linear(colour: str) -> np.ndarray:
    values = np.array(list(bytes.fromhex(colour[1:]))) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lightness(colour: str) -> float:
    """L* of CIELAB."""
    y = luminance(colour)
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_the_colours_of_the_charts(scheme):
    page = CONFIG["theme"][scheme]
    assert tuple(page["chartSequentialColors"]) == theme.SEQUENTIAL[scheme]
    assert tuple(page["chartDivergingColors"]) == theme.DIVERGING[scheme]
    assert page["backgroundColor"] == theme.BACKGROUND[scheme]
    assert page["textColor"] == theme.TEXT[scheme]
    assert CONFIG["theme"]["chartCategoricalColors"] == list(theme.PANEL_COLOURS.values())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_told_from_the_background(scheme):
    background = theme.BACKGROUND[scheme]
    assert all(contrast(colour, background) >= 3.5 for colour in theme.PANEL_COLOURS.values())
    assert contrast(theme.QUIET, background) >= 3
    assert contrast(theme.TEXT[scheme], background) >= 7
    assert contrast(CONFIG["theme"][scheme]["primaryColor"], background) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_equal_steps_of_weight_are_equal_steps_of_lightness(scheme):
    steps = np.diff([lightness(colour) for colour in theme.SEQUENTIAL[scheme]])
    away = -1 if scheme == "light" else 1
    assert (steps * away > 0).all()
    assert np.abs(steps).max() < 1.6 * np.abs(steps).min()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_arms_of_the_diverging_scale_weigh_the_same(scheme):
    values = [lightness(colour) for colour in theme.DIVERGING[scheme]]
    np.testing.assert_allclose(values, values[::-1], atol=6)
    away = 1 if scheme == "light" else -1
    assert (np.diff(values[:5]) * away > 0).all()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_alone_has_colours_of_its_own(scheme):
    chart = weights_legend()
    settings = theme.standalone(chart, scheme).to_dict()["config"]
    assert settings["background"] == theme.BACKGROUND[scheme]
    assert settings["axis"]["labelColor"] == theme.TEXT[scheme]
    assert settings["range"]["heatmap"] == list(theme.SEQUENTIAL[scheme])
    assert "background" not in chart.to_dict()["config"]


CURVE = pd.DataFrame({"x0": [0.0, 1.0], "prediction": [1.0, 2.0], "truth": [1.0, 2.0]})
POINTS = pd.DataFrame({"x0": [0.0, 1.0], "y": [1.0, 2.0]})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "chart",
    [
        attention_heatmap(np.eye(2)),
        attention_heatmap(np.ones((2, 61, 61)) / 61),
        regression_chart(CURVE, POINTS, np.eye(2)),
        regression_chart(CURVE, POINTS),
        chart_of(draw_overlay, prepare_overlay({"a": CURVE}, POINTS)),
        loss_chart(pd.DataFrame({"step": [0, 1], "loss": [2.0, 1.0]})),
        weights_legend(),
    ],
    ids=["cells", "images", "regression", "curve", "overlay", "loss", "legend"],
)
def test_labels_are_dark_on_light_pages_and_light_on_dark_ones(painted, chart, scheme):
    scene = painted(chart, scheme)
    labels = [*scene.items(role="axis-label"), *scene.items(role="axis-title")]
    labels += scene.items(role="legend-label")
    assert {label["fill"] for label in labels} == {theme.TEXT[scheme]}


@pytest.mark.parametrize("vmax", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_without_an_extent_is_refused(vmax):
    with pytest.raises(ValueError, match="need 0 < vmax"):
        theme.sequential(vmax)
    with pytest.raises(ValueError, match="need 0 < vmax"):
        theme.diverging(vmax)


def test_settings_leave_the_data_alone():
    chart = alt.Chart(alt.Data(values=[{"a": 1}])).mark_point().encode(x="a:Q")
    spec = theme.finished(chart, params={"names": ["x"]}, width=70).to_dict()
    assert spec["data"] == {"values": [{"a": 1}]}
    assert spec["params"] == [{"name": "names", "value": ["x"]}]
    assert (spec["width"], spec["padding"]["left"]) == (70, 2)


def test_a_notebook_needs_no_server_to_draw():
    code = (
        "import sys, dashboard.charts;"
        "light = {'attention_plugins', 'attention_plugins.marking'};"
        "heavy = ('streamlit', 'torch', 'attention_plugins');"
        "print(*[m for m in {*sys.modules} - light if m.partition('.')[0] in heavy])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "", done.stderr
    assert done.returncode == 0
