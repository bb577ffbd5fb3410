"""The columns of an uploaded table: which are used, what was skipped, and why one is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from dashboard.jobs.backend import Event
from dashboard.records.request import UPLOAD, Request, is_upload
from dashboard.records.result import Result
from dashboard.records.table_columns import Columns
from dashboard.storage.blobs import Blobs
from dashboard.storage.table_format import MOST_INPUTS, TableFormat, format_of
from dashboard.ui import shown
from dashboard.ui.jobs import Jobs
from dashboard.ui.left_out import left_out
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, place, plain

_WIDTH, _INPUTS_WIDTH = 170, 300  # px
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_DECIMALS = {",": "comma", ".": "point"}


def table_format(data: str) -> TableFormat | None:
    """How an uploaded table is written; None without one, and where it cannot be read."""
    if not is_upload(data):
        return None
    try:
        return format_of(Blobs().path(data.removeprefix(UPLOAD)))
    except (ValueError, OSError):
        return None


def draw_columns(session: Session[Any]) -> None:
    """Choose the inputs and the target of the table that the view names, if it is one."""
    view = session.view
    if not (form := table_format(view.data)):
        return
    problem = ""
    try:
        chosen = form.choose(view.columns)
    except ValueError as error:
        chosen, problem = form.usual(), f"{error}; the usual choice is shown"
    key = session.key("columns", view.data.removeprefix(UPLOAD)[:8])
    target = int(choose(
        "Predict", [*map(str, form.numeric)], str(chosen.target), f"{key}-target", session.fresh,
        title=lambda column: form.name(int(column)), width=_WIDTH,
    ))  # fmt: skip
    given = [one for one in chosen.inputs if one != target] or [chosen.target]
    options = [one for one in form.numeric if one != target]
    # Another target offers other inputs, and so has another widget.
    widget = place(f"{key}-inputs-{target}", given, session.fresh)
    inputs = st.multiselect(
        "From", options, key=widget, format_func=form.name, max_selections=MOST_INPUTS,
        width=_INPUTS_WIDTH, help=left_out(form) or None,
    )  # fmt: skip
    used = Columns(inputs=tuple(sorted(inputs or given)), target=target)
    shown.setting("From", ", ".join(map(form.name, used.inputs)))
    session.update(columns="" if used == form.usual() else used.write())
    if problem:
        session.problems = (*session.problems, problem)


def described(data: str, columns: str) -> str:
    """What is predicted from what, and how the table is written; in Markdown."""
    form = table_format(data)
    if form is None:
        return "A table: one column is predicted from others."
    try:
        used = form.choose(columns)
    except ValueError:
        used = form.usual()
    text = (
        "A table: {target} is predicted from {inputs}. Found: columns separated by {separator}, "
        "a decimal {decimal}, {numeric} of {columns} columns with numbers."
    )
    return text.format(
        target=f"*{plain(form.name(used.target))}*",
        inputs=", ".join(f"*{plain(form.name(each))}*" for each in used.inputs),
        separator=_SEPARATORS[form.delimiter],
        decimal=_DECIMALS[form.decimal],
        numeric=len(form.numeric),
        columns=len(form.names),
    )


def skipped(result: Result) -> str:
    """How many rows of the table a result does not rest on, and why; empty if on all."""
    reasons = result.facts.get("skipped") or {}
    total = sum(reasons.values())
    if not total:
        return ""
    text = (
        "{total:,} of {rows:,} rows are skipped: in {missing:,} a value is missing, in {text:,} "
        "text stands in place of a number, {ragged:,} have another number of columns."
    )
    return text.format(total=total, rows=total + result.tables["points"].num_rows, **reasons)


def refusal(jobs: Jobs, requests: Iterable[Request]) -> Event | None:
    """Why no request can use the table, where it is the table that was refused."""
    ends = (jobs.final(request) for request in requests)
    return next((event for event in ends if event and event.facts.get("table")), None)


def draw_refusal(event: Event, name: str, instead: str, use: Callable[[], None]) -> None:
    """What is wrong with a table, once for the whole page, and the way back.

    Args:
        name: of the table.
        instead: the title of what ``use`` shows in its place.
    """
    with shown.container(border=True, key="table-refused"):
        shown.markdown(f":material/error: **The table {plain(name)} cannot be used**")
        shown.text(event.note)
        st.caption("Choose other columns, take another file under *Your data*, or go back:")
        st.button(f"Back to {plain(instead)}", icon=":material/undo:", on_click=use)
