"""Shapes that move: the axes of a tensor as coloured blocks, step under step, tied together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import altair as alt
import pandas as pd

from dashboard.charts import theme

_BLOCK, _LABEL, _GAP = 26, 20, 22  # px: a block, what its step is called, the room above that
_BETWEEN = 0.22  # of a block's width, between axes; blocks of one axis touch
_NARROW = 0.34  # of a block's width, what an axis of 1 leaves free at either side
_COLOURS = (*theme.PANEL_COLOURS.values(), theme.QUIET)
_INK = alt.ExprRef(f"{theme.ON_LIGHT} ? '{theme.TEXT['light']}' : '{theme.TEXT['dark']}'")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A tensor's shape as it stands in one step.

    Args:
        said: what happened, such as ``"transpose"``.
        axes: each a group of names: ``(("B",), ("n",), ("H", "d"))`` is ``(B, n, H·d)``. A name
            in brackets, ``"(n)"``, is an axis of size 1 that stretches to ``n`` later.
        into: the number of the step that this one goes into; the next where None.
    """

    said: str
    axes: tuple[tuple[str, ...], ...]
    into: int | None = None


def shape_flow(
    steps: Sequence[Shape], sizes: Mapping[str, int], *, width: int = theme.WIDTH
) -> alt.LayerChart:
    """Steps from top to bottom; every axis keeps its colour, and a band ties it to itself.

    Args:
        sizes: of every name; names take their colours in this order.

    Raises:
        ValueError: no step, or an axis without a size.
    """
    unknown = {n.strip("()") for s in steps for axis in s.axes for n in axis} - set(sizes)
    if unknown or not steps:
        raise ValueError(f"need the size of {', '.join(sorted(unknown)) or 'at least one step'}")
    blocks = _blocks(steps, sizes)
    height = _top(len(steps) - 1) + _BLOCK
    widest = max(_extent(step) for step in steps)
    scales = (
        alt.Scale(domain=[0, widest], nice=False, zero=False),
        alt.Scale(domain=[0, height], range=[0, height], nice=False, zero=False),
    )
    base = alt.Chart(pd.DataFrame(blocks))
    solid, hollow = base.transform_filter("!datum.one"), base.transform_filter("datum.one")
    place = _place(scales)
    told = {"tooltip": [alt.Tooltip("label:N", title="axis"), alt.Tooltip("shape:N")]}
    colour = alt.Color("colour:N", scale=None)
    layers = [
        *_bands(steps, blocks, scales),
        solid.mark_rect().encode(**place, **told, color=colour).properties(name="blocks"),
        hollow.mark_rect(fillOpacity=0, strokeWidth=1.5, strokeDash=[4, 3])
        .encode(**place, **told, stroke=alt.Stroke("colour:N", scale=None))
        .properties(name="ones"),
        _words(solid, scales, "#ffffff", 600),
        _words(hollow, scales, _INK, 400),
        _said(steps, blocks, scales[1]),
    ]
    return theme.finished(alt.layer(theme.ramp(), *layers), width=width, height=height)


def _top(step: int) -> float:
    return step * (_LABEL + _BLOCK + _GAP) + _LABEL


def _extent(step: Shape) -> float:
    return sum(map(len, step.axes)) + _BETWEEN * (len(step.axes) - 1)


def _blocks(steps: Sequence[Shape], sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """A row per block. All are as wide, since sizes differ too much to be drawn to scale."""
    colours = dict(zip(sizes, _COLOURS, strict=False))
    rows: list[dict[str, Any]] = []
    for number, step in enumerate(steps):
        left = (max(map(_extent, steps)) - _extent(step)) / 2
        # A bracketed name has no size of its own: it counts as 1.
        shape = ", ".join(str(prod(sizes.get(n, 1) for n in axis)) for axis in step.axes)
        for axis in step.axes:
            for written in axis:
                name, one = written.strip("()"), written.startswith("(")
                margin = _NARROW if one else 0.0
                rows.append(
                    {
                        "step": number, "name": name, "one": one, "colour": colours[name],
                        "left": left + margin, "right": left + 1 - margin,
                        "top": _top(number), "bottom": _top(number) + _BLOCK,
                        "label": "1" if one else f"{name} = {sizes[name]}", "shape": f"({shape})",
                    }
                )  # fmt: skip
                left += 1
            left += _BETWEEN
    return rows


def _place(scales: tuple[alt.Scale, alt.Scale]) -> dict[str, Any]:
    return {
        "x": alt.X("left:Q", scale=scales[0], axis=None),
        "x2": alt.X2("right:Q"),
        "y": alt.Y("top:Q", scale=scales[1], axis=None),
        "y2": alt.Y2("bottom:Q"),
    }


def _bands(
    steps: Sequence[Shape],
    blocks: Sequence[Mapping[str, Any]],
    scales: tuple[alt.Scale, alt.Scale],
) -> list[alt.Chart]:
    """What ties a block to the same axis where its step goes into."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for upper in blocks:
        into = steps[upper["step"]].into
        goal = upper["step"] + 1 if into is None else into
        lower = next((b for b in blocks if b["step"] == goal and b["name"] == upper["name"]), None)
        if lower is None:
            continue
        for block, edge in ((upper, "bottom"), (lower, "top")):
            row = {"left": block["left"], "right": block["right"], "top": block[edge]}
            band = f"{upper['step']} {upper['name']}"
            rows.setdefault(upper["colour"], []).append({**row, "band": band})
    place = {name: channel for name, channel in _place(scales).items() if name != "y2"}
    # A layer per colour: an area takes a colour by its name for a number that is missing.
    return [
        alt.Chart(pd.DataFrame(own))
        .mark_area(opacity=0.2, orient="horizontal", aria=False, color=colour)
        .encode(**place, detail="band:N")
        .properties(name=f"bands {colour}")
        for colour, own in rows.items()
    ]


def _words(
    base: alt.Chart, scales: tuple[alt.Scale, alt.Scale], colour: Any, weight: int
) -> alt.Chart:
    middle = base.transform_calculate(
        left="(datum.left + datum.right) / 2", top="(datum.top + datum.bottom) / 2"
    )
    place = {name: channel for name, channel in _place(scales).items() if name in ("x", "y")}
    return middle.mark_text(
        fontSize=theme.FONT_SIZE + 1, fontWeight=weight, color=colour, aria=False
    ).encode(**place, text="label:N")


def _said(steps: Sequence[Shape], blocks: Sequence[Mapping[str, Any]], y: alt.Scale) -> alt.Chart:
    shapes = {block["step"]: block["shape"] for block in blocks}
    rows = [
        {"top": _top(i) - _LABEL / 2, "text": f"{step.said}: {shapes[i]}"}
        for i, step in enumerate(steps)
    ]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_text(align="left", fontSize=theme.FONT_SIZE, color=_INK)
        .encode(x=alt.XValue(2), y=alt.Y("top:Q", scale=y, axis=None), text="text:N")
        .properties(name="said")
    )
