"""Every seed of one metric as a dot, all scorings on one axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa
import streamlit as st

from dashboard.features.experiment.cells import Cell
from dashboard.features.experiment.chart_strip import draw_strip, prepare_strip, strip_chart
from dashboard.features.experiment.summary import Spread, Spreads
from dashboard.features.experiment.view import FIGURE, Experiment
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.metric import Metric
from dashboard.records.result import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.titles import scoring_title
from dashboard.ui.widgets import picked, place


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
