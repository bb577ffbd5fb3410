"""All contestants on all tasks, against one reference."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.grid import hover, names_axis
from dashboard.charts.labels import displayed, room
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared, Sources, chart_of
from dashboard.features.race.table import heading, look_at
from dashboard.features.race.view import ALL, BETTER, SIGNS, WORSE, Choices, RaceView, task_title
from dashboard.language import gettext, gettext_noop, listed, ngettext, translated
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

SELECTED = "cell"  # the selection of a cell, by its column and its row
_WIDTH = 760  # px
_CELL, _MOST_ROOM, _ABOVE = 20, 215, 130  # px: a side, and room for names left and above
_PALE = 0.3  # of a difference that may be chance
# What the tooltip calls the columns.
_TITLES = beside(__file__, "words.toml")["cells"]
_SAID = beside(__file__, "words.toml")["grid"]
_NUMBERS = {"difference": "+.3g", "effect": "+.2f", "p": ".2g", "rank": "d", "seeds": "d"}


class MatrixShape(NamedTuple):
    """What a specification follows from; attributes as arguments of :func:`prepare_matrix`."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    farthest: float


def prepare_matrix(
    cells: Sequence[Mapping[str, Any]], *, rows: Sequence[str], columns: Sequence[str],
    farthest: float,
) -> Prepared[MatrixShape]:  # fmt: skip
    """What :func:`draw_matrix` draws.

    Args:
        cells: ``row``, ``column``, ``verdict``, ``effect`` (standard deviations, positive where
            better; None where nothing was compared), ``difference``, ``p``, ``rank``, ``seeds``,
            ``problem``; ``key`` is what a selection tells.
        rows, columns: the names in their order; some may have no cell.
        farthest: standard deviations at the ends of the colour scale.
    """
    table: dict[str, Any] = {
        **{name: displayed([cell[name] for cell in cells]) for name in ("row", "column")},
        "key": [cell["key"] for cell in cells],
        "verdict": [gettext(cell["verdict"]) for cell in cells],
        "problem": [translated(cell["problem"]) for cell in cells],
        # A cell without a number would not be drawn, and could not be pointed at.
        "value": [float(cell["effect"] or 0.0) for cell in cells],
        **{
            name: ["–" if cell[name] is None else f"{cell[name]:{form}}" for cell in cells]
            for name, form in _NUMBERS.items()
        },
        "shown": [
            0.0 if cell["effect"] is None else 1.0 if cell["verdict"] in (BETTER, WORSE) else _PALE
            for cell in cells
        ],
        "sign": [SIGNS.get(cell["verdict"], "") for cell in cells],
    }
    shape = MatrixShape(tuple(displayed(rows)), tuple(displayed(columns)), float(farthest))
    grid = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        if cell["effect"] is not None:
            grid[rows.index(cell["row"]), columns.index(cell["column"])] = cell["effect"]
    summary = of_matrix(
        grid, rows, columns, names=(gettext("contestant"), gettext("task")),
        quantity=gettext("difference to the reference in standard deviations"),
    )  # fmt: skip
    return Prepared({"cells": pa.table(table)}, shape, summary=summary)


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
        axis=names_axis(left, grid=False),
    )  # fmt: skip
    colour = alt.Color(
        "value:Q", scale=theme.diverging(shape.farthest),
        legend=alt.Legend(
            title=gettext("deviations over seeds\nworse ← → better").split("\n"), orient="bottom",
            direction="horizontal", gradientLength=alt.ExprRef("min(180, width)"),
            labelExpr="(datum.value > 0 ? '+' : '') + datum.label",
            values=[-shape.farthest, 0, shape.farthest],
        ),
    )  # fmt: skip
    pointed = hover("column", "row")
    chosen = alt.selection_point(name=SELECTED, fields=["column", "row", "key"], on="click")
    tooltip = [alt.Tooltip(f"{name}:N", title=gettext(title)) for name, title in _TITLES.items()]
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
        chart, width=_WIDTH, height=_CELL * len(shape.rows), marks=2 * len(shape.rows)
        * len(shape.columns), canvas=True,
    )  # fmt: skip


_BETWEEN = " | "  # a task and a contestant's key, in what a click tells


def matrix(session: Session[RaceView], choices: Choices, result: Result) -> None:
    """The matrix, whose cells open their task and contestant, and the mean ranks."""
    cells = _cells(choices, session.catalogue, result)
    if not cells:
        shown.caption(gettext("Nothing has run yet."))
        return
    known, titles = {cell["row"] for cell in cells}, dict.fromkeys(choices.titles.values())
    prepare = partial(
        prepare_matrix, cells,
        rows=[*(title for title in titles if title in known), *sorted(known - titles.keys())],
        columns=list(dict.fromkeys(cell["column"] for cell in cells)),
        farthest=result.facts["farthest"],
    )  # fmt: skip
    with heading(gettext("Every contestant on every task"), "race-all-heading"):
        export.menu(
            None, Result(tables=result.tables),
            {gettext_noop("matrix"): lambda: chart_of(draw_matrix, prepare())},
            gettext_noop("race matrix").replace(" ", "-"), title=gettext("Race, every task"),
        )  # fmt: skip
    _drawn(session, choices, result, prepare)
    shown.caption(gettext(_SAID["matrix"], farthest=result.facts["farthest"]))
    if budget := result.facts["budget"]:
        (fewest, most), (_, rates) = budget["steps"], budget["rates"]
        steps = f"{fewest:,}" if fewest == most else f"{fewest:,}–{most:,}"
        words = ngettext(**_SAID["effects"], count=choices.race.seeds, rates=rates, steps=steps)
        shown.caption(plain(words))
    if undecided := result.facts["undecided"]:
        titles = {task_title(task, session.catalogue): after for task, after in undecided.items()}
        tasks = listed(gettext(_SAID["after"], task=t, steps=after) for t, after in titles.items())
        shown.markdown(f"**{plain(gettext(_SAID['undecided'], tasks=tasks))}**")
    if left_out := result.facts["left_out"]:
        shown.caption(plain(gettext(_SAID["left_out"], tasks=listed(left_out))))
    _overall(choices, result)


def _cells(choices: Choices, catalogue: Catalogue, result: Result) -> Sequence[Any]:
    rows = result.tables["cells"].to_pylist()
    models: dict[str, set[str]] = {}
    for row in rows:
        models.setdefault(row["task"], set()).add(row["model"])
    return [
        {
            **row,
            "row": choices.titles.get(row["name"], row["name"]),
            "column": task_title(row["task"], catalogue)
            + (f" · {choices.model_title(row['model'])}" if len(models[row["task"]]) > 1 else ""),
            "key": f"{row['task']}{_BETWEEN}{row['model']}.{row['name']}",
        }
        for row in rows
    ]


def _drawn(session: Session[RaceView], choices: Choices, result: Result, prepare: partial) -> None:
    key = f"race-matrix-{result.digest[:12]}"

    def picked() -> None:
        points = st.session_state[key]["selection"].get(SELECTED) or [{}]
        task, _, who = str(points[0].get("key", "")).partition(_BETWEEN)
        if task in choices.race.tasks and who in choices.race.by_key:
            look_at(session, _opened(session.view, choices, task, who))

    # Titles are those of today's plugins, which the result does not know.
    titles = [prepare.keywords[side] for side in ("rows", "columns")]
    drawn = charts.filled(f"race matrix {result.digest} {titles}", draw_matrix, prepare)
    shown.chart(
        drawn.spec,
        gettext("Every contestant on every task: standardised difference to the reference"),
        summary=drawn.summary, key=key, on_select=picked, selection_mode=SELECTED,
    )  # fmt: skip


def _opened(view: RaceView, choices: Choices, task: str, who: str) -> RaceView:
    model = choices.race.by_key[who].model
    reference = f"{model}.{choices.reference.name}"
    # Another task has other contestants, which may have the same keys, but never the same maps.
    return replace(
        view, task=task, a=who, b="", a_map="", b_map="",
        model=ALL if choices.model == ALL and model in choices.models else model,
        reference=reference if reference in choices.race.by_key else "",
    )  # fmt: skip


def mean_ranks(cells: pa.Table) -> pd.DataFrame:
    """Who ran on all tasks of a model: ``model``, ``name``, ``mean`` rank, ``place``, ``tasks``.

    Places are within a model: 1 + those with a smaller mean; equal means share a place.
    """
    found = cells.select(["task", "model", "name", "rank"]).to_pandas()
    found["tasks"] = found.groupby("model")["task"].transform("nunique")
    ranks = found.dropna().groupby(["model", "tasks", "name"])["rank"].agg(["mean", "count"])
    ran = ranks.reset_index().query("count == tasks")
    ran = ran.assign(place=ran.groupby("model")["mean"].rank(method="min").astype(int))
    return ran.sort_values(["model", "place", "name"])


def _overall(choices: Choices, result: Result) -> None:
    every = mean_ranks(result.tables["cells"])
    rows = every[every["model"].eq(choices.model) | (choices.model == ALL)].reset_index(drop=True)
    tasks = max(rows["tasks"], default=0)
    if tasks < 2:
        return
    shown.markdown(f"**{gettext('Over several tasks')}**")
    mean = gettext("Mean rank")
    frame = pd.DataFrame({
        gettext("Contestant"): [choices.titles.get(name, name) for name in rows["name"]],
        gettext("Model"): [*map(choices.model_title, rows["model"])],
        gettext("Place"): rows["place"], mean: rows["mean"], gettext("Tasks"): rows["tasks"],
    })  # fmt: skip
    shown.table(
        frame, hide_index=True, alt=gettext("Mean rank over several tasks"), width="content",
        column_config={mean: st.column_config.NumberColumn(format="%.2f")},
    )  # fmt: skip
    shown.caption(gettext(_SAID["overall"], tasks=tasks))
