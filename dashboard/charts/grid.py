"""Grids of cells: rows and columns a unit wide each, labelled in their middles, with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypedDict

import altair as alt
from altair.typing import Optional

SMALL = 12  # px, the side below which a cell has no room for gaps and thick lines
GAP = 0.5  # px, half the space between cells


class Every(NamedTuple):
    """Labels at equal steps: ``step`` is a Vega expression for the rows or columns of one."""

    step: str


class Inset(TypedDict):
    """Offsets of a rectangle from the sides of its cell, in px."""

    xOffset: float
    x2Offset: float
    yOffset: float
    y2Offset: float


def inset(gap: float) -> Inset:
    """Offsets of a rectangle that leaves so many px free within its cell's sides."""
    return {"xOffset": gap, "x2Offset": -gap, "yOffset": gap, "y2Offset": -gap}


def gaps(side: float) -> Inset:
    """Offsets that leave gaps between cells of so many px, where these are large enough."""
    return inset(GAP if side >= SMALL else 0)


def positions(count: float | alt.ExprRef, end: float | alt.ExprRef) -> alt.Scale:
    """The scale of ``count`` rows or columns that end at ``end`` px."""
    return alt.Scale(domain=[0, count], range=[0, end], nice=False, zero=False)


def middles(
    names: str,
    ticks: Sequence[int] | Every,
    *,
    orient: Optional[Literal["top", "left"]] = alt.Undefined,
    room: Optional[float | alt.ExprRef] = alt.Undefined,
    limit: Optional[float | alt.ExprRef] = alt.Undefined,
    angle: Optional[float | alt.ExprRef] = alt.Undefined,
    title: str | None = None,
) -> alt.Axis:
    """An axis with a label in the middle of some rows or columns.

    Args:
        names: the parameter of the chart that lists the labels of all of them.
        ticks: positions of those that are labelled, or how many steps are between two; at the
            top, labels that touch are left out.
        room: px for the labels; what they need where undefined.
        limit: px, the longest label.
        angle: of the labels, in degrees.
    """
    top = orient == "top"
    if isinstance(ticks, Every):
        values = alt.ExprRef(f"sequence(0.5, length({names}), {ticks.step})")
        count = alt.ExprRef(f"ceil(length({names}) / {ticks.step})")
    else:
        values, count = [tick + 0.5 for tick in ticks], len(ticks)
    return alt.Axis(
        orient=orient,
        values=values,
        tickCount=count,
        labelExpr=f"{names}[floor(datum.value)]",
        labelAngle=angle,
        labelLimit=limit,
        labelOverlap="parity" if top else False,
        labelSeparation=2 if top else alt.Undefined,
        minExtent=room,
        maxExtent=room,
        grid=False,
        title=title,
    )


def boxes(chart: alt.Chart, x: alt.X, y: alt.Y) -> alt.Chart:
    """The chart with its marks from ``x`` and ``y`` to the columns ``right`` and ``bottom``."""
    return chart.encode(x=x, x2=alt.X2("right:Q"), y=y, y2=alt.Y2("bottom:Q"))
