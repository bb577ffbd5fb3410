"""Plots stacked over one x axis, inside one view: they share the pointer and follow any width.

Vega-Lite cannot stretch a concatenation of views to its host's column, but a single view it can.
A lane is a part of that view's height with a y scale and an axis of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import altair as alt
from altair.typing import Optional

from dashboard.charts.theme import FONT_SIZE


def hover(*fields: str, nearest: Optional[bool] = alt.Undefined) -> alt.Parameter:
    """The selection ``hover``: rows that have the ``fields`` of the mark under the pointer.

    A finger leaves as it is lifted; the click of a tap comes after that, so its mark stays.

    Args:
        nearest: whether the pointer need not be on a mark.
    """
    return alt.selection_point(
        name="hover", fields=[*fields], on="pointerover, click", clear="pointerout", empty=False,
        toggle=False, nearest=nearest,
    )  # fmt: skip


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

    def axis(
        self,
        title: str,
        room: int,
        *,
        form: Optional[str] = alt.Undefined,
        values: Optional[Sequence[float]] = alt.Undefined,
        label: Optional[str] = alt.Undefined,
        count: int | None = None,
        grid: bool = True,
    ) -> alt.Axis:
        """An axis at the left whose title lies level above the lane.

        Args:
            room: px for the labels, fixed: it aligns the lanes, and the charts of a row.
            form: a d3 format of the labels.
            values: where ticks are.
            label: a Vega expression of the labels.
            count: of ticks, at most; as the lane's height suggests where None.
        """
        return alt.Axis(
            orient="left", title=title, titleAngle=0, titleAlign="left", titleBaseline="bottom",
            titleX=-room, titleY=self.top - 6, titleFontSize=FONT_SIZE, minExtent=room,
            maxExtent=room, tickCount=max(2, int(self.height // 36)) if count is None else count,
            grid=grid, format=form, values=values, labelExpr=label,
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
