"""A task of the field: who solves it, after how many steps, and what is published."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.features.race import bringing, chart_lines
from dashboard.features.race.table import bundle
from dashboard.features.race.view import Choices, RaceView, number
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_ALT = gettext_noop("Accuracy of every contestant at its best rate, and why its training ended")
_COLUMNS = beside(__file__, "words.toml")["field"]


def field(session: Session[RaceView], choices: Choices, result: Result) -> None:
    """The limits, the table, the courses, and what may be said of them."""
    facts = result.facts
    bringing.progress(result)
    shown.header(plain(gettext("{task}: accuracy, % ↑", task=translated(facts["task"]))))
    shown.caption(plain(together([_limits(result), _budget(result)])))
    rows = [
        {**row, "name": choices.titles.get(row["name"], row["name"]),
         "model": choices.model_title(row["model"]), "ended": _why(row)}
        for row in result.tables["cells"].to_pylist()
    ]  # fmt: skip
    if not rows:
        shown.caption(gettext("Nothing was measured."))
        return
    frame = pd.DataFrame(rows)[list(_COLUMNS)]
    titles = {name: gettext(title) for name, title in _COLUMNS.items()}
    forms = {"accuracy": "%.1f", "rate": "%.2g", "minutes": "%.0f", "steps": "localized"}
    st.dataframe(
        frame, hide_index=True, placeholder="–", alt=gettext(_ALT),
        column_config={
            name: st.column_config.NumberColumn(title, format=forms[name])
            if name in forms else title
            for name, title in titles.items()
        },
    )  # fmt: skip
    shown.note_table(frame.rename(columns=titles), alt=gettext(_ALT))
    shown.caption(plain(together(map(translated, facts["sentences"]))))
    st.download_button(
        gettext("The whole race"), partial(bundle, choices.race), mime="application/zip",
        file_name=f"{choices.race.name}-race.zip", icon=":material/download:", type="tertiary",
        key="race-download-field", on_click="ignore",
    )  # fmt: skip
    _courses(rows, result)


def _why(row: dict[str, str]) -> str:
    return translated(row["problem"]) if row["problem"] else gettext(row["ended"])


def _limits(result: Result) -> str:
    facts = result.facts
    how, floor = facts["floors"][0]
    return gettext(
        "Floor {floor} ({how}), ceiling {ceiling}.", floor=number(floor), how=translated(how),
        ceiling=number(facts["ceiling"]),
    )  # fmt: skip


def _budget(result: Result) -> str:
    facts, given = result.facts, result.facts["budget"]
    parts = [
        gettext(
            "Up to {steps:,} steps on {examples:,} sequences, at up to {count} rates, chosen by "
            "the accuracy that is reported, as the authors choose.",
            steps=given["steps"], examples=given["examples"], count=len(given["rates"]),
        ),
        gettext(
            "A training is flat where for {epochs} epochs neither the accuracy rose by 1 point "
            "nor the loss fell by 1 %.", epochs=facts["flat"],
        ),
    ]  # fmt: skip
    if facts["solved"] is not None:
        parts.append(
            gettext(
                "It is solved above {share:g} %; then no other rate is tried.",
                share=facts["solved"],
            )
        )
    return together(parts)


def _courses(rows: list[dict[str, str]], result: Result) -> None:
    """Accuracy over steps: in colour the first two of the table, grey all others."""
    names = {row["key"]: f"{row['name']} · {row['model']}" for row in rows}
    points = [
        {"name": names[one["key"]], "x": one["step"], "y": one["accuracy"]}
        for one in result.tables["courses"].to_pylist()
    ]
    if not points:
        return
    colours = dict(zip(names.values(), PANEL_COLOURS.values(), strict=False))
    shown.header(gettext("While learning"))
    alt = gettext("Accuracy over steps, a curve for each contestant")
    charts.show_filled(
        f"race courses {result.digest} {names}", chart_lines.draw_lines,
        partial(
            chart_lines.prepare_lines, points, colours, x_title=gettext("steps"),
            y_title=gettext("accuracy, % ↑"),
        ),
        alt,
    )  # fmt: skip
    shown.caption(gettext("Each at its best rate, tested after every epoch."))
