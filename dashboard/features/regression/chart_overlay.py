"""All panels' predictions in one plot: the comparison at a glance."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.curves import (
    MAX_MARKS,
    ROOM,
    Axes,
    Problem,
    axes,
    input_axis,
    problem,
    round_ends,
    rule,
    scatter,
    strips,
    table_of,
    value_axis,
    value_of,
)
from dashboard.charts.frames import Table, column_of, names_of
from dashboard.charts.lanes import OWN_SCALES, hover, stacked
from dashboard.charts.legend import NAMES_COLUMNS, NAMES_LONGEST, named_strokes
from dashboard.charts.summary import Summary, number, of_lines
from dashboard.charts.template import Prepared, Sources
from dashboard.language import gettext, together


class LeftOutShape(NamedTuple):
    """What a specification follows from: panels as ``(label, colour)``, sizes in px.

    Args:
        ends: of both axes.
        of: what was measured.
        marks: how many points are drawn.
        numbered: whether the points' numbers are those of rows of a table.
    """

    panels: tuple[tuple[str, str], ...]
    ends: tuple[float, float]
    of: str
    marks: int
    note: str
    numbered: bool
    width: int
    height: int


def prepare_left_out(
    panels: Mapping[str, Table],
    colours: Mapping[str, str],
    *,
    of: str = "y",
    width: int = theme.WIDTH,
    height: int = 260,
) -> Prepared[LeftOutShape]:
    """What :func:`draw_left_out` draws.

    Args:
        panels: by label, a table with a row per point: ``row``, its number, ``measured``, and
            ``prediction`` by all other points. Drawn are points that each panel has. Results of
            older versions have no numbers, and the same points in each.
        colours: by label.
        of: what was measured.

    Raises:
        ValueError: no panels, one without a colour, or no point that each of them has.
    """
    if not panels or set(panels) - set(colours):
        raise ValueError("need a panel or more, with a colour each")
    rows, places = _shared(panels)
    count, most = max(map(len, panels.values())), MAX_MARKS // len(panels)
    drawn = np.linspace(0, len(rows) - 1, min(len(rows), most)).round().astype(int)
    note = ""
    if count > len(drawn):
        note = gettext("{drawn:,} of {count:,} points drawn", drawn=len(drawn), count=count)
    predictions = [
        column_of(table, "prediction")[place[drawn]]
        for table, place in zip(panels.values(), places, strict=True)
    ]
    measured = column_of(next(iter(panels.values())), "measured")[places[0][drawn]]
    ends = round_ends(np.concatenate([measured, *predictions]))
    points = {
        "row": np.tile(rows[drawn], len(panels)),
        "measured": np.tile(measured, len(panels)),
        "prediction": np.concatenate(predictions),
        "panel": np.repeat(np.array([*panels], dtype=object), len(drawn)),
    }
    shape = LeftOutShape(
        tuple((name, colours[name]) for name in panels), ends, of, len(points["row"]), note,
        all("row" in names_of(table) for table in panels.values()), width, height,
    )  # fmt: skip
    tables = {"points": table_of(points), "diagonal": pa.table({"end": [*ends]})}
    return Prepared(tables, shape, summary=_summary(panels, of))


def _shared(panels: Mapping[str, Table]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Numbers of the points that each panel has, and their places in each panel's table."""
    numbers = [_numbers(table) for table in panels.values()]
    rows = functools.reduce(np.intersect1d, numbers)
    orders = [np.argsort(own, kind="stable") for own in numbers]
    places = [
        order[np.searchsorted(own[order], rows)]
        for own, order in zip(numbers, orders, strict=True)
    ]
    values = [
        column_of(table, "measured")[place]
        for table, place in zip(panels.values(), places, strict=True)
    ]
    if not len(rows) or any(not np.array_equal(other, values[0]) for other in values[1:]):
        raise ValueError("need predictions of the same points to compare them")
    return rows, places


def _numbers(table: Table) -> np.ndarray:
    return column_of(table, "row") if "row" in names_of(table) else np.arange(len(table))


def draw_left_out(data: Sources, shape: LeftOutShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_left_out` makes it, or names it.

    Hovering marks a point in all panels.
    """
    (lane,) = stacked([shape.height], 0)
    pointed = hover("row")
    measured = gettext("measured {name}", name=shape.of)
    predicted = gettext("predicted {name}", name=shape.of)
    scale = alt.Scale(domain=[*shape.ends], nice=False, zero=False)
    axis = alt.Axis(title=measured, grid=False, labelFlush=True, tickCount=5, format=theme.NUMBER)
    y_scale, y_axis = lane.scale(*shape.ends), lane.axis(predicted, ROOM, form=theme.NUMBER)
    diagonal = (
        alt.Chart(data["diagonal"])
        .mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=theme.QUIET)
        .encode(
            x=alt.X("end:Q", scale=scale, axis=axis), y=alt.Y("end:Q", scale=y_scale, axis=y_axis)
        )
    )
    points = (
        alt.Chart(data["points"])
        .mark_point(strokeWidth=1.5)
        .encode(
            x=alt.X("measured:Q", scale=scale, axis=axis),
            y=alt.Y("prediction:Q", scale=y_scale, axis=y_axis),
            stroke=named_strokes(
                "panel", dict(shape.panels), columns=NAMES_COLUMNS, limit=NAMES_LONGEST
            ),
            size=alt.condition(pointed, alt.value(110), alt.value(22)),
            tooltip=[
                alt.Tooltip("panel:N", title=gettext("panel")),
                *([alt.Tooltip("row:Q", format="d", title=gettext("row"))] * shape.numbered),
                alt.Tooltip("measured:Q", format=".4~g", title=measured),
                alt.Tooltip("prediction:Q", format=".4~g", title=predicted),
            ],
        )
        .add_params(pointed)
        .properties(name="points")
    )
    return theme.finished(
        alt.LayerChart(layer=[theme.ramp(), diagonal, points]),
        width=shape.width, height=lane.bottom, title=theme.heading("", shape.note),
        marks=shape.marks,
    )  # fmt: skip


def _summary(panels: Mapping[str, Table], of: str) -> Summary:
    sentences = [gettext("Predicted against measured {name}.", name=of)]
    for name, each in panels.items():
        misses = column_of(each, "prediction") - column_of(each, "measured")
        distance = number(float(np.sqrt(np.mean(misses**2))))
        sentences.append(
            gettext(
                "{panel}: over {count:,} points, the root of the mean squared distance from the "
                "diagonal is {distance}.",
                panel=name, count=len(each), distance=distance,
            )
        )  # fmt: skip
    title = gettext("measured {name}", name=of)

    def table() -> pa.Table:
        _, places = _shared(panels)
        first = column_of(next(iter(panels.values())), "measured")[places[0]]
        predictions = {
            name: column_of(each, "prediction")[place]
            for (name, each), place in zip(panels.items(), places, strict=True)
        }
        return table_of({title: first, **predictions})

    return Summary(together(sentences), table)


class OverlayShape(NamedTuple):
    """What a specification follows from: panels as ``(label, colour)``, sizes in px."""

    axes: Axes
    panels: tuple[tuple[str, str], ...]
    note: str
    width: int
    height: int


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
    """All panels' predictions over one scatter of the training points, for :func:`draw_overlay`.

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
    tooltip = [
        alt.Tooltip(f"p{i}:Q", format=theme.EXACT, title=name)
        for i, (name, _) in enumerate(shape.panels)
    ]
    curves = alt.Chart(data["curves"])
    if shape.axes.line:
        curves = curves.mark_line(strokeWidth=2)
    else:
        curves = curves.mark_point(size=18, strokeWidth=2)
    layers = [
        theme.ramp(),
        strips(queries, shape.axes, pointed, lane.bottom, tooltip),
        rule(queries, shape.axes, pointed, [lane]),
        *scatter(queries, data["points"], shape.axes, y),
        curves.encode(
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


def _tall(drawn: Mapping[str, Problem]) -> pa.Table:
    """A row per panel and query."""
    parts = [*drawn.values()]
    columns = {
        name: np.concatenate([p.curve[name] for p in parts]) for name in ("x", "prediction")
    }
    panels = np.repeat(np.array([*drawn], dtype=object), [len(p.curve["x"]) for p in parts])
    return table_of({**columns, "panel": panels})
