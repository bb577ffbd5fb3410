"""Figures for papers, with colour scale and caption; the picture of a run, of its first charts.

One line in a notebook: ``figure(chart, "norms.pdf")``. The painter works in a process of its own;
a server calls these from a thread that may wait. A run's picture stands where its link is shared,
on light ground, and is mostly seen at half its size: its text is as large as in a figure.
"""

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from dashboard.charts import figure_style
from dashboard.charts.export import AnySpec, complete, painted
from dashboard.charts.figure_style import FigureStyle, Line, Picture, Placed
from dashboard.charts.labels import wrapped
from dashboard.charts.legend import ColourScale, colour_scale, weights_legend

KINDS = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}
DPI = 600  # of PNG: what journals ask for where there is text
_GAP = 8.0  # pt, between panels
_LETTER, _BOLD = 0.5, 0.56  # of the font size: the mean width of a letter, with some room
_DENSE = 0.6  # of the font size: that of an address, with its digits and without spaces
_SPACING = 1.3  # of the font size, from line to line
_HEADING = 1.15  # of the font size
_OF_SPECIFICATIONS = {"$schema", "mark", "layer", "hconcat", "vconcat", "spec"}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Charts or complete specifications below each other, under a bold title if it has one."""

    charts: Sequence[AnySpec]
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels beside each other, and a caption below all of them."""

    panels: Sequence[Panel]
    caption: str = ""


def figure(
    charts: AnySpec | Sequence[AnySpec] | Mapping[str, AnySpec], path: str | Path, *,
    caption: str = "", **style: Any,
) -> Path:  # fmt: skip
    """Write charts as one figure for a paper.

    >>> chart = attention_heatmap([[0.7, 0.3], [0.2, 0.8]])
    >>> figure({"before": chart, "after": chart}, "maps.svg", width="single").name
    'maps.svg'

    Args:
        charts: one, several, or several by what stands over them.
        path: ends in ``.pdf``, ``.svg`` or ``.png``.
        caption: stands below.
        style: ``width``, ``font_size``, ``font``, ``columns``, as of :class:`FigureStyle`.

    Returns:
        The path of the file.

    Raises:
        ValueError: another kind of file, or no charts; and as :class:`FigureStyle`.
        ExportError: a chart could not be painted.
    """
    if isinstance(charts, Mapping) and not _OF_SPECIFICATIONS & charts.keys():
        panels = [Panel(charts=[chart], title=title) for title, chart in charts.items()]
    else:
        several = charts if isinstance(charts, Sequence) else [charts]
        panels = [Panel(charts=[chart]) for chart in several]
    target, wanted = Path(path), Figure(panels=panels, caption=caption)
    target.write_bytes(drawn(wanted, FigureStyle(**style), target.suffix[1:].lower()))
    return target


def drawn(wanted: Figure, style: FigureStyle, kind: str) -> bytes:
    """The file of a figure; ``kind`` is one of :data:`KINDS`. Raises as :func:`figure`."""
    if kind not in KINDS:
        raise ValueError(f"need a file that ends in .{', .'.join(KINDS)}, got {kind!r}")
    if not any(panel.charts for panel in wanted.panels):
        raise ValueError("need at least one chart for a figure, got none")
    svg = _composed(wanted, style, "pt" if kind == "svg" else "")
    if kind == "svg":
        return svg.encode()
    order = {"kind": "pdf"} if kind == "pdf" else {"kind": "print", "dpi": DPI}
    return painted([{**order, "svg": svg}])[0]


def _composed(wanted: Figure, style: FigureStyle, unit: str) -> str:
    titles = [panel.title for panel in wanted.panels if panel.charts]
    panels = [[*map(complete, panel.charts)] for panel in wanted.panels if panel.charts]
    columns = _columns(panels, style)
    width = (style.points - _GAP * (columns - 1)) / columns
    scales = [dict.fromkeys(filter(None, map(colour_scale, panel))) for panel in panels]
    shared = dict.fromkeys(scale for own in scales for scale in own)
    if len(shared) > 1:  # each panel needs its own
        panels = [[*panel, *map(_legend, own)] for panel, own in zip(panels, scales, strict=True)]
        shared = {}
    specs = [*(spec for panel in panels for spec in panel), *map(_legend, shared)]
    orders = [{"kind": "svg", "spec": figure_style.styled(spec, width, style)} for spec in specs]
    pictures = iter([Picture(svg) for svg in painted(orders)])
    if len(panels) > 1:
        titles = [f"({chr(ord('a') + number % 26)}) {title}".rstrip()
                  for number, title in enumerate(titles)]  # fmt: skip
    page = _Page(style)
    for start in range(0, len(panels), columns):
        page.headings(titles[start : start + columns], width)
        top, bottoms = page.bottom, []
        for place, panel in enumerate(panels[start : start + columns]):
            page.bottom = top
            for _ in panel:
                page.picture(next(pictures), place * (width + _GAP), width)
            bottoms.append(page.bottom)
        page.bottom = max(bottoms)
    for picture in pictures:
        page.picture(picture, 0, style.points)
    page.paragraph(wanted.caption, 0, style.points)
    size = style.points, page.bottom + style.font_size * (_SPACING - 1)
    return figure_style.drawing(size, page.pictures, page.lines, style.fonts, unit)


class _Page:
    def __init__(self, style: FigureStyle) -> None:
        self.style = style
        self.bottom = 0.0
        self.pictures: list[Placed] = []
        self.lines: list[Line] = []

    def picture(self, picture: Picture, left: float, width: float) -> None:
        """Place a picture, reduced further where it is too wide."""
        scale = min(self.style.reduction, width / picture.width)
        self.pictures.append(Placed(picture, left, self.bottom, scale))
        self.bottom += picture.height * scale + _GAP / 2

    def headings(self, texts: Sequence[str], width: float) -> None:
        """Place the headings of a row of panels, each in as many lines as it needs."""
        bottoms = [top := self.bottom]
        for place, text in enumerate(texts):
            self.bottom = top
            self.paragraph(text, place * (width + _GAP), width, heading=True)
            bottoms.append(self.bottom)
        self.bottom = max(bottoms)

    def paragraph(self, text: str, left: float, width: float, *, heading: bool = False) -> None:
        """Place a text in as many lines of that width as it needs."""
        size = self.style.font_size * (_HEADING if heading else 1)
        letters = max(1, int(width / (size * (_BOLD if heading else _LETTER))))
        for line in wrapped(text, letters, max(1, int(width / (size * _DENSE)))):
            self.lines.append(Line(line, left, self.bottom + size, size, heading))
            self.bottom += size * _SPACING


def _columns(panels: Sequence[Sequence[Mapping[str, Any]]], style: FigureStyle) -> int:
    """How many panels stand beside each other: as many as are legible, in rows of equal length."""
    if style.columns:
        return min(style.columns, len(panels))
    least = max(figure_style.least_width(spec, style) for panel in panels for spec in panel)
    most = max(1, min(4, len(panels), int((style.points + _GAP) / (least + _GAP))))
    return math.ceil(len(panels) / math.ceil(len(panels) / most))


def _legend(scale: ColourScale) -> dict[str, Any]:
    looks = {"title": scale.title, "difference": scale.signed, "log": scale.log}
    return complete(weights_legend(scale.end, **looks))


WIDTH, HEIGHT = 1_200, 630  # px, as of Open Graph
MOST = 4  # charts
_MARGIN, _BETWEEN = 40, 24  # px
_NAME, _TITLE = 34, 22  # px, sizes of text
_BELOW = 26  # px, between the run's name and the charts
_LINE = 1.5  # of the size of a title, the room that it takes
_PLACES = {1: 900, 2: 480}  # px that charts are drawn for, by how many they are
_PLACE = 380  # where there are more
_LARGEST = 1.7  # what charts are magnified by at most
_PATIENCE = 30.0  # seconds
_SCREEN_DPI = 72  # a pixel for each px


class Titled(NamedTuple):
    """A chart, and what stands over it; empty for nothing."""

    title: str
    chart: AnySpec


def preview(charts: Sequence[Titled], heading: str) -> bytes:
    """A PNG of :data:`WIDTH` x :data:`HEIGHT` px with the first :data:`MOST` charts.

    ValueError for no charts, ExportError where one could not be painted.
    """
    shown = charts[:MOST]
    if not shown:
        raise ValueError("need at least one chart, got none")
    style = FigureStyle()
    width = _PLACES.get(len(shown), _PLACE) * style.reduction
    orders = [
        {"kind": "svg", "spec": figure_style.styled(complete(one.chart), width, style)}
        for one in shown
    ]
    pictures = [Picture(svg) for svg in painted(orders, patience=_PATIENCE)]
    svg = _beside(pictures, [one.title for one in shown], heading, style.fonts)
    png = painted([{"kind": "print", "svg": svg, "dpi": _SCREEN_DPI}], patience=_PATIENCE)[0]
    # With 256 colours at most: a fifth of the bytes, and nobody sees it.
    with Image.open(io.BytesIO(png), formats=["PNG"]) as opened:
        few = opened.convert("RGB").quantize(method=Image.Quantize.FASTOCTREE)
    file = io.BytesIO()
    few.save(file, "PNG", optimize=True)
    return file.getvalue()


def _beside(pictures: Sequence[Picture], titles: Sequence[str], heading: str, fonts: str) -> str:
    top = _MARGIN + _NAME + _BELOW
    line = _TITLE * _LINE if any(titles) else 0
    width, height = WIDTH - 2 * _MARGIN, HEIGHT - top - _MARGIN
    columns, scales, heights = max(
        (_laid_out(pictures, columns, width, height, line)
         for columns in range(1, len(pictures) + 1)),
        key=lambda one: sum(one[1]),
    )  # fmt: skip
    each = (width + _BETWEEN) / columns  # from column to column
    free = height - sum(heights) - len(heights) * (line + _BETWEEN) + _BETWEEN
    name = _cut(heading, width, _NAME)
    lines = [Line(name, _MARGIN, _MARGIN + _NAME * 0.8, _NAME, bold=True)]
    placed = []
    for number, (picture, scale, title) in enumerate(zip(pictures, scales, titles, strict=True)):
        row, column = divmod(number, columns)
        left, place = _MARGIN + column * each, each - _BETWEEN
        x = left + (place - picture.width * scale) / 2
        y = top + free / 2 + row * (line + _BETWEEN) + sum(heights[:row])
        if title:
            lines.append(Line(_cut(title, place, _TITLE), left, y + _TITLE, _TITLE, bold=True))
        placed.append(Placed(picture, x, y + line, scale))
    return figure_style.drawing((WIDTH, HEIGHT), placed, lines, fonts, unit="")


def _laid_out(
    pictures: Sequence[Picture], columns: int, width: float, height: float, line: float
) -> tuple[int, list[float], list[float]]:
    """So many columns, the scales of the pictures in them, and the heights of the rows, px."""
    rows = math.ceil(len(pictures) / columns)
    across = (width + _BETWEEN) / columns - _BETWEEN
    down = (height + _BETWEEN) / rows - _BETWEEN - line
    scales = [min(across / one.width, down / one.height, _LARGEST) for one in pictures]
    tall = [one.height * scale for one, scale in zip(pictures, scales, strict=True)]
    return columns, scales, [max(tall[row * columns : (row + 1) * columns]) for row in range(rows)]


def _cut(text: str, width: float, size: float) -> str:
    letters = max(1, int(width / (size * _BOLD)))
    first, *more = wrapped(text, letters, letters) or [""]
    return f"{first} …" if more else first
