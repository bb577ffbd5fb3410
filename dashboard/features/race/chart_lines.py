"""A curve for each contestant: two in colour with their intervals, all others in grey."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.grid import hover, names_axis, stacked
from dashboard.charts.labels import displayed, quoted, room
from dashboard.charts.legend import NAMES_COLUMNS, NAMES_LONGEST, named_strokes
from dashboard.charts.summary import of_ranked, of_series
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.features.race.view import COLOURS
from dashboard.language import gettext
from dashboard.records.beside import beside

_LANE, _WIDTH, _MOST_ROOM = 19, 640, 250  # px: of a contestant, and for the names at the left
_TALL = "M0,-1.2L0.3,0L0,1.2L-0.3,0Z"  # a mark that hides no interval
_FENCE = 3  # interquartile ranges
# What the columns are called, and how numbers are written in the tooltip.
_TITLES = beside(__file__, "words.toml")["lines"]
_FORMS = {"difference": ".3~g", "low": ".3~g", "high": ".3~g", "p": ".2~g"}
_DIFFERENCES = pa.schema([(n, pa.float64() if n in _FORMS else pa.string()) for n in _TITLES])


class DifferencesShape(NamedTuple):
    """What a specification follows from: the contestants, top to bottom, the axis, who is own."""

    names: tuple[str, ...]
    title: str
    own: tuple[str, ...]


def far_out(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Rows whose difference would leave the others no room: Tukey's "far out".

    That is more than three interquartile ranges beyond the quartiles, if these differ.
    """
    low, high = np.quantile([row["difference"] for row in rows], (0.25, 0.75))
    reach = _FENCE * (high - low) or np.inf
    return [row for row in rows if not low - reach <= row["difference"] <= high + reach]


def prepare_differences(
    rows: Sequence[Mapping[str, Any]], title: str, own: Collection[str] = ()
) -> Prepared[DifferencesShape]:
    """What :func:`draw_differences` draws.

    Args:
        rows: ``name``, ``difference`` (positive where better), ``difference_low``,
            ``difference_high`` (the ends of its interval, None where there is none), ``p``,
            ``verdict``. An arrow at the end of the axis stands for one that is :func:`far_out`.
        own: names that stand out.
    """
    names = displayed([row["name"] for row in rows])
    best_first = sorted(zip(names, rows, strict=True), key=lambda one: -one[1]["difference"])
    made = pa.Table.from_pylist(
        [{**row, "name": name, "verdict": gettext(row["verdict"]),
          "low": row["difference_low"], "high": row["difference_high"]}
         for name, row in best_first],
        _DIFFERENCES,
    )  # fmt: skip
    shape = DifferencesShape(tuple(made["name"].to_pylist()), title, tuple(displayed([*own])))
    away = far_out(rows)
    ends = [row[end] or 0.0 for row in rows if row not in away
            for end in ("difference", "difference_low", "difference_high")]  # fmt: skip
    values = {"left": min(0.0, *ends), "right": max(0.0, *ends)}
    titles = {column: gettext(title) for column, title in _TITLES.items()}
    summary = of_ranked(
        made.to_pandas().rename(columns=titles), name=titles["name"], value=titles["difference"],
        what=gettext("the difference to the reference"),
    )  # fmt: skip
    return Prepared({"differences": made}, shape, values, summary)


def draw_differences(data: Sources, shape: DifferencesShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_differences` makes it, or names it."""
    rows, ends = data["differences"], [alt.ExprRef("left"), alt.ExprRef("right")]
    own = f"indexof([{', '.join(map(quoted, shape.own))}], datum.value) >= 0"
    titles = {column: gettext(title) for column, title in _TITLES.items()}
    y = alt.Y(
        "name:N", title=titles["name"], sort=None, scale=alt.Scale(domain=list(shape.names)),
        axis=names_axis(
            room(shape.names, _MOST_ROOM),
            labelFontWeight={"condition": {"test": own, "value": "bold"}, "value": "normal"},
        ),
    )  # fmt: skip
    x = alt.X(
        "difference:Q", title=titles["difference"],
        scale=alt.Scale(domain=ends, range=[8, alt.ExprRef("width - 8")], nice=False, clamp=True),
        axis=alt.Axis(  # on a phone the title is longer than the plot
            title=shape.title, titleAnchor="end", grid=False, tickCount=6, format=theme.NUMBER
        ),
    )  # fmt: skip
    colours = {gettext(verdict): colour for verdict, colour in COLOURS.items()}
    columns = "width < 260 ? 1 : 4"
    standing_out = alt.FieldOneOfPredicate(field="name", oneOf=list(shape.own))
    stroke = named_strokes("verdict", colours, columns=columns).title(titles["verdict"])
    pointed = hover("name")
    tooltip = [
        alt.Tooltip(f"{column}:Q", title=title, format=_FORMS[column]) if column in _FORMS
        else alt.Tooltip(f"{column}:N", title=title)
        for column, title in titles.items()
    ]  # fmt: skip
    zero = (
        alt.Chart(alt.sequence(0, 1, as_="zero"))
        .mark_rule(color=theme.QUIET, strokeWidth=1.5, aria=False)
        .encode(x=alt.X("zero:Q"))
        .properties(name="zero")
    )
    bars = (
        alt.Chart(rows)
        .mark_rule(strokeWidth=2, aria=False)
        .encode(x=alt.X("low:Q", title=shape.title), x2="high:Q", y=y, stroke=stroke)
        .properties(name="intervals")
    )
    dots = (
        alt.Chart(rows)
        .mark_point(filled=False, strokeWidth=3)
        .encode(
            x=x, y=y, stroke=stroke, tooltip=tooltip,
            size=alt.when(standing_out).then(alt.value(140)).otherwise(alt.value(46)),
            shape=alt.when("datum.difference < left").then(alt.value("triangle-left"))
            .when("datum.difference > right").then(alt.value("triangle-right"))
            .when(standing_out).then(alt.value(_TALL)).otherwise(alt.value("circle")),
            opacity=alt.condition(pointed, alt.value(1), alt.value(0.85)),
        )
        .add_params(pointed)
        .properties(name="dots")
    )  # fmt: skip
    chart = alt.LayerChart(layer=[theme.ramp(), zero, bars, dots])
    height = _LANE * len(shape.names)
    return theme.finished(chart, width=_WIDTH, height=height, params=values_of(data))


_HEIGHT = 230  # px, of the lines
_ROOM = 48  # px, for the labels at the left
_COLUMNS = ("x", "y", "low", "high")
_CURVES = pa.schema([("name", pa.string()), *((name, pa.float64()) for name in _COLUMNS)])
_MARGIN = 0.05  # of the range of values, left free above and below


class LinesShape(NamedTuple):
    """What a specification follows from: curves with their colours, and titles, x first.

    Ends of intervals are a band around each curve where it is ``banded``, else bars.
    """

    names: tuple[tuple[str, str], ...]
    titles: tuple[str, str]
    banded: bool = False


def prepare_lines(
    rows: Sequence[Mapping[str, Any]], colours: Mapping[str, str], *, x_title: str, y_title: str,
    learned: tuple[float, float] | None = None, banded: bool = False,
) -> Prepared[LinesShape]:  # fmt: skip
    """What :func:`draw_lines` draws of rows that have a y, at least one of them.

    Args:
        rows: ``name``, ``x``, ``y``, and the ends of its interval, if any, ``low``, ``high``.
        colours: of those names that stand out.
        learned: the range of x that was learned: shaded, or a line where it is a single number.
    """
    held = [row for row in rows if row["y"] is not None]
    names = displayed([row["name"] for row in held])
    known = dict(zip(displayed([*colours]), colours.values(), strict=True))
    tables = {
        "curves": pa.Table.from_pylist(
            [{**row, "name": name} for row, name in zip(held, names, strict=True)], _CURVES
        ),
        "learned": pa.Table.from_pylist(
            [{"from": learned[0], "to": learned[1]}] if learned else [],
            pa.schema([("from", pa.float64()), ("to", pa.float64())]),
        ),
    }  # fmt: skip
    ends = [
        row[name] for row in held for name in _COLUMNS[1:]
        if row.get(name) is not None and (name == "y" or row["name"] in colours)
    ]  # fmt: skip
    low, high = min(ends), max(ends)
    margin = (high - low) * _MARGIN or 1.0
    xs = [row["x"] for row in held]
    values = {"left": min(xs), "right": max(xs), "bottom": low - margin, "top": high + margin}
    shape = LinesShape(tuple(known.items()), (x_title, y_title), banded)
    translations = {name: gettext(_TITLES[name]) for name in ("name", "low", "high")}
    frame = tables["curves"].to_pandas().rename(columns=translations)
    summary = of_series(frame, name=translations["name"], x="x", y="y", titles=shape.titles)
    return Prepared(tables, shape, {n: float(end) for n, end in values.items()}, summary)


def draw_lines(data: Sources, shape: LinesShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_lines` makes it, or names it."""
    (lane,) = stacked([_HEIGHT], 0)
    x_title, y_title = shape.titles
    ends = [alt.ExprRef("left"), alt.ExprRef("right")]
    x = alt.X(
        "x:Q", title=x_title, scale=alt.Scale(domain=ends, nice=False, zero=False, clamp=True),
        axis=alt.Axis(title=x_title, grid=False, tickCount=6, format=theme.NUMBER),
    )  # fmt: skip
    scale = lane.scale(alt.ExprRef("bottom"), alt.ExprRef("top"))
    y = alt.Y("y:Q", title=y_title, scale=scale, axis=lane.axis(y_title, _ROOM, form=".3~g"))
    looks = {"columns": NAMES_COLUMNS, "limit": NAMES_LONGEST}
    stroke = named_strokes("name", dict(shape.names), **looks).title(gettext("name"))
    standing_out = alt.FieldOneOfPredicate(field="name", oneOf=[name for name, _ in shape.names])
    pointed = hover("name", "x", nearest=True)
    tooltip = [
        alt.Tooltip("name:N", title=gettext("name")),
        alt.Tooltip("x:Q", title=x_title, format=",~r"),
        alt.Tooltip("y:Q", title=y_title, format=".3~g"),
    ]  # fmt: skip
    curves = alt.Chart(data["curves"])
    coloured = curves.transform_filter(standing_out)
    shaded = (
        alt.Chart(data["learned"])
        .mark_rect(
            fill=theme.QUIET, fillOpacity=0.14, stroke=theme.QUIET, strokeOpacity=0.6, aria=False
        )
        .encode(x=alt.X("from:Q"), x2="to:Q", y=alt.value(lane.top), y2=alt.value(lane.bottom))
        .properties(name="learned")
    )
    grey = (
        curves.transform_filter(alt.LogicalNotPredicate(**{"not": standing_out}))
        .mark_line(stroke=theme.QUIET, strokeWidth=1, opacity=0.45)
        .encode(x=x, y=y, detail="name:N")
        .properties(name="others")
    )
    band = {"fill": alt.ExprRef("scale('stroke', datum.name)"), "strokeWidth": 0}
    intervals = (
        coloured.mark_area(fillOpacity=0.2, aria=False, **band)
        if shape.banded
        else coloured.mark_rule(strokeWidth=2, opacity=0.6, aria=False)
    )
    intervals = intervals.encode(
        x=x, y=alt.Y("low:Q", scale=scale, title=y_title), y2="high:Q", stroke=stroke
    ).properties(name="intervals")
    lines = coloured.mark_line(strokeWidth=2).properties(name="lines")
    lines = lines.encode(x=x, y=y, stroke=stroke)
    points = (
        curves.mark_point(size=34, filled=False, strokeWidth=2)
        .encode(
            x=x, y=y, tooltip=tooltip, stroke=stroke,
            opacity=alt.condition(pointed, alt.value(1), alt.value(0)),
        )
        .add_params(pointed)
        .properties(name="points")
    )  # fmt: skip
    chart = alt.LayerChart(layer=[theme.ramp(), shaded, grey, intervals, lines, points])
    return theme.finished(chart, width=theme.WIDTH, height=lane.bottom, params=values_of(data))
