"""How a chart looks on paper: the width of a column, the size and the font of its text.

A chart of a page is drawn a little wider than its place and reduced, until its smallest text has
the size that was asked for, see :mod:`dashboard.charts.figure_fitting`. Text is larger beside the
marks than on a screen: a column has fewer points across than a screen has pixels.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # nosec B405  # reads what our own painter wrote
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dashboard.charts import theme
from dashboard.language import current

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_NAMED = re.compile(r"url\(#([^)]+)\)")
ET.register_namespace("", _SVG)
ET.register_namespace("xlink", _LINK)


class Picture:
    """A drawing as the painter made it, with its size in px."""

    def __init__(self, svg: bytes) -> None:
        self.root = ET.fromstring(svg)  # nosec B314  # as above
        self.width = float(self.root.get("width", "0"))
        self.height = float(self.root.get("height", "0"))


class Placed(NamedTuple):
    """A picture with its upper left corner, reduced by ``scale``."""

    picture: Picture
    x: float
    y: float
    scale: float


class Line(NamedTuple):
    """A line of text with the left end of its base line."""

    text: str
    x: float
    y: float
    size: float
    bold: bool = False


def drawing(
    width: float,
    height: float,
    pictures: Iterable[Placed],
    lines: Iterable[Line],
    fonts: str,
    unit: str = "pt",
) -> str:
    """The whole as SVG, on white ground, ``width`` x ``height`` pt.

    Args:
        unit: empty for the painter, which takes a px for a point.
    """
    root = ET.Element(f"{{{_SVG}}}svg", {"viewBox": f"0 0 {width:g} {height:g}"})
    root.set("width", f"{width:g}{unit}")
    root.set("height", f"{height:g}{unit}")
    ground = _texts(width=width, height=height) | {"fill": theme.BACKGROUND["light"]}
    ET.SubElement(root, f"{{{_SVG}}}rect", ground)
    for number, placed in enumerate(pictures):
        root.append(_placed(placed, f"p{number}-"))
    for line in lines:
        about = _texts(x=line.x, y=line.y) | {"font-size": f"{line.size:g}px"}
        about |= {"font-family": fonts, "fill": theme.TEXT["light"]}
        about |= {"font-weight": "bold"} if line.bold else {}
        ET.SubElement(root, f"{{{_SVG}}}text", about).text = line.text
    return ET.tostring(root, encoding="unicode")


def _placed(placed: Placed, prefix: str) -> ET.Element:
    own = placed.picture
    # Names of clips and gradients must be told apart from those of the other pictures.
    for element in own.root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, prefix + value)
            elif name == f"{{{_LINK}}}href" and value.startswith("#"):
                element.set(name, f"#{prefix}{value[1:]}")
            elif "url(#" in value:
                element.set(name, _NAMED.sub(rf"url(#{prefix}\1)", value))
    own.root.attrib.update(
        _texts(
            x=placed.x, y=placed.y, width=own.width * placed.scale,
            height=own.height * placed.scale,
        )
    )  # fmt: skip
    return own.root


def _texts(**numbers: float) -> dict[str, str]:
    return {name: f"{value:.5g}" for name, value in numbers.items()}


WIDTHS = {"single": 8.5, "double": 17.5}  # cm, of one and of two columns of most journals
NARROWEST, WIDEST = 4.0, 40.0  # cm
SMALLEST, LARGEST = 5.0, 16.0  # pt
POINTS = 72 / 2.54  # in a cm
# The first is in the painter itself, so that it looks the same on every server.
FONT = "Liberation Sans"
FONTS = f"{FONT}, Arial, Helvetica, sans-serif"
# Families with the characters of a language, as Linux, macOS and Windows have them.
_OF_LANGUAGE = {
    "zh": "Noto Sans CJK SC, Source Han Sans SC, WenQuanYi Micro Hei, PingFang SC, "
    "Microsoft YaHei, Droid Sans Fallback, ",
}

LARGER = 1.4  # what text is magnified by beside the marks


@dataclass(frozen=True, kw_only=True)
class FigureStyle:
    """What a figure is made for.

    Args:
        width: cm, or a name of :data:`WIDTHS`.
        font_size: pt, of the smallest text.
        font: a family that is installed where the figure is drawn; else :data:`FONT` is taken.
        columns: of panels; as many as have room where 0.

    Raises:
        ValueError: an unknown name, or numbers out of bounds.
    """

    width: float | str = "single"
    font_size: float = 7.0
    font: str = FONT
    columns: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.width, str) and self.width not in WIDTHS:
            named = " or ".join(map(repr, WIDTHS))
            raise ValueError(f"need a width of {named} or in cm, got {self.width!r}")
        if not NARROWEST <= self.centimetres <= WIDEST:
            raise ValueError(
                f"need a width from {NARROWEST:g} to {WIDEST:g} cm, got {self.centimetres:g}"
            )
        if not SMALLEST <= self.font_size <= LARGEST:
            raise ValueError(
                f"need a font size from {SMALLEST:g} to {LARGEST:g} pt, got {self.font_size:g}"
            )
        if self.columns < 0:
            raise ValueError(f"need 0 <= columns, got columns={self.columns}")

    @property
    def centimetres(self) -> float:
        """The figure's width."""
        return WIDTHS[self.width] if isinstance(self.width, str) else float(self.width)

    @property
    def points(self) -> float:
        """The figure's width, in pt."""
        return self.centimetres * POINTS

    @property
    def reduction(self) -> float:
        """Points on paper for a px of a chart."""
        return self.font_size / (theme.FONT_SIZE * LARGER)

    @property
    def fonts(self) -> str:
        """The families to look for, in their order."""
        own = self.font.replace("'", "").replace('"', "")
        # The first of them that there is sets a whole text, so one with its script comes first.
        families = f"{_OF_LANGUAGE.get(current(), '')}{FONTS}"
        return families if own == FONT else f"{own}, {families}"
