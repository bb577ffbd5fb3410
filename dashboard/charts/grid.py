"""Grids of cells: rows and columns a unit wide each, labelled in their middles, with gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypedDict

import altair as alt
import numpy as np
import pyarrow as pa
from altair.typing import Optional

from dashboard.charts import theme
from dashboard.charts.labels import quoted
from dashboard.language import gettext, gettext_noop

# As a tooltip says it, each in the visitor's language.
SURE, POSSIBLE = gettext_noop("gold"), gettext_noop("gold, possible")
OTHER = gettext_noop("not gold")

Cell = tuple[int, int]

_DASH = [4, 4]  # px, of a link that is possible only
_EDGE = 1.5  # px, of the dark line under a gold one, both sides together


def gold_cells(
    shape: tuple[int, int], sure: Iterable[Cell], possible: Iterable[Cell]
) -> np.ndarray:
    """What gold says of every cell, in words ``(queries, keys)``.

    Raises:
        ValueError: a cell ``(query, key)`` that is not there.
    """
    said = np.full(shape, gettext(OTHER), dtype=object)
    for cells, word in ((possible, POSSIBLE), (sure, SURE)):
        for query, key in cells:
            if not (0 <= query < shape[0] and 0 <= key < shape[1]):
                raise ValueError(
                    f"need outlined cells (query, key) of a map of {shape[0]} x {shape[1]}, "
                    f"got ({query}, {key})"
                )
            said[query, key] = gettext(word)
    return said


def gold_table(links: np.ndarray) -> pa.Table:
    """The cells that are linked: ``q``, ``k``, ``gold``, of what :func:`gold_cells` says."""
    query, key = np.nonzero(links != gettext(OTHER))
    return pa.table({"q": query, "k": key, "gold": pa.array(links[query, key], pa.string())})


def outlines(cells: alt.Chart, small: bool) -> list[alt.Chart]:
    """Gold cells within their sides: a line with a dark edge, broken where a link is possible.

    Args:
        cells: with places and tooltips; their column ``gold`` holds what :func:`gold_cells` says.
        small: whether cells have no room for thick lines.
    """
    thick = 1 if small else 2
    sure, possible, other = (quoted(gettext(word)) for word in (SURE, POSSIBLE, OTHER))
    return [
        cells.transform_filter(f"datum.gold {which}")
        .mark_rect(
            filled=False, aria=False, stroke=stroke, strokeWidth=wide, strokeDash=dash,
            **inset(thick),
        )
        .properties(name=name)
        for name, which, stroke, wide, dash in (
            ("edges", f"!== {other}", theme.GOLD_EDGE, thick + _EDGE, alt.Undefined),
            ("gold", f"=== {sure}", theme.GOLD, thick, alt.Undefined),
            ("possible", f"=== {possible}", theme.GOLD, thick, _DASH),
        )
    ]  # fmt: skip


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
