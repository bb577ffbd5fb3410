"""One drawing of several: pictures and lines of text at their places, in pt."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # nosec B405  # reads what our own painter wrote
from collections.abc import Iterable
from typing import NamedTuple

from dashboard.charts import theme

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
