from __future__ import annotations

import io
import json
import re

import altair as alt
import numpy as np
import pytest
from PIL import Image

from dashboard.charts import attention_heatmap, export
from dashboard.charts.theme import BACKGROUND, SEQUENTIAL

WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
HOSTILE = "</script><script>alert(1)</script><b>&\u2028"


def heatmap():
    return attention_heatmap(WEIGHTS, ["je", "suis", HOSTILE], list("abcde"))


def large():
    return attention_heatmap(np.random.default_rng(1).dirichlet(np.ones(67), size=61))


@pytest.fixture(scope="module")
def painted():
    """Painted by one painter, since each takes seconds to start."""
    orders = [
        export._order("svg", heatmap(), "light"),
        export._order("png", heatmap(), "light", scale=export.SCREEN),
        export._order("png", heatmap(), "dark", scale=export.PRINT),
        export._order("png", large(), "light", scale=1),
    ]
    return export.painted(orders)


def opened(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def rgb(colour: str) -> list[int]:
    return list(bytes.fromhex(colour.removeprefix("#")))


def test_a_complete_specification_holds_its_data_and_its_colours():
    spec = json.loads(export.vega_lite(heatmap(), "dark"))
    assert spec["config"]["range"]["heatmap"] == list(SEQUENTIAL["dark"])
    assert spec["config"]["background"] == BACKGROUND["dark"]
    assert spec["config"]["axis"]["gridOpacity"] == 0.18
    (rows,) = spec["datasets"].values()
    np.testing.assert_allclose([row["value"] for row in rows], WEIGHTS.ravel(), rtol=1e-4)
    again = alt.Chart.from_dict(spec).to_dict()
    assert {**again, "config": {}} == {**spec, "config": {}}


def test_a_specification_and_its_chart_are_exported_alike():
    chart = heatmap()
    assert (
        export.vega_lite(chart) == export.vega_lite(chart.to_dict()) == export.vega_lite(heatmap())
    )


@pytest.mark.parametrize("url", ["http://evil.example/x.csv", "file:///etc/passwd", "data.csv"])
def test_a_chart_whose_data_lie_elsewhere_is_refused(url):
    chart = alt.layer(alt.Chart(url).mark_point().encode(x="a:Q"))
    for make in (export.vega_lite, export.svg, lambda c: export.html(c, "x")):
        with pytest.raises(export.ExportError, match=re.escape(url)):
            make(chart)


def test_pictures_have_the_size_that_was_asked_for(painted):
    svg, screen, print_, _ = painted
    size = re.search(rb'width="(\d+)" height="(\d+)"', svg)
    assert size is not None
    width, height = map(float, size.groups())
    assert opened(screen).shape[:2] == (2 * height, 2 * width)
    np.testing.assert_allclose(
        opened(print_).shape[:2], [height * 300 / 72, width * 300 / 72], atol=1
    )


def test_pictures_are_light_or_dark_without_a_page(painted):
    _, light, dark, _ = painted
    assert opened(light)[0, 0].tolist() == rgb(BACKGROUND["light"])
    assert opened(dark)[0, 0].tolist() == rgb(BACKGROUND["dark"])


def test_a_map_that_is_an_image_is_seen(painted):
    pixels = opened(painted[3])
    assert (np.abs(pixels - rgb(BACKGROUND["light"])).sum(axis=2) > 30).mean() > 0.3


def test_texts_of_strangers_stay_texts_in_a_picture(painted):
    assert b"<script" not in painted[0]


def test_every_picture_has_its_name(monkeypatch):
    monkeypatch.setattr(
        export, "painted", lambda orders: [order["kind"].encode() for order in orders]
    )
    assert export.pictures({"a": heatmap(), "b": large().to_dict()}) == {
        "a.svg": b"svg", "a.png": b"png", "b.svg": b"svg", "b.png": b"png",
    }  # fmt: skip
    assert export.pictures({}) == {}


def test_a_painter_that_fails_is_one_sentence():
    with pytest.raises(export.ExportError) as raised:
        export.svg({"mark": "no such mark", "data": {"values": []}})
    assert "\n" not in str(raised.value)


def test_a_painter_that_hangs_is_ended():
    with pytest.raises(export.ExportError, match="timed out"):
        export.painted([{"kind": "javascript"}], patience=0.01)
