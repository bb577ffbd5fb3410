"""The anatomy's charts: matrices with their numbers, and a plane of keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_of, rounded
from dashboard.charts.grid import boxes
from dashboard.charts.image import PICK, pictures
from dashboard.charts.labels import MOST_ROOM, displayed, quoted, room, thinned
from dashboard.charts.live import PARAMETERS, PICTURES
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.charts.values import FITTING, LIVE, ValuesShape
from dashboard.language import gettext


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A tensor with the names of its axes, such as ``("B", "n_q", "n_k")``."""

    axes: tuple[str, ...]
    values: np.ndarray

    @property
    def shape(self) -> str:
        """Axes and sizes, ``(B, n_q, n_k) = (2, 3, 5)``."""
        sizes = ", ".join(map(str, self.values.shape))
        return f"({', '.join(self.axes)}) = ({sizes})"

    def matrix(self, row: int, head: int = 0) -> np.ndarray:
        """What is left at one row of the batch and one head; the nearest where there is none."""
        cut = self.values
        for axis, index in zip(self.axes, (row, head), strict=False):
            if axis in ("B", "H"):
                cut = cut[min(index, len(cut) - 1)]
        return cut

    def labels(self, axis: int) -> list[str]:
        """Of the axis, counted from the last: ``q0`` for a query, ``k0`` for a key, else 0."""
        letter = {"n_q": "q", "n_k": "k", "n": "x"}.get(self.axes[axis], "")
        return [f"{letter}{index}" for index in range(self.values.shape[axis])]


def stages(table: pa.Table) -> Mapping[str, Stage]:
    """The rows of the table by name; ValueError for numbers that do not fill their shape."""
    found = {}
    for name, axes, shape, numbers in zip(*table.to_pydict().values(), strict=True):
        values = np.array(numbers, dtype=np.float64)
        if values.size != prod(shape):
            raise ValueError(f"stage {name!r}: need {prod(shape)} numbers, got {values.size}")
        found[name] = Stage(axes=tuple(axes), values=values.reshape(shape))
    return found


_CELL, _ROW = 46, 30  # px, of a cell that has room
_LOWEST, _TALLEST = 12, 420  # px, of a row without numbers, and of the plot
_HEADER = 18  # px, for the columns' labels


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Numbers with their labels, and how they are drawn.

    Args:
        values: ``(rows, columns)``; what is not finite looks masked; minus infinity is ruled out.
        rows, columns: their labels.
        quantity, names: what a cell, a row and a column is, for the tooltip.
        vmax: the end of the colour scale; the largest magnitude where None.
        signed: whether the scale has two sides; where None, if a number is negative.
        masked: boolean, True where a cell looks masked but keeps its number.
        picked: row and column of a cell to frame; None for all of them.
    """

    values: np.ndarray
    rows: Sequence[object]
    columns: Sequence[object]
    quantity: str = "value"
    names: tuple[str, str] = ("row", "column")
    vmax: float | None = None
    signed: bool | None = None
    masked: np.ndarray | None = None
    picked: tuple[int | None, int | None] | None = None


def prepare_matrix(drawn: Matrix) -> Prepared[ValuesShape]:
    """What :func:`~dashboard.charts.values.draw_values` draws: numbers, where cells have room."""
    grid = np.asarray(drawn.values, dtype=np.float64)
    labels = displayed(drawn.rows), displayed(drawn.columns)
    if grid.ndim != 2 or grid.shape != tuple(map(len, labels)) or not grid.size:
        raise ValueError(
            f"need a matrix with a label for each row and column, got {grid.shape}, "
            f"{len(labels[0])} and {len(labels[1])} labels"
        )
    beside = room(labels[0], MOST_ROOM)
    finite, (count, wide) = grid[np.isfinite(grid)], grid.shape
    written = count * _ROW <= _TALLEST
    row = _ROW if written else max(_LOWEST, _TALLEST // count)
    across = thinned(wide, min(theme.WIDTH - beside, wide * _CELL), room(labels[1], MOST_ROOM))
    out = np.zeros(grid.shape, bool) if drawn.masked is None else np.asarray(drawn.masked, bool)
    shape = ValuesShape(
        counts=(count, wide),
        ticks=(tuple(thinned(count, row * count, theme.FONT_SIZE + 1)), tuple(across)),
        cell=(_CELL, row), room=beside, width=theme.WIDTH, quantity=drawn.quantity,
        names=drawn.names,
        signed=bool((finite < 0).any()) if drawn.signed is None else drawn.signed,
        numbers=FITTING if written else "",
        masked=finite.size < grid.size or drawn.masked is not None, header=_HEADER,
        grey=bool(out.any()) or finite.size < grid.size,
    )  # fmt: skip
    r, c = (axis.ravel() for axis in np.indices(grid.shape))
    value = rounded(np.where(np.isfinite(grid), grid, np.nan).ravel())
    cells = {
        "r": r, "c": c, "value": pa.array(value, from_pandas=True), "out": out.ravel(),
        "ruled": np.isneginf(grid).ravel(),
    }  # fmt: skip
    tables = {"cells": pa.table(cells)}
    if drawn.picked is not None:
        r, c = drawn.picked
        left, right = (0, wide) if c is None else (c, c + 1)
        top, bottom = (0, count) if r is None else (r, r + 1)
        edges = {"left": [left], "right": [right], "top": [top], "bottom": [bottom]}
        tables["picked"] = pa.table(edges)
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    return Prepared(
        tables, shape,
        {"rows": labels[0], "columns": labels[1], "end": drawn.vmax or largest or 1.0},
        of_matrix(grid, *labels, quantity=drawn.quantity, names=drawn.names), live=LIVE,
    )  # fmt: skip


_STEEP = 0.02  # share of the keys that may be beyond the scale
_SIDE = 328  # px: whole pixels per key of a grid of 41, so that no seams show


class LandscapeShape(NamedTuple):
    """What a specification follows from: what the colours are of, and the keys of one axis."""

    title: str
    ends: tuple[float, float]
    step: float


def prepare_landscape(
    landscape: Table, column: str, query: tuple[float, float], *, title: str
) -> Prepared[LandscapeShape]:
    """What :func:`draw_landscape` draws: a column over the keys' two numbers, and the query.

    ``landscape``: ``x``, ``y`` of keys on an even grid, and ``column``; what is not finite
    looks masked, and minus infinity is called ruled out.
    """
    frame = frame_of(landscape)
    axis = np.unique(frame["x"].to_numpy()) if "x" in frame else np.array([])
    if column not in frame.columns or len(axis) < 2 or len(axis) ** 2 != len(frame):
        raise ValueError(f"need an even grid of keys with {column}, got {len(frame)} rows")
    step = float(axis[1] - axis[0])
    values = frame[column].to_numpy(float)
    finite = values[np.isfinite(values)]
    seen = np.where(np.isfinite(values), values, np.nan)
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if np.isneginf(values).any() and finite.size:
        # At the edge of a window a score falls without end; a few such must not hide the others.
        low = float(np.quantile(finite, _STEEP))
    if high - low <= 1e-9 * max(abs(low), abs(high), 1):
        # All keys alike: the middle of a scale around the one value.
        low, high = low - 1, low + 1
    grid = frame.assign(seen=seen).pivot(index="y", columns="x", values="seen")
    names = [f"{round(each, 6) + 0.0:g}" for each in axis]
    told = frame.pivot(index="y", columns="x", values=column)
    images, _ = pictures(grid.to_numpy()[::-1] - low, high - low)
    cells = {
        "left": rounded(frame["x"].to_numpy() - step / 2),
        "top": rounded(frame["y"].to_numpy() + step / 2),
        "value": pa.array(rounded(seen), from_pandas=True), "ruled": np.isneginf(values),
    }  # fmt: skip
    ends = float(axis[0] - step / 2), float(axis[-1] + step / 2)
    return Prepared(
        {"picture": pa.Table.from_pylist([images]), "cells": pa.table(cells),
         "query": pa.table({"left": [query[0]], "top": [query[1]]})},
        LandscapeShape(title, ends, step), {"low": low, "high": high},
        of_matrix(told.to_numpy(), names, names, quantity=title,
                  names=(gettext("second number"), gettext("first number"))),
        live={"picture": PICTURES, "query": ("left", "top"), PARAMETERS: ("low", "high")},
    )  # fmt: skip


def draw_landscape(data: Sources, shape: LandscapeShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_landscape` makes it, or names it."""
    domain, step = [alt.ExprRef("low"), alt.ExprRef("high")], shape.step
    scale = alt.Scale(domain=domain, range="heatmap", interpolate="rgb", nice=False, clamp=True)
    # As wide as high, or as its host has room for: circles should look round.
    wide = alt.ExprRef(f"min(width, {_SIDE})")
    across = alt.Scale(domain=[*shape.ends], range=[0, wide], nice=False, zero=False)
    up = alt.Scale(domain=[*shape.ends], nice=False, zero=False)
    even = alt.Axis(grid=False, values=[-3, -2, -1, 0, 1, 2, 3], format="~g", title=None)
    legend = alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=160, gradientThickness=8,
        title=shape.title, titleOrient="top", tickCount=3, format=".3~g",
    )  # fmt: skip
    painted = (
        alt.Chart(data["picture"])
        .transform_calculate(url=PICK)
        .mark_image(
            width=wide, height=_SIDE, aspect=False, smooth=False, align="left", baseline="top"
        )
        .encode(url=alt.Url("url:N"), x=alt.XValue(0), y=alt.YValue(0))
    )
    base = alt.Chart(data["cells"]).transform_calculate(
        right=f"datum.left + {step}", bottom=f"datum.top - {step}",
        x=f"datum.left + {step / 2}", y=f"datum.top - {step / 2}",
        shown="isValid(datum.value) ? format(datum.value, '.4~g') "
        f": datum.ruled ? {quoted(gettext('−∞, ruled out'))} : {quoted(gettext('not finite'))}",
    )  # fmt: skip
    x, y = alt.X("left:Q", scale=across, axis=even), alt.Y("top:Q", scale=up, axis=even)
    tooltip = [
        alt.Tooltip("x:Q", format=".3~g", title=gettext("key, first")),
        alt.Tooltip("y:Q", format=".3~g", title=gettext("key, second")),
        alt.Tooltip("shown:N", title=shape.title),
    ]
    # Nothing is seen of the cells: they answer the pointer, and carry the legend. Not the channel
    # "color": its scale is the ramp, by which labels know the page they are on.
    cells = (
        boxes(base, x, y)
        .mark_rect(aria=False, fillOpacity=0)
        .encode(fill=alt.Fill("value:Q", scale=scale, legend=legend), tooltip=tooltip)
    )
    point = (
        alt.Chart(data["query"])
        .mark_point(
            shape="circle", size=110, filled=False, stroke=theme.POINTER, strokeWidth=2.5,
            opacity=1,
        )
        .encode(x=x, y=y, tooltip=alt.value(gettext("the query")))
    )  # fmt: skip
    named = {"picture": painted, "cells": cells, "query": point}
    layers = [theme.ramp(), *(layer.properties(name=name) for name, layer in named.items())]
    return theme.finished(
        alt.LayerChart(layer=layers), width=theme.WIDTH, height=_SIDE, params=values_of(data),
        canvas=True,
    )  # fmt: skip
