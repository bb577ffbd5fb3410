"""The learning curves of the page *Train*."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS, theme
from dashboard.charts.grid import hover
from dashboard.charts.legend import named_strokes
from dashboard.charts.summary import of_series
from dashboard.charts.template import Prepared, Sources, chart_of, values_of
from dashboard.features.training.view import last_epoch, score_metric, series_titles
from dashboard.language import gettext, gettext_noop
from dashboard.links.recipes import HELD_OUT, TASK
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.request import Result
from dashboard.records.training import Epoch, Training
from dashboard.ui import charts, export, layout, shown

DATA, NOW = "epochs", "now"  # the data sets
_SCHEMA = pa.schema([
    ("epoch", pa.float64()), ("step", pa.int64()), ("value", pa.float64()),
    ("series", pa.string()),
])  # fmt: skip
_AT = pa.schema([("epoch", pa.float64())])
_ROOM = 44  # px, for the labels at the left
_HEIGHT = 200  # px
_FEW_EPOCHS = 40  # up to which every one has a point
_MARGIN = 0.06  # of what is drawn, above and below it
_CHARACTER, _SYMBOL = 5.8, 34  # px, of a legend's text, and of what stands before and after it


class LearningShape(NamedTuple):
    """What a specification follows from."""

    colours: tuple[tuple[str, str], ...]  # by series, in the order of the legend
    title: str  # of the values, with their unit
    last: int  # the epoch at which the axis ends
    y_format: str = ".3~g"  # d3, of the tooltip
    by_step: bool = False  # whether there are values between the ends of epochs


def prepare_learning(
    rows: Sequence[Mapping[str, Any]], shape: LearningShape, *, zero: bool = False,
    empty: float = 1.0, now: int = 0,
) -> Prepared[LearningShape]:  # fmt: skip
    """What :func:`draw_learning` draws: its lines grow in a chart that stands still.

    Args:
        rows: ``epoch`` (a fraction within one), ``value``, ``series``, by step ``step``; or none.
        zero: whether the axis of values starts at 0.
        empty: where the axis of values ends, from 0, while there are none.
        now: the epoch that is looked at, if one is.
    """
    if shape.last < 1:
        raise ValueError(f"need 1 <= last, got last={shape.last}")
    if strangers := sorted({str(row["series"]) for row in rows} - {*dict(shape.colours)}):
        raise ValueError(f"need a colour for every series, got none for {', '.join(strangers)}")
    low, high = _ends([row["value"] for row in rows], zero, empty)
    tables = {
        DATA: pa.Table.from_pylist([dict(row) for row in rows], schema=_SCHEMA),
        NOW: pa.Table.from_pylist([{"epoch": now}] if now else [], schema=_AT),
    }
    drawn = tables[DATA].to_pandas()
    epoch, value, series = gettext("epoch"), gettext("value"), gettext("series")
    drawn.columns = [epoch, gettext("step"), value, series]
    summary = of_series(drawn, name=series, x=epoch, y=value, titles=(epoch, shape.title))
    return Prepared(tables, shape, {"low": low, "high": high}, summary, {NOW: ("epoch",)})


def draw_learning(data: Sources, shape: LearningShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_learning` makes it, or names it."""
    last, colours = shape.last, dict(shape.colours)
    x = alt.X(
        "epoch:Q", title=gettext("epoch"),
        scale=alt.Scale(domain=[0, last], nice=False, zero=False, padding=6),
        axis=alt.Axis(
            grid=False, format="d", tickMinStep=1, tickCount=6,
            labelFlush=False, values=[0, 1] if last == 1 else alt.Undefined,
        ),
    )  # fmt: skip
    y = alt.Y(
        "value:Q", title=shape.title,
        scale=alt.Scale(domain=[alt.ExprRef("low"), alt.ExprRef("high")], nice=True, zero=False),
        axis=alt.Axis(
            titleAngle=0, titleAlign="left", titleBaseline="bottom", titleX=-_ROOM, titleY=-8,
            minExtent=_ROOM, maxExtent=_ROOM, tickCount=5, format=theme.NUMBER,
        ),
    )  # fmt: skip
    entry = _CHARACTER * max(map(len, colours), default=0) + _SYMBOL
    stroke = named_strokes(
        "series", colours, columns=f"max(1, floor(width / {entry:.0f}))",
        limit=alt.ExprRef("max(80, width - 24)"),
    )  # fmt: skip
    pointed = hover("epoch", "series", nearest=True)
    tooltip = [
        alt.Tooltip("series:N", title=gettext("training")),
        alt.Tooltip("step:Q", title=gettext("step"), format=",d"),
        alt.Tooltip("epoch:Q", title=gettext("epoch"), format=",.2f" if shape.by_step else ",d"),
        alt.Tooltip("value:Q", title=shape.title, format=shape.y_format),
    ]
    if not shape.by_step:
        del tooltip[1]
    base = alt.Chart().encode(x=x, y=y, stroke=stroke)
    line = base.mark_line(strokeWidth=1.5 if shape.by_step else 2).properties(name="lines")
    seen = 1 if last <= _FEW_EPOCHS and not shape.by_step else 0
    points = (
        base.mark_point(size=30, strokeWidth=2)
        .encode(tooltip=tooltip, opacity=alt.condition(pointed, alt.value(1), alt.value(seen)))
        .add_params(pointed)
        .properties(name="points")
    )
    rule = (
        alt.Chart(data[NOW])
        .mark_rule(stroke=theme.POINTER, strokeWidth=1, aria=False)
        .encode(x=x)
        .properties(name="now")
    )
    chart = alt.LayerChart(layer=[theme.ramp(), rule, line, points], data=data[DATA])
    return theme.finished(chart, width=theme.WIDTH, height=_HEIGHT, params=values_of(data))


def _ends(values: Sequence[float], zero: bool, empty: float) -> tuple[float, float]:
    if not values:
        return 0.0, empty
    low, high = min(values), max(values)
    margin = (high - low) * _MARGIN or abs(high) * _MARGIN or empty * _MARGIN
    return (0.0, high or empty) if zero else (low - margin, high + margin)


_MENU = gettext_noop("train curves").replace(" ", "-")  # its key; the label says it in words
_LARGEST_SCORE = 100.0  # where the axis of a score ends before there is one
_USUAL_WORDS = 1_000  # of a corpus, before a training has counted them

Row = dict[str, Any]  # as :func:`prepare_learning` takes it
_Curve = tuple[Metric, list[Row], Prepared[LearningShape]]


def curves(chosen: Mapping[str, Training], catalogue: Catalogue) -> None:
    """Loss of the chosen trainings, by letter, and what their held-out sentences score."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        shown.header(gettext("Learning curves"))
        menu = st.container(width="content")
    titles = series_titles(chosen, catalogue)
    colours = tuple((titles[letter], PANEL_COLOURS[letter]) for letter in chosen)
    last = last_epoch(chosen)

    words = [one.facts.get("target_words", _USUAL_WORDS) for one in chosen.values()]
    loss, rows = catalogue.metric(TASK, "loss"), _losses(chosen, titles)
    by_step = any(one.losses for one in chosen.values())
    shape = LearningShape(colours, loss.label, last, by_step=by_step)
    # It ends at the loss of one who takes every word for equally likely.
    drawn = [(loss, rows, prepare_learning(rows, shape, empty=math.log(max(words))))]
    holding = {
        letter: one for letter, one in chosen.items()
        if dict(one.request.options).get(HELD_OUT, True)
    }  # fmt: skip
    metrics = {letter: score_metric(one, catalogue) for letter, one in holding.items()}
    for metric in {one.name: one for one in metrics.values()}.values():
        same = {letter: one for letter, one in holding.items() if metrics[letter] == metric}
        rows = _rows(same, titles, lambda training, epoch: training.held_out(epoch))
        shape = LearningShape(colours, metric.label, last, y_format=".1f")
        prepared = prepare_learning(rows, shape, zero=True, empty=_LARGEST_SCORE)
        drawn.append((metric, rows, prepared))
    with layout.grid(2):
        for metric, _, prepared in drawn:
            with shown.container(key=f"train-{metric.name}"):
                figure_over_epochs(prepared)
        if not holding:
            shown.caption(
                gettext("Nothing is held out from these trainings, so there is no score.")
            )
    shown.caption(gettext(
        "The training loss of the first step, and after it the mean of every few steps. "
        "The score is that of held-out sentences after an epoch."
    ))  # fmt: skip
    with menu:
        _export({one[0].name: one for one in drawn if one[1]})


def _losses(chosen: Mapping[str, Training], titles: Mapping[str, str]) -> list[Row]:
    others = {letter: one for letter, one in chosen.items() if not one.losses}
    rows = [
        {
            "epoch": round(step / training.facts["steps"], 4), "step": step,
            "value": round(value, 4), "series": titles[letter],
        }
        for letter, training in chosen.items()
        for step, value in training.losses
    ]  # fmt: skip
    return rows + _rows(others, titles, lambda _, epoch: epoch.loss)


def _rows(
    chosen: Mapping[str, Training], titles: Mapping[str, str],
    value_of: Callable[[Training, Epoch], float | None],
) -> list[Row]:  # fmt: skip
    return [
        {"epoch": epoch.epoch, "value": round(value, 4), "series": titles[letter]}
        for letter, training in chosen.items()
        for epoch in training.epochs
        if (value := value_of(training, epoch)) is not None
    ]


def _export(drawn: Mapping[str, _Curve]) -> None:
    if not drawn:
        export.waiting(_MENU)
        return
    tables = {name: pa.Table.from_pylist(rows) for name, (_, rows, _) in drawn.items()}
    charts = {name: partial(chart_of, draw_learning, one) for name, (_, _, one) in drawn.items()}
    export.menu(None, Result(tables=tables), charts, _MENU, title=gettext("Learning curves"))


def figure_over_epochs(
    prepared: Prepared[LearningShape], follows: charts.Follows = charts.NOTHING
) -> None:
    """Draw a learning curve in a chart that stands still while its rows change, or follows."""
    by_step, after = gettext_noop("{figure} by step"), gettext_noop("{figure} after every epoch")
    words = gettext(by_step if prepared.shape.by_step else after, figure=prepared.shape.title)
    charts.show_prepared(draw_learning, prepared, words, follows)
