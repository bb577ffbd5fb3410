"""Every contestant on every task: in which direction it differs from a reference, and how far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.labels import displayed, room
from dashboard.charts.lanes import hover
from dashboard.charts.summary import Summary, of_matrix
from dashboard.charts.template import Prepared, Sources
from dashboard.features.race.view import (
    BETTER,
    FAILED,
    REFERENCE,
    UNCOMPARED,
    WAITING,
    WORSE,
    said,
)
from dashboard.language import gettext, gettext_noop, translated

SELECTED = "cell"  # the selection of a cell, by its column and its row
_CELL, _MOST_ROOM, _ABOVE = 20, 215, 130  # px: a side, and room for names left and above
_PALE = 0.3  # of a difference that may be chance
# A sign where there is no difference to draw.
_SIGNS = {REFERENCE: "●", FAILED: "×", UNCOMPARED: "–", WAITING: "…"}

# What the tooltip calls the columns.
_TITLES = {
    "row": gettext_noop("contestant"), "column": gettext_noop("task"),
    "verdict": gettext_noop("verdict"), "difference": gettext_noop("difference"),
    "effect": gettext_noop("standard deviations"), "p": gettext_noop("corrected p"),
    "rank": gettext_noop("rank"), "seeds": gettext_noop("seeds"),
    "problem": gettext_noop("problem"),
}  # fmt: skip
_NUMBERS = {"difference": "+.3g", "effect": "+.2f", "p": ".2g", "rank": "d", "seeds": "d"}


class MatrixShape(NamedTuple):
    """What a specification follows from.

    Args:
        rows, columns: names, top to bottom and left to right.
        farthest: standard deviations at the ends of the colour scale.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    farthest: float
    width: int


def prepare_matrix(
    cells: Sequence[Mapping[str, Any]], *, rows: Sequence[str], columns: Sequence[str],
    farthest: float, width: int = theme.WIDTH,
) -> Prepared[MatrixShape]:  # fmt: skip
    """What :func:`draw_matrix` draws.

    Args:
        cells: ``row``, ``column``, ``verdict``, ``effect`` (standard deviations, positive where
            better; None where nothing was compared), ``difference``, ``p``, ``rank``, ``seeds``,
            ``problem``; ``key`` is what a selection tells.
        rows, columns: the names, in the order in which they are drawn; there is no cell where a
            contestant does not race on a task.

    Raises:
        ValueError: no cells, or one outside.
    """
    strangers = {c["row"] for c in cells} - {*rows} | {c["column"] for c in cells} - {*columns}
    if not cells or strangers:
        raise ValueError(f"need cells of these rows and columns, got {len(cells)} and {strangers}")
    texts = {name: displayed([cell[name] for cell in cells]) for name in ("row", "column")}
    table: dict[str, Any] = {
        **texts,
        "key": [cell["key"] for cell in cells],
        "verdict": [said(cell["verdict"]) for cell in cells],
        "problem": [translated(cell["problem"]) for cell in cells],
        # A cell without a number would not be drawn, and could not be pointed at.
        "value": [float(cell["effect"] or 0.0) for cell in cells],
        **{name: [_text(cell[name], form) for cell in cells] for name, form in _NUMBERS.items()},
        "shown": [_shown(cell) for cell in cells],
        "sign": [_SIGNS.get(cell["verdict"], "") for cell in cells],
    }
    shape = MatrixShape(tuple(displayed(rows)), tuple(displayed(columns)), float(farthest), width)
    return Prepared({"cells": pa.table(table)}, shape, summary=_summary(cells, rows, columns))


def _summary(
    cells: Sequence[Mapping[str, Any]], rows: Sequence[str], columns: Sequence[str]
) -> Summary:
    grid = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        if cell["effect"] is not None:
            grid[rows.index(cell["row"]), columns.index(cell["column"])] = cell["effect"]
    return of_matrix(
        grid, rows, columns, names=(gettext("contestant"), gettext("task")),
        quantity=gettext("difference to the reference in standard deviations"),
    )  # fmt: skip


def draw_matrix(data: Sources, shape: MatrixShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_matrix` makes it, or names it."""
    left, above = room(shape.rows, _MOST_ROOM), room(shape.columns, _ABOVE)
    x = alt.X(
        "column:N", sort=None, scale=alt.Scale(domain=list(shape.columns), padding=0),
        axis=alt.Axis(
            title=None, orient="top", labelAngle=-90, labelAlign="left", labelLimit=above,
            minExtent=above, grid=False,
        ),
    )  # fmt: skip
    y = alt.Y(
        "row:N", sort=None, scale=alt.Scale(domain=list(shape.rows), padding=0),
        axis=alt.Axis(
            title=None, minExtent=left, maxExtent=left, labelLimit=left - 4, grid=False
        ),
    )  # fmt: skip
    colour = alt.Color(
        "value:Q",
        scale=theme.diverging(shape.farthest),
        legend=alt.Legend(
            title=gettext("worse ← deviations over seeds → better"), orient="bottom",
            direction="horizontal", gradientLength=180, titleLimit=320,
            labelExpr="(datum.value > 0 ? '+' : '') + datum.label",
            values=[-shape.farthest, 0, shape.farthest],
        ),
    )  # fmt: skip
    pointed = hover("column", "row")
    chosen = alt.selection_point(name=SELECTED, fields=["column", "row", "key"], on="click")
    tooltip = [
        alt.Tooltip(f"{column}:N", title=gettext(title)) for column, title in _TITLES.items()
    ]
    base = alt.Chart(data["cells"]).encode(x=x, y=y)
    cells = (
        base.mark_rect(stroke=theme.QUIET)
        .encode(
            color=colour, tooltip=tooltip,
            fillOpacity=alt.FillOpacity("shown:Q", scale=None, legend=None),
            strokeWidth=alt.condition(pointed, alt.value(2), alt.value(0.4)),
        )
        .add_params(pointed, chosen)
        .properties(name="cells")
    )  # fmt: skip
    signs = (
        base.mark_text(fontSize=theme.FONT_SIZE, color={"expr": theme.INK}, aria=False)
        .encode(text="sign:N")
        .properties(name="signs")
    )
    chart = alt.LayerChart(layer=[cells, signs])
    return theme.finished(
        chart, width=shape.width, height=_CELL * len(shape.rows), marks=2 * len(shape.rows)
        * len(shape.columns), canvas=True,
    )  # fmt: skip


def _text(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _shown(cell: Mapping[str, Any]) -> float:
    if cell["effect"] is None:
        return 0.0
    return 1.0 if cell["verdict"] in (BETTER, WORSE) else _PALE
