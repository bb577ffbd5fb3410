"""Plots stacked over one x axis, inside one view: they share the pointer and follow any width.

Vega-Lite cannot stretch a concatenation of views to its host's column, but a single view it can.
A lane is a part of that view's height with a y scale and an axis of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import altair as alt

from dashboard.charts.theme import FONT_SIZE

OWN_SCALES = {"scale": {"y": "independent"}}  # of the layers of a view with lanes
TITLE = 20  # px above a lane, for its title


class Lane(NamedTuple):
    """From ``top`` to ``bottom``, in px from the view's top."""

    top: float
    bottom: float

    @property
    def height(self) -> float:
        """In px."""
        return self.bottom - self.top

    def scale(self, low: float, high: float, kind: str = "linear") -> alt.Scale:
        """A y scale that has ``low`` at the lane's bottom and ``high`` at its top."""
        return alt.Scale(domain=[low, high], range=[self.bottom, self.top], nice=False, type=kind)

    def axis(self, title: str | None, room: int, **settings: object) -> alt.Axis:
        """An axis at the left whose title lies level above the lane."""
        if title:
            settings |= {
                "titleAngle": 0,
                "titleAlign": "left",
                "titleBaseline": "bottom",
                "titleX": -room,
                "titleY": self.top - 6,
                "titleFontSize": FONT_SIZE,
            }
        # A fixed room aligns the lanes, and the charts of a row.
        settings = {"tickCount": max(2, int(self.height // 36)), "grid": True, **settings}
        return alt.Axis(orient="left", title=title, minExtent=room, maxExtent=room, **settings)


def stacked(heights: list[float], gap: float) -> list[Lane]:
    """Lanes of these heights, top to bottom, each with room for its title above it."""
    lanes, top = [], 0.0
    for height in heights:
        top += TITLE if not lanes else gap
        lanes.append(Lane(top, top + height))
        top += height
    return lanes
