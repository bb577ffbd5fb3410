"""The learning curves of the page *Train*."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.features.training.chart_learning import (
    draw_learning,
    learning_chart,
    prepare_learning,
)
from dashboard.features.training.epochs import last_epoch
from dashboard.features.training.view import score_metric, series_titles
from dashboard.language import gettext, gettext_noop
from dashboard.links.recipes import HELD_OUT, TASK
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.result import Result
from dashboard.records.training import Epoch, Training
from dashboard.ui import charts, export, layout, shown

_MENU = gettext_noop("train curves").replace(" ", "-")  # its key; the label says it in words
_LARGEST_SCORE = 100.0  # where the axis of a score ends before there is one
_USUAL_WORDS = 1_000  # of a corpus, before a training has counted them


class _Curve(NamedTuple):
    """One chart.

    Args:
        metric: what it shows.
        rows: as :func:`~dashboard.features.training.chart_learning.prepare_learning` takes them.
        more: its other arguments.
    """

    metric: Metric
    rows: list[dict[str, Any]]
    more: dict[str, Any]


def curves(chosen: Mapping[str, Training], catalogue: Catalogue) -> None:
    """Loss of the chosen trainings, by letter, and what their held-out sentences score."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        shown.header(gettext("Learning curves"))
        menu = st.container(width="content")
    titles = series_titles(chosen, catalogue)
    colours = {titles[letter]: PANEL_COLOURS[letter] for letter in chosen}
    last = last_epoch(chosen)
    drawn = [_loss(chosen, titles, catalogue)]
    holding = {letter: one for letter, one in chosen.items() if _holds_out(one)}
    metrics = {letter: score_metric(one, catalogue) for letter, one in holding.items()}
    for metric in {one.name: one for one in metrics.values()}.values():
        same = {letter: one for letter, one in holding.items() if metrics[letter] == metric}
        rows = _rows(same, titles, lambda training, epoch: training.held_out(epoch))
        more = {"y_format": ".1f", "zero": True, "empty": _LARGEST_SCORE}
        drawn.append(_Curve(metric, rows, more))
    with layout.grid(2):
        for metric, rows, more in drawn:
            with shown.container(key=f"train-{metric.name}"):
                figure_over_epochs(rows, colours, last, metric.label, **more)
        if not holding:
            shown.caption(
                gettext("Nothing is held out from these trainings, so there is no score.")
            )
    shown.caption(
        gettext(
            "The training loss of the first step, and after it the mean of every few steps. "
            "The score is that of held-out sentences after an epoch."
        )
    )
    with menu:
        _export({one.metric.name: one for one in drawn if one.rows}, colours, last)


def _loss(
    chosen: Mapping[str, Training], titles: Mapping[str, str], catalogue: Catalogue
) -> _Curve:
    """The loss by step; by epoch of trainings whose steps were not kept."""
    by_step = {letter: one for letter, one in chosen.items() if one.losses}
    others = {letter: one for letter, one in chosen.items() if not one.losses}
    rows = [
        {
            "epoch": round(step / training.facts["steps"], 4), "step": step,
            "value": round(value, 4), "series": titles[letter],
        }
        for letter, training in by_step.items()
        for step, value in training.losses
    ]  # fmt: skip
    words = [one.facts.get("target_words", _USUAL_WORDS) for one in chosen.values()]
    more = {
        "y_format": ".3~g",
        "by_step": not others or bool(by_step),
        # The loss of one who takes every word for equally likely.
        "empty": math.log(max(words)),
    }
    every = rows + _rows(others, titles, lambda _, epoch: epoch.loss)
    return _Curve(catalogue.metric(TASK, "loss"), every, more)


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
        export.waiting(_MENU)
        return

    def chart(name: str) -> alt.LayerChart:
        metric, rows, more = drawn[name]
        return learning_chart(rows, colours, title=metric.label, last=last, **more)

    title = gettext("Learning curves")
    tables = {name: pa.Table.from_pylist(one.rows) for name, one in drawn.items()}
    charts = {name: partial(chart, name) for name in drawn}
    export.menu(None, Result(tables=tables), charts, _MENU, title=title)


def figure_over_epochs(
    rows: list[dict[str, Any]], colours: Mapping[str, str], last: int, title: str, **more: Any
) -> None:
    """Draw a learning curve in a chart that stands still while its rows change.

    Args are those of :func:`~dashboard.features.training.chart_learning.prepare_learning`.
    """
    prepared = prepare_learning(rows, colours, title=title, last=last, **more)
    described = (
        gettext("{figure} by step", figure=title)
        if more.get("by_step")
        else gettext("{figure} after every epoch", figure=title)
    )
    charts.show_prepared(draw_learning, prepared, described)


def _holds_out(training: Training) -> bool:
    return bool(dict(training.request.options).get(HELD_OUT, True))
