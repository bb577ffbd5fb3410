"""All contestants on all tasks, against one reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.grid import hover
from dashboard.charts.labels import displayed, room
from dashboard.charts.summary import Summary, of_matrix
from dashboard.charts.template import Prepared, Sources, chart_of
from dashboard.features.race.view import (
    ALL,
    BETTER,
    FAILED,
    REFERENCE,
    UNCOMPARED,
    WAITING,
    WORSE,
    Choices,
    RaceView,
    another,
    said,
)
from dashboard.language import gettext, gettext_noop, listed, ngettext, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

SELECTED = "cell"  # the selection of a cell, by its column and its row
_CELL, _MOST_ROOM, _ABOVE = 20, 215, 130  # px: a side, and room for names left and above
_PALE = 0.3  # of a difference that may be chance
# A sign where there is no difference to draw.
_SIGNS = {REFERENCE: "●", FAILED: "×", UNCOMPARED: "–", WAITING: "…"}

# What the tooltip calls the columns.
_TITLES = {
    "row": gettext_noop("contestant"), "column": gettext_noop("task"),
    "verdict": gettext_noop("verdict"), "difference": gettext_noop("difference"),
    "effect": gettext_noop("standard deviations"), "p": gettext_noop("corrected p"),
    "rank": gettext_noop("rank"), "seeds": gettext_noop("seeds"),
    "problem": gettext_noop("problem"),
}  # fmt: skip
_NUMBERS = {"difference": "+.3g", "effect": "+.2f", "p": ".2g", "rank": "d", "seeds": "d"}


class MatrixShape(NamedTuple):
    """What a specification follows from.

    Args:
        rows, columns: names, top to bottom and left to right.
        farthest: standard deviations at the ends of the colour scale.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    farthest: float
    width: int


def prepare_matrix(
    cells: Sequence[Mapping[str, Any]], *, rows: Sequence[str], columns: Sequence[str],
    farthest: float, width: int = theme.WIDTH,
) -> Prepared[MatrixShape]:  # fmt: skip
    """What :func:`draw_matrix` draws.

    Args:
        cells: ``row``, ``column``, ``verdict``, ``effect`` (standard deviations, positive where
            better; None where nothing was compared), ``difference``, ``p``, ``rank``, ``seeds``,
            ``problem``; ``key`` is what a selection tells.
        rows, columns: the names, in the order in which they are drawn; there is no cell where a
            contestant does not race on a task.

    Raises:
        ValueError: no cells, or one outside.
    """
    strangers = {c["row"] for c in cells} - {*rows} | {c["column"] for c in cells} - {*columns}
    if not cells or strangers:
        raise ValueError(f"need cells of these rows and columns, got {len(cells)} and {strangers}")
    texts = {name: displayed([cell[name] for cell in cells]) for name in ("row", "column")}
    table: dict[str, Any] = {
        **texts,
        "key": [cell["key"] for cell in cells],
        "verdict": [said(cell["verdict"]) for cell in cells],
        "problem": [translated(cell["problem"]) for cell in cells],
        # A cell without a number would not be drawn, and could not be pointed at.
        "value": [float(cell["effect"] or 0.0) for cell in cells],
        **{name: [_text(cell[name], form) for cell in cells] for name, form in _NUMBERS.items()},
        "shown": [_shown(cell) for cell in cells],
        "sign": [_SIGNS.get(cell["verdict"], "") for cell in cells],
    }
    shape = MatrixShape(tuple(displayed(rows)), tuple(displayed(columns)), float(farthest), width)
    return Prepared({"cells": pa.table(table)}, shape, summary=_summary(cells, rows, columns))


def _summary(
    cells: Sequence[Mapping[str, Any]], rows: Sequence[str], columns: Sequence[str]
) -> Summary:
    grid = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        if cell["effect"] is not None:
            grid[rows.index(cell["row"]), columns.index(cell["column"])] = cell["effect"]
    return of_matrix(
        grid, rows, columns, names=(gettext("contestant"), gettext("task")),
        quantity=gettext("difference to the reference in standard deviations"),
    )  # fmt: skip


def draw_matrix(data: Sources, shape: MatrixShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_matrix` makes it, or names it."""
    left, above = room(shape.rows, _MOST_ROOM), room(shape.columns, _ABOVE)
    x = alt.X(
        "column:N", sort=None, scale=alt.Scale(domain=list(shape.columns), padding=0),
        axis=alt.Axis(
            title=None, orient="top", labelAngle=-90, labelAlign="left", labelLimit=above,
            minExtent=above, grid=False,
        ),
    )  # fmt: skip
    y = alt.Y(
        "row:N", sort=None, scale=alt.Scale(domain=list(shape.rows), padding=0),
        axis=alt.Axis(
            title=None, minExtent=left, maxExtent=left, labelLimit=left - 4, grid=False
        ),
    )  # fmt: skip
    colour = alt.Color(
        "value:Q",
        scale=theme.diverging(shape.farthest),
        legend=alt.Legend(
            title=gettext("worse ← deviations over seeds → better"), orient="bottom",
            direction="horizontal", gradientLength=180, titleLimit=320,
            labelExpr="(datum.value > 0 ? '+' : '') + datum.label",
            values=[-shape.farthest, 0, shape.farthest],
        ),
    )  # fmt: skip
    pointed = hover("column", "row")
    chosen = alt.selection_point(name=SELECTED, fields=["column", "row", "key"], on="click")
    tooltip = [
        alt.Tooltip(f"{column}:N", title=gettext(title)) for column, title in _TITLES.items()
    ]
    base = alt.Chart(data["cells"]).encode(x=x, y=y)
    cells = (
        base.mark_rect(stroke=theme.QUIET)
        .encode(
            color=colour, tooltip=tooltip,
            fillOpacity=alt.FillOpacity("shown:Q", scale=None, legend=None),
            strokeWidth=alt.condition(pointed, alt.value(2), alt.value(0.4)),
        )
        .add_params(pointed, chosen)
        .properties(name="cells")
    )  # fmt: skip
    signs = (
        base.mark_text(fontSize=theme.FONT_SIZE, color={"expr": theme.INK}, aria=False)
        .encode(text="sign:N")
        .properties(name="signs")
    )
    chart = alt.LayerChart(layer=[cells, signs])
    return theme.finished(
        chart, width=shape.width, height=_CELL * len(shape.rows), marks=2 * len(shape.rows)
        * len(shape.columns), canvas=True,
    )  # fmt: skip


def _text(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _shown(cell: Mapping[str, Any]) -> float:
    if cell["effect"] is None:
        return 0.0
    return 1.0 if cell["verdict"] in (BETTER, WORSE) else _PALE


_MENU = gettext_noop("race matrix")
_BETWEEN = " | "  # a task and a contestant's key, in what a click tells


def matrix(session: Session[RaceView], choices: Choices, result: Result) -> None:
    """The matrix, whose cells open their task and contestant, and the mean ranks."""
    cells = _cells(choices, session.catalogue, result)
    if not cells:
        shown.caption(gettext("Nothing has run yet."))
        return
    prepare = partial(
        prepare_matrix, cells, rows=_rows(choices, cells),
        columns=list(dict.fromkeys(cell["column"] for cell in cells)),
        farthest=result.facts["farthest"], width=760,
    )  # fmt: skip
    with shown.container(horizontal=True, vertical_alignment="center", key="race-all-heading"):
        heading, menu = shown.container(), shown.container(width="content")
    with heading:
        shown.header(gettext("Every contestant on every task"))
    with menu:
        export.menu(
            None, Result(tables=dict(result.tables)),
            {gettext_noop("matrix"): partial(_chart, prepare)},
            _MENU.replace(" ", "-"), title=gettext("Race, every task"),
        )  # fmt: skip
    _drawn(session, choices, result, prepare)
    shown.caption(
        gettext(
            "Blue is better than the reference, orange worse. The colour is the paired difference "
            "in standard deviations over the seeds, those of both pooled, since metrics of "
            "several tasks share no unit; beyond ±{farthest:g} all look alike. Pale: no "
            "difference found, or too few seeds to find one. ● is the reference or equal to it, "
            "× could not run, – has no reference to compare with, … has not run yet; no cell: not "
            "for this model. p is corrected by Holm over the comparisons of one column with its "
            "reference, where contestants with equal outcomes in every seed count once. A click "
            "on a cell opens it above.",
            farthest=result.facts["farthest"],
        )
    )
    shown.caption(plain(_budget(choices, result)))
    if undecided := result.facts["undecided"]:
        names = listed(_title(task, session.catalogue) for task in undecided)
        words = gettext(
            "Decides nothing, since its best contestant is near the task's floor: {tasks}.",
            tasks=names,
        )
        shown.markdown(f"**{plain(words)}**")
    if left_out := result.facts["left_out"]:
        shown.caption(
            plain(
                gettext(
                    "Left out, as they are not installed here: {tasks}.", tasks=listed(left_out)
                )
            )
        )
    _overall(choices, result)


def _budget(choices: Choices, result: Result) -> str:
    """After what the effects of all tasks were measured."""
    found = result.facts["budget"]
    if not found:
        return ""
    (fewest, most), (_, rates) = found["steps"], found["rates"]
    steps = f"{fewest:,}" if fewest == most else f"{fewest:,}–{most:,}"
    return ngettext(
        "Effects are those after {steps} steps, at the best of {rates} learning rates, over "
        "{count} seed.",
        "Effects are those after {steps} steps, at the best of {rates} learning rates, over "
        "{count} seeds.",
        choices.race.seeds, steps=steps, rates=rates,
    )  # fmt: skip


def _cells(choices: Choices, catalogue: Catalogue, result: Result) -> Sequence[Mapping[str, Any]]:
    rows = result.tables["cells"].to_pylist()
    models: dict[str, set[str]] = {}
    for row in rows:
        models.setdefault(row["task"], set()).add(row["model"])
    return [
        {
            **row,
            "row": choices.titles.get(row["name"], row["name"]),
            "column": _title(row["task"], catalogue)
            + (f" · {_model(choices, row)}" if len(models[row["task"]]) > 1 else ""),
            "key": f"{row['task']}{_BETWEEN}{row['model']}.{row['name']}",
        }
        for row in rows
    ]


def _title(task: str, catalogue: Catalogue) -> str:
    entry = catalogue.datasets.get(task)
    return entry.short_title if entry else task


def _model(choices: Choices, row: Mapping[str, Any]) -> str:
    return choices.model_titles.get(row["model"], row["model"])


def _rows(choices: Choices, cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """The contestants' titles in the order of the plan."""
    known = {cell["row"] for cell in cells}
    titles = dict.fromkeys(choices.titles.values())
    return [*(title for title in titles if title in known), *sorted(known - titles.keys())]


def _drawn(session: Session[RaceView], choices: Choices, result: Result, prepare: partial) -> None:
    key = f"race-matrix-{result.digest[:12]}"

    def picked() -> None:
        points = st.session_state[key]["selection"].get(SELECTED) or [{}]
        task, found, who = str(points[0].get("key", "")).partition(_BETWEEN)
        if found and task in choices.race.tasks and who in choices.race.by_key:
            session.change(_opened(session.view, choices, task, who))

    # Titles are those of today's plugins, which the result does not know.
    titles = [prepare.keywords[side] for side in ("rows", "columns")]
    drawn = charts.filled(f"race matrix {result.digest} {titles}", draw_matrix, prepare)
    shown.chart(
        drawn.spec,
        gettext("Every contestant on every task: standardised difference to the reference"),
        summary=drawn.summary,
        key=key, on_select=picked, selection_mode=SELECTED,
    )  # fmt: skip


def _opened(view: RaceView, choices: Choices, task: str, who: str) -> RaceView:
    """The view of a cell: its task, its model, and its contestant."""
    model = choices.race.by_key[who].model
    reference = f"{model}.{choices.reference.name}"
    known = reference if reference in choices.race.by_key else ""
    shown_model = ALL if choices.model == ALL and model in choices.models else model
    return another(view, task=task, model=shown_model, reference=known, a=who, b="")


def _chart(prepare: Any) -> Any:
    made: Prepared = prepare()
    return chart_of(draw_matrix, made)


def _overall(choices: Choices, result: Result) -> None:
    """The mean rank of those that ran on all tasks of a model."""
    rows = [
        row for row in result.tables["overall"].to_pylist()
        if choices.model in (ALL, row["model"])
    ]  # fmt: skip
    if not rows or max(row["tasks"] for row in rows) < 2:
        return
    tasks = max(row["tasks"] for row in rows)
    shown.markdown(f"**{gettext('Over several tasks')}**")
    mean = gettext("Mean rank")
    frame = pd.DataFrame(
        {
            gettext("Contestant"): choices.titles.get(row["name"], row["name"]),
            gettext("Model"): _model(choices, row),
            gettext("Place"): row["place"], mean: row["rank"], gettext("Tasks"): row["tasks"],
        }
        for row in rows
    )  # fmt: skip
    shown.table(
        frame, hide_index=True, alt=gettext("Mean rank over several tasks"), width="content",
        column_config={mean: st.column_config.NumberColumn(format="%.2f")},
    )  # fmt: skip
    shown.caption(
        gettext(
            "Of those that ran on all tasks of their model, {tasks} at most. The mean rank says "
            "nothing of how large differences are.",
            tasks=tasks,
        )
    )
