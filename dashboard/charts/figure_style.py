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
_MAP_ROOMS = ("query_room", "key_room", "key_limit")
_LEAST = 150  # px of a chart that follows its place


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
    if follows_place(spec):
        made["width"] = width / style.reduction
    if held := _parameters(spec):
        made["datasets"] = {**spec["datasets"], PARAMETERS: [_with_room(held)]}
    elif "params" in made:
        made["params"] = _roomier(made["params"])
    return made


def follows_place(spec: Mapping[str, Any]) -> bool:
    """Whether a chart is as wide as it is told to be; see :func:`.theme.finished`."""
    size = spec.get("autosize")
    return isinstance(size, Mapping) and size.get("type") == "fit-x"


def least_width(spec: Mapping[str, Any], style: FigureStyle) -> float:
    """Points below which labels of a chart would be left out, or a plot would be a strip."""
    held = _parameters(spec) or {
        one["name"]: one["value"] for one in spec.get("params", ()) if "value" in one
    }
    if not {"query_room", "keys", "side"} <= held.keys():
        return _LEAST * style.reduction
    keys = held["keys"].split("\n") if isinstance(held["keys"], str) else held["keys"]
    each = _LARGER * (held["key_limit"] if not held["key_angle"] else _LINE)
    return (_LARGER * held["query_room"] + len(keys) * each) * style.reduction


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
        return max(held, theme.FONT_SIZE) * _LARGER
    return held * _LARGER if name in _ROOMS else held


def _parameters(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a template's parameters, see :mod:`dashboard.charts.template`."""
    rows = (spec.get("datasets") or {}).get(PARAMETERS) or [{}]
    return rows[0]


def _with_room(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a map with room for larger labels."""
    made = dict(values)
    for name in _MAP_ROOMS:
        if name in made:
            made[name] *= _LARGER
    if "query_step" in made:
        made["query_step"] = max(made["query_step"], math.ceil(_LINE * _LARGER / made["side"]))
    return made


def _roomier(params: list[dict[str, Any]]) -> list[dict[str, Any]]:
    told = {one["name"]: one["value"] for one in params if "value" in one}
    made = _with_room(told)
    return [{**one, "value": made[one["name"]]} if one["name"] in made else one for one in params]
