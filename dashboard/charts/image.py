"""Large maps as palette PNGs: one byte a cell, painted in milliseconds at any size."""

from __future__ import annotations

import base64
import functools
import struct
import zlib

import numpy as np

from dashboard.charts.theme import MASKED_OPACITY, ON_LIGHT, QUIET, SEQUENTIAL, Scheme
from dashboard.language import gettext

MAX_SIDE = 500  # pixels; a panel shows no more
PICK = f"{ON_LIGHT} ? datum.light : datum.dark"
_MASKED = 255  # this palette entry is for cells without a weight; weights use those below


def pictures(weights: np.ndarray, vmax: float) -> tuple[dict[Scheme, str], str]:
    """The weights as :func:`palette_png` for each scheme, and the note of :func:`summarised`."""
    small, note = summarised(weights)
    pixels = _pixels(small, vmax)
    return {scheme: _png(pixels, scheme) for scheme in SEQUENTIAL}, note


def palette_png(weights: np.ndarray, vmax: float, scheme: Scheme) -> str:
    """Weights ``(rows, columns)`` as the data URI of a PNG, NaN as masked.

    Weights from 0 to ``vmax`` take 255 steps of the scheme's sequential ramp.
    """
    return _png(_pixels(weights, vmax), scheme)


def _pixels(weights: np.ndarray, vmax: float) -> tuple[bytes, bytes]:
    """The chunks that all schemes share: the header and the palette's indices."""
    steps = np.clip(np.nan_to_num(weights) / vmax, 0, 1) * (_MASKED - 1)
    codes = np.where(np.isnan(weights), _MASKED, np.rint(steps)).astype(np.uint8)
    height, width = codes.shape
    # Eight bits a pixel, colours from a palette; each row begins with a filter, which is none.
    header = struct.pack("!IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.pad(codes, ((0, 0), (1, 0))).tobytes()
    return _chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows))


def _png(pixels: tuple[bytes, bytes], scheme: Scheme) -> str:
    header, indices = pixels
    image = b"\x89PNG\r\n\x1a\n" + header + _colours(scheme) + indices + _chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(image).decode()


@functools.cache
def _colours(scheme: Scheme) -> bytes:
    # Masked cells are half seen through, as they are where cells are drawn one by one.
    opacity = bytes([255] * _MASKED + [round(255 * MASKED_OPACITY)])
    return _chunk(b"PLTE", _palette(scheme).tobytes()) + _chunk(b"tRNS", opacity)


def _chunk(kind: bytes, held: bytes) -> bytes:
    return struct.pack("!I", len(held)) + kind + held + struct.pack("!I", zlib.crc32(kind + held))


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
    note = gettext(
        "each pixel is the largest of {rows} × {columns} weights", rows=rows, columns=columns
    )
    return np.where(np.isneginf(low), np.nan, low), note
