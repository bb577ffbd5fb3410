"""Every seed of one metric as a dot, all scorings on one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.frames import table_csv
from dashboard.charts.grid import hover
from dashboard.charts.labels import displayed, room
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources, chart_of, values_of
from dashboard.features.experiment.cells import SAMPLE_ERROR, SAMPLE_ROWS, Cell
from dashboard.features.experiment.summary import Spread, Spreads
from dashboard.features.experiment.view import FIGURE, Experiment
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.widgets import picked, place, plain

DATA, MEANS = "seeds", "means"  # the data sets
_DOTS = pa.schema([("scoring", pa.string()), ("seed", pa.int64()), ("value", pa.float64())])
_TICKS = pa.schema([("scoring", pa.string()), ("value", pa.float64())])
_LANE = 34  # px
_MOST_ROOM = 130  # px, for the names at the left


class StripShape(NamedTuple):
    """What a specification follows from; the attributes are arguments of :func:`strip_chart`."""

    names: tuple[str, ...]
    title: str
    number: str
    colour: str
    width: int


def strip_chart(
    rows: Sequence[Mapping[str, Any]], means: Sequence[Mapping[str, Any]],
    scorings: Sequence[str], **more: Any,
) -> alt.LayerChart:  # fmt: skip
    """A lane per scoring; hovering tells a dot's scoring, seed and value.

    Args and errors are those of :func:`prepare_strip`.
    """
    return chart_of(draw_strip, prepare_strip(rows, means, scorings, **more))


def prepare_strip(
    rows: Sequence[Mapping[str, Any]],
    means: Sequence[Mapping[str, Any]],
    scorings: Sequence[str],
    *,
    title: str,
    number: str = ".3~g",
    colour: str = theme.PANEL_COLOURS["a"],
    width: int = theme.WIDTH,
) -> Prepared[StripShape]:
    """What :func:`draw_strip` draws.

    Args:
        rows: ``scoring``, ``seed``, ``value``; may be empty.
        means: ``scoring``, ``value``; may be empty.
        scorings: the lanes, top to bottom; names of strangers are shown as text.
        title: of the values, with their unit.
        number: a d3 format of the values.

    Raises:
        ValueError: no lane, or a row that belongs to none.
    """
    if not scorings:
        raise ValueError("need at least one scoring, got none")
    if strangers := sorted({str(row["scoring"]) for row in [*rows, *means]} - set(scorings)):
        raise ValueError(f"need a lane for every scoring, got none for {', '.join(strangers)}")
    values = [float(row["value"]) for row in [*rows, *means]]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    tables = {
        DATA: pa.Table.from_pylist(_shown(rows), schema=_DOTS),
        MEANS: pa.Table.from_pylist(_shown(means), schema=_TICKS),
    }
    names = tuple(dict.fromkeys(displayed(scorings)))
    shape = StripShape(names, title, number, colour, width)
    alone = abs(low) or 1.0 if low == high else 0.0
    scoring, value = gettext("scoring"), gettext("value")
    means_told = tables[MEANS].to_pandas().rename(columns={"scoring": scoring, "value": value})
    summary = of_ranked(
        means_told, name=scoring, value=value, what=gettext("the mean {quantity}", quantity=title)
    )
    return Prepared(tables, shape, {"low": low - alone / 2, "high": high + alone / 2}, summary)


def draw_strip(data: Sources, shape: StripShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_strip` makes it, or names it."""
    names, title, number = list(shape.names), shape.title, shape.number
    space = room(names, _MOST_ROOM)
    y = alt.Y(
        "scoring:N",
        title=gettext("scoring"),
        sort=None,
        scale=alt.Scale(domain=names, paddingInner=0.15, paddingOuter=0.1),
        axis=alt.Axis(
            title=None, minExtent=space, maxExtent=space, labelLimit=space - 4, domain=False,
            ticks=False, grid=True,
        ),
    )  # fmt: skip
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(
            domain=[alt.ExprRef("low"), alt.ExprRef("high")], zero=False, nice=True, padding=8
        ),
        axis=alt.Axis(title=title, tickCount=5, format=number, grid=False),
    )
    tooltip = [
        alt.Tooltip("scoring:N", title=gettext("scoring")),
        alt.Tooltip("seed:Q", title=gettext("seed"), format="d"),
        alt.Tooltip("value:Q", title=title, format=number),
    ]
    pointed = hover("scoring", "seed")
    dots = (
        alt.Chart(data[DATA])
        .mark_point(filled=True, size=70, color=shape.colour)
        .encode(
            x=x, y=y, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(0.75)),
        )
        .add_params(pointed)
        .properties(name="dots")
    )  # fmt: skip
    ticks = (
        alt.Chart(data[MEANS])
        .mark_tick(color={"expr": theme.INK}, thickness=2, size=_LANE * 0.62, aria=False)
        .encode(x=x, y=y)
        .properties(name="ticks")
    )
    chart = alt.LayerChart(layer=[theme.ramp(), ticks, dots])
    params = values_of(data)
    return theme.finished(chart, width=shape.width, height=_LANE * len(names), params=params)


def _shown(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "scoring": displayed([row["scoring"]])[0]} for row in rows]


_FAILURES_SHOWN = 5
_TEXTS = {
    "task",
    "model",
    "data",
    "scoring",
    "normaliser",
    "state",
    "memory_of",
    "training",
    "note",
}
_WHOLE = {"seed", "weights", SAMPLE_ROWS}


def failures(cells: Sequence[Cell], catalogue: Catalogue) -> None:
    """What went wrong with which run, and whose fault it was; the others go on."""
    broken = [cell for cell in cells if cell.state == "failed"]
    if not broken:
        return
    with shown.container(border=True, key="experiment-failures", gap="xsmall"):
        words = gettext("{failed} of {count} runs failed", failed=len(broken), count=len(cells))
        shown.markdown(f":material/error: **{words}**")
        for cell in broken[:_FAILURES_SHOWN]:
            words = gettext(
                "{scoring}, seed {seed}: {problem}",
                scoring=scoring_title(cell.scoring, catalogue), seed=cell.seed,
                problem=translated(cell.note),
            )  # fmt: skip
            shown.text(words)
            if culprit := cell.facts.get("culprit"):
                words = gettext("It happened in {culprit}.", culprit=translated(culprit))
                shown.caption(plain(words))
        if len(broken) > _FAILURES_SHOWN:
            more = len(broken) - _FAILURES_SHOWN
            shown.caption(gettext("and {count} more, all in the file of every run", count=more))


def file(view: Experiment, cells: Sequence[Cell], metrics: Sequence[Metric]) -> bytes:
    """Every run as a row of a CSV file."""
    estimated = any(SAMPLE_ROWS in cell.figures for cell in cells)
    figures = [one.name for one in metrics] + [SAMPLE_ROWS, SAMPLE_ERROR] * estimated
    rows = [
        {
            "task": view.task, "model": view.model, "data": view.data, "scoring": cell.scoring,
            "normaliser": view.normaliser,
            "seed": cell.seed, "state": cell.state,
            **{name: _number(cell.figures.get(name)) for name in figures},
            "weights": cell.weights, "memory_of": cell.facts.get("memory_of"),
            "training": cell.training.id if cell.training else None,
            "note": cell.note if cell.state == "failed" else None,
        }
        for cell in cells
    ]  # fmt: skip
    schema = pa.schema([(name, _kind(name)) for name in rows[0]])
    return table_csv(pa.Table.from_pylist(rows, schema=schema))


def _kind(name: str) -> pa.DataType:
    if name in _TEXTS:
        return pa.string()
    return pa.int64() if name in _WHOLE else pa.float64()


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def chart(
    view: Experiment,
    cells: Sequence[Cell],
    metrics: Sequence[Metric],
    spreads: Spreads,
    catalogue: Catalogue,
    choose: Callable[[str], None],
) -> None:
    """Draw the chart, the pills that choose its metric, and its export menu.

    Args:
        metrics: those to choose from.
        choose: called with the name of the metric that the reader picks.
    """
    if not metrics:
        return
    with shown.container(horizontal=True, vertical_alignment="center", gap="small"):
        metric = _chosen(view, metrics, choose)
        menu = shown.container(width="content")
    titles = {name: scoring_title(name, catalogue) for name in view.scorings}
    rows = [
        {"scoring": titles[cell.scoring], "seed": cell.seed, "value": value}
        for cell in cells
        if (value := cell.figures.get(metric.name)) is not None
    ]
    means = [
        {"scoring": title, "value": mean}
        for name, title in titles.items()
        if (mean := spreads.get((metric.name, name), Spread()).mean) is not None
    ]
    prepared = prepare_strip(rows, means, tuple(titles.values()), title=metric.heading)
    with shown.container(key="experiment-chart"):
        charts.show_prepared(
            draw_strip, prepared,
            gettext("{metric} of every seed, a lane per scoring", metric=metric.title),
        )  # fmt: skip
    shown.caption(gettext("A dot for every seed, a tick at the scoring's mean."))
    with menu:
        if not rows:
            export.waiting("experiment")
            return
        tables = {"seeds": pa.Table.from_pylist(rows), "means": pa.Table.from_pylist(means)}
        whole = partial(strip_chart, rows, means, tuple(titles.values()), title=metric.heading)
        export.menu(
            None, Result(tables=tables), {metric.title: whole}, gettext_noop("experiment"),
            title=gettext("Experiment"),
        )  # fmt: skip


def _chosen(view: Experiment, metrics: Sequence[Metric], choose: Callable[[str], None]) -> Metric:
    known = {metric.name: metric for metric in metrics}
    chosen = view.figure if view.figure in known else metrics[0].name
    key = f"experiment-{view.task}-figure"
    st.pills(
        gettext(FIGURE.title),
        list(known),
        key=place(key, chosen, fresh=st.session_state.get(key) != chosen),
        format_func=lambda name: known[name].heading,
        on_change=picked(key, choose),
        label_visibility="collapsed",
        required=True,
    )
    return known[chosen]
