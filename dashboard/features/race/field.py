"""A task of the field: who solves it, after how many steps, and what is published."""

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.features.race import bringing, chart_lines
from dashboard.features.race.table import bundle
from dashboard.features.race.view import Choices, number
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, shown
from dashboard.ui.widgets import plain

_ALT = gettext_noop("Accuracy of every contestant at its best rate, and why its training ended")
_COLUMNS = beside(__file__, "words.toml")["field_columns"]
_SAID = beside(__file__, "words.toml")["field"]
_FORMS = {
    **dict.fromkeys(("accuracy", "part_8", "part_4", "part_2"), "%.1f"),
    "rate": "%.2g", "minutes": "%.0f", "steps": "localized",
}  # fmt: skip


def field(choices: Choices, result: Result) -> None:
    """The limits, the table, the courses, and what may be said of them."""
    facts, rows = result.facts, result.tables["cells"].to_pylist()
    bringing.progress(result)
    shown.header(plain(gettext("{task}: accuracy, % ↑", task=translated(facts["task"]))))
    shown.caption(plain(_given(result)))
    if not rows:
        shown.caption(gettext("Nothing was measured."))
        return
    for row in rows:
        row["name"] = choices.titles.get(row["name"], row["name"])
        row["ended"] = translated(row["ended"])
    frame = pd.DataFrame(rows)[list(_COLUMNS)]
    titles = {name: gettext(title) for name, title in _COLUMNS.items()}
    st.dataframe(
        frame, hide_index=True, placeholder="–", alt=gettext(_ALT),
        column_config={
            name: st.column_config.NumberColumn(title, format=_FORMS[name])
            if name in _FORMS else title
            for name, title in titles.items()
        },
    )  # fmt: skip
    shown.note_table(frame.set_axis([*titles.values()], axis="columns"), alt=gettext(_ALT))
    shown.caption(plain(together(map(translated, facts["sentences"]))))
    st.download_button(
        gettext("The whole race"), partial(bundle, choices.race), mime="application/zip",
        file_name=f"{choices.race.name}-race.zip", icon=":material/download:", type="tertiary",
        key="race-download-field", on_click="ignore",
    )  # fmt: skip
    _courses({row["key"]: f"{row['name']} · {row['model']}" for row in rows}, result)


def _given(result: Result) -> str:
    """Between which limits the task lies, and what every contestant was given."""
    facts = result.facts
    limits = {
        name: translated(one) if name == "how" else number(one)
        for name, one in facts["limits"].items()
    }
    said = [gettext(_SAID["limits"], **limits), gettext(_SAID["most"], **facts["budget"])]
    said.append(gettext(_SAID["flat"], epochs=facts["flat"]))
    if facts["solved"]:
        said.append(gettext(_SAID["solved"], share=facts["solved"]))
    return together(said)


def _courses(names: dict[str, str], result: Result) -> None:
    """Accuracy over steps: in colour the first of the table, grey all others."""
    points = [
        {"name": names[one["key"]], "x": one["x"], "y": one["y"]}
        for one in result.tables["courses"].to_pylist()
    ]
    if not points:
        return
    colours = dict(zip(names.values(), PANEL_COLOURS.values(), strict=False))
    shown.header(gettext("While learning"))
    prepare = partial(
        chart_lines.prepare_lines, points, colours, x_title=gettext("steps"),
        y_title=gettext("accuracy, % ↑"),
    )  # fmt: skip
    charts.show_filled(
        f"race courses {result.digest} {names}",
        chart_lines.draw_lines,
        prepare,
        gettext("Accuracy over steps, a curve for each contestant"),
    )
    shown.caption(gettext("Each at its best rate, tested after every epoch."))
