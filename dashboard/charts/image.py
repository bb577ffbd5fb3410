"""Large maps as palette PNGs: one byte a cell, painted in milliseconds at any size."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image

from dashboard.charts.theme import MASKED_OPACITY, ON_LIGHT, QUIET, SEQUENTIAL, Scheme

MAX_SIDE = 500  # pixels; a panel shows no more
PICK = f"{ON_LIGHT} ? datum.light : datum.dark"
_MASKED = 255  # this palette entry is for cells without a weight; weights use those below


def pictures(weights: np.ndarray, vmax: float) -> tuple[dict[Scheme, str], str]:
    """The weights as :func:`palette_png` for each scheme, and the note of :func:`summarised`."""
    small, note = summarised(weights)
    return {scheme: palette_png(small, vmax, scheme) for scheme in SEQUENTIAL}, note


def palette_png(weights: np.ndarray, vmax: float, scheme: Scheme) -> str:
    """Weights ``(rows, columns)`` as the data URI of a PNG, NaN as masked.

    Weights from 0 to ``vmax`` take 255 steps of the scheme's sequential ramp.
    """
    steps = np.clip(np.nan_to_num(weights) / vmax, 0, 1) * (_MASKED - 1)
    codes = np.where(np.isnan(weights), _MASKED, np.rint(steps)).astype(np.uint8)
    image = Image.frombytes("P", codes.shape[::-1], codes.tobytes())
    image.putpalette(_palette(scheme).tobytes())
    buffer = io.BytesIO()
    # Masked cells are half seen through, as they are where cells are drawn one by one.
    opacity = bytes([255] * _MASKED + [round(255 * MASKED_OPACITY)])
    image.save(buffer, "PNG", transparency=opacity)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _palette(scheme: Scheme) -> np.ndarray:
    ramp = np.array([_rgb(colour) for colour in SEQUENTIAL[scheme]])
    at = np.linspace(0, len(ramp) - 1, _MASKED)
    colours = np.stack([np.interp(at, range(len(ramp)), channel) for channel in ramp.T], axis=1)
    return np.rint(np.vstack([colours, _rgb(QUIET)])).astype(np.uint8)


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def summarised(weights: np.ndarray) -> tuple[np.ndarray, str]:
    """Weights with at most :data:`MAX_SIDE` rows and columns, and a note of what was done.

    A pixel is the largest of the block of weights under it, so that no peak is lost; a block is
    masked only if all of it is. The note is empty where nothing was summarised.
    """
    rows, columns = (int(np.ceil(size / MAX_SIDE)) for size in weights.shape)
    if rows == columns == 1:
        return weights, ""
    low = np.where(np.isnan(weights), -np.inf, weights)
    low = np.maximum.reduceat(low, np.arange(0, low.shape[0], rows), axis=0)
    low = np.maximum.reduceat(low, np.arange(0, low.shape[1], columns), axis=1)
    note = f"each pixel is the largest of {rows} × {columns} weights"
    return np.where(np.isneginf(low), np.nan, low), note
