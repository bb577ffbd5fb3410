"""Shapes that move: the axes of a tensor as coloured blocks, step under step, tied together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, NamedTuple

import altair as alt
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.grid import boxes, positions
from dashboard.language import gettext

_BLOCK, _LABEL, _GAP = 26, 20, 22  # px: a block, what its step is called, the room above that
_BETWEEN = 0.22  # of a block's width, between axes; blocks of one axis touch
_NARROW = 0.34  # of a block's width, what an axis of 1 leaves free at either side
_COLOURS = (*theme.PANEL_COLOURS.values(), theme.QUIET)
_INK = alt.ExprRef(theme.INK)


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
    x = alt.X("left:Q", scale=alt.Scale(domain=[0, widest], nice=False, zero=False), axis=None)
    y = alt.Y("top:Q", scale=positions(height, height), axis=None)
    base = alt.Chart(pd.DataFrame(blocks)).encode(x=x, y=y)
    placed = boxes(base, x, y).encode(
        tooltip=[
            alt.Tooltip("label:N", title=gettext("axis")),
            alt.Tooltip("shape:N", title=gettext("shape")),
        ]
    )
    layers = [
        theme.ramp(),
        *(band.encode(x=x, x2=alt.X2("right:Q"), y=y) for band in _bands(steps, blocks)),
        placed.transform_filter("!datum.one")
        .mark_rect()
        .encode(color=alt.Color("colour:N", scale=None))
        .properties(name="blocks"),
        placed.transform_filter("datum.one")
        .mark_rect(fillOpacity=0, strokeWidth=1.5, strokeDash=[4, 3])
        .encode(stroke=alt.Stroke("colour:N", scale=None))
        .properties(name="ones"),
        _words(base.transform_filter("!datum.one"), "#ffffff", 600),
        _words(base.transform_filter("datum.one"), _INK, 400),
        _said(steps, blocks).encode(y=y),
    ]
    return theme.finished(alt.LayerChart(layer=layers), width=width, height=height)


def _top(step: int) -> float:
    return step * (_LABEL + _BLOCK + _GAP) + _LABEL


def _extent(step: Shape) -> float:
    return sum(map(len, step.axes)) + _BETWEEN * (len(step.axes) - 1)


class _Block(NamedTuple):
    step: int
    name: str
    one: bool  # an axis of size 1 that stretches later
    colour: str
    left: float
    right: float
    top: float
    bottom: float
    label: str
    shape: str  # of the whole step


def _blocks(steps: Sequence[Shape], sizes: Mapping[str, int]) -> list[_Block]:
    """All blocks. They are equally wide, since sizes differ too much to be drawn to scale."""
    colours = dict(zip(sizes, _COLOURS, strict=False))
    blocks = []
    for number, step in enumerate(steps):
        left = (max(map(_extent, steps)) - _extent(step)) / 2
        # A bracketed name has no size of its own: it counts as 1.
        shape = ", ".join(str(prod(sizes.get(n, 1) for n in axis)) for axis in step.axes)
        for axis in step.axes:
            for written in axis:
                name, one = written.strip("()"), written.startswith("(")
                margin = _NARROW if one else 0.0
                block = _Block(
                    step=number, name=name, one=one, colour=colours[name],
                    left=left + margin, right=left + 1 - margin,
                    top=_top(number), bottom=_top(number) + _BLOCK,
                    label="1" if one else f"{name} = {sizes[name]}", shape=f"({shape})",
                )  # fmt: skip
                blocks.append(block)
                left += 1
            left += _BETWEEN
    return blocks


def _bands(steps: Sequence[Shape], blocks: Sequence[_Block]) -> list[alt.Chart]:
    """What ties a block to the same axis where its step goes into."""
    ends: dict[str, list[tuple[float, float, float, str]]] = {}
    for upper in blocks:
        into = steps[upper.step].into
        goal = upper.step + 1 if into is None else into
        lower = next((b for b in blocks if (b.step, b.name) == (goal, upper.name)), None)
        if lower is not None:
            band = f"{upper.step} {upper.name}"
            ends.setdefault(upper.colour, []).extend(
                [
                    (upper.left, upper.right, upper.bottom, band),
                    (lower.left, lower.right, lower.top, band),
                ]
            )
    # A layer per colour: an area takes a colour by its name for a number that is missing.
    return [
        alt.Chart(pd.DataFrame(own, columns=["left", "right", "top", "band"]))
        .mark_area(opacity=0.2, orient="horizontal", aria=False, color=colour)
        .encode(detail="band:N")
        .properties(name=f"bands {colour}")
        for colour, own in ends.items()
    ]


def _words(base: alt.Chart, colour: str | alt.ExprRef, weight: Literal[400, 600]) -> alt.Chart:
    middle = base.transform_calculate(
        left="(datum.left + datum.right) / 2", top="(datum.top + datum.bottom) / 2"
    )
    return middle.mark_text(
        fontSize=theme.FONT_SIZE + 1, fontWeight=weight, color=colour, aria=False
    ).encode(text="label:N")


def _said(steps: Sequence[Shape], blocks: Sequence[_Block]) -> alt.Chart:
    shapes = {block.step: block.shape for block in blocks}
    rows = [
        {
            "top": _top(i) - _LABEL / 2,
            "text": gettext("{step}: {shape}", step=step.said, shape=shapes[i]),
        }
        for i, step in enumerate(steps)
    ]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_text(align="left", fontSize=theme.FONT_SIZE, color=_INK)
        .encode(x=alt.XValue(2), text="text:N")
        .properties(name="said")
    )
