"""What panels and baselines predict for the rows of another file."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from dashboard.features.regression.validation import finished, titles_of, unfinished
from dashboard.features.regression.view import NEW_ROWS, Regression, validations
from dashboard.language import gettext, together
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import export, layout, shown, table_columns, upload
from dashboard.ui.fields import draw_choice
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["elsewhere"]
_SHOWN = 1_000  # rows; the file has all


def controls(session: Session[Regression]) -> shown.Place:
    """Ask for the file; the place for what is predicted of its rows."""
    shown.header(gettext("New rows"))
    if not session.view.rows:
        st.caption(gettext(_SAID["what"]))
    with layout.row("regression-new-rows"):
        if files := upload.known(session.view.rows, upload.ROWS):
            draw_choice(
                session, NEW_ROWS, more=files, width=220,
                titles=lambda name: upload.title(name, upload.ROWS) if name else gettext("none"),
            )  # fmt: skip
        upload.button(lambda file: session.change(replace(session.view, rows=file)), upload.ROWS)
    return shown.container()


def draw(session: Session[Regression], _: Mapping[str, Result]) -> None:
    """A column of predictions for each that has some, beside the inputs; why others have none."""
    asked, titles = validations(session.view, session.catalogue, "rows"), titles_of(session)
    made = finished(session, asked)
    if made:
        first = next(iter(made.values()))
        table = first.tables["rows"].drop_columns(["prediction"])
        for place, (name, one) in enumerate(made.items(), 1):
            title = gettext("predicted by {panel}", panel=titles[name])
            table = table.add_column(place, title, one.tables["rows"]["prediction"])
        shown.table(table[:_SHOWN], hide_index=True, alt=gettext("Predictions for new rows"))
        counts = {"rows": len(table), "points": first.facts["points"]}
        said = [gettext(_SAID["said"], **counts), table_columns.skipped(first, "rows")]
        said += [gettext(_SAID["unknown"], column=f"*{plain(name)}*", count=count)
                 for name, count in first.facts["unknown"].items() if count]  # fmt: skip
        if len(table) > _SHOWN:
            said.append(gettext(_SAID["first"], most=_SHOWN))
        shown.caption(together(said))
        held = Result(tables={"predictions": table})
        export.menu(None, held, {}, "new-rows", title=gettext("Predictions for new rows"))
    unfinished(session, asked)
