"""Every seed of one metric as a dot, all scorings on one axis."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.frames import table_csv
from dashboard.charts.grid import hover, names_axis
from dashboard.charts.labels import displayed, room
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources, chart_of, values_of
from dashboard.features.experiment.cells import SAMPLE_ERROR, SAMPLE_ROWS, Cell
from dashboard.features.experiment.table import Spread, Spreads, charted
from dashboard.features.experiment.view import FIGURE, Experiment
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, place, plain

DATA, MEANS = "seeds", "means"  # the data sets
_DOTS = pa.schema([("scoring", pa.string()), ("seed", pa.int64()), ("value", pa.float64())])
_TICKS = pa.schema([("scoring", pa.string()), ("value", pa.float64())])
_NUMBER = ".3~g"  # a d3 format of the values
_LANE = 34  # px
_AXIS = 45  # px below the lanes
_MOST_ROOM = 130  # px, for the names at the left


class StripShape(NamedTuple):
    """What a specification follows from; the attributes are arguments of :func:`prepare_strip`."""

    names: tuple[str, ...]
    title: str


def prepare_strip(
    rows: Sequence[Mapping[str, Any]], means: Sequence[Mapping[str, Any]], scorings: Sequence[str],
    title: str,
) -> Prepared[StripShape]:  # fmt: skip
    """What :func:`draw_strip` draws.

    Args:
        rows, means: ``scoring``, ``value``, and ``seed`` of a row; may be empty.
        scorings: the lanes, top to bottom; names of strangers are shown as text.
        title: of the values, with their unit.
    """
    values = [float(row["value"]) for row in [*rows, *means]]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    tables = {
        name: pa.Table.from_pylist(
            [{**row, "scoring": displayed([row["scoring"]])[0]} for row in ones], schema
        )
        for name, ones, schema in ((DATA, rows, _DOTS), (MEANS, means, _TICKS))
    }
    shape = StripShape(tuple(dict.fromkeys(displayed(scorings))), title)
    alone = abs(low) or 1.0 if low == high else 0.0
    scoring, value = gettext("scoring"), gettext("value")
    means_told = tables[MEANS].to_pandas().rename(columns={"scoring": scoring, "value": value})
    summary = of_ranked(
        means_told, name=scoring, value=value, what=gettext("the mean {quantity}", quantity=title)
    )
    return Prepared(tables, shape, {"low": low - alone / 2, "high": high + alone / 2}, summary)


def draw_strip(data: Sources, shape: StripShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_strip` makes it, or names it."""
    names, title = list(shape.names), shape.title
    y = alt.Y(
        "scoring:N", title=gettext("scoring"), sort=None,
        scale=alt.Scale(domain=names, paddingInner=0.15, paddingOuter=0.1),
        axis=names_axis(room(names, _MOST_ROOM), domain=False, ticks=False),
    )  # fmt: skip
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(
            domain=[alt.ExprRef("low"), alt.ExprRef("high")], zero=False, nice=True, padding=8
        ),
        axis=alt.Axis(title=title, tickCount=5, format=_NUMBER, grid=False),
    )
    tooltip = [
        alt.Tooltip("scoring:N", title=gettext("scoring")),
        alt.Tooltip("seed:Q", title=gettext("seed"), format="d"),
        alt.Tooltip("value:Q", title=title, format=_NUMBER),
    ]
    pointed = hover("scoring", "seed")
    dots = (
        alt.Chart(data[DATA])
        .mark_point(filled=True, size=70, color=theme.PANEL_COLOURS["a"])
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
    return theme.finished(
        alt.LayerChart(layer=[theme.ramp(), ticks, dots]), width=theme.WIDTH,
        height=_LANE * len(names), params=values_of(data),
    )  # fmt: skip


_FAILURES_SHOWN = 5


def failures(cells: Sequence[Cell], catalogue: Catalogue) -> None:
    """What went wrong with which run, and whose fault it was; the others go on."""
    broken = [cell for cell in cells if cell.state == "failed"]
    if not broken:
        return
    with shown.container(border=True, key="experiment-failures", gap="xsmall"):
        words = gettext("{failed} of {count} runs failed", failed=len(broken), count=len(cells))
        shown.markdown(f":material/error: **{words}**")
        for cell in broken[:_FAILURES_SHOWN]:
            shown.text(gettext(
                "{scoring}, seed {seed}: {problem}",
                scoring=scoring_title(cell.scoring, catalogue),
                seed=cell.seed, problem=translated(cell.note),
            ))  # fmt: skip
            if culprit := cell.facts.get("culprit"):
                words = gettext("It happened in {culprit}.", culprit=translated(culprit))
                shown.caption(plain(words))
        if (more := len(broken) - _FAILURES_SHOWN) > 0:
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
            **{name: cell.figures.get(name) for name in figures},
            "weights": cell.weights, "memory_of": cell.facts.get("memory_of"),
            "training": cell.training.id if cell.training else None,
            "note": cell.note if cell.state == "failed" else None,
        }
        for cell in cells
    ]  # fmt: skip
    return table_csv(pa.Table.from_pylist(rows))


def chart(
    session: Session[Experiment], cells: Sequence[Cell], metrics: Sequence[Metric],
    spreads: Spreads,
) -> None:  # fmt: skip
    """Draw the chart, the pills that choose its metric, and its export menu."""
    if not metrics:
        return
    with shown.container(horizontal=True, vertical_alignment="center", gap="small"):
        metric = _chosen(session, metrics)
        menu = shown.container(width="content")
    titles = {name: scoring_title(name, session.catalogue) for name in session.view.scorings}
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
    height = "content" if rows else _LANE * len(titles) + _AXIS
    with shown.container(key="experiment-chart", height=height, border=False):
        if rows:
            charts.show_prepared(
                draw_strip, prepared,
                gettext("{metric} of every seed, a lane per scoring", metric=metric.title),
            )  # fmt: skip
        else:
            shown.caption(gettext("No run has ended with a value yet."))
    shown.caption(gettext("A dot for every seed, a tick at the scoring's mean."))
    with menu:
        if not rows:
            export.waiting("experiment")
            return
        tables = {"seeds": pa.Table.from_pylist(rows), "means": pa.Table.from_pylist(means)}
        export.menu(
            None, Result(tables=tables), {metric.title: partial(chart_of, draw_strip, prepared)},
            gettext_noop("experiment"), title=gettext("Experiment"),
        )  # fmt: skip


def _chosen(session: Session[Experiment], metrics: Sequence[Metric]) -> Metric:
    known = {metric.name: metric for metric in metrics}
    chosen = charted(session.view, metrics).name
    key = f"experiment-{session.view.task}-figure"
    st.pills(
        gettext(FIGURE.title), list(known),
        key=place(key, chosen, fresh=st.session_state.get(key) != chosen),
        format_func=lambda name: known[name].heading,
        on_change=picked(key, lambda name: session.change(figure=name)),
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    return known[chosen]
