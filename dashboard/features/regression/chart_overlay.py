"""All panels' predictions in one plot: the comparison at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.curves import (
    Axes,
    axes,
    input_axis,
    rule,
    scatter,
    strips,
    value_axis,
    value_of,
)
from dashboard.charts.frames import Table
from dashboard.charts.lanes import OWN_SCALES, hover, stacked
from dashboard.charts.legend import NAMES_COLUMNS, NAMES_LONGEST, named_strokes
from dashboard.charts.regression_tables import Problem, problem, table_of
from dashboard.charts.summary import of_lines
from dashboard.charts.template import Data, Prepared, Sources


class OverlayShape(NamedTuple):
    """What a specification follows from: panels as ``(label, colour)``, sizes in px."""

    axes: Axes
    panels: tuple[tuple[str, str], ...]
    note: str
    width: int
    height: int


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
    prepared = prepare_overlay(
        curves, points, colours=colours, x_title=x_title, y_title=y_title, width=width,
        height=height,
    )  # fmt: skip
    return draw_overlay(prepared.tables, prepared.shape)


def prepare_overlay(
    curves: Mapping[str, Table],
    points: Table,
    *,
    colours: Mapping[str, str] | None = None,
    x_title: str = "x",
    y_title: str = "y",
    width: int = theme.WIDTH,
    height: int = 260,
) -> Prepared[OverlayShape]:
    """What :func:`draw_overlay` draws; arguments and errors as of :func:`overlay_curves`."""
    colours = colours or dict(zip(curves, theme.PANEL_COLOURS.values(), strict=False))
    if not curves or set(curves) - set(colours):
        raise ValueError(
            f"need 1 to {len(theme.PANEL_COLOURS)} curves with a colour each, got {len(curves)}"
        )
    drawn = {name: problem(curve, points, None, x_title) for name, curve in curves.items()}
    first, *others = drawn.values()
    if any(not np.array_equal(other.curve["x"], first.curve["x"]) for other in others):
        raise ValueError("need curves at the same queries to draw them over each other")
    predictions = [one.curve["prediction"] for one in drawn.values()]
    # Columns are numbered: a panel's label may hold what a field name must not.
    wide = {**first.curve, **{f"p{i}": values for i, values in enumerate(predictions)}}
    tables = {
        "queries": table_of(wide),
        "points": table_of(first.points),
        "curves": _tall(drawn),
    }
    panels = tuple((name, colours[name]) for name in curves)
    shape = OverlayShape(axes([first, *others], y_title), panels, first.note, width, height)
    curves_of = {name: one.curve["prediction"] for name, one in drawn.items()}
    x_title = first.x_title
    summary = of_lines(first.curve["x"], curves_of, x_title=x_title, y_title=y_title)
    return Prepared(tables, shape, summary=summary)


def draw_overlay(data: Sources, shape: OverlayShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_overlay` makes it, or names it."""
    (lane,) = stacked([shape.height], 0)
    y = value_axis(lane, shape.axes)
    pointed = hover("q")
    queries = data["queries"]
    layers = [
        theme.ramp(),
        strips(queries, shape.axes, pointed, lane.bottom, _tooltip(shape)),
        rule(queries, shape.axes, pointed, [lane]),
        *scatter(queries, data["points"], shape.axes, y),
        _lines(data["curves"], shape.axes.line).encode(
            x=input_axis(shape.axes),
            y=value_of(y, "prediction"),
            stroke=named_strokes(
                "panel", dict(shape.panels), columns=NAMES_COLUMNS, limit=NAMES_LONGEST
            ),
        ),
    ]
    chart = alt.LayerChart(layer=layers, resolve=OWN_SCALES)
    note = theme.heading("", shape.note)
    return theme.finished(chart, width=shape.width, height=lane.bottom, title=note)


def _tooltip(shape: OverlayShape) -> Sequence[alt.Tooltip]:
    return [
        alt.Tooltip(f"p{i}:Q", format=theme.EXACT, title=name)
        for i, (name, _) in enumerate(shape.panels)
    ]


def _tall(drawn: Mapping[str, Problem]) -> pa.Table:
    """A row per panel and query."""
    parts = [*drawn.values()]
    columns = {
        name: np.concatenate([p.curve[name] for p in parts]) for name in ("x", "prediction")
    }
    panels = np.repeat(np.array([*drawn], dtype=object), [len(p.curve["x"]) for p in parts])
    return table_of({**columns, "panel": panels})


def _lines(curves: Data, line: bool) -> alt.Chart:
    chart = alt.Chart(curves)
    return chart.mark_line(strokeWidth=2) if line else chart.mark_point(size=18, strokeWidth=2)
