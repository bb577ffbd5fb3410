"""The learning curves of the page *Train*."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.features.training.chart_learning import DATA, NOW, learning_chart
from dashboard.features.training.epochs import last_epoch
from dashboard.features.training.titles import score_metric, series_titles
from dashboard.links.recipes import HELD_OUT, TASK
from dashboard.records.catalogue import Catalogue
from dashboard.records.metric import Metric
from dashboard.records.result import Result
from dashboard.records.training import Epoch, Training
from dashboard.ui import export, layout, shown

_SPECS_KEPT = 200


class _Curve(NamedTuple):
    """One chart.

    Args:
        metric: what it shows.
        rows: ``epoch``, ``value``, ``series``.
        y_format: of its values, in d3.
        zero: whether its axis starts at 0.
    """

    metric: Metric
    rows: list[dict[str, Any]]
    y_format: str
    zero: bool


def curves(chosen: Mapping[str, Training], catalogue: Catalogue) -> None:
    """Loss of the chosen trainings, by letter, and what their held-out sentences score."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        shown.subheader("Learning curves")
        menu = st.container(width="content")
    titles = series_titles(chosen, catalogue)
    colours = {titles[letter]: PANEL_COLOURS[letter] for letter in chosen}
    last = last_epoch(chosen)
    loss = catalogue.metric(TASK, "loss")
    drawn = [_Curve(loss, _rows(chosen, titles, lambda _, epoch: epoch.loss), ".3~g", False)]
    holding = {letter: one for letter, one in chosen.items() if _holds_out(one)}
    metrics = {letter: score_metric(one, catalogue) for letter, one in holding.items()}
    for metric in {one.name: one for one in metrics.values()}.values():
        same = {letter: one for letter, one in holding.items() if metrics[letter] == metric}
        rows = _rows(same, titles, lambda training, epoch: training.held_out(epoch))
        drawn.append(_Curve(metric, rows, ".1f", True))
    with layout.grid(2):
        for metric, rows, y_format, zero in drawn:
            with shown.container(key=f"train-{metric.name}"):
                figure_over_epochs(rows, colours, last, metric.label, y_format, zero=zero)
        if not holding:
            shown.caption("Nothing is held out from these trainings, so there is no score.")
    with menu:
        _export({one.metric.name: one for one in drawn if one.rows}, colours, last)


def _rows(
    chosen: Mapping[str, Training],
    titles: Mapping[str, str],
    value_of: Callable[[Training, Epoch], float | None],
) -> list[dict[str, Any]]:
    return [
        {"epoch": epoch.epoch, "value": round(value, 4), "series": titles[letter]}
        for letter, training in chosen.items()
        for epoch in training.epochs
        if (value := value_of(training, epoch)) is not None
    ]


def _export(drawn: Mapping[str, _Curve], colours: Mapping[str, str], last: int) -> None:
    if not drawn:
        export.waiting("train-curves")
        return

    def chart(name: str) -> alt.LayerChart:
        metric, rows, y_format, zero = drawn[name]
        return learning_chart(
            rows, colours, title=metric.label, last=last, y_format=y_format, zero=zero
        )

    tables = {name: pa.Table.from_pylist(one.rows) for name, one in drawn.items()}
    charts = {name: partial(chart, name) for name in drawn}
    export.menu(None, Result(tables=tables), charts, "train-curves", title="Learning curves")


def figure_over_epochs(
    rows: list[dict[str, Any]],
    colours: Mapping[str, str],
    last: int,
    title: str,
    y_format: str,
    *,
    zero: bool = False,
    now: int = 0,
) -> None:
    """Draw a learning curve in a chart that stands still while its rows change.

    Args:
        rows, colours, last, title, y_format, zero: see
            :func:`~dashboard.features.training.chart_learning.learning_chart`.
        now: the epoch that is looked at, if one is.
    """
    still = _still(tuple(colours.items()), title, last, y_format, zero)
    data = {
        DATA: pd.DataFrame(rows, columns=["epoch", "value", "series"]),
        NOW: pd.DataFrame({"epoch": [now] if now else []}),
    }
    shown.chart({**still, "datasets": {**still["datasets"], **data}}, f"{title} after every epoch")


def _holds_out(training: Training) -> bool:
    return bool(dict(training.request.options).get(HELD_OUT, True))


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def _still(
    colours: tuple[tuple[str, str], ...], title: str, last: int, y_format: str, zero: bool
) -> dict[str, Any]:
    """The chart without its data: a specification that stays lets the browser keep the chart."""
    chart = learning_chart([], dict(colours), title=title, last=last, y_format=y_format, zero=zero)
    return chart.to_dict(validate=False)
