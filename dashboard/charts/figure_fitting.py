"""Fits the specification of a chart into a place on paper: larger text, and the room for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dashboard.charts import theme
from dashboard.charts.figure_style import LARGER, FigureStyle
from dashboard.charts.labels import room
from dashboard.charts.template import PARAMETERS
from dashboard.charts.weightlane import LARGEST

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
_BOTH_SAID = 300  # px, where the title of a lane and the largest weight both stand above it
_SYMBOL = 28  # px, before a name in a legend


def styled(spec: Mapping[str, Any], width: float, style: FigureStyle) -> dict[str, Any]:
    """The chart for a place of ``width`` pt; px of it are to be reduced by ``style.reduction``.

    Args:
        spec: as :func:`dashboard.charts.export.complete` makes it.
    """
    place = width / style.reduction
    made = _enlarged(spec, place)
    made["config"] = {**made["config"], "font": style.fonts}
    if place < _BOTH_SAID and "layer" in made:  # the colour scale below tells it too
        made["layer"] = [one for one in made["layer"] if one.get("name") != LARGEST]
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
    wanted: list[float] = [_LEAST]
    if (own := spec.get("width", 0)) > theme.WIDTH:
        wanted.append(own * _OF_OWN)
    if held.keys() >= _MAP:
        labels = math.ceil(_count(held["keys"]) / held["key_step"])
        wanted.append(LARGER * (held["query_room"] + labels * _LINE))
    if "name_room" in held:  # small maps below a large one
        across = math.ceil(_count(_told(spec)["maps"]) / held["rows"])
        wanted.append(_BESIDE + across * _SMALL_MAP)
    if "columns" in held and any(one.get("name") == "numbers" for one in spec["layer"]):
        wanted.append(LARGER * (_BESIDE + _count(held["columns"]) * _NUMBER))
    return max(wanted) * style.reduction


def _count(labels: Any) -> int:
    """How many labels there are, in a list or in the lines of a text."""
    return len(labels.split("\n") if isinstance(labels, str) else labels)


def _enlarged(value: Any, place: float) -> Any:
    """The specification with larger text in a place of so many px, its data untouched."""
    if isinstance(value, list):
        return [_enlarged(one, place) for one in value]
    if not isinstance(value, Mapping):
        return value
    made = {name: held if name == "datasets" else _larger(name, held, place)
            for name, held in value.items()}  # fmt: skip
    match made:
        case {"legend": {"columns": _}, "scale": {"domain": [*names]}}:
            each = LARGER * (_SYMBOL + room([str(name) for name in names], int(place)))
            made["legend"] = {**made["legend"], "columns": max(1, int(place / each))}
    return made


def _larger(name: str, held: Any, place: float) -> Any:
    if isinstance(held, bool) or not isinstance(held, (int, float)):
        return _enlarged(held, place)
    if name.lower().endswith("fontsize"):
        # Headings grow less: they stand out as it is.
        return theme.FONT_SIZE * LARGER * math.sqrt(max(1, held / theme.FONT_SIZE))
    return held * LARGER if name in _ROOMS else held


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
