"""How a chart looks on paper: the width of a column, the size and the font of its text.

A chart of a page is drawn a little wider than its place and reduced, until its smallest text has
the size that was asked for. Text is larger beside the marks than on a screen, by :data:`_LARGER`:
a page of paper has fewer points across than a screen has pixels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.charts import theme
from dashboard.charts.template import PARAMETERS

WIDTHS = {"single": 8.5, "double": 17.5}  # cm, of one and of two columns of most journals
NARROWEST, WIDEST = 4.0, 40.0  # cm
SMALLEST, LARGEST = 5.0, 16.0  # pt
POINTS = 72 / 2.54  # in a cm
# The first is in the painter itself, so that it looks the same on every server.
FONT = "Liberation Sans"
FONTS = f"{FONT}, Arial, Helvetica, sans-serif"

_LARGER = 1.4
_LINE = 12  # px that a label needs across its direction
# What has room for text in px: settings of axes, marks and titles, and parameters of maps.
_ROOMS = frozenset({"minExtent", "maxExtent", "titleX", "labelLimit", "titleLimit", "limit"})
# Parameters of a map, see Sizes of cells.py.
_MAP = frozenset({"queries", "keys", "side", "query_room", "key_room", "key_limit", "key_angle",
                  "query_step"})  # fmt: skip
_LEAST = 210  # px of a chart that follows its place
_NUMBER, _BESIDE = 31, 26  # px, of a number in a cell, and of what stands beside the cells


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
        return self.font_size / (theme.FONT_SIZE * _LARGER)

    @property
    def fonts(self) -> str:
        """The families to look for, in their order."""
        own = self.font.replace("'", "").replace('"', "")
        return FONTS if own == FONT else f"{own}, {FONTS}"


def styled(spec: Mapping[str, Any], width: float, style: FigureStyle) -> dict[str, Any]:
    """The chart for a place of ``width`` pt; px of it are to be reduced by ``style.reduction``.

    Args:
        spec: as :func:`dashboard.charts.export.complete` makes it.
    """
    made = _enlarged(spec)
    made["config"] = {**made["config"], "font": style.fonts}
    place = width / style.reduction
    if follows_place(spec):
        made["width"] = place
    if rows := _parameters(spec):
        values, _ = _with_room(rows, place)
        made["datasets"] = {**spec["datasets"], PARAMETERS: [values]}
    elif "params" in made:
        values, more = _with_room(_told(spec), place)
        made["params"] = [{**one, "value": values[one["name"]]} if "value" in one else one
                          for one in made["params"]]  # fmt: skip
        if more:
            made["height"] += more
    return made


def follows_place(spec: Mapping[str, Any]) -> bool:
    """Whether a chart is as wide as it is told to be; see :func:`.theme.finished`."""
    size = spec.get("autosize")
    return isinstance(size, Mapping) and size.get("type") == "fit-x"


def least_width(spec: Mapping[str, Any], style: FigureStyle) -> float:
    """Points below which labels of a chart would be left out, or a plot would be a strip."""
    held = _parameters(spec) or _told(spec)
    if held.keys() >= _MAP:
        each = _LARGER * (_LINE if held["key_angle"] else held["key_limit"])
        width = _LARGER * held["query_room"] + _count(held["keys"]) * each
    elif "columns" in held and any(one.get("name") == "numbers" for one in spec["layer"]):
        width = _LARGER * (_BESIDE + _count(held["columns"]) * _NUMBER)
    else:
        width = _LEAST
    return width * style.reduction


def _count(labels: Any) -> int:
    """How many labels there are, in a list or in the lines of a text."""
    return len(labels.split("\n") if isinstance(labels, str) else labels)


def _enlarged(value: Any) -> Any:
    """The specification with larger text and the room for it, its data untouched."""
    if isinstance(value, Mapping):
        return {name: held if name == "datasets" else _larger(name, held)
                for name, held in value.items()}  # fmt: skip
    return [_enlarged(one) for one in value] if isinstance(value, list) else value


def _larger(name: str, held: Any) -> Any:
    if isinstance(held, bool) or not isinstance(held, (int, float)):
        return _enlarged(held)
    if name.lower().endswith("fontsize"):
        # Headings grow less: they stand out as it is.
        return theme.FONT_SIZE * _LARGER * math.sqrt(max(1, held / theme.FONT_SIZE))
    return held * _LARGER if name in _ROOMS else held


def _parameters(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a template's parameters, see :mod:`dashboard.charts.template`."""
    rows = (spec.get("datasets") or {}).get(PARAMETERS) or [{}]
    return rows[0]


def _told(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the parameters of a chart that holds its data."""
    params = spec.get("params", ())
    return {one["name"]: one["value"] for one in params if "value" in one and "select" not in one}


def _with_room(values: Mapping[str, Any], width: float) -> tuple[dict[str, Any], float]:
    """The parameters of a map with room for larger labels in so many px; how much it grows, px."""
    made = dict(values)
    if not made.keys() >= _MAP:
        return made, 0.0
    for name in ("query_room", "key_room", "key_limit"):
        made[name] *= _LARGER
    keys, queries = _count(made["keys"]), _count(made["queries"])
    if not made["key_angle"]:  # level labels need cells as wide
        room = (width - made["query_room"]) / keys
        made["side"] = max(made["side"], min(made["key_limit"], room))
    more = (made["side"] - values["side"]) * queries
    for name in ("height", "top"):
        if name in made:
            made[name] += more
    made["query_step"] = max(made["query_step"], math.ceil(_LINE * _LARGER / made["side"]))
    return made, more
