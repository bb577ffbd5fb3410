"""A task of the field: who solves it, after how many steps, and what is published."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.template import chart_of
from dashboard.features.race import bringing, chart_lines
from dashboard.features.race.table import downloads, heading
from dashboard.features.race.view import Choices, Row, number, of_race
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, export, shown
from dashboard.ui.widgets import plain

_ALT = gettext_noop("Accuracy of every contestant at its best rate, and why its training ended")
_WORDS = beside(__file__, "words.toml")
_COLUMNS, _SAID = _WORDS["field_columns"], _WORDS["field"]
_FORMS = {
    **dict.fromkeys(("accuracy", "part_8", "part_4", "part_2"), "%.1f"), "difference": "%+.1f",
    "rate": "%.2g", "minutes": "%.0f", "steps": "%,d",
}  # fmt: skip
_SIGNS = {"at_least": "≥ ", "averaged": "~ "}  # of published figures


def field(choices: Choices, result: Result) -> None:
    """The limits, the table, the courses, what is published, and what may be said of them."""
    facts, rows = result.facts, result.tables["cells"].to_pylist()
    bringing.progress(result)
    title = gettext("{task}: accuracy, % ↑", task=translated(facts["task"]))
    menu = heading(title)
    shown.caption(plain(_given(result)))
    if not rows:
        shown.caption(gettext("Nothing was measured."))
        return
    for row in rows:
        row["name"] = of_race(choices.titles.get(row["name"], row["name"]), row["key"], result)
        row["ended"] = translated(row["ended"])
    _table(rows, _COLUMNS, gettext(_ALT))
    shown.caption(plain(together(map(translated, facts["sentences"]))))
    downloads(choices, {})
    _by_size(rows)
    drawn = _courses(rows, result)
    _published(choices, result)
    with menu:
        export.menu(None, Result(tables=result.tables), drawn, gettext_noop("race"), title=title)


def _table(rows: Sequence[Row], columns: Mapping[str, str], alt: str) -> None:
    titles = {name: gettext(title) for name, title in columns.items()}
    config = {titles[name]: st.column_config.NumberColumn(format=_FORMS[name])
              for name in titles.keys() & _FORMS.keys()}  # fmt: skip
    frame = pd.DataFrame(rows, columns=[*columns]).rename(columns=titles)
    shown.table(frame, hide_index=True, placeholder="–", alt=alt, column_config=config)


def _by_size(rows: Sequence[Row]) -> None:
    """The accuracy of every contestant at every size, where there are several."""
    sizes = sorted({row["size"] for row in rows})
    if len(sizes) < 2:
        return
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["accuracy"] is not None:
            solved = f" ({row['steps']:,})" if row["solved"] else ""
            own = found.setdefault(row["name"], {"name": row["name"]})
            own[str(row["size"])] = f"{row['accuracy']:.1f}{solved}"
    shown.header(gettext("By the size of vectors"))
    said, columns = gettext(_SAID["by_size"]), {"name": _COLUMNS["name"]}
    _table([*found.values()], columns | {str(size): str(size) for size in sizes}, said)
    shown.caption(said)


def _published(choices: Choices, result: Result) -> None:
    """The published figures for every task of the race beside the accuracies here."""
    rows = result.tables["published"].to_pylist()
    if not rows:
        return
    for row in rows:
        row["task"] = translated(row["task"])
        row["name"] = choices.titles.get(row["name"], row["name"])
        row["published"] = f"{_SIGNS[row['form']]}{row['published']:.1f}"
    shown.header(gettext("Beside what is published"))
    said = gettext(_SAID["published"])
    _table(rows, _WORDS["published_columns"], said)
    shown.caption(plain(said))


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


def _courses(rows: Sequence[Row], result: Result) -> dict[str, Callable[[], Any]]:
    """Accuracy over steps, a chart for each size: in colour those that are chosen, grey others."""
    points: dict[str, list[Row]] = {}
    by_key = {row["key"]: row for row in rows}
    for one in result.tables["courses"].to_pylist():
        row = by_key[one["key"]]
        points.setdefault(row["model"], []).append({**one, "name": row["name"]})
    if not points:
        return {}
    shown.header(gettext("While learning"))
    names = [*dict.fromkeys(one["name"] for own in points.values() for one in own)]
    chosen = st.multiselect(
        gettext("In colour"), names, names[: len(PANEL_COLOURS)], key="race-coloured",
        max_selections=len(PANEL_COLOURS),
    )  # fmt: skip
    colours, drawn = dict(zip(chosen, PANEL_COLOURS.values(), strict=False)), {}
    for place, (model, own) in enumerate(points.items()):
        if place % 2 == 0:
            places = shown.columns(2 if len(points) > 1 else 1, gap="large")
        prepare = partial(
            chart_lines.prepare_lines, own, colours, x_title=gettext("steps"),
            y_title=gettext("accuracy, % ↑"), banded=True,
        )  # fmt: skip
        drawn[model] = lambda prepare=prepare: chart_of(chart_lines.draw_lines, prepare())
        with places[place % 2]:
            shown.markdown(f"**{plain(model)}**")
            alt = gettext("Accuracy over steps, a curve for each contestant: {model}", model=model)
            key = f"race courses {result.digest} {model} {colours}"
            charts.show_filled(key, chart_lines.draw_lines, prepare, alt)
    shown.caption(gettext(_SAID["courses"]))
    return drawn
