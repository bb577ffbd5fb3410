"""The columns of an uploaded table: which are used, what was skipped, and why one is refused."""

from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from dashboard.jobs.backend import Event
from dashboard.language import called, gettext, gettext_noop, listed, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import UPLOAD, Columns, Request, Result, is_upload
from dashboard.storage.blobs import Blobs
from dashboard.storage.table_cells import Dates
from dashboard.storage.table_format import MOST_INPUTS, MOST_VALUES, TableFormat, format_of
from dashboard.ui import shown
from dashboard.ui.jobs import Jobs
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, place, plain

_SAID = beside(__file__, "words.toml")["table_columns"]
_WORDS = beside(__file__, "words.toml")


def left_out(form: TableFormat | None, chosen: str = "") -> str:
    """Which columns of a table are not used, and why, in Markdown; empty if none is."""
    if form is None:
        return ""
    columns = [
        gettext(
            _WORDS["left_out"][each.why], column=_named(form.name(each.column)),
            example=plain(each.example),
        )
        for each in form.left_out if each.column not in _used(form, chosen).inputs
    ]  # fmt: skip
    return gettext("Left out: {columns}.", columns=", ".join(columns)) if columns else ""


def _named(name: str) -> str:
    return f"*{plain(name)}*"


_WIDTH, _INPUTS_WIDTH = 170, 300  # px
_DECIMALS = {",": gettext_noop("a decimal comma"), ".": gettext_noop("a decimal point")}


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
        chosen = form.usual()
        problem = gettext("{problem}; the usual choice is shown", problem=translated(str(error)))
    key = session.key("columns", view.data.removeprefix(UPLOAD)[:8])
    target = int(choose(
        gettext("Predict"), [*map(str, form.numeric)], str(chosen.target), f"{key}-target",
        session.fresh, format_func=lambda column: _title(form, int(column)), width=_WIDTH,
    ))  # fmt: skip
    given = [one for one in chosen.inputs if abs(one) != target] or [chosen.target]
    held = sorted((*form.numeric, *form.texts, *form.parts), key=_order)
    options = [one for one in held if abs(one) != target]
    # Another target offers other inputs, and so has another widget.
    inputs = st.multiselect(
        gettext("From"), options, key=place(f"{key}-inputs-{target}", given, session.fresh),
        max_selections=MOST_INPUTS, wrap=True, format_func=lambda column: _title(form, column),
        width=_INPUTS_WIDTH, help=left_out(form, view.columns) or None,
        placeholder=gettext("Choose one; the last are used"),
    )  # fmt: skip
    used = Columns(inputs=tuple(sorted(inputs or given, key=_order)), target=target)
    shown.setting(gettext("From"), listed(_title(form, each) for each in used.inputs))
    session.update(columns="" if used == form.usual() else used.write())
    if problem:
        session.problems = (*session.problems, problem)


def _order(column: int) -> tuple[int, bool]:
    return abs(column), column < 0


def suggested(data: str) -> str:
    """The columns with which a table is first shown, as a link spells them; empty: the usual."""
    form = table_format(data)
    return "" if form is None or form.suggested == form.usual() else form.suggested.write()


def _title(form: TableFormat, column: int) -> str:
    return called(form.title(column))


def inputs(data: str, columns: str) -> int:
    """How many columns are inputs, one that becomes several as two; 0 if they cannot be read."""
    form = table_format(data)
    if form is None:
        return 0
    return sum(1 + (one in form.texts or one < 0) for one in _used(form, columns).inputs)


def _used(form: TableFormat, columns: str) -> Columns:
    """The columns that a link names; the usual ones where the table does not have these."""
    try:
        return form.choose(columns)
    except ValueError:
        return form.usual()


def described(data: str, columns: str) -> str:
    """What is predicted from what, and how the table is written; in Markdown."""
    form = table_format(data)
    if form is None:
        return gettext("A table: one column is predicted from others.")
    used = _used(form, columns)
    found = gettext(
        _SAID["columns"], target=_named(called(form.name(used.target))),
        inputs=listed(dict.fromkeys(_named(called(form.name(each))) for each in used.inputs)),
        separator=gettext(_WORDS["separators"][form.delimiter]),
        decimal=gettext(_DECIMALS[form.decimal]), numeric=len(form.numeric) - len(form.parts),
        columns=len(form.names),
    )  # fmt: skip
    said = [found]
    if texts := [_named(form.name(one)) for one in used.inputs if one in form.texts]:
        said.append(gettext(_SAID["encoded"], most=MOST_VALUES, columns=listed(texts)))
    if dates := [_named(form.name(one)) for one in used.inputs if one < 0]:
        said.append(gettext(_SAID["parts"], columns=listed(dates)))
    for column, reading in form.readings.items():
        if isinstance(reading, Dates):
            said.append(gettext(_WORDS["orders"][reading.order], column=_named(form.name(column))))
            if not reading.sure:
                said.append(gettext("None of its first rows tells the day from the month."))
    return together(said)


def skipped(result: Result, used: str = "points") -> str:
    """How many rows of the table a result does not rest on, and why; empty if on all."""
    reasons = result.facts.get("skipped") or {}
    total = sum(reasons.values())
    if not total:
        return ""
    rows = total + result.tables[used].num_rows
    said = [gettext(_WORDS["skipped"][why], count=n) for why, n in reasons.items() if n]
    return gettext(
        "Skipped {total:,} of {rows:,} rows: {reasons}.",
        total=total, rows=rows, reasons=listed(said),
    )  # fmt: skip


def refusal(jobs: Jobs, requests: Iterable[Request]) -> Event | None:
    """Why no request can use the table, where it is the table that was refused."""
    for request in requests:
        event = jobs.final(request)
        if event and event.facts.get("table"):
            return event
    return None


def draw_refusal(event: Event, name: str, instead: str, use: Callable[[], None]) -> None:
    """What is wrong with a table, once for the page, and ``use``, the way back to ``instead``."""
    with shown.container(border=True, key="table-refused"):
        title = gettext("The table {name} cannot be used", name=plain(name))
        shown.markdown(f":material/error: **{title}**")
        shown.text(translated(event.note))
        st.caption(
            gettext("Choose other columns, take another file under *Your data*, or go back:")
        )
        back = gettext("Back to {title}", title=plain(instead))
        st.button(back, icon=":material/undo:", on_click=use)
