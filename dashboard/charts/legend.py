"""Legends: the colour scale that a row of panels shares, and the lines of a plot by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from altair.typing import Optional

from dashboard.charts import theme
from dashboard.language import gettext_noop, translated

_STEPS = 64
_WIDTH, _THICKNESS = 160, 8  # px
_COLUMNS = "width < 420 ? 2 : 4"  # of names, in a Vega expression
# Of long names, which then stand whole: columns, and px of one.
NAMES_COLUMNS = "width < 420 ? 1 : 2"
NAMES_LONGEST = alt.ExprRef("width < 420 ? width : width / 2 - 24")


def weights_legend(
    vmax: float = 1.0, *, title: str = gettext_noop("attention weight"), difference: bool = False
) -> alt.Chart:
    """The scale from 0 to ``vmax``, or of differences from ``-vmax`` to ``vmax``."""
    low = -vmax if difference else 0.0
    edges = np.linspace(low, vmax, _STEPS + 1)
    frame = pd.DataFrame(
        {"low": edges[:-1], "high": edges[1:], "value": (edges[:-1] + edges[1:]) / 2}
    )
    # As wide as it should be, or as its host has room for.
    places = alt.Scale(
        domain=[low, vmax], range=[0, alt.ExprRef(f"min(width, {_WIDTH})")], nice=False
    )
    scale = theme.diverging(vmax) if difference else theme.sequential(vmax)
    axis = alt.Axis(
        title=translated(title), orient="bottom", grid=False, values=[low, (low + vmax) / 2, vmax],
        labelFlush=True, format=".3~g", labelPadding=3, titlePadding=2, titleAnchor="start",
    )  # fmt: skip
    chart = (
        alt.Chart(frame)
        .mark_rect(x2Offset=0.5)
        .encode(
            x=alt.X("low:Q", scale=places, axis=axis),
            x2=alt.X2("high:Q"),
            color=alt.Color("value:Q", scale=scale, legend=None),
        )
    )
    return theme.finished(chart, width=_WIDTH, height=_THICKNESS)


def is_scale(spec: Mapping[str, Any]) -> bool:
    """Whether a specification is that of :func:`weights_legend`, which shows no data."""
    return (spec.get("width"), spec.get("height")) == (_WIDTH, _THICKNESS)


def named_strokes(
    field: str,
    colours: Mapping[str, str],
    *,
    legend: bool = True,
    columns: str = _COLUMNS,
    limit: Optional[alt.ExprRef] = alt.Undefined,
) -> alt.Stroke:
    """Lines in the colours of their names, with a legend below the plot.

    Args:
        field: the column that holds the names.
        colours: by name, in the order of the legend.
        columns: of the legend, as a Vega expression.
        limit: px, the longest name in the legend.
    """
    # Not the channel "color": its scale is the ramp, by which labels know the page they are on.
    lines = alt.Legend(
        orient="bottom",
        direction="horizontal",
        title=None,
        symbolType="stroke",
        symbolStrokeWidth=2,
        columns=alt.ExprRef(columns),
        labelLimit=limit,
    )
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    return alt.Stroke(f"{field}:N", scale=scale, legend=lines if legend else None)
