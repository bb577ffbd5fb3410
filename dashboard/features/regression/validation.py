"""How well panels and baselines predict rows of a table that were left out, side by side."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.features.regression.view import BASELINES, VALIDATION, Regression, validations
from dashboard.language import gettext, listed, together, translated
from dashboard.links.fits import LEAVE_ONE_OUT
from dashboard.records.beside import beside
from dashboard.records.parameter import pairs
from dashboard.records.request import Request, Result
from dashboard.ui import export, layout, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_WORDS = beside(__file__, "words.toml")
_SAID = _WORDS["validation"]
_FIGURES = {"r2": "R²", "mae": "MAE", "rmse": "RMSE"}
COLOURS = {**PANEL_COLOURS, **{name: facts["colour"] for name, facts in BASELINES.items()}}


def controls(session: Session[Regression]) -> shown.Place:
    """What is left out, and what is validated beside the panels; the place for the figures."""
    shown.header(gettext("Rows left out"))
    with layout.row("regression-validation"):
        method, *others = VALIDATION.parameters(session.view, session.catalogue)
        plan = dict(draw_settings(session, VALIDATION, only=[method.name], width=170))
        draws = slice(None) if plan[method.name] != LEAVE_ONE_OUT else slice(-1, None)
        draw_settings(session, VALIDATION, only=[each.name for each in others[draws]], width=170)
    return shown.container()


def draw(session: Session[Regression], panels: Mapping[str, Request]) -> None:
    """The figures of all that are there, and why others fail; ``panels`` may have them too."""
    asked, plan = validations(session.view, session.catalogue), dict(session.view.validation)
    if plan["method"] == LEAVE_ONE_OUT:
        asked, plan["seed"] = {**panels, **asked}, 0
    found, titles = session.jobs.ended(asked), titles_of(session)
    made = {name: one for name, one in found.items() if one.facts.get("validation")}
    facts = {titles[name]: one.facts["validation"] for name, one in made.items()}
    if facts:
        table = _figures(facts)
        shown.caption(_said(plan, facts))
        tables = {titles[name]: one.tables.get("validation", one.tables.get("left_out"))
                  for name, one in made.items()}  # fmt: skip
        tuned = {name: one.facts["validation"].get("tuned", {}) for name, one in made.items()}
        with layout.row("regression-left-out"):
            if any(tuned.get(letter) for letter in session.view.by_letter):
                st.button(
                    gettext("Put tuned values on the sliders"), icon=":material/tune:",
                    key="regression-take-tuned", help=gettext(_SAID["take"]),
                    on_click=_take, args=(session, tuned),
                )  # fmt: skip
            made_of, title = partial(one_table, tables, figures=table), gettext("Rows left out")
            export.menu(None, made_of, {}, "rows-left-out", title=title)
    unfinished(session, asked, found, "validation")


def _take(session: Session[Regression], tuned: Mapping[str, Mapping[str, float]]) -> None:
    fits = {
        letter: replace(fit, parameters=pairs({**dict(fit.parameters), **tuned.get(letter, {})}))
        for letter, fit in session.view.by_letter.items()
    }
    session.change(session.view.with_panels(fits))


def one_table(tables: Mapping[str, pa.Table], **more: pa.Table) -> Result:
    """A table ``predictions``: what they are of, then a column for each, by its title.

    A row that some were not asked for, since they have another sample, is empty there.
    """
    first, *others = tables.values()
    of = [name for name in first.column_names if name != "prediction"
          and all(name in one.column_names for one in others)]  # fmt: skip
    columns = {
        gettext("predicted by {panel}", panel=title): one.to_pandas().set_index(of)["prediction"]
        for title, one in tables.items()
    }
    table = pa.Table.from_pandas(pd.concat(columns, axis=1).sort_index().reset_index())
    return Result(tables={**more, "predictions": table})


def titles_of(session: Session[Regression]) -> dict[str, str]:
    """What baselines and panels are called, by their names and letters."""
    titles = {name: translated(facts["title"]) for name, facts in BASELINES.items()}
    for letter, fit in session.view.by_letter.items():
        titles[letter] = layout.lettered(letter, layout.attending_title(fit, session.catalogue))
    return titles


def left_out(session: Session[Regression], asked: Mapping[str, Request]) -> None:
    """Which panels and baselines failed, and why."""
    titles, failed = titles_of(session), dict[str, list[str]]()
    for name, request in asked.items():
        if (end := session.jobs.final(request)) and not end.result:
            failed.setdefault(translated(end.note), []).append(titles[name])
    for reason, names in failed.items():
        said = gettext("Not computed for {names}: {reason}", names=listed(names), reason=reason)
        shown.error(plain(said))


def unfinished(
    session: Session[Regression], asked: Mapping[str, Request], found: Mapping[str, Result],
    key: str,
) -> None:  # fmt: skip
    """Why other results than those ``found`` are not there."""
    jobs, titles = session.jobs, titles_of(session)
    ends = {name: jobs.final(request) for name, request in asked.items() if name not in found}
    # One that has just come is not drawn yet.
    waits = {titles[name]: asked[name] for name, end in ends.items() if not end or end.result}
    left_out(session, asked)
    if any(map(jobs.holds, waits.values())):
        results.not_begun(jobs, key)
    elif waits:
        said = gettext("Still being computed: {names}.", names=plain(listed(waits)))
        results.until_settled(jobs, said, [*waits.values()])


def _figures(facts: Mapping[str, Mapping[str, Any]]) -> pa.Table:
    """Show the figures; a table of them, with what stands below it in words as columns."""
    held: dict[str, Any] = {gettext("Predicted by"): [*facts]}
    columns: dict[str, Any] = {}
    for key, title in _FIGURES.items():
        ends = [gettext("{figure}, {share}%", figure=title, share=share) for share in (2.5, 97.5)]
        rows = [one[key] for one in facts.values()]
        for name, values in zip((title, *ends), zip(*rows, strict=True), strict=True):
            held[name] = pa.array(values, pa.float64())
            columns[name] = st.column_config.NumberColumn(
                help=gettext(_WORDS["figures_of_rows"][key]), format="%.4g"
            )
    counts = [one["rows"] for one in facts.values()]
    held |= {gettext("Rows"): counts} if len({*counts}) > 1 else {}
    trained = [one.get("trained", ()) for one in facts.values()]
    spans = ["–".join(map(str, dict.fromkeys(ends))) for ends in trained]
    held |= {gettext("Fitted to, rows"): spans} if any(spans) else {}
    alt = gettext("Figures of rows left out")
    shown.table(pa.table(held), hide_index=True, column_config=columns, placeholder="–", alt=alt)
    words = {
        gettext("Chosen"): [_chosen(one) for one in facts.values()],
        gettext("In scikit-learn"): [one.get("words", "") for one in facts.values()],
    }
    said = [f"- {plain(name)}: {plain(listed(filter(None, each), clauses=True))}"
            for name, *each in zip(facts, *words.values(), strict=True) if any(each)]  # fmt: skip
    if said:
        shown.caption("\n".join(said))
    return pa.table(held | {name: each for name, each in words.items() if any(each)})


def _chosen(facts: Mapping[str, Any]) -> str:
    """What each fold's training rows chose, such as ``width 0.5, 1, 0.5; all rows: width 1``."""
    folds, whole = facts.get("chosen") or [{}], facts.get("tuned", {})
    said = [f"{name} {listed(f'{one[name]:.3g}' for one in folds)}" for name in folds[0]]
    values = listed(f"{name} {value:.3g}" for name, value in whole.items())
    tried = listed(gettext("{name}, {count} values from {low:.3g} to {high:.3g}", name=name,
                           low=low, high=high, count=count)
                   for name, (low, high, count) in facts.get("tried", {}).items())  # fmt: skip
    if whole:
        said.append(gettext("all rows: {values}; tried: {tried}", values=values, tried=tried))
    return listed(said, clauses=True)


def _places(folds: Sequence[int]) -> str:
    within = gettext("fold {folds}", folds=listed(map(str, filter(None, folds))))
    return listed([within] * any(folds) + [gettext("all rows")] * (0 in folds))


def _said(plan: Mapping[str, Any], facts: Mapping[str, Mapping[str, Any]]) -> str:
    first = next(iter(facts.values()))
    values = {**plan, "points": first["points"], "rows": first["rows"]}
    values["part"] = math.ceil(1 / plan["folds"] * values["points"])
    whole = {"folds": values["points"], "hold-out": values["part"]}
    method = plan["method"]
    if method == LEAVE_ONE_OUT and len({one["rows"] for one in facts.values()}) > 1:
        method = "samples"  # of each panel's own size
    said = [gettext(_WORDS["left_out"][method], **values)]
    if plan["method"] == LEAVE_ONE_OUT and any(one.get("words") for one in facts.values()):
        said.append(gettext(_SAID["alone"]))
    if values["rows"] < whole.get(plan["method"], 0):
        said.append(gettext(_SAID["sampled"], **values))
    said.append(gettext(_SAID["interval"], **plan))
    ends = [gettext(_WORDS["end"][end], model=plain(of), name=name, places=_places(folds))
            for of, one in facts.items() for name, end, folds in one.get("ends", ())]  # fmt: skip
    if ends:
        said.append(gettext(_SAID["ends"], names=listed(ends, clauses=True)))
    return together(said)
