"""Kernel regression: the curve, and below it the weights that made each of its points.

The weights are painted as one picture. The row of the query that the pointer is on travels as
text, and becomes cells and sized points only while the pointer is there.
"""

import math
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.curves import ROOM, Axes, Problem, Scene, axes, problem, table_of
from dashboard.charts.frames import Table, below_0, checked_end, rounded, top_weight
from dashboard.charts.grid import OWN_SCALES, Lane, stacked
from dashboard.charts.image import MAX_SIDE, PICK, pictures
from dashboard.charts.labels import vega_text
from dashboard.charts.summary import Summary, number, of_lines, of_matrix
from dashboard.charts.template import Data, Prepared, Sources, chart_maker
from dashboard.language import gettext, together

LARGEST_MARK = "largest"  # the name of the mark that tells the largest weight
MOST_TOLD = 40_000  # weights that travel as text, so that the pointer finds each
_SAME = 1e-6  # of the largest weight: what differs by less is equal
_LABEL = 34  # px that a label needs
_CURVE, _MAP, _GAP = 170, 150, 40  # px
_LIVE = {
    "queries": ("prediction", "weights", "vmax"),
    "picture": ("light", "dark", "largest", "smallest", "vmax"),
}


class MapShape(NamedTuple):
    """What the map's part of a specification follows from.

    Args:
        step: keys from one label to the next.
        labels, form: the inputs of the keys that are labelled, or their numbers where a key has
            several inputs; their d3 format.
        told: whether the pointer finds each weight.
        signed: whether any weight is below 0.
    """

    keys: int
    step: int
    labels: tuple[float, ...]
    form: str
    told: bool
    signed: bool = False


class RegressionShape(NamedTuple):
    """What a specification follows from; the map's is None where there are no weights."""

    axes: Axes
    map: MapShape | None
    colour: str
    title: str
    note: str
    width: int


def prepare_regression(
    curve: Table, points: Table, weights: np.ndarray | None = None, *,
    colour: str = theme.PANEL_COLOURS["a"], vmax: float | None = None, x_title: str = "x",
    y_title: str = "y", title: str = "", width: int = theme.WIDTH, signed: bool = False,
) -> Prepared[RegressionShape]:  # fmt: skip
    """The prediction over the training points and the truth, and its weights underneath.

    The column of the map under a point of the curve holds the weights that gave that point.
    Hovering marks the query in both, tells its values, and sizes the training points by weight.

    Args:
        curve: ``x0`` …, ``prediction``, ``truth`` (null where unknown); a row per query.
        points: ``x0`` …, ``y``; a row per training point.
        weights: ``(queries, keys)`` or ``(1, queries, keys)``; None draws the curve alone. Of more
            than :data:`MOST_TOLD` the pointer finds the query, not the single weight.
        colour: of the prediction.
        vmax: the end of the colour scale, as panels share it; the largest weight where None.
        x_title, y_title: names of the data's columns. With inputs of several numbers the x axis
            counts the queries, sorted by their first number, and says so.
        width: px, of the whole chart where the host does not stretch it.
        signed: whether the scale has two sides, as it has wherever a weight is below 0.

    Raises:
        ValueError: no queries, or weights that do not fit the tables.
    """
    drawn = problem(curve, points, weights, x_title)
    queries, tables, map_shape = drawn.curve, {}, None
    if drawn.weights is not None:
        end = top_weight([drawn.weights]) if vmax is None else checked_end(vmax)
        map_shape = _map_shape(drawn, drawn.weights, signed or below_0(drawn.weights))
        tables["picture"] = _picture_table(drawn, drawn.weights, end, map_shape.signed)
        if map_shape.told:
            rows = drawn.weights[drawn.curve["q"]]
            form = " ".join(["%.5g"] * rows.shape[1])
            texts = np.array([form % tuple(row) for row in rows.tolist()], dtype=object)
            queries = {**queries, "weights": texts, "vmax": np.full(len(rows), end)}
            tables["keys"] = pa.table({
                "k": np.arange(len(drawn.inputs), dtype=np.int32), "input": rounded(drawn.inputs),
                "output": rounded(drawn.y),
            })  # fmt: skip
    return Prepared(
        {"queries": table_of(queries), "points": table_of(drawn.points), **tables},
        RegressionShape(axes([drawn], y_title), map_shape, colour, title, drawn.note, width),
        summary=_summary(drawn, y_title), live=_LIVE,
    )  # fmt: skip


def _map_shape(drawn: Problem, weights: np.ndarray, signed: bool) -> MapShape:
    keys = weights.shape[1]
    step = math.ceil(keys * _LABEL / _MAP)
    # What tells the keys apart: their input, or their number as the x axis has.
    places = drawn.inputs if drawn.line else np.arange(len(drawn.inputs), dtype=float)
    form, spread = ".2~g", float(np.ptp(places))
    if 1e-3 <= spread < 1e5:  # as many decimals as tell them apart
        form = f".{max(0, 1 - int(np.floor(np.log10(spread))))}f"
    return MapShape(
        keys=keys, step=step if step < keys else 1, labels=tuple(rounded(places[::step]).tolist()),
        form=form, told=weights.size <= MOST_TOLD, signed=signed,
    )  # fmt: skip


def _picture_table(drawn: Problem, weights: np.ndarray, vmax: float, signed: bool) -> pa.Table:
    """The map as addresses of images with its place, its extremes and ``vmax``, in one row."""
    # A pixel column is as wide as any other, a query's column need not be: what lies under the
    # middle of each pixel column is drawn.
    edges = drawn.edges
    left, right = float(edges[0]), float(edges[-1])
    queries, keys = weights.shape
    even = np.allclose(np.diff(edges), (right - left) / queries, rtol=1e-3)
    columns = queries if even and queries <= MAX_SIDE else MAX_SIDE
    middles = left + (np.arange(columns) + 0.5) * (right - left) / columns
    under = np.clip(np.searchsorted(edges, middles) - 1, 0, queries - 1)
    images, _ = pictures(weights[under].T[::-1], vmax, signed=signed)
    largest = float(np.nanmax(weights)) if weights.size else 0.0
    smallest = float(np.nanmin(weights)) if weights.size else 0.0
    ends = {"left": left, "right": right, "low": 0, "high": keys}
    places = {**ends, "largest": largest, "smallest": smallest, "vmax": vmax}
    return pa.Table.from_pylist([{**places, **images}])


def _summary(drawn: Problem, y_title: str) -> Summary:
    curve = {gettext("prediction"): drawn.curve["prediction"],
             gettext("truth"): drawn.curve["truth"]}  # fmt: skip
    curve = {name: values for name, values in curve.items() if np.isfinite(values).any()}
    said = of_lines(drawn.curve["x"], curve, x_title=drawn.x_title, y_title=y_title)
    if drawn.weights is None:
        return said
    queries = (drawn.edges[1:] + drawn.edges[:-1]) / 2
    names = (gettext("query at {x_title}", x_title=drawn.x_title), gettext("training point at"))
    weights = of_matrix(
        drawn.weights, [*map(number, queries)], [*map(number, drawn.inputs)], names=names
    )
    return Summary(together((said.words, weights.words)), said.table)


def draw_regression(data: Sources, shape: RegressionShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_regression` makes it, or names it."""
    upper, *others = stacked([_CURVE] if shape.map is None else [_CURVE, _MAP], _GAP)
    height = others[0].bottom if others else upper.bottom
    scene = Scene(data["queries"], data["points"], shape.axes, upper)
    over = [*scene.scatter(), scene.prediction(shape.colour)]
    under = [theme.ramp()]
    if shape.map is not None:
        under = _weight_lane(data["picture"], scene, shape.map, others[0])
        if shape.map.told:
            under.append(_hovered_cells(data["keys"], scene, shape.map, others[0]))
            if shape.axes.line:
                over.append(_weighed_points(data["keys"], scene, shape.colour, shape.map.signed))
    over.append(
        scene.hovered()
        .mark_point(
            size=50, filled=True, opacity=1, fill=shape.colour, stroke="white", strokeWidth=1.5,
            aria=False,
        )
        .encode(x=scene.x(), y=scene.y("prediction"))
    )  # fmt: skip
    if shape.map is not None:
        over.append(_largest_weight(data["picture"], others[0]))
    # One flat list: Altair copies the layers of a layer over and over.
    layers = [scene.strips(height), *under, scene.rule(height), *over]
    return theme.finished(
        alt.LayerChart(layer=layers, resolve=OWN_SCALES), width=shape.width, height=height,
        title=theme.heading(shape.title, shape.note),
        params={} if shape.map is None else {"inputs": shape.map.labels},
        canvas=shape.map is not None and shape.map.told,
    )  # fmt: skip


regression_chart = chart_maker(prepare_regression, draw_regression)


def _weight_lane(picture: Data, scene: Scene, shape: MapShape, lane: Lane) -> list[alt.Chart]:
    weights_of_x = gettext("weights of the training x")
    axis = lane.axis(
        weights_of_x
        if scene.axes.line
        else gettext("weights of the training points, in that order"),
        ROOM, values=[i * shape.step + 0.5 for i in range(len(shape.labels))],
        tickCount=len(shape.labels),
        labelExpr=f"format(inputs[floor(datum.value / {shape.step})], '{shape.form}')", grid=False,
    )  # fmt: skip
    base = alt.Chart(picture)
    # Nothing is seen of the frame: it carries the axis, and the ramp that the host has chosen.
    unseen = base.mark_rect(fillOpacity=0).encode(
        x=scene.x("left"), x2=alt.X2("right:Q"),
        y=alt.Y("low:Q", scale=lane.scale(0, shape.keys), axis=axis), y2=alt.Y2("high:Q"),
        color=alt.Color(
            "low:Q", scale=theme.diverging() if shape.signed else theme.sequential(), legend=None
        ),
    )  # fmt: skip
    painted = (
        base.transform_calculate(url=PICK)
        .mark_image(
            width=alt.ExprRef("scale('x', datum.right) - scale('x', datum.left)"),
            height=lane.height, aspect=False, smooth=False, align="left", baseline="top",
        )
        .encode(url=alt.Url("url:N"), x=scene.x("left"), y=alt.YValue(lane.top))
    )  # fmt: skip
    return [painted, unseen]


def _largest_weight(picture: Data, lane: Lane) -> alt.Chart:
    weight = "format(datum.largest, '.3~g')"
    largest = vega_text(gettext("largest {weight}"), weight=weight)
    every = vega_text(gettext("all {weight}"), weight=weight)
    said = f"datum.largest - datum.smallest > {_SAME} * datum.largest ? {largest} : {every}"
    return (
        alt.Chart(picture)
        .transform_calculate(said=said)
        .mark_text(
            align="right", baseline="bottom", fontSize=theme.FONT_SIZE,
            color=alt.ExprRef(theme.INK), x=alt.ExprRef("width"), y=lane.top - 6,
        )
        .encode(text="said:N")
        .properties(name=LARGEST_MARK)
    )  # fmt: skip


def _hovered_cells(keys: Data, scene: Scene, shape: MapShape, lane: Lane) -> alt.Chart:
    """The cells of the hovered query, unseen: they tell the weight that the pointer is on."""
    return (
        _hovered_row(keys, scene)
        .transform_calculate(low="datum.k", high="datum.k + 1")
        .mark_rect(fill="white", fillOpacity=0)
        .encode(
            x=scene.x("left"), x2=alt.X2("right:Q"),
            y=alt.Y("low:Q", scale=lane.scale(0, shape.keys), axis=None), y2=alt.Y2("high:Q"),
            tooltip=[
                alt.Tooltip("x:Q", format=theme.EXACT, title=scene.axes.x_title),
                alt.Tooltip("input:Q", format=theme.EXACT, title=gettext("training x")),
                alt.Tooltip("weight:Q", format=".3f", title=gettext("weight")),
            ],
        )
        .properties(name="cells")
    )  # fmt: skip


def _weighed_points(keys: Data, scene: Scene, colour: str, signed: bool) -> alt.Chart:
    """The training points, their areas as their weights for the hovered query."""
    area = alt.Scale(domain=[0, 1], range=[0, 260], clamp=True)
    size = "abs(datum.weight)" if signed else "datum.weight"
    return (
        _hovered_row(keys, scene)
        .transform_calculate(share=f"{size} / datum.vmax")
        .mark_point(filled=True, fill=colour, opacity=0.55, aria=False)
        .encode(
            x=scene.x("input"),
            y=scene.y("output"),
            size=alt.Size("share:Q", scale=area, legend=None),
        )
        .properties(name="weighed")
    )


def _hovered_row(keys: Data, scene: Scene) -> alt.Chart:
    """A row per weight of the hovered query: ``k``, ``input``, ``output``, ``weight``."""
    return (
        scene.hovered()
        .transform_calculate(said="split(datum.weights, ' ')")
        .transform_calculate(k="sequence(length(datum.said))")
        .transform_flatten(["said", "k"])
        .transform_lookup("k", from_=alt.LookupData(keys, "k", ["input", "output"]))
        .transform_calculate(weight="toNumber(datum.said)")
    )
