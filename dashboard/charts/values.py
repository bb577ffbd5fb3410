"""A matrix of numbers as coloured cells of any size, with what belongs together framed."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.grid import GAP, SMALL, boxes, inset, middles, positions
from dashboard.charts.labels import MOST_ROOM, labels_of, quoted, room, thinned, vega_text
from dashboard.charts.live import PARAMETERS
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.language import gettext

MOST_CELLS = 5_000  # as many rows as Altair takes; a browser repaints them in a fifth of a second
FITTING = "fitting"  # numbers with the digits that they need, where cells are wide enough
LIVE = {
    "cells": ("value", "out", "ruled"), "picked": ("left", "right", "top", "bottom"),
    PARAMETERS: ("rows", "columns", "end"),
}  # fmt: skip
_LINE = theme.FONT_SIZE + 3  # px, of a level label
_LEAST = 31  # px, that a number needs
_MASKED_OPACITY = 0.22
_FRAMES = {  # by the table of their sides
    "frames": {"strokeWidth": 2, "cornerRadius": 4, **inset(2)},
    "picked": {"strokeWidth": 1.5, "aria": False},
}


class ValuesShape(NamedTuple):
    """How a matrix looks; rows come before columns."""

    counts: tuple[int, int]
    ticks: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())  # what is labelled
    cell: tuple[float, float] = (24, 24)  # px, the most width and the height
    room: int = 0  # px for the labels of the rows; what they need where 0
    width: int = theme.WIDTH
    quantity: str = ""  # what a cell is, for the tooltip
    names: tuple[str, str] = ("", "")  # what a row and a column is, for the tooltip
    titles: tuple[str, str] = ("", "")  # what the axes count
    signed: bool = True  # the diverging scale from -vmax, else the sequential one from 0
    numbers: str = ""  # the d3 format of those in the cells, or FITTING; none where empty
    masked: bool = False  # whether cells without a number, or with the column ``out``, are grey
    header: int | None = None  # px for the labels of the columns
    grey: bool = True  # whether any cell is masked now: a slider may change that


def prepare_values(
    values: ArrayLike, *, rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None, vmax: float | None = None,
    framed: Literal["", "rows", "columns"] = "", **looks: Any,
) -> Prepared[ValuesShape]:  # fmt: skip
    """What :func:`draw_values` draws: a matrix ``(rows, columns)``; NaN is left empty.

    Args:
        rows, columns: labels; positions where None.
        vmax: the end of the colour scale, the largest absolute value where None.
        framed: what belongs together.
        looks: attributes of :class:`ValuesShape`.

    Raises:
        ValueError: not a matrix with cells, more than :data:`MOST_CELLS`, labels that do not fit.
    """
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or not 0 < matrix.size <= MOST_CELLS:
        raise ValueError(
            f"need a matrix (rows, columns) of 1 to {MOST_CELLS:,} cells, got {np.shape(values)}"
        )
    count, wide = matrix.shape
    labels = labels_of(rows, count, "row"), labels_of(columns, wide, "column")
    end = float(np.nanmax(np.abs(matrix), initial=0)) if vmax is None else vmax
    shape = ValuesShape(matrix.shape, **{"quantity": gettext("value"), **looks})
    left = shape.room or room(labels[0], MOST_ROOM)
    across = min(shape.width - left, wide * shape.cell[0])
    down = thinned(count, count * shape.cell[1], _LINE)
    shape = shape._replace(
        room=left,
        ticks=(tuple(down), tuple(thinned(wide, across, room(labels[1], MOST_ROOM) + 4))),
        names=(shape.titles[0] or gettext("row"), shape.titles[1] or gettext("column")),
    )
    row, column = (axis.ravel() for axis in np.indices(matrix.shape))
    value = pa.array(rounded(matrix.ravel()), from_pandas=True)
    tables = {"cells": pa.table({"r": row, "c": column, "value": value})}
    if framed == "rows":
        tables["frames"] = _frames([(0, wide, i, i + 1) for i in range(count)])
    elif framed:
        tables["frames"] = _frames([(i, i + 1, 0, count) for i in range(wide)])
    summary = of_matrix(matrix, *labels, quantity=shape.quantity, names=shape.names)
    told = {"rows": labels[0], "columns": labels[1], "end": end or 1.0}
    return Prepared(tables, shape, told, summary, live=LIVE)


def draw_values(data: Sources, shape: ValuesShape) -> alt.LayerChart:
    """The heatmap of ``data``, as :func:`prepare_values` makes it, or names it.

    Hovering a cell tells its value. Of ``data``, ``cells`` has ``r``, ``c``, ``value`` and maybe
    ``out`` (looks masked but keeps its number) and ``ruled`` (is minus infinity); ``frames`` or
    ``picked`` the sides of what is framed; ``points`` stand at ``c``, ``r`` with their ``value``.
    """
    (count, wide), height = shape.counts, shape.counts[0] * shape.cell[1]
    end = f"min(width, {wide * shape.cell[0]:g})"
    # What a screen reader says of a cell.
    said = vega_text(
        gettext("{row_name} {row}, {column_name} {column}, {quantity} {shown}"),
        row_name=quoted(shape.names[0]), column_name=quoted(shape.names[1]),
        quantity=quoted(shape.quantity),
        row="datum.row", column="datum.column", shown="datum.shown",
    )  # fmt: skip
    base = alt.Chart(data["cells"]).transform_calculate(
        right="datum.c + 1", bottom="datum.r + 1", middle="datum.c + 0.5", centre="datum.r + 0.5",
        row="rows[datum.r]", column="columns[datum.c]",
        shown="isValid(datum.value) ? format(datum.value, '.4~g') "
        f": datum.ruled ? {quoted(gettext('−∞, ruled out'))} : {quoted(gettext('not finite'))}",
        said=said,
    )  # fmt: skip
    across = middles(
        "columns", shape.ticks[1], orient="top", labelAngle=0, title=shape.titles[1] or None,
        room=alt.Undefined if shape.header is None else shape.header,
    )  # fmt: skip
    down = middles(
        "rows", shape.ticks[0], orient="left", room=shape.room, labelLimit=shape.room,
        labelAngle=0, title=shape.titles[0] or None,
    )  # fmt: skip
    x = alt.X("c:Q", scale=positions(wide, alt.ExprRef(end)), axis=across)
    y = alt.Y("r:Q", scale=positions(count, height), axis=down)
    titles = {"row": shape.names[0], "column": shape.names[1], "shown": shape.quantity}
    placed = boxes(base, x, y).encode(
        tooltip=[alt.Tooltip(f"{field}:N", title=title) for field, title in titles.items()],
        description=alt.Description("said:N"),
    )
    largest = alt.ExprRef("end")
    scale = theme.diverging(largest) if shape.signed else theme.sequential(largest)
    within = inset(GAP if min(shape.cell) >= SMALL else 0)
    layers = [
        placed.transform_filter("isValid(datum.value) && !datum.out")
        .mark_rect(**within)
        .encode(color=alt.Color("value:Q", scale=scale, legend=None))
        .properties(name="cells"),
    ]
    if shape.masked:
        grey = placed.transform_filter("!isValid(datum.value) || datum.out")
        look: dict[str, Any] = (
            {} if shape.grey else {"aria": False}
        )  # a group without a cell has no name
        grey = grey.mark_rect(fill=theme.QUIET, fillOpacity=_MASKED_OPACITY, **within, **look)
        layers.append(grey.properties(name="masked"))
    if "points" in data:
        at = alt.Chart(data["points"]).encode(x=alt.X("c:Q"), y=alt.Y("r:Q"), color="value:Q")
        look = {"filled": True, "stroke": theme.QUIET, "strokeWidth": 1, "opacity": 1}
        layers.append(at.mark_point(size=26, aria=False, **look).properties(name="points"))
    if shape.numbers:
        layers += _numbers(base, shape, f"{end} / {wide} >= {_LEAST}")
    layers += [
        boxes(alt.Chart(data[name]), alt.X("left:Q"), alt.Y("top:Q"))
        .mark_rect(filled=False, stroke=theme.POINTER, **look)
        .properties(name=name)
        for name, look in _FRAMES.items()
        if name in data
    ]
    return theme.finished(
        alt.LayerChart(layer=layers), width=shape.width, height=height, params=values_of(data)
    )


def _numbers(base: alt.Chart, shape: ValuesShape, fits: str) -> list[alt.Chart]:
    text, opacity = f"replace(format(datum.value, '{shape.numbers}'), '-', '−')", alt.Undefined
    if shape.numbers == FITTING:
        # Whole numbers as they are, small ones with two digits behind the point that are not 0.
        text = (
            "datum.ruled ? '−∞' : datum.value != 0 && abs(datum.value) < 0.005 "
            "? replace(format(datum.value, '.0e'), 'e-', 'e−') "
            ": abs(datum.value) < 100 && datum.value != round(datum.value) "
            "? format(datum.value, abs(datum.value) < 10 ? '.2f' : '.1f') "
            ": format(datum.value, '.3~s')"
        )
        opacity = alt.ExprRef(f"{fits} ? 1 : 0")
    placed = (
        base.transform_filter("isValid(datum.value) || datum.ruled")
        .transform_calculate(text=text)
        .encode(x=alt.X("middle:Q"), y=alt.Y("centre:Q"), text=alt.Text("text:N"))
    )
    looks: list[tuple[str, str, str | alt.ExprRef]] = [
        ("numbers", "!datum.out && !datum.ruled", alt.ExprRef(theme.ON_CELL))
    ]
    if shape.masked:
        looks.append(("quiet", "datum.out || datum.ruled", theme.QUIET))
    return [
        placed.transform_filter(which)
        .mark_text(fontSize=theme.FONT_SIZE, opacity=opacity, aria=False, color=colour)
        .properties(name=name)
        for name, which, colour in looks
    ]


def _frames(sides: Sequence[tuple[int, int, int, int]]) -> pa.Table:
    names = ["left", "right", "top", "bottom"]
    return pa.Table.from_arrays([pa.array(side) for side in zip(*sides, strict=True)], names)
