"""Race: which scoring is better at what, by how much, and whether that is chance.

Nothing is trained here. A race is run by ``python -m attention_plugins race``; this page shows
the one that is shipped, one's own, and those of others.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import streamlit as st

from dashboard.features.race import bringing, close, figures, grid, table
from dashboard.features.race.seen import Seen
from dashboard.features.race.view import (
    ALL,
    LINK,
    Choices,
    RaceView,
    chosen,
    requests,
    usual_reference,
    with_all,
)
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.storage import races
from dashboard.storage.home import home
from dashboard.storage.races import FOLDER, SHIPPED, RaceRecord
from dashboard.ui import layout, owner, results, shown
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.titles import model_title
from dashboard.ui.widgets import choose, plain

_HEIGHT, _MATRIX_HEIGHT = 640, 480  # px, of the places in waiting
_WIDTH = 200  # px, of a control
_SHIPPED_TITLES = {
    SHIPPED: "shipped with the workbench", "shipped-phrasebook": "shipped: textbook scorings",
}  # fmt: skip
_DAMAGED_SHOWN = 4
_MADE = ("commit", "machine", "torch", "python")  # facts that are told in one line
_COMMAND = "python -m attention_plugins race --output {} --tasks sine reverse --seeds 12"
_JOIN = "python -m attention_plugins race --output {} --join --scorings my_scoring"


def _controls(session: Session[RaceView], catalogue: Catalogue) -> Choices | None:
    fresh, refused = session.fresh, session.problems
    race, problem = _race(session.view)
    if race is None:
        session.problems = (*refused, *filter(None, [problem])) if fresh else refused
        return None
    named = (problem, *chosen(session.view, race, catalogue).problems)
    with layout.row("race-controls"):
        _draw_race(session, race)
        race = _race(session.view)[0] or race
        _draw(session, catalogue, race)
    if fresh:  # what the link named; the widgets have replaced it by now
        session.problems = (*refused, *filter(None, named))
    return chosen(session.view, race, catalogue)


def _listed() -> tuple[list[RaceRecord], list[tuple[str, str]]]:
    visitor = owner.visitor()
    return races.races(None if visitor.administers else visitor.owner)


def _race(view: RaceView) -> tuple[RaceRecord | None, str]:
    """The race of the view, by a link also another visitor's, else the first; what is wrong."""
    found, _ = _listed()
    first = found[0] if found else None
    if not view.race:
        return first, ""
    try:
        return races.read(view.race), ""
    except (ValueError, OSError) as error:
        return first, f"race={view.race[:80]}: {error}"


def _draw_race(session: Session[RaceView], race: RaceRecord) -> None:
    found, _ = _listed()
    names = [one.name for one in found]
    if race.name not in names:
        names.append(race.name)
    picked = choose(
        "Race", names, race.name, session.key("race"), session.fresh, title=_race_title,
        width=_WIDTH,
    )  # fmt: skip
    # Which race comes first is another matter elsewhere, so a link names it.
    session.update(race="" if picked == SHIPPED else picked)


def _race_title(name: str) -> str:
    return _SHIPPED_TITLES.get(name, name)


def _draw(session: Session[RaceView], catalogue: Catalogue, race: RaceRecord) -> None:
    """The task, the model and the reference, each of those that the ones before it leave."""
    fresh = session.fresh
    now = chosen(session.view, race, catalogue)
    task = choose(
        "Task", race.tasks, now.task, session.key("task"), fresh,
        title=lambda name: _task_title(name, catalogue), width=_WIDTH,
    )  # fmt: skip
    session.update(task="" if task == race.tasks[0] else task)
    now = chosen(session.view, race, catalogue)
    offered = with_all(now.models)
    model = choose(
        "Model", offered, now.model, session.key("model"), fresh,
        title=lambda name: "all models" if name == ALL else model_title(name, catalogue),
        width=_WIDTH,
    )  # fmt: skip
    session.update(model="" if model == offered[0] else model)
    now = chosen(session.view, race, catalogue)
    keys = {one.key: one for one in now.entrants}
    reference = choose(
        "Reference", list(keys), now.reference.key, session.key("reference"), fresh,
        title=lambda key: now.title(keys[key]) if key in keys else key, width=_WIDTH,
        help="Whom all others are compared with.",
    )  # fmt: skip
    usual = usual_reference(now.entrants).key
    session.update(reference="" if reference == usual else reference)


def _task_title(name: str, catalogue: Catalogue) -> str:
    entry = catalogue.datasets.get(name)
    return entry.short_title if entry else f"{name} (not installed)"


def _requests(view: RaceView, catalogue: Catalogue) -> Iterable[Request]:
    race, _ = _race(view)
    return requests(chosen(view, race, catalogue)) if race else ()


def _results(session: Session[RaceView], catalogue: Catalogue, choices: Choices | None) -> None:
    bringing.finish(session)
    _damaged()
    if choices is None:
        with st.container(border=True, key="race-none"):
            st.markdown(":material/flag: **No race yet**")
            _own()
        return
    _made(session, choices.race)
    standings, matrix = requests(choices)
    results.results(
        session.jobs, standings, partial(_task, session, catalogue, choices, standings),
        _HEIGHT, "race-standings-place", grows=True,
    )  # fmt: skip
    results.results(
        session.jobs, matrix, partial(grid.matrix, session, catalogue, choices),
        _MATRIX_HEIGHT, "race-matrix-place", grows=True,
    )  # fmt: skip
    if not any(one.name not in _SHIPPED_TITLES for one in _listed()[0]):
        with st.expander("Run a race of your own", icon=":material/flag:"):
            _own()


def _task(
    session: Session[RaceView], catalogue: Catalogue, choices: Choices, request: Request,
    result: Result,
) -> None:  # fmt: skip
    seen = Seen(session, catalogue, choices, request, result)
    _progress(result)
    heading, menu = shown.columns([8, 1], vertical_alignment="center")
    with heading:
        shown.header(f"{plain(result.facts['task'])}: {plain(seen.metric)} {seen.arrow}")
    with menu:
        figures.menu(seen)
    table.table(seen)
    table.downloads(seen)
    figures.differences(seen)
    close.pickers(seen)
    figures.curves(seen)
    close.maps(seen)
    close.details(seen)


def _made(session: Session[RaceView], race: RaceRecord) -> None:
    """By what the race was made."""
    words = [f"{name} {race.facts[name]}" for name in _MADE if race.facts.get(name)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            count = f"{len(race.entrants):,} contestants, {len(race.tasks)} tasks"
            shown.caption(plain(" · ".join([f"{count}, {race.seeds} seeds", *words])))
        bringing.remover(session, race)
    if command := race.facts.get("command"):
        with st.expander("The command that made it", icon=":material/terminal:"):
            st.code(command, language="bash", wrap_lines=True)


def _progress(result: Result) -> None:
    """How far a race is that is not complete, and lines that could not be read."""
    facts = result.facts
    if not facts["complete"]:
        total = f" of {facts['total']:,}" if facts["total"] else ""
        with st.container(horizontal=True, vertical_alignment="center", key="race-running"):
            shown.text(f"{facts['done']:,}{total} trainings done; these are the rows so far.")
            st.button("Refresh", icon=":material/refresh:", type="tertiary", key="race-refresh")
    elif facts["minutes"]:
        hours = facts["minutes"] / 60
        shown.caption(f"{facts['done']:,} trainings, {hours:,.1f} hours of one core or device.")
    for line in facts["skipped"][:_DAMAGED_SHOWN]:
        shown.caption(plain(f"Left out, {line}"))


def _damaged() -> None:
    for name, reason in _listed()[1][:_DAMAGED_SHOWN]:
        st.caption(f":material/warning: The race {plain(name)} is not shown: {plain(reason)}.")


def _own() -> None:
    """The commands that run a race."""
    local = owner.visitor().administers
    folder = str(home() / FOLDER / "my-race") if local else "my-race"
    st.text("Every installed scoring on two tasks; it may be stopped, and goes on:")
    st.code(_COMMAND.format(folder), language="bash", wrap_lines=True)
    st.text("Your own plugin against what is shipped:")
    st.code(_JOIN.format(folder), language="bash", wrap_lines=True)
    if not local:
        st.text("Then zip race.json and outcomes.jsonl of that folder, and import it here.")


PAGE = Page(
    name="race",
    title="Race",
    explanation="Which scoring is better at what, by how much, and is it chance? Equal data, "
    "equal initial weights, equal budgets, several seeds; differences are tested in pairs.",
    link=LINK,
    controls=_controls,
    requests=_requests,
    results=_results,
    buttons=bringing.importer,
    height=_HEIGHT,
)
