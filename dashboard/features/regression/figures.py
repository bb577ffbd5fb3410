"""The charts that compare all panels, and what the page says of results beside each other."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.charts import PANEL_COLOURS, theme, weights_legend
from dashboard.charts import curves as curve_charts
from dashboard.charts.curves import Axes, Scene, axes, problem
from dashboard.charts.frames import Table, frame_of
from dashboard.charts.grid import OWN_SCALES, hover, stacked
from dashboard.charts.legend import NAMES_COLUMNS, NAMES_LONGEST, named_strokes
from dashboard.charts.live import PARAMETERS
from dashboard.charts.summary import Summary, number, of_lines
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.language import called, gettext, together
from dashboard.records.request import Result
from dashboard.ui import maps
from dashboard.ui.charts import legend, show, show_filled

COMPARED, SCALE = "compared", "scale"  # what frames call the charts of all panels
OVERLAY_HEIGHT = 430  # px, with its axis and legend
_PLOT = 330  # px
_SAME = 1e-6  # of the largest value of a curve
_PATTERNS = [[8, 3], [2, 2], [8, 2, 2, 2], [4, 4], [12, 3, 3, 3]]  # px of dashes and gaps
_LETTERS = {colour: letter for letter, colour in PANEL_COLOURS.items()}


class LeftOutShape(NamedTuple):
    """What a specification follows from, besides the panels' names. ``of``: what was measured."""

    colours: tuple[str, ...]
    ends: tuple[float, float]
    of: str
    marks: int
    note: str


def prepare_left_out(
    panels: Mapping[str, Table], colours: Mapping[str, str], *, of: str = "y"
) -> Prepared[LeftOutShape]:
    """What :func:`draw_left_out` draws: the points that each panel has, by its label.

    Args:
        panels: a table with a row per point: ``row``, its number, ``measured``, and ``prediction``
            by all other points.
        of: what was measured.
    """
    frames = {name: frame_of(table) for name, table in panels.items()}
    measured, predictions = _shared(frames)
    count, most = max(map(len, frames.values())), curve_charts.MAX_MARKS // len(panels)
    drawn = np.linspace(0, len(measured) - 1, min(len(measured), most)).round().astype(int)
    note = ""
    if count > len(drawn):
        note = gettext("{drawn:,} of {count:,} points drawn", drawn=len(drawn), count=count)
    kept, known = predictions.iloc[drawn], measured.iloc[drawn].to_numpy(float)
    points = {
        "row": np.tile(kept.index.to_numpy(float), len(panels)),
        "measured": np.tile(known, len(panels)), "prediction": kept.to_numpy(float).T.ravel(),
        "panel": np.repeat(np.array([*panels], dtype=object), len(drawn)),
        "line": _lines(len(panels), len(drawn)),
    }  # fmt: skip
    ends = curve_charts.round_ends(np.concatenate([known, points["prediction"]]))
    shape = LeftOutShape(tuple(colours[n] for n in panels), ends, of, len(points["row"]), note)
    tables = {"points": curve_charts.table_of(points), "diagonal": pa.table({"end": [*ends]})}
    sentences = [gettext("Predicted against measured {name}.", name=of)]
    for name, frame in frames.items():
        misses = (frame["prediction"] - frame["measured"]).to_numpy(float)
        distance = number(np.sqrt(np.mean(misses**2)))
        sentences.append(gettext(
            "{panel}: over {count:,} points, the root of the mean squared distance from the "
            "diagonal is {distance}.",
            panel=name, count=len(frame), distance=distance,
        ))  # fmt: skip
    columns = {gettext("measured {name}", name=of): measured, **predictions}
    said = {title: column.to_numpy(float) for title, column in columns.items()}
    summary = Summary(together(sentences), partial(curve_charts.table_of, said))
    return Prepared(
        tables, shape, {"names": [*panels]}, summary,
        live={"points": ("prediction", "panel"), PARAMETERS: ("names",)},
    )  # fmt: skip


def _lines(count: int, rows: int) -> np.ndarray:
    """By which line a row is drawn, of so many lines with so many rows: ``p0``, ``p1``, …."""
    return np.repeat(np.array([f"p{i}" for i in range(count)], dtype=object), rows)


def _shared(frames: Mapping[str, pd.DataFrame]) -> tuple[pd.Series, pd.DataFrame]:
    """What was measured at the points that each panel has, and their predictions, by number."""
    numbered = {name: frame.set_index("row") for name, frame in frames.items()}
    measured, predictions = (
        pd.concat({name: frame[column] for name, frame in numbered.items()}, axis=1, join="inner")
        for column in ("measured", "prediction")
    )
    return measured.iloc[:, 0].sort_index(), predictions.sort_index()


def draw_left_out(data: Sources, shape: LeftOutShape) -> alt.LayerChart:
    """The chart of ``data``; hovering marks a point in all panels."""
    (lane,) = stacked([_PLOT], 0)
    pointed = hover("row")
    measured = gettext("measured {name}", name=shape.of)
    predicted = gettext("predicted {name}", name=shape.of)
    scale = alt.Scale(domain=[*shape.ends], nice=False, zero=False)
    axis = alt.Axis(title=measured, grid=False, labelFlush=True, tickCount=5, format=theme.NUMBER)
    y_scale = lane.scale(*shape.ends)
    y_axis = lane.axis(predicted, curve_charts.ROOM, theme.NUMBER)
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
            stroke=_strokes(shape.colours),
            size=alt.condition(pointed, alt.value(110), alt.value(22)),
            tooltip=[
                alt.Tooltip("panel:N", title=gettext("panel")),
                alt.Tooltip("row:Q", format="d", title=gettext("row")),
                alt.Tooltip("measured:Q", format=".4~g", title=measured),
                alt.Tooltip("prediction:Q", format=".4~g", title=predicted),
            ],
        )
        .add_params(pointed)
        .properties(name="points")
    )
    return theme.finished(
        alt.LayerChart(layer=[theme.ramp(), diagonal, points]),
        width=theme.WIDTH, height=lane.bottom, title=theme.heading("", shape.note),
        marks=shape.marks, params=values_of(data),
    )  # fmt: skip


def names_legend(colours: Mapping[str, str], panels: int) -> alt.LayerChart:
    """What lines of small plots are called: those of so many panels, then of baselines."""
    stroke = named_strokes("name", colours)
    none = alt.Chart(pd.DataFrame({"name": [*colours][:0]})).mark_line(strokeWidth=2)
    named = none.encode(stroke=stroke, strokeDash=_dashes(stroke, panels))
    return theme.finished(alt.LayerChart(layer=[theme.ramp(), named]), width=theme.WIDTH, height=1)


def _dashes(stroke: alt.Stroke, panels: int) -> alt.StrokeDash:
    """Panels' lines are solid, others have a pattern each, in the legend too."""
    names, patterns = stroke["scale"]["domain"], [[1, 0]] * panels + _PATTERNS
    scale = alt.Scale(domain=names, range=patterns[: len(names)])
    return alt.StrokeDash(stroke["shorthand"], scale=scale, legend=stroke["legend"])


def _strokes(colours: Sequence[str], *, legend: bool = True) -> alt.Stroke:
    """Those of lines ``p0``, …; their names are a parameter, so that they may follow a slider."""
    return named_strokes(
        "line", {f"p{i}": colour for i, colour in enumerate(colours)}, columns=NAMES_COLUMNS,
        limit=NAMES_LONGEST, label="names[toNumber(slice(datum.value, 1))]", legend=legend,
    )  # fmt: skip


class OverlayShape(NamedTuple):
    """What a specification follows from; ``panels``: how short each is called, and its colour.

    With a number of ``solid`` lines, maybe 0, others are dashed, and the legend stands elsewhere.
    """

    axes: Axes
    panels: tuple[tuple[str, str], ...]
    note: str
    solid: int | None = None


def prepare_overlay(
    curves: Mapping[str, Table], points: Table, *, colours: Mapping[str, str] | None = None,
    x_title: str = "x", y_title: str = "y", line: bool = True,
    solid: int | None = None,
) -> Prepared[OverlayShape]:  # fmt: skip
    """All panels' predictions over one scatter of the training points, by their labels.

    Args:
        curves: tables ``curve`` as :func:`regression_chart` takes them, at the same queries; the
            truth is the first one's.
        line, solid: whether predictions are lines, not points; see :class:`OverlayShape`.
    """
    colours = colours or dict(zip(curves, PANEL_COLOURS.values(), strict=False))
    drawn = [problem(curve, points, None, x_title) for curve in curves.values()]
    first, x = drawn[0], drawn[0].curve["x"]
    predictions = [one.curve["prediction"] for one in drawn]
    tall = {
        "x": np.tile(x, len(drawn)), "prediction": np.concatenate(predictions),
        "line": _lines(len(curves), len(x)),
    }  # fmt: skip
    # Columns are numbered: a panel's label may hold what a field name must not.
    wide = {**first.curve, **{f"p{i}": values for i, values in enumerate(predictions)}}
    tables = {"queries": wide, "points": first.points, "curves": tall}
    lines = dict(zip(curves, predictions, strict=True))
    letters = {name: _LETTERS.get(colours[name], name) for name in curves}
    short = tuple((letter if name.startswith(letter) else name, colours[name])
                  for name, letter in letters.items())  # fmt: skip
    return Prepared(
        {name: curve_charts.table_of(columns) for name, columns in tables.items()},
        OverlayShape(axes(drawn, y_title)._replace(line=line), short, first.note, solid),
        {"names": [*curves]}, of_lines(x, lines, x_title=first.x_title, y_title=y_title),
        {
            "queries": tuple(f"p{i}" for i in range(len(drawn))), "curves": ("prediction",),
            PARAMETERS: ("names",),
        },
    )  # fmt: skip


def draw_overlay(data: Sources, shape: OverlayShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_overlay` makes it, or names it."""
    (lane,) = stacked([_PLOT], 0)
    scene = Scene(data["queries"], data["points"], shape.axes, lane)
    told = {name: f"p{i}" for i, (name, _) in enumerate(shape.panels)}
    stroke = _strokes([colour for _, colour in shape.panels], legend=shape.solid is None)
    dash = alt.Undefined if shape.solid is None else _dashes(stroke, shape.solid)
    curves = alt.Chart(data["curves"])
    if shape.axes.line:
        curves = curves.mark_line(strokeWidth=2)
    else:
        curves = curves.mark_point(size=80, strokeWidth=3)
    layers = [
        theme.ramp(), scene.strips(lane.bottom, told), scene.rule(lane.bottom),
        *scene.scatter(),
        curves.encode(x=scene.x(), y=scene.y("prediction"), stroke=stroke, strokeDash=dash),
    ]  # fmt: skip
    return theme.finished(
        alt.LayerChart(layer=layers, resolve=OWN_SCALES), width=theme.WIDTH, height=lane.bottom,
        title=theme.heading("", shape.note), params=values_of(data),
    )  # fmt: skip


def prepare_compared(results: Mapping[str, Result], titles: Mapping[str, str]) -> Prepared:
    """What :func:`compared` draws of results by the letters of their panels."""
    first = next(iter(results.values()))
    colours = {titles[letter]: PANEL_COLOURS[letter] for letter in results}
    y_title = called(first.facts["y_name"])

    def tables(name: str) -> dict[str, Table]:
        return {titles[letter]: result.tables[name] for letter, result in results.items()}

    if not has_curve(first):
        return prepare_left_out(tables("left_out"), colours, of=y_title)
    return prepare_overlay(
        tables("curve"), first.tables["points"], colours=colours,
        x_title=called(first.facts["x_names"][0]), y_title=y_title,
    )  # fmt: skip


def compared(
    results: Mapping[str, Result], titles: Mapping[str, str], follows: Mapping[str, float]
) -> None:
    """All panels in one plot, in their colours: curves, or predictions by what was measured."""
    first = next(iter(results.values()))
    key = " ".join(f"{one} {results[one].digest} {title}" for one, title in titles.items())
    draw, alt = draw_left_out, gettext("Predicted against measured values, all panels")
    said = gettext("Dashed: predictions that equal what was measured.")
    if has_curve(first):
        draw, alt = draw_overlay, gettext("The curves of all panels over the training points")
        said = marks(first)
    show_filled(
        f"compared {key}", draw, partial(prepare_compared, results, titles), alt, marks=said,
        follows=(COMPARED, follows),
    )  # fmt: skip


def marks(result: Result) -> str:
    """What lines and rings mean, for the caption of a figure."""
    if not has_curve(result):
        if "measured" in result.tables["curve"].column_names:
            return gettext("Dots: predictions; rings: what was measured.")
        return ""
    truth = result.tables["curve"]["truth"]
    if truth.null_count < len(truth):
        return gettext("Dashed: the truth; rings: the training points.")
    return gettext("Rings: the training points.")


def has_curve(result: Result) -> bool:
    """Whether predictions are a curve over one input."""
    return len(result.facts["x_names"]) == 1


def colours(vmax: float | None, signed: bool, follows: Mapping[str, float]) -> None:
    """What the colours of all maps mean, whose scale ends at ``vmax`` or is each one's own."""
    if vmax is not None:
        legend(vmax, signed=signed, follows=(SCALE, follows))
        return
    show(
        f"legend of shares{' signed' * signed}",
        lambda: weights_legend(
            title=gettext("share of the map's largest weight"), difference=signed
        ),
        gettext("Colours: share of the map's largest weight"),
    )


def own_scale(result: Result) -> float:
    """The end of a colour scale of one panel: its largest weight; twice that of equal weights.

    Weights that are all equal are then drawn in the middle: at the end they would look large.
    """
    largest = maps.largest_weight(result)
    return 2 * largest if result.facts.get("equal_weights") else largest


def same_curve(results: Mapping[str, Result], letter: str) -> str:
    """The first panel before that of ``letter`` that has the same curve; empty if none has."""
    own = results[letter].tables["curve"]["prediction"].to_numpy()
    room = _SAME * np.abs(own).max(initial=0.0)
    for other in sorted(results):
        theirs = results[other].tables["curve"]["prediction"].to_numpy()
        if other < letter and own.shape == theirs.shape and np.allclose(own, theirs, 0, room):
            return other
    return ""


def estimate(result: Result, metric: str) -> tuple[int, float] | tuple[None, None]:
    """On how many rows a metric was estimated, with what standard error; None of all rows."""
    facts: Mapping[str, Any] = result.facts.get("leave_one_out", {})
    deviation = facts.get("standard_errors", {}).get(metric)
    if deviation is None or facts["rows"] == facts["points"]:
        return None, None
    return facts["rows"], deviation
