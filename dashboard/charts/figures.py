"""Figures for papers: charts in the width of a column, with colour scale and caption.

One line in a notebook: ``figure(chart, "norms.pdf")``. The painter works in a process of its own,
see :mod:`dashboard.charts.export`; a server calls this from a thread that may wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dashboard.charts.export import AnySpec, complete, painted
from dashboard.charts.figure_style import (
    FONT,
    FigureStyle,
    Line,
    Picture,
    Placed,
    drawing,
    least_width,
    styled,
)
from dashboard.charts.labels import wrapped
from dashboard.charts.legend import ColourScale, colour_scale, weights_legend

KINDS = {"pdf": "application/pdf", "svg": "image/svg+xml", "png": "image/png"}
DPI = 600  # of PNG: what journals ask for where there is text
_GAP = 8.0  # pt, between panels
_LETTER, _BOLD = 0.5, 0.56  # of the font size: the mean width of a letter, with some room
_DENSE = 0.6  # of the font size: that of an address, with its digits and without spaces
_SPACING = 1.3  # of the font size, from line to line
_HEADING = 1.15  # of the font size


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Charts below each other, under a heading.

    Args:
        charts: as Altair charts or as specifications that hold their data.
        title: set in bold over them; empty for none.
    """

    charts: Sequence[AnySpec]
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels beside each other, and a caption below all of them."""

    panels: Sequence[Panel]
    caption: str = ""


class _Panel(NamedTuple):
    title: str
    specs: list[dict[str, Any]]
    scales: list[ColourScale]


def figure(
    charts: AnySpec | Sequence[AnySpec] | Mapping[str, AnySpec],
    path: str | Path,
    *,
    width: float | str = "single",
    font_size: float = 7.0,
    font: str = FONT,
    columns: int = 0,
    caption: str = "",
) -> Path:
    """Write charts as one figure for a paper.

    Args:
        charts: one, several, or several by what stands over them.
        path: ends in ``.pdf``, ``.svg`` or ``.png``.
        width, font_size, font, columns: as of :class:`FigureStyle`.
        caption: stands below.

    Returns:
        The path of the file.

    Raises:
        ValueError: another kind of file, or no charts; and as :class:`FigureStyle`.
        ExportError: a chart could not be painted.
    """
    style = FigureStyle(width=width, font_size=font_size, font=font, columns=columns)
    if isinstance(charts, Mapping) and not _is_specification(charts):
        panels = [Panel(charts=[chart], title=title) for title, chart in charts.items()]
    else:
        several = charts if isinstance(charts, Sequence) else [charts]
        panels = [Panel(charts=[chart]) for chart in several]
    target = Path(path)
    made = drawn(Figure(panels=panels, caption=caption), style, target.suffix[1:].lower())
    target.write_bytes(made)
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
    panels = [_panel(panel) for panel in wanted.panels if panel.charts]
    columns = _columns(panels, style)
    width = (style.points - _GAP * (columns - 1)) / columns
    scales = list(dict.fromkeys(scale for panel in panels for scale in panel.scales))
    shared = scales if len(scales) == 1 else []
    if not shared:  # each panel needs its own
        panels = [panel._replace(specs=[*panel.specs, *map(_legend, panel.scales)])
                  for panel in panels]  # fmt: skip
    specs = [spec for panel in panels for spec in panel.specs]
    specs += map(_legend, shared)
    orders = [{"kind": "svg", "spec": styled(spec, width, style)} for spec in specs]
    pictures = iter([Picture(svg) for svg in painted(orders)])
    page = _Page(style)
    for start in range(0, len(panels), columns):
        row = panels[start : start + columns]
        headings = [_lettered(panel.title, start + place, len(panels))
                    for place, panel in enumerate(row)]  # fmt: skip
        page.headings(headings, width)
        top, bottoms = page.bottom, []
        for place, panel in enumerate(row):
            page.bottom = top
            for _ in panel.specs:
                page.picture(next(pictures), place * (width + _GAP), width)
            bottoms.append(page.bottom)
        page.bottom = max(bottoms)
    for picture in pictures:
        page.picture(picture, 0, style.points)
    page.caption(wanted.caption)
    return drawing(
        style.points, page.bottom, page.pictures, page.lines, style.fonts, unit
    )  # fmt: skip


class _Page:
    """What was placed so far, and where the next thing goes; in pt."""

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
        size, top = self.style.font_size * _HEADING, self.bottom
        bottoms = [top]
        for place, text in enumerate(texts):
            self.bottom = top
            self._paragraph(text, place * (width + _GAP), width, size, bold=True)
            bottoms.append(self.bottom)
        self.bottom = max(bottoms)

    def caption(self, text: str) -> None:
        """Place a paragraph over the whole width."""
        size = self.style.font_size
        self._paragraph(text, 0, self.style.points, size)
        self.bottom += size * (_SPACING - 1)

    def _paragraph(
        self, text: str, left: float, width: float, size: float, *, bold: bool = False
    ) -> None:
        letters = max(1, int(width / (size * (_BOLD if bold else _LETTER))))
        dense = max(1, int(width / (size * _DENSE)))
        for line in wrapped(text, letters, dense):
            self.lines.append(Line(line, left, self.bottom + size, size, bold))
            self.bottom += size * _SPACING


def _panel(panel: Panel) -> _Panel:
    specs = [complete(chart) for chart in panel.charts]
    found = [scale for spec in specs if (scale := colour_scale(spec))]
    return _Panel(panel.title, specs, list(dict.fromkeys(found)))


def _columns(panels: Sequence[_Panel], style: FigureStyle) -> int:
    """How many panels stand beside each other: as many as are legible, in rows of equal length."""
    if style.columns:
        return min(style.columns, len(panels))
    least = max(least_width(spec, style) for panel in panels for spec in panel.specs)
    most = max(1, min(4, len(panels), int((style.points + _GAP) / (least + _GAP))))
    return math.ceil(len(panels) / math.ceil(len(panels) / most))


def _legend(scale: ColourScale) -> dict[str, Any]:
    return complete(weights_legend(scale.end, title=scale.title, difference=scale.signed))


def _lettered(title: str, number: int, count: int) -> str:
    return title if count == 1 else f"({chr(ord('a') + number % 26)}) {title}".rstrip()


def _is_specification(held: Mapping[str, Any]) -> bool:
    return any(name in held for name in ("$schema", "mark", "layer", "hconcat", "vconcat", "spec"))
