"""Runs a race from its page: who takes part, what that takes, how far it is."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import chain

import streamlit as st

from dashboard.features.race import view
from dashboard.features.race.bringing import add, ask, refuse
from dashboard.features.race.figures import family, ran
from dashboard.features.race.table import p_text
from dashboard.jobs.backend import Event
from dashboard.language import ended, gettext, listed, ngettext, together, translated
from dashboard.records.beside import beside
from dashboard.records.request import FORMULA, Request, about
from dashboard.settings import settings
from dashboard.storage import races
from dashboard.storage.files import StorageError
from dashboard.storage.races import RaceRecord
from dashboard.ui import owner, shown
from dashboard.ui.formulas import formula_field
from dashboard.ui.layout import scoring_title, setting_words
from dashboard.ui.recipes import NAMES
from dashboard.ui.session import Session
from dashboard.ui.widgets import formula as formula_text
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_LOOK = 2.0  # seconds between two looks at a race that runs
_TIMES, _ROUNDS = (1, 2, 4), (0, 1, 2)
_ASKED, _PRESSED, _READY = range(3)  # how far a race is from its start
_KEPT, _EMPTY = "race entered", {"race-formula": "", "race-scorings": []}
_SAID = beside(__file__, "words.toml")["running"]


def form(
    session: Session[view.RaceView], seen: RaceRecord, task: str, others: Sequence[RaceRecord]
) -> None:
    """Whom to race against those of a race, on what, with how much; then what it takes."""
    if refusal := owner.refusal(gettext("Racing")):
        st.caption(refusal)
        return
    catalogue = session.catalogue
    kinds = {one.task for name in st.session_state.get("race-tasks", [task])
             if (one := catalogue.datasets.get(name))}  # fmt: skip
    kind = kinds.pop() if len(kinds) == 1 else ""
    formula = formula_field(session, "", "", NAMES.get(kind, {}), kind)
    typed = formula.entry if formula else None
    if typed:
        formula_text(typed.formula)
        if own := [setting_words(one, one.default) for one in typed.parameters]:
            st.caption(plain(gettext(_SAID["begins"], values=listed(own))))
    scorings = st.multiselect(
        gettext("Scorings"), [*catalogue.scorings], key="race-scorings",
        format_func=lambda name: scoring_title(name, catalogue),
        placeholder=gettext("Optional: more scorings, which are installed"),
    )  # fmt: skip
    tasks = st.multiselect(
        gettext("Tasks to race on"), dict.fromkeys(chain(seen.tasks, *(o.tasks for o in others))),
        [task], key="race-tasks", format_func=lambda name: view.task_title(name, catalogue),
        help=gettext("The race that is shown is joined, or the first one with all these tasks."),
    )  # fmt: skip
    shared = next((one for one in (seen, *others) if {*tasks} <= {*one.tasks}), None)
    if shared is None:
        st.caption(gettext("No race has all these tasks: choose fewer."))
        return
    halving, row = 0, st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    times = row.segmented_control(
        gettext("Budget"), _TIMES, default=1, key="race-times",
        format_func=lambda each: (
            gettext("as in this race") if each == 1 else gettext("{times} × as long", times=each)
        ),
        help=gettext(_SAID["times"]),
    )  # fmt: skip
    if not {*tasks} <= view.FIELD.keys():
        halving = row.segmented_control(
            gettext("Successive halving"), _ROUNDS, default=0, key="race-halving",
            format_func=lambda each: (
                ngettext("{count} round", "{count} rounds", each) if each else gettext("none")
            ),
            help=gettext(_SAID["rounds"]),
        )  # fmt: skip
    names = [*scorings, *([typed.name] if typed else [])]
    asked = view.entry_request(shared, tasks, names, times or 1, halving or 0)
    st.button(
        gettext("What will it take?"), icon=":material/timer:", key="race-estimate",
        disabled=not (tasks and names), on_click=ask, args=(asked, partial(_enter, asked)),
    )  # fmt: skip
    if (kept := st.session_state.get(_KEPT)) and kept[0] == asked:
        _offer(*kept)


def is_open() -> bool:
    """Whether the form is being filled in."""
    return any(map(st.session_state.get, _EMPTY))


def _enter(request: Request, _: Session[view.RaceView], event: Event) -> None:
    st.session_state[_KEPT] = request, event, _ASKED


def _offer(request: Request, event: Event, stage: int) -> None:
    if event.result is None:
        shown.error(plain(ended(translated(event.note))))
        return
    facts = event.result.facts
    kept = facts["kept"]
    trainings = ngettext("{count:,} training", "{count:,} trainings", facts["trials"])
    said = [
        gettext(_SAID["estimate"], trainings=trainings,
                share=100 * facts["tuning"] / max(facts["seconds"], 1e-9),
                duration=about(facts["seconds"] / settings().trainers)),
        gettext(_SAID["taken"], kept=kept, total=kept + facts["trials"]) if kept else "",
        gettext(_SAID["more"], count=facts["more"]) if facts["more"] else "",
        gettext(_SAID["halved"]) if facts["halving"] else "",
        gettext("You may leave: it goes on, and what is done is kept."),
    ]  # fmt: skip
    shown.text(together(said))
    st.button(
        gettext("Start the race"), icon=":material/flag:", type="primary", key="race-start",
        on_click=_press, disabled=stage != _ASKED,
    )  # fmt: skip
    if stage != _ASKED:  # the next run starts it, which takes a busy server seconds
        st.caption(f":material/hourglass_top: {gettext('The race begins …')}")
        st.session_state[_KEPT] = request, event, _READY
        st.rerun()


def _press() -> None:
    if kept := st.session_state.get(_KEPT):  # none where it was pressed twice, and has begun
        st.session_state[_KEPT] = *kept[:2], _PRESSED


def start(session: Session[view.RaceView]) -> None:
    """Start the race whose button was pressed, once the page has said that it begins."""
    kept = st.session_state.get(_KEPT)
    if not kept or kept[2] != _READY:
        return
    request, event, _ = st.session_state.pop(_KEPT)
    try:
        first, *_ = json.loads(dict(request.options)["scorings"])
        name = add(event, f"my {first.removeprefix(FORMULA)}")
        workbench().racing.start(name, owner.owner())
    except (ValueError, StorageError) as error:
        refuse(error)
        _enter(request, session, event)
        return
    st.session_state.update(_EMPTY)  # the form folds
    session.change(view.RaceView(race=name))


def places(seen: view.Seen) -> None:
    """Where those stand that a page entered into the race."""
    race = seen.choices.race
    for row in seen.entered:
        said = gettext("**{name}**: {seeds} of {of} seeds are done.",
                       name=plain(row["name"]), seeds=row["seeds"], of=race.seeds)  # fmt: skip
        if row["seeds"] >= race.seeds:
            said = gettext(
                _SAID["place"], name=plain(row["name"]), rank=row["rank"], steps=seen.steps,
                quality=view.interval(row, "quality"), count=len(seen.ranked),
            )  # fmt: skip
            told = [ran(seen)]
            if row["difference"] is not None:
                told.append(gettext(
                    _SAID["against"], reference=plain(seen.name(seen.reference)),
                    difference=view.interval(row, "difference"),
                    verdict=gettext(row["verdict"]), p=p_text(row["p"]), family=family(seen),
                ))  # fmt: skip
            said = together([said, *told])
        shown.markdown(said)


def progress(choices: view.Choices, total: int) -> None:
    """How far a race is that runs here, and the buttons by which it stops and goes on."""
    racing, visitor, race = workbench().racing, owner.visitor(), choices.race

    def look() -> None:
        # Also where it ended after its rows were asked for: they are not the last ones.
        if not racing.running(race.name):
            st.rerun()
        done = races.done(race)
        said = gettext("{done:,} of {total:,} trainings", done=done, total=total)
        if racing.stopping(race.name):
            said = together([said + ".", gettext("Stopping: the trainings that run are ending.")])
        st.progress(min(1.0, done / max(1, total)), text=said)

    if choices.runs:
        st.fragment(run_every=_LOOK)(look)()
    if failed := racing.failure(race.name):
        st.caption(f":material/warning: {plain(translated(failed.note))}")
    if not visitor.administers and (race.owner is None or race.owner != visitor.owner):
        return
    if choices.runs:
        st.button(
            gettext("Stop"), icon=":material/stop:", key="race-stop", on_click=racing.stop,
            args=(race.name,), disabled=racing.stopping(race.name),
        )  # fmt: skip
    elif visitor.makes and race.name not in races.shipped():
        st.button(
            gettext("Go on"), icon=":material/play_arrow:", key="race-go-on", on_click=_go_on,
            args=(race.name,),
        )  # fmt: skip


def _go_on(name: str) -> None:
    try:
        workbench().racing.start(name, owner.owner())
    except ValueError as error:
        refuse(error)
