"""All contestants on all tasks, against one reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts.template import Prepared, chart_of
from dashboard.features.race.chart_matrix import SELECTED, draw_matrix, prepare_matrix
from dashboard.features.race.view import ALL, Choices, RaceView, another
from dashboard.language import gettext, gettext_noop, ngettext
from dashboard.language.joining import listed
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_MENU = gettext_noop("race matrix")
_BETWEEN = " | "  # a task and a contestant's key, in what a click tells


def matrix(
    session: Session[RaceView], catalogue: Catalogue, choices: Choices, result: Result
) -> None:
    """The matrix, whose cells open their task and contestant, and the mean ranks."""
    cells = _cells(choices, catalogue, result)
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
        names = listed(_title(task, catalogue) for task in undecided)
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
