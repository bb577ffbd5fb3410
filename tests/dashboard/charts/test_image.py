from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from dashboard.charts.image import MAX_SIDE, pictures, summarised
from dashboard.charts.theme import SEQUENTIAL


def decoded(uri: str) -> np.ndarray:
    head, _, body = uri.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(body))).convert("RGBA"))


def colour(text: str) -> list[int]:
    return [*bytes.fromhex(text[1:]), 255]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pixels_have_the_colours_of_the_ramp(scheme):
    ramp = SEQUENTIAL[scheme]
    urls, _ = pictures(np.array([[0.0, 0.5, 0.2], [0.25, 0.9, 0.1]]), 0.5)
    pixels = decoded(urls[scheme])
    assert pixels.shape == (2, 3, 4)
    assert pixels[0, 0].tolist() == colour(ramp[0])
    assert pixels[0, 1].tolist() == colour(ramp[-1])
    assert pixels[1, 1].tolist() == colour(ramp[-1])  # above the end of the scale
    middle = (np.array(colour(ramp[4])) + colour(ramp[5])) / 2
    np.testing.assert_allclose(pixels[1, 0], middle, atol=1.5)


def test_masked_pixels_are_seen_through():
    urls, _ = pictures(np.array([[np.nan, 1.0]]), 1.0)
    pixels = decoded(urls["light"])
    assert pixels[0, 0, 3] < 128
    assert pixels[0, 1, 3] == 255


def test_a_map_that_fits_is_not_summarised():
    weights = np.random.default_rng(0).random((MAX_SIDE, 7))
    same, note = summarised(weights)
    np.testing.assert_array_equal(same, weights)
    assert note == ""


def test_a_large_map_keeps_its_peaks_and_says_what_was_done():
    weights = np.zeros((2 * MAX_SIDE + 3, MAX_SIDE + 1))
    weights[7, 11] = 0.875
    weights[-1, -1] = 0.5
    weights[:3, :2] = np.nan
    weights[3:6, :2] = np.nan
    weights[5, 1] = 0.25
    small, note = summarised(weights)
    assert small.shape == (335, 251)
    assert small[2, 5] == 0.875
    assert small[-1, -1] == 0.5
    assert np.isnan(small[0, 0])
    assert small[1, 0] == 0.25
    assert note == "each pixel is the largest of 3 × 2 weights"
