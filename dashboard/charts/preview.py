"""The picture of a run where its link is shared, and in the list of runs: its first charts.

It is drawn on light ground in the size that Open Graph asks for. There it is mostly seen at half
that size or less, so text is as large beside the marks as in a figure for a paper.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import NamedTuple

from PIL import Image

from dashboard.charts.export import AnySpec, complete, painted
from dashboard.charts.figure_style import FigureStyle, Line, Picture, Placed, drawing, styled
from dashboard.charts.labels import wrapped

WIDTH, HEIGHT = 1_200, 630  # px, as of Open Graph
MOST = 4  # charts
_MARGIN, _GAP = 40, 24  # px
_HEADING, _TITLE = 34, 22  # px, sizes of text
_BELOW = 26  # px, between the heading and the charts
_LINE = 1.5  # of the size of a title, the room that it takes
_LETTER = 0.56  # of the size of bold text, the mean width of a letter, with some room
_PLACES = {1: 900, 2: 480}  # px that charts are drawn for, by how many they are
_PLACE = 380  # where there are more
_LARGEST = 1.7  # what charts are magnified by at most
_PATIENCE = 30.0  # seconds
_DPI = 72  # a pixel for each px


class Titled(NamedTuple):
    """A chart, and what stands over it; empty for nothing."""

    title: str
    chart: AnySpec


class _Layout(NamedTuple):
    columns: int
    scales: list[float]  # of the pictures
    heights: list[float]  # of the rows, px


def preview(charts: Sequence[Titled], heading: str) -> bytes:
    """A PNG of :data:`WIDTH` x :data:`HEIGHT` px.

    Args:
        charts: the first :data:`MOST` are drawn, in as many columns as make them largest.
        heading: stands over all of them.

    Raises:
        ValueError: no charts.
        ExportError: a chart could not be painted, or not within a minute.
    """
    shown = charts[:MOST]
    if not shown:
        raise ValueError("need at least one chart, got none")
    style = FigureStyle()
    width = _PLACES.get(len(shown), _PLACE) * style.reduction
    orders = [{"kind": "svg", "spec": styled(complete(one.chart), width, style)} for one in shown]
    pictures = [Picture(svg) for svg in painted(orders, patience=_PATIENCE)]
    svg = _composed(pictures, [one.title for one in shown], heading, style.fonts)
    order = {"kind": "print", "svg": svg, "dpi": _DPI}
    return _smaller(painted([order], patience=_PATIENCE)[0])


def _composed(pictures: Sequence[Picture], titles: Sequence[str], heading: str, fonts: str) -> str:
    top = _MARGIN + _HEADING + _BELOW
    line = _TITLE * _LINE if any(titles) else 0
    width, height = WIDTH - 2 * _MARGIN, HEIGHT - top - _MARGIN
    columns, scales, heights = max(
        (_laid_out(pictures, columns, width, height, line)
         for columns in range(1, len(pictures) + 1)),
        key=lambda one: sum(one.scales),
    )  # fmt: skip
    each = (width + _GAP) / columns  # from column to column
    free = height - sum(heights) - len(heights) * (line + _GAP) + _GAP
    lines = [Line(_cut(heading, width, _HEADING), _MARGIN, _MARGIN + _HEADING * 0.8, _HEADING,
                  bold=True)]  # fmt: skip
    placed = []
    for number, (picture, scale, title) in enumerate(zip(pictures, scales, titles, strict=True)):
        row, column = divmod(number, columns)
        left, place = _MARGIN + column * each, each - _GAP
        x = left + (place - picture.width * scale) / 2
        y = top + free / 2 + row * (line + _GAP) + sum(heights[:row])
        if title:
            lines.append(Line(_cut(title, place, _TITLE), left, y + _TITLE, _TITLE, bold=True))
        placed.append(Placed(picture, x, y + line, scale))
    return drawing(WIDTH, HEIGHT, placed, lines, fonts, unit="")


def _laid_out(
    pictures: Sequence[Picture], columns: int, width: float, height: float, line: float
) -> _Layout:
    """The grid of so many columns in that place, each row under a line of titles."""
    rows = math.ceil(len(pictures) / columns)
    across = (width + _GAP) / columns - _GAP
    down = (height + _GAP) / rows - _GAP - line
    scales = [min(across / one.width, down / one.height, _LARGEST) for one in pictures]
    tall = [one.height * scale for one, scale in zip(pictures, scales, strict=True)]
    heights = [max(tall[row * columns : (row + 1) * columns]) for row in range(rows)]
    return _Layout(columns, scales, heights)


def _cut(text: str, width: float, size: float) -> str:
    """As much of a text as has room in one line of ``width`` px."""
    letters = max(1, int(width / (size * _LETTER)))
    first, *more = wrapped(text, letters, letters) or [""]
    return f"{first} …" if more else first


def _smaller(png: bytes) -> bytes:
    """The picture with 256 colours at most: a fifth of the bytes, and nobody sees it."""
    with Image.open(io.BytesIO(png), formats=["PNG"]) as opened:
        few = opened.convert("RGB").quantize(method=Image.Quantize.FASTOCTREE)
    file = io.BytesIO()
    few.save(file, "PNG", optimize=True)
    return file.getvalue()
