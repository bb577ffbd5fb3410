"""Marks whose places are expressions, which no scale and no axis has a part in."""

from __future__ import annotations

import altair as alt


def at(chart: alt.Chart, x: str, y: str, x2: str = "", y2: str = "") -> alt.Chart:
    """The chart with its marks at a place, or from there to another, where these are not empty.

    Args:
        x, y, x2, y2: Vega expressions, in px of the view.
    """
    chart = chart.encode(x=alt.XValue(alt.ExprRef(x)), y=alt.YValue(alt.ExprRef(y)))
    if not x2:
        return chart
    return chart.encode(x2=alt.X2Value(alt.ExprRef(x2)), y2=alt.Y2Value(alt.ExprRef(y2)))
