"""Values of both signs as a heatmap of any cell size, with rows or columns framed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.labels import MOST_ROOM, displayed, room, thinned

MOST_CELLS = 5_000  # as many rows as Altair takes; a browser repaints them in a fifth of a second
_LINE = theme.FONT_SIZE + 3  # px, of a level label


def values_heatmap(
    values: np.ndarray,
    *,
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    row_title: str = "",
    column_title: str = "",
    vmax: float | None = None,
    signed: bool = True,
    numbers: str = "",
    framed: Literal["", "rows", "columns"] = "",
    cell: tuple[float, float] = (24, 24),
    room_left: int | None = None,
    title: str = "",
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """A matrix, its first row on top; hovering a cell tells its value.

    Args:
        values: ``(rows, columns)``; NaN is left empty.
        rows, columns: labels; positions where None.
        row_title, column_title: what the axes count; no titles where empty.
        vmax: the end of the colour scale, the largest absolute value where None.
        signed: the diverging scale from -vmax, else the sequential one from 0.
        numbers: a d3 format such as ``".2f"`` to write every value into its cell.
        framed: what belongs together, drawn as frames.
        cell: px, the most width and the height of a cell.
        room_left: px for the labels of the rows; as many as they need where None.

    Raises:
        ValueError: not a matrix with cells, more than :data:`MOST_CELLS`, labels that do not fit.
    """
    matrix = _checked(values)
    count, wide = matrix.shape
    labels = _labels(rows, count, "row"), _labels(columns, wide, "column")
    end = float(np.nanmax(np.abs(matrix), initial=0)) if vmax is None else vmax
    end = end or 1.0
    colour = theme.diverging(end) if signed else theme.sequential(end)
    left = room(labels[0], MOST_ROOM) if room_left is None else room_left
    height = count * cell[1]
    across = alt.ExprRef(f"min(width, {wide * cell[0]:g})")
    row, column = (axis.ravel() for axis in np.indices(matrix.shape))
    table = pd.DataFrame({"r": row, "c": column, "value": rounded(matrix.ravel())})
    base = alt.Chart().transform_calculate(
        left="datum.c", right="datum.c + 1", top="datum.r", bottom="datum.r + 1",
        row="rows[datum.r]", column="columns[datum.c]",
    )  # fmt: skip
    x = alt.X(
        "left:Q",
        scale=alt.Scale(domain=[0, wide], range=[0, across], nice=False, zero=False),
        axis=_axis("columns", _ticks(labels[1], width - left, cell[0]), "top", column_title),
    )
    y = alt.Y(
        "top:Q",
        scale=alt.Scale(domain=[0, count], range=[0, height], nice=False, zero=False),
        axis=_axis("rows", thinned(count, height, _LINE), "left", row_title, left),
    )
    place = {"x": x, "x2": alt.X2("right:Q"), "y": y, "y2": alt.Y2("bottom:Q")}
    told = [
        alt.Tooltip("row:N", title=row_title or "row"),
        alt.Tooltip("column:N", title=column_title or "column"),
        alt.Tooltip("value:Q", format=".4~g"),
    ]
    layers = [
        base.transform_filter("isValid(datum.value)")
        .mark_rect(**_inset(min(cell)))
        .encode(**place, color=alt.Color("value:Q", scale=colour, legend=None), tooltip=told)
        .properties(name="cells")
    ]
    if numbers:
        layers.append(_numbers(base, numbers))
    if framed:
        layers.append(_frames(framed, count, wide))
    heading = theme.heading(title)
    params = {"rows": labels[0], "columns": labels[1]}
    chart = alt.layer(*layers, data=table)
    return theme.finished(chart, params=params, width=width, height=height, **heading)


def _checked(values: np.ndarray) -> np.ndarray:
    matrix = np.array(values, dtype=np.float64)
    if matrix.ndim != 2 or not 0 < matrix.size <= MOST_CELLS:
        raise ValueError(
            f"need a matrix (rows, columns) of 1 to {MOST_CELLS:,} cells, got {np.shape(values)}"
        )
    return matrix


def _labels(labels: Sequence[object] | None, count: int, name: str) -> list[str]:
    shown = displayed(range(count) if labels is None else labels)
    if len(shown) != count:
        raise ValueError(f"need one label per {name}, {count} in all, got {len(shown)}")
    return shown


def _ticks(labels: list[str], available: float, cell: float) -> list[int]:
    return thinned(len(labels), min(available, len(labels) * cell), room(labels, MOST_ROOM) + 4)


def _axis(
    names: str, ticks: list[int], orient: str, title: str, extent: int | None = None
) -> alt.Axis:
    settings = {"minExtent": extent, "maxExtent": extent, "labelLimit": extent} if extent else {}
    return alt.Axis(
        orient=orient,
        values=[tick + 0.5 for tick in ticks],
        tickCount=len(ticks),
        labelExpr=f"{names}[floor(datum.value)]",
        labelAngle=0,
        labelOverlap="parity" if orient == "top" else False,
        labelSeparation=2,
        grid=False,
        title=title or None,
        **settings,
    )


def _inset(cell: float) -> dict[str, float]:
    gap = 0.5 if cell >= 12 else 0
    return {"xOffset": gap, "x2Offset": -gap, "yOffset": gap, "y2Offset": -gap}


def _numbers(base: alt.Chart, form: str) -> alt.Chart:
    return (
        base.transform_filter("isValid(datum.value)")
        .transform_calculate(
            across="datum.c + 0.5",
            down="datum.r + 0.5",
            said=f"replace(format(datum.value, '{form}'), '-', '−')",
        )
        .mark_text(fontSize=theme.FONT_SIZE, color=alt.ExprRef(theme.ON_CELL), aria=False)
        .encode(x="across:Q", y="down:Q", text="said:N")
        .properties(name="numbers")
    )


def _frames(framed: str, count: int, wide: int) -> alt.Chart:
    boxes = (
        [{"left": 0, "right": wide, "top": i, "bottom": i + 1} for i in range(count)]
        if framed == "rows"
        else [{"left": i, "right": i + 1, "top": 0, "bottom": count} for i in range(wide)]
    )
    return (
        alt.Chart(pd.DataFrame(boxes))
        .mark_rect(
            filled=False, stroke=theme.POINTER, strokeWidth=2, cornerRadius=4, xOffset=2,
            x2Offset=-2, yOffset=2, y2Offset=-2,
        )
        .encode(x="left:Q", x2="right:Q", y="top:Q", y2="bottom:Q")
        .properties(name="frames")
    )  # fmt: skip
