"""All panels' predictions in one plot: the comparison at a glance."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.curves import (
    input_axis,
    rule,
    scatter,
    strips,
    value_axis,
    value_of,
)
from dashboard.charts.frames import Table
from dashboard.charts.lanes import OWN_SCALES, stacked
from dashboard.charts.legend import named_strokes
from dashboard.charts.pointer import hover
from dashboard.charts.regression_tables import problem


def overlay_curves(
    curves: Mapping[str, Table],
    points: Table,
    *,
    colours: Mapping[str, str] | None = None,
    x_title: str = "x",
    y_title: str = "y",
    width: int = theme.WIDTH,
    height: int = 260,
) -> alt.LayerChart:
    """All panels' predictions over one scatter of the training points; one tooltip compares them.

    Args:
        curves: by panel label, a table ``curve`` as :func:`regression_chart` takes it, all at the
            same queries; the truth is the first one's.
        colours: by panel label; those of panels a to d in order where None.

    Raises:
        ValueError: no curves, one without a colour, or curves at different queries.
    """
    colours = colours or dict(zip(curves, theme.PANEL_COLOURS.values(), strict=False))
    if not curves or set(curves) - set(colours):
        raise ValueError(
            f"need 1 to {len(theme.PANEL_COLOURS)} curves with a colour each, got {len(curves)}"
        )
    drawn = {name: problem(curve, points, None, x_title) for name, curve in curves.items()}
    first = next(iter(drawn.values()))
    if any(not p.curve["x"].equals(first.curve["x"]) for p in drawn.values()):
        raise ValueError("need curves at the same queries to draw them over each other")
    (lane,) = stacked([height], 0)
    y = value_axis(lane, drawn.values(), y_title)
    pointed = hover("q")
    # Columns are numbered: a panel's label may hold what a field name must not.
    columns = {f"p{i}": p.curve["prediction"] for i, p in enumerate(drawn.values())}
    tooltip = [
        alt.Tooltip(f"{c}:Q", format=".4~g", title=n) for c, n in zip(columns, curves, strict=True)
    ]
    tooltip.insert(0, alt.Tooltip("x:Q", format=".4~g", title=first.x_title))
    tooltip.append(alt.Tooltip("truth:Q", format=".4~g"))
    wide = first._replace(curve=first.curve.assign(**columns))
    tall = pd.concat([p.curve[["x", "prediction"]].assign(panel=n) for n, p in drawn.items()])
    strokes = named_strokes("panel", {name: colours[name] for name in curves})
    layers = [
        theme.ramp(),
        strips(wide, pointed, lane.bottom).encode(tooltip=tooltip),
        rule(first, pointed, [lane]),
        *scatter(first, y),
        _lines(tall, first.line).encode(
            x=input_axis(first), y=value_of(y, "prediction"), stroke=strokes
        ),
    ]
    chart = alt.LayerChart(layer=layers, resolve=OWN_SCALES)
    note = theme.heading("", first.note)
    return theme.finished(chart, width=width, height=lane.bottom, title=note)


def _lines(tall: pd.DataFrame, line: bool) -> alt.Chart:
    chart = alt.Chart(tall)
    return chart.mark_line(strokeWidth=2) if line else chart.mark_point(size=18, strokeWidth=2)
