"""What charts of predictions share: axes, training points, truth, the query under the pointer."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import Table, column_of, rounded
from dashboard.charts.grid import Lane, hover
from dashboard.charts.labels import quoted
from dashboard.charts.template import Data
from dashboard.language import gettext, gettext_noop

Columns = dict[str, np.ndarray]

MAX_MARKS = 1_500  # points or queries drawn; more say nothing more on so small a plot
_OUTPUTS = frozenset(("prediction", "truth", "y"))
_QUERIES = gettext_noop("{drawn:,} of {count:,} queries drawn")
_POINTS = gettext_noop("{drawn:,} of {count:,} training points drawn")
_QUERIES_SORTED = gettext_noop("queries, sorted by {x_title}")
_ROWS_SORTED = gettext_noop("rows, sorted by {x_title}")


class Problem(NamedTuple):
    """One curve with its training points, sorted by the first input.

    Args:
        curve: ``q`` (position), ``x``, ``left`` and ``right`` (half way to the neighbours),
            ``prediction``, ``truth`` (NaN where unknown).
        points: ``k`` (position), ``x``, ``y``. Where the inputs are more than one number, what
            was measured at the queries, as far as that is known: no x axis has a place for others.
        weights: ``(queries, keys)`` in the same order.
        edges: borders of the queries' columns, ``(queries + 1,)``.
        inputs, y: first input and value of every key, ``(keys,)``.
        line: whether neighbours in the curve are neighbours in the data.
        note: what was left out, for the reader.
    """

    curve: Columns
    points: Columns
    weights: np.ndarray | None
    edges: np.ndarray
    inputs: np.ndarray
    y: np.ndarray
    x_title: str
    line: bool
    note: str


def problem(
    curve: Table, points: Table, weights: np.ndarray | None = None, x_title: str = "x"
) -> Problem:
    """What is drawn of a result's tables and weights; ValueError where these do not fit."""
    if not len(curve):
        raise ValueError("need at least one query, got an empty table of predictions")
    names = curve.column_names if isinstance(curve, pa.Table) else curve.columns
    line = "x1" not in names
    rows = np.argsort(column_of(curve, "x0"), kind="stable")
    columns = np.argsort(column_of(points, "x0"), kind="stable")
    inputs = column_of(points, "x0")[columns]
    outputs = column_of(points, "y")[columns]
    if line:
        x = column_of(curve, "x0")[rows]
        scatter = {"k": np.arange(len(columns)), "x": inputs, "y": outputs}
    else:
        x = np.arange(len(rows), dtype=float)
        known = "measured" in names
        x_title = gettext(_ROWS_SORTED if known else _QUERIES_SORTED, x_title=x_title)
        y = column_of(curve, "measured")[rows] if known else np.zeros(0)
        scatter = {"k": np.arange(len(y)), "x": x[: len(y)], "y": y}
    edges = _edges(x)
    drawn = {
        "q": np.arange(len(rows)), "x": x, "left": edges[:-1], "right": edges[1:],
        "prediction": column_of(curve, "prediction")[rows],
        "truth": column_of(curve, "truth")[rows],
    }  # fmt: skip
    notes: list[str] = []
    return Problem(
        curve=_thinned(drawn, _QUERIES, notes, outputs),
        points=_thinned(scatter, _POINTS, notes, outputs),
        weights=None if weights is None else _ordered(weights, rows, columns), edges=edges,
        inputs=inputs, y=outputs, x_title=x_title, line=line, note="; ".join(notes),
    )  # fmt: skip


def _ordered(weights: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim == 3 and len(weights) == 1:
        weights = weights[0]
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(
            f"need weights of shape {(len(rows), len(columns))} (queries, training points), "
            f"got {weights.shape}"
        )
    return weights[np.ix_(rows, columns)]


def _edges(x: np.ndarray) -> np.ndarray:
    """Borders half way between neighbours, ``(n + 1,)``; one unit wide around a single x."""
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = (x[1:] + x[:-1]) / 2
    return np.concatenate([[2 * x[0] - middle[0]], middle, [2 * x[-1] - middle[-1]]])


def table_of(columns: Columns) -> pa.Table:
    """The columns as a table; null for NaN."""
    return pa.table({name: pa.array(held, from_pandas=True) for name, held in columns.items()})


def _thinned(columns: Columns, said: str, notes: list[str], outputs: np.ndarray) -> Columns:
    """So many rows as can be drawn, with the digits that they need beside ``outputs``.

    A prediction that is the same everywhere has the digits of these, which share its axis.
    """
    count = len(next(iter(columns.values())))
    if count > MAX_MARKS:
        notes.append(gettext(said, drawn=MAX_MARKS, count=count))
        kept = np.linspace(0, count - 1, MAX_MARKS).round().astype(int)
        columns = {name: column[kept] for name, column in columns.items()}
    return {
        name: rounded(column, outputs if name in _OUTPUTS else None)
        if column.dtype == float
        else column.astype(np.int32)
        for name, column in columns.items()
    }


ROOM = 36  # px, for the labels at the left
_MARGIN = 0.04  # of the range of values, left free above and below
_STEPS = 40  # of the range of values, at most: an axis begins and ends at one of them


class Axes(NamedTuple):
    """Where curves are drawn; ``line``: whether neighbours in them are neighbours in the data.

    ``whole``: whether all training points lie at whole numbers.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    x_title: str
    y_title: str
    line: bool
    truth: bool
    whole: bool


def axes(drawn: Sequence[Problem], y_title: str) -> Axes:
    """The axes of these curves, the first of which has the queries and the truth.

    The y axis ends at round numbers, so that a curve may move and leave the axes as they are.
    """
    first = drawn[0]
    ends = np.concatenate([first.curve["left"], first.curve["right"], first.points["x"]])
    values: list[np.ndarray] = []
    for each in drawn:
        values += each.curve["prediction"], each.curve["truth"], each.points["y"]
    return Axes(
        x=(float(np.nanmin(ends)), float(np.nanmax(ends))), y=round_ends(np.concatenate(values)),
        x_title=first.x_title, y_title=y_title, line=first.line,
        truth=not np.isnan(first.curve["truth"]).all(),
        whole=bool((first.points["x"] % 1 == 0).all()),
    )  # fmt: skip


def round_ends(values: np.ndarray) -> tuple[float, float]:
    """Round numbers with all finite values between them, and some room."""
    values = values[np.isfinite(values)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = (high - low) * _MARGIN or 0.5
    low, high = low - margin, high + margin
    finest = (high - low) / _STEPS
    power = 10.0 ** math.floor(math.log10(finest))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= finest)
    start, end = rounded([math.floor(low / step) * step, math.ceil(high / step) * step]).tolist()
    return min(start, low), max(end, high)


class Scene(NamedTuple):
    """Where the layers of curves are drawn, and of what: tables or their names."""

    queries: Data
    points: Data
    axes: Axes
    lane: Lane

    def x(self, field: str = "x") -> alt.X:
        """The x axis of queries and training points."""
        axis = alt.Axis(
            title=self.axes.x_title,
            titleLimit=alt.ExprRef("width"),  # a long title would take the plot's room
            orient="bottom",
            grid=False,
            labelFlush=True,
            tickCount=5,
            tickMinStep=1 if self.axes.whole else alt.Undefined,
            format=theme.NUMBER,
        )
        scale = alt.Scale(domain=[*self.axes.x], nice=False, zero=False)
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    def y(self, field: str) -> alt.Y:
        """The scale of predictions, truth and training points; the last draw its axis."""
        axis = self.lane.axis(self.axes.y_title, ROOM, theme.NUMBER) if field == "y" else None
        return alt.Y(f"{field}:Q", scale=self.lane.scale(*self.axes.y), axis=axis)

    def strips(self, height: float, told: Mapping[str, str] | None = None) -> alt.Chart:
        """A column per query, unseen; that under the pointer tells its x and other columns.

        These are ``told`` by their titles, or the prediction. No words are made of columns that
        the pointer is not on: they would be made anew at each position of a slider.
        """
        columns = {self.axes.x_title: "x", **(told or {gettext("prediction"): "prediction"})}
        if self.axes.truth:
            columns[gettext("truth")] = "truth"
        said = ", ".join(
            f"{quoted(title)}: isValid(datum.{name}) ? format(datum.{name}, '{theme.EXACT}') : '–'"
            for title, name in columns.items()
        )
        here = alt.when(hover("q")).then(alt.value(alt.ExprRef(f"{{{said}}}")))
        return (
            alt.Chart(self.queries)
            .mark_rect(fill="white", fillOpacity=0, aria=False)
            .encode(
                x=self.x("left"), x2=alt.X2("right:Q"), y=alt.YValue(0), y2=alt.Y2Value(height),
                tooltip=here.otherwise(alt.value(None)),
            )
            .add_params(hover("q"))
            .properties(name="queries")
        )  # fmt: skip

    def hovered(self) -> alt.Chart:
        """The query under the pointer."""
        return alt.Chart(self.queries).transform_filter(hover("q"))

    def rule(self, height: float) -> alt.Chart:
        """A line at the hovered query, from the first lane down to that height."""
        line = self.hovered().mark_rule(color=theme.POINTER, strokeWidth=1, aria=False)
        return line.encode(x=self.x(), y=alt.YValue(self.lane.top), y2=alt.Y2Value(height))

    def scatter(self) -> list[alt.Chart]:
        """Training points as rings, and the truth as a dashed line; the first has the y axis."""
        rings = alt.Chart(self.points).mark_point(
            size=18, filled=False, strokeWidth=1, opacity=0.8, color=theme.QUIET
        )
        layers = [rings.encode(x=self.x(), y=self.y("y"))]
        if self.axes.truth:
            chart = alt.Chart(self.queries).encode(x=self.x(), y=self.y("truth"))
            layers.append(
                chart.mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=theme.QUIET)
                if self.axes.line
                else chart.mark_point(size=18, color=theme.QUIET)
            )
        return layers

    def prediction(self, colour: str) -> alt.Chart:
        """A line, or dots where neighbours on the x axis are none in the data."""
        chart = alt.Chart(self.queries).encode(x=self.x(), y=self.y("prediction"))
        if self.axes.line:
            return chart.mark_line(strokeWidth=2, color=colour)
        return chart.mark_point(size=18, filled=True, opacity=1, color=colour)
