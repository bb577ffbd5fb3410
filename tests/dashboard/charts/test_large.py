from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts.cells import Plot
from dashboard.charts.heatmap import WINDOW, draw_large, map_plot, prepare_large
from dashboard.charts.image import SIGNS, read, written

QUERIES, KEYS = 211, 173


def weights():
    drawn = np.random.default_rng(5).dirichlet(np.full(KEYS, 0.1), size=QUERIES)
    drawn[:, -1] = 0
    drawn[200:, 160:] = np.nan
    return drawn


def chart(values=None, at=None):
    values = weights() if values is None else values
    labels = [f"q{n}" for n in range(len(values))], [f"k{n}" for n in range(values.shape[1])]
    prepared = prepare_large(
        values, *map_plot(values[None], labels, (None, None), 24, Plot(width=420)), 1
    )
    made = draw_large(prepared.sources, prepared.shape)
    if at is not None:
        assert isinstance(made.params, list)
        (tile,) = (p for p in made.params if p.name == "tile")
        tile.value = [at]
    return made


def test_codes_keep_weights_to_an_8100th():
    values = np.array([[0, 1, 0.5], [0.123456, np.nan, 1e-5]])
    text = written(values)
    assert len(text) == 2 * values.size
    assert "indexof(signs" in read("datum.code")
    pairs = [text[n : n + 2] for n in range(0, len(text), 2)]
    assert pairs[4] == "!!"
    decoded = [
        (SIGNS.index(a) * len(SIGNS) + SIGNS.index(b)) / (len(SIGNS) ** 2 - 1)
        for a, b in pairs[:4] + pairs[5:]
    ]
    np.testing.assert_allclose(decoded, [0, 1, 0.5, 0.123456, 1e-5], atol=1 / 8100)


def test_the_window_starts_at_the_largest_weight(painted):
    assert chart().to_json() == chart().to_json()
    values = weights()
    values[97, 83] = 0.999
    scene = painted(chart(values))
    assert len(scene.items("window_marks")) == WINDOW**2
    for name, word in (("beside_marks", "q97"), ("above_marks", "k83")):
        words = [item["text"] for item in scene.items(name)]
        assert abs(words.index(word) - WINDOW / 2) <= 5, "it is about the middle"


@pytest.mark.parametrize(
    ("tile", "first"), [({"tq": 0, "tk": 0}, (0, 0)), ({"tq": 42, "tk": 43}, (187, 149))]
)
def test_the_window_follows_the_pointer_and_stays_within_the_map(painted, tile, first):
    scene = painted(chart(at=tile))
    beside = [item["text"] for item in scene.items("beside_marks")]
    above = [item["text"] for item in scene.items("above_marks")]
    assert beside == [f"q{first[0] + n}" for n in range(WINDOW)]
    assert above == [f"k{first[1] + n}" for n in range(WINDOW)]
    values = weights()
    part = values[first[0] : first[0] + WINDOW, first[1] : first[1] + WINDOW]
    assert len(scene.items("masked_marks")) == np.isnan(part).sum()
    assert len(scene.items("window_marks")) == (~np.isnan(part)).sum()


def test_the_chart_says_what_it_summarised():
    title = chart(np.random.default_rng(1).random((1200, 61))).to_dict()["title"]
    words = f"{title['text']} {title.get('subtitle', '')}"
    assert "1,200 × 61 weights" in words
    assert "largest of 3 × 1 weights" in words
