"""Where things stand in a view: grids of cells a unit wide, and lanes over one x axis.

Vega-Lite cannot stretch a concatenation of views to its host's column, but a single view it can.
A lane is a part of that view's height with a y scale and an axis of its own.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
from altair.typing import Optional

from dashboard.charts.theme import FONT_SIZE

SMALL = 12  # px, the side below which a cell has no room for gaps and thick lines
GAP = 0.5  # px, half the space between cells


def inset(gap: float) -> dict[str, Any]:
    """Offsets of a rectangle that leaves so many px free within its cell's sides."""
    return {"xOffset": gap, "x2Offset": -gap, "yOffset": gap, "y2Offset": -gap}


def positions(count: float | alt.ExprRef, end: float | alt.ExprRef) -> alt.Scale:
    """The scale of ``count`` rows or columns that end at ``end`` px."""
    return alt.Scale(domain=[0, count], range=[0, end], nice=False, zero=False)


def middles(
    names: str, ticks: Sequence[int] | str, *,
    orient: Optional[Literal["top", "left"]] = alt.Undefined,
    room: Optional[float | alt.ExprRef] = alt.Undefined, **settings: Any,
) -> alt.Axis:  # fmt: skip
    """An axis with a label in the middle of some rows or columns, and more ``settings``.

    Args:
        names: the parameter of the chart that lists the labels of all of them.
        ticks: positions of those that are labelled, or the Vega expression of the step between
            two; at the top, labels that touch are left out.
        room: px for the labels; what they need where undefined.
    """
    top = orient == "top"
    if isinstance(ticks, str):
        values = alt.ExprRef(f"sequence(0.5, length({names}), {ticks})")
        count = alt.ExprRef(f"ceil(length({names}) / {ticks})")
    else:
        values, count = [tick + 0.5 for tick in ticks], len(ticks)
    return alt.Axis(
        orient=orient, values=values, tickCount=count, labelExpr=f"{names}[floor(datum.value)]",
        labelOverlap="parity" if top else False, labelSeparation=2 if top else alt.Undefined,
        minExtent=room, maxExtent=room, grid=False, **{"title": None, **settings},
    )  # fmt: skip


def boxes(chart: alt.Chart, x: alt.X, y: alt.Y) -> alt.Chart:
    """The chart with its marks from ``x`` and ``y`` to the columns ``right`` and ``bottom``."""
    return chart.encode(x=x, x2=alt.X2("right:Q"), y=y, y2=alt.Y2("bottom:Q"))


def hover(*fields: str, nearest: Optional[bool] = alt.Undefined) -> alt.Parameter:
    """The selection ``hover``: rows with the ``fields`` of the mark under or nearest the pointer.

    A finger leaves as it is lifted; the click of a tap comes after that, so its mark stays.
    """
    return alt.selection_point(
        name="hover", fields=[*fields], on="pointerover, click", clear="pointerout", empty=False,
        toggle=False, nearest=nearest,
    )  # fmt: skip


def names_axis(room: int, **settings: Any) -> alt.Axis:
    """The axis of lanes with a name each, in so many px at the left, and more ``settings``."""
    settings = {"grid": True, **settings}
    return alt.Axis(title=None, minExtent=room, maxExtent=room, labelLimit=room - 4, **settings)


OWN_SCALES = {"scale": {"y": "independent"}}  # of the layers of a view with lanes
TITLE = 20  # px above a lane, for its title

End = float | alt.ExprRef  # of a scale


class Lane(NamedTuple):
    """From ``top`` to ``bottom``, in px from the view's top."""

    top: float
    bottom: float

    @property
    def height(self) -> float:
        """In px."""
        return self.bottom - self.top

    def scale(self, low: End, high: End, kind: Literal["linear", "log"] = "linear") -> alt.Scale:
        """A y scale that has ``low`` at the lane's bottom and ``high`` at its top."""
        return alt.Scale(domain=[low, high], range=[self.bottom, self.top], nice=False, type=kind)

    def axis(self, title: str, room: int, form: str | None = None, **settings: Any) -> alt.Axis:
        """An axis at the left whose title lies level above the lane, and more ``settings``.

        Args:
            room: px for the labels, fixed: it aligns the lanes, and the charts of a row.
            form: a d3 format of the labels.
        """
        usual = {"tickCount": max(2, int(self.height // 36)), "grid": True}
        return alt.Axis(
            orient="left", title=title, titleAngle=0, titleAlign="left", titleBaseline="bottom",
            titleX=-room, titleY=self.top - 9, titleFontSize=FONT_SIZE, minExtent=room,
            maxExtent=room, format=form or alt.Undefined, **{**usual, **settings},
        )  # fmt: skip


def stacked(heights: list[float], gap: float) -> list[Lane]:
    """Lanes of these heights, top to bottom, each with room for its title above it."""
    lanes: list[Lane] = []
    top = 0.0
    for height in heights:
        top += TITLE if not lanes else gap
        lanes.append(Lane(top, top + height))
        top += height
    return lanes
