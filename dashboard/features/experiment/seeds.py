"""Every seed of one metric as a dot, all scorings on one axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa
import streamlit as st

from dashboard.charts.frames import table_csv
from dashboard.features.experiment.cells import SAMPLE_ERROR, SAMPLE_ROWS, Cell
from dashboard.features.experiment.chart_strip import draw_strip, prepare_strip, strip_chart
from dashboard.features.experiment.summary import Spread, Spreads
from dashboard.features.experiment.view import FIGURE, Experiment
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.result import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.titles import scoring_title
from dashboard.ui.widgets import picked, place, plain

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
