"""How a chart looks on paper: the width of a column, the size and the font of its text.

A chart of a page is drawn a little wider than its place and reduced, until its smallest text has
the size that was asked for; text is larger beside the marks than on a screen.
"""

import math
import re
import xml.etree.ElementTree as ET  # nosec B405  # reads what our own painter wrote
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dashboard.charts import theme
from dashboard.charts.labels import room, wrapped
from dashboard.charts.regression import LARGEST_MARK
from dashboard.charts.template import PARAMETERS
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
    size: tuple[float, float], pictures: Iterable[Placed], lines: Iterable[Line], fonts: str,
    unit: str,
) -> str:  # fmt: skip
    """The whole as SVG in ``pt``, or in no unit: the painter takes a px for a point."""
    width, height = size
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
    width, height = own.width * placed.scale, own.height * placed.scale
    own.root.attrib.update(_texts(x=placed.x, y=placed.y, width=width, height=height))
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


_LINE = 12  # px that a label needs across its direction
# Settings of axes, marks and titles that are room for text, in px.
_ROOMS = frozenset({"minExtent", "maxExtent", "titleX", "labelLimit", "titleLimit", "limit"})
# Parameters of a map, see Sizes of cells.py.
_MAP = frozenset({"queries", "keys", "side", "query_room", "key_room", "key_limit", "key_angle",
                  "query_step", "key_step"})  # fmt: skip
_LEAST = 210  # px of a chart that follows its place
_OF_OWN = 0.6  # of the width that a wide chart was made for, what it needs
_SMALL_MAP = 30  # px, the width of one that is told from its neighbours
_NUMBER, _BESIDE = 31, 26  # px, of a number in a cell, and of what stands beside the cells
_OF_NAMES = 0.62  # of the width, at most for the names of lanes
_BOTH_SAID = 300  # px, where the title of a lane and the largest weight both stand above it
_TITLE_LETTER = 0.6  # of the size of text, the width of a bold letter of a title
_SYMBOL = 28  # px, before a name in a legend


def styled(spec: Mapping[str, Any], width: float, style: FigureStyle) -> dict[str, Any]:
    """The complete chart for a place of so many pt, before its px are reduced by the style."""
    place = width / style.reduction
    made = _enlarged(spec, place)
    made["config"] = {**made["config"], "font": style.fonts}
    if place < _BOTH_SAID and "layer" in made:  # the colour scale below tells it too
        made["layer"] = [one for one in made["layer"] if one.get("name") != LARGEST_MARK]
    if follows_place(spec):
        made["width"] = place
    if rows := _parameters(spec):
        values, _ = _with_room(rows, place)
        made["datasets"] = {**spec["datasets"], PARAMETERS: [values]}
    elif "params" in made:
        values, more = _with_room(_own_parameters(spec), place)
        made["params"] = [{**one, "value": values[one["name"]]} if one["name"] in values else one
                          for one in made["params"]]  # fmt: skip
        if more:
            made["height"] += more
    letters = int(place / (theme.FONT_SIZE * LARGER * _TITLE_LETTER))
    match made:
        case {"title": {"text": str(text)}}:
            made["title"]["text"] = wrapped(text, letters, letters)
        case {"title": {"text": {"expr": named}}}:  # one of several maps' names
            made["title"]["text"] = {"expr": f"split({named}, '\\n')"}
            for one in made["params"]:
                if one["name"] == "names":
                    lines = (wrapped(name, letters, letters) for name in one["value"])
                    one["value"] = [*map("\n".join, lines)]
    return made


def follows_place(spec: Mapping[str, Any]) -> bool:
    """Whether a chart is as wide as it is told to be; see :func:`.theme.finished`."""
    size = spec.get("autosize")
    return isinstance(size, Mapping) and size.get("type") == "fit-x"


def least_width(spec: Mapping[str, Any], style: FigureStyle) -> float:
    """Points below which labels of a chart would be left out, or a plot would be a strip."""
    held = _parameters(spec) or _own_parameters(spec)
    wanted: list[float] = [_LEAST]
    if (own := spec.get("width", 0)) > theme.WIDTH:
        wanted.append(own * _OF_OWN)
    if held.keys() >= _MAP:
        labels = math.ceil(_count(held["keys"]) / held["key_step"])
        wanted.append(LARGER * (held["query_room"] + labels * _LINE))
    if "name_room" in held:  # small maps below a large one
        across = math.ceil(_count(_own_parameters(spec)["maps"]) / held["rows"])
        wanted.append(_BESIDE + across * _SMALL_MAP)
    if "columns" in held and any(one.get("name") == "numbers" for one in spec["layer"]):
        wanted.append(LARGER * (_BESIDE + _count(held["columns"]) * _NUMBER))
    return max(wanted) * style.reduction


def _count(labels: Any) -> int:
    return len(labels.split("\n") if isinstance(labels, str) else labels)


def _enlarged(value: Any, place: float) -> Any:
    """The specification with larger text in a place of so many px, its data untouched."""
    if isinstance(value, list):
        return [_enlarged(one, place) for one in value]
    if not isinstance(value, Mapping):
        return value
    made, lanes = {}, value.get("y")
    match lanes:  # their names stand whole where that leaves the marks some room
        case {"axis": {"minExtent": int()} as axis, "scale": {"domain": [str(), *_] as names}}:
            wide = min(room(names, int(place)), _OF_NAMES * place / LARGER)
            extents = {"minExtent": wide, "maxExtent": wide, "labelLimit": wide - 4}
            value = {**value, "y": {**lanes, "axis": {**axis, **extents}}}
            place -= LARGER * wide
    for name, held in value.items():
        is_number = isinstance(held, (int, float)) and not isinstance(held, bool)
        if is_number and name.lower().endswith("fontsize"):
            # Headings grow less: they stand out as it is.
            made[name] = theme.FONT_SIZE * LARGER * math.sqrt(max(1, held / theme.FONT_SIZE))
        elif is_number and name in _ROOMS:
            made[name] = held * LARGER
        else:
            made[name] = held if name == "datasets" else _enlarged(held, place)
    match made:
        case {"legend": {"columns": _}, "scale": {"domain": [*names]}}:
            each = LARGER * (_SYMBOL + room([str(name) for name in names], int(place)))
            made["legend"] = {**made["legend"], "columns": max(1, int(place / each))}
    return made


def _parameters(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    rows = (spec.get("datasets") or {}).get(PARAMETERS) or [{}]
    return rows[0]


def _own_parameters(spec: Mapping[str, Any]) -> dict[str, Any]:
    params = spec.get("params", ())
    return {one["name"]: one["value"] for one in params if "value" in one and "select" not in one}


def _with_room(values: Mapping[str, Any], width: float) -> tuple[dict[str, Any], float]:
    """The parameters of a map with room for larger labels in so many px; how much it grows, px."""
    made = dict(values)
    if "room" in made:
        made["room"] *= LARGER
    if not made.keys() >= _MAP:
        return made, 0.0
    for name in ("query_room", "key_room", "key_limit"):
        made[name] *= LARGER
    each = (width - made["query_room"]) / _count(made["keys"])
    wanted = made["side"]
    if not made["key_angle"]:  # level labels need columns as wide
        if made["key_limit"] <= each:
            wanted = max(wanted, made["key_limit"])
        else:
            made["key_angle"] = 270
            made["key_room"] = made["key_limit"] = max(made["key_limit"], made["key_room"])
    made["side"] = min(wanted, max(each, _LINE * LARGER))
    made["query_step"] = math.ceil(_LINE * LARGER / made["side"])
    made["key_step"] = math.ceil(_LINE * LARGER / min(made["side"], each))
    more = (made["side"] - values["side"]) * _count(made["queries"])
    names = LARGER * made.get("name_room", 0)  # over small maps, below the large one
    if names:
        made["top"] += more
        more += (names - made["name_room"]) * made["rows"]
        made["name_room"] = names
    if "height" in made:
        made["height"] += more
    return made, more
