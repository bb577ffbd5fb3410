"""Race: which scoring is better at what, by how much, and whether that is chance.

The page shows the race that is shipped, one's own, and those of others. This server's trainers
run one, as ``python -m attention_plugins race`` does.
"""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from dashboard.charts.frames import table_csv
from dashboard.features.race import bringing, close, figures, grid, running, table
from dashboard.features.race import view as race_view
from dashboard.features.race.budgets import budgets
from dashboard.features.race.field import field
from dashboard.features.race.view import FIELD, Choices, RaceView, Seen, chosen
from dashboard.language import gettext, together, translated
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.records.text import without_folders
from dashboard.storage import races
from dashboard.storage.races import SHIPPED, RaceRecord
from dashboard.ui import layout, owner, results, shown
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import choose, place, plain
from dashboard.ui.workbench import workbench

_HEIGHT = 640  # px, of a place in waiting
_WIDTH, _WIDER = 200, 244  # px, of a control
_SHIPPED_TITLES = beside(__file__, "words.toml")["shipped"]
_SAID = beside(__file__, "words.toml")["page"]


def _controls(session: Session[RaceView]) -> Choices | None:
    running.start(session)
    fresh, refused = session.fresh, session.problems
    if session.view.formula:
        st.session_state[session.key("formula")] = session.view.formula
        session.update(formula="")
    race, problem = _race(session.view)
    if race is None:
        session.problems = (*refused, *filter(None, [problem])) if fresh else refused
        return None
    named = (problem, *chosen(session.view, race, session.catalogue).problems)
    with layout.row("race-controls"):
        _draw_race(session, race)
        runs = workbench().racing.running(session.view.race)
        race = _race(session.view)[0] or race
        _draw(session, race)
        bringing.importer(session)
    if fresh:  # what the link named; the widgets have replaced it by now
        session.problems = (*refused, *filter(None, named))
    return chosen(session.view, race, session.catalogue, _listed()[0])._replace(runs=runs)


def _listed() -> tuple[list[RaceRecord], list[tuple[str, str]]]:
    visitor = owner.visitor()
    return races.races(None if visitor.administers else visitor.owner)


def _race(view: RaceView) -> tuple[RaceRecord | None, str]:
    """The race of a link, also another visitor's; else the first with its task; what is wrong."""
    found, _ = _listed()
    first = next((one for one in found if view.task in one.tasks), next(iter(found), None))
    if not view.race:
        return first, ""
    try:
        return races.read(view.race), ""
    except (ValueError, OSError) as error:
        problem = translated(without_folders(str(error)))
        return first, gettext("race={race}: {problem}", race=view.race[:80], problem=problem)


def _draw_race(session: Session[RaceView], race: RaceRecord) -> None:
    found, _ = _listed()
    shipped = {name: gettext(title) for name, title in _SHIPPED_TITLES.items()}
    titles = race_view.race_titles([*found, race], session.catalogue) | shipped
    picked = choose(
        gettext("Race"), [one.name for one in found], race.name, session.key("race"),
        session.fresh, width=_WIDER, format_func=lambda name: titles.get(name, name),
    )  # fmt: skip
    # Which race comes first is another matter elsewhere, so a link names it.
    session.update(race="" if picked == SHIPPED else picked)


def _draw(session: Session[RaceView], race: RaceRecord) -> None:
    """The task, the model and the reference, each of those that the ones before it leave."""
    fresh = session.fresh
    now, installed = chosen(session.view, race, session.catalogue), session.catalogue.datasets
    task = choose(
        gettext("Task"), race.tasks, now.task, session.key("task"), fresh, width=_WIDTH,
        format_func=lambda name: (
            race_view.task_title(name, session.catalogue) if name in installed or name in FIELD
            else gettext("{name} (not installed)", name=name)
        ),
    )  # fmt: skip
    session.update(task="" if task == race.tasks[0] else task)
    now = chosen(session.view, race, session.catalogue)
    offered = race_view.with_all(now.models)
    model = choose(
        gettext("Model"), offered, now.model, session.key("model"), fresh,
        format_func=lambda name: (
            gettext("all models") if name == race_view.ALL
            else name if task in FIELD else layout.model_title(name, session.catalogue)
        ),
        width=_WIDER,
    )  # fmt: skip
    session.update(model="" if model == race_view.usual_model(task, offered) else model)
    if task in FIELD:
        return
    if race.at_this_budget(task, _listed()[0]):
        key = place(session.key("joined"), bool(session.view.joined), session.fresh)
        label = gettext("With rows of other races")
        joined = st.toggle(label, key=key, help=gettext(_SAID["joined"]))
        session.update(joined="1" if joined else "")
    now = chosen(session.view, race, session.catalogue)
    keys = {one.key: one for one in now.entrants}
    reference = choose(
        gettext("Reference"), list(keys), now.reference.key, session.key("reference"), fresh,
        format_func=lambda key: now.title(keys[key]) if key in keys else key, width=_WIDTH,
        help=gettext("Whom all others are compared with."),
    )  # fmt: skip
    usual = race_view.usual_reference(now.entrants).key
    session.update(reference="" if reference == usual else reference)


def _requests(view: RaceView, catalogue: Catalogue) -> Iterable[Request]:
    race, _ = _race(view)
    return race_view.requests(chosen(view, race, catalogue, _listed()[0])) if race else ()


def _results(session: Session[RaceView], choices: Choices | None) -> None:
    bringing.finish(session)
    bringing.damaged(_listed()[1])
    if choices is None:
        with st.container(border=True, key="race-none"):
            st.markdown(f":material/flag: **{gettext('No race yet')}**")
            bringing.own()
            bringing.importer(session)
        return
    title = gettext("Run a race of your own")
    with st.expander(title, icon=":material/flag:", expanded=running.is_open()):
        running.form(session, choices.race, choices.task, _listed()[0])
        bringing.own()
    bringing.made(session, choices.race)
    standings, *matrix = race_view.requests(choices)
    parts = {"standings": (standings, _task)}
    if choices.task not in FIELD:  # whose contestants are drawn together
        parts["close"] = standings, _closely
    if matrix:
        parts["matrix"] = matrix[0], grid.matrix
    names = [gettext(table.TABS[name]) for name in parts]
    places = st.tabs(names, key=table.PARTS, on_change="rerun") if matrix else [st.container()]
    for tab, (name, (request, draw)) in zip(places, parts.items(), strict=True):
        with tab:
            results.results(
                session.jobs, request, partial(draw, session, choices),
                _HEIGHT, f"race-{name}-place", grows=True,
            )  # fmt: skip
    bringing.commands(choices.race, choices.joined)


def _task(session: Session[RaceView], choices: Choices, result: Result) -> None:
    if not result.facts["complete"] and result.facts["total"]:
        running.progress(choices, result.facts["total"])
    if "field" in result.facts:
        field(choices, result)
        return
    seen = Seen(session, choices, result)
    bringing.progress(result)
    parts = {"task": seen.task, "metric": seen.metric, "arrow": seen.arrow}
    with table.heading(gettext("{task}: {metric} {arrow}", **parts)):
        figures.menu(seen)
    running.places(seen)
    shown.caption(plain(together([figures.limits(seen), gettext(_SAID["order"])])))
    if words := figures.undecided(seen):
        shown.markdown(f"**{plain(words)}**")
    table.table(seen)
    made = {"csv": partial(table_csv, result.tables["standings"]), **result.facts["files"]}
    table.downloads(choices, made)
    figures.differences(seen)
    budgets(seen)


def _closely(session: Session[RaceView], choices: Choices, result: Result) -> None:
    seen = Seen(session, choices, result)
    close.pickers(seen)
    figures.curves(seen)
    close.maps(seen)
    close.details(seen)


PAGE = Page(
    name="race", title="Race", link=race_view.LINK, controls=_controls, requests=_requests,
    explanation="Which scoring is better at what, by how much, and is it chance? Equal data, "
    "equal initial weights, equal budgets, several seeds; differences are tested in pairs.",
    formulas=lambda *_: (), results=_results, height=_HEIGHT,  # only the form reads formulas
)  # fmt: skip
